"""An agent of pydantic-ai as a target: each turn is one run on the history of its thread, seen as messages.

pydantic-ai keeps no threads of its own: what was said is kept here, in its own form, for each resource and thread, and
forgotten when the conversation ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from proctor.data.message import Data, Message, Part, Reasoning, Text, ToolCall
from proctor.data.plain import plain
from proctor.data.read import read_input
from proctor.data.reply import Reply
from proctor.data.usage import Cost, Usage
from proctor.data.value import MISSING
from proctor.errors import UnknownName, UsageError
from proctor.running.target import Call, keep_with

if TYPE_CHECKING:
    from pydantic_ai import messages as sent
    from pydantic_ai.run import AgentRunResult

__all__ = ["PydanticAITarget"]

_OPTIONS: Final = (
    "capabilities", "deps", "instructions", "max_steps", "metadata", "model", "model_settings", "toolsets",
    "usage_limits",
)  # fmt: skip
_OUTPUT: Final = "final_result"  # begins the names of the tools by which structured output comes


class PydanticAITarget:
    """Asks an agent of pydantic-ai.

    Of `target_options` it takes `model`, `model_settings`, `instructions`, `deps`, `usage_limits`, `toolsets`,
    `capabilities` and `metadata` as `Agent.run` does, and `max_steps`, the most requests of a turn. `request_context`
    is its `deps`, unless these are given. What is no text in the output is its `structured`, too.
    """

    remembers = True
    durable = False
    may_hang = False

    def __init__(self, agent: Any) -> None:
        if not callable(getattr(agent, "run", None)):
            kind = type(agent).__name__
            raise UsageError(f"target is a {kind} of pydantic-ai, which is no agent: give Agent(...) that uses it")
        self.agent = agent
        self._threads: dict[tuple[str | None, str], list[Any]] = {}

    async def reply(self, call: Call) -> Reply:
        """One turn. What the agent raises is raised, with what it did before."""
        prompt, before = _prompt_of(call)
        thread = None if call.turn is None or call.thread_id is None else (call.resource_id, call.thread_id)
        history = [*self._threads.get(thread, ()), *before] if thread else before
        from pydantic_ai import capture_run_messages
        from pydantic_ai.usage import RunUsage

        used = RunUsage()
        with capture_run_messages() as captured:
            try:
                result = await self.agent.run(prompt, message_history=history or None, usage=used, **_arguments(call))
            except Exception as error:
                this = captured[-1].run_id if captured else None  # before it may stand what was said in earlier ones
                so_far = seen([message for message in captured if message.run_id == this])
                keep_with(error, Reply(output=so_far or MISSING, usage=_usage_of(used), cost=_cost_of(used)))
                raise
        if thread:
            self._threads[thread] = result.all_messages()
        return _reply_of(result)

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Raise an `UnknownName` for what no run of an agent takes."""
        for name in options:
            if name not in _OPTIONS:
                raise UnknownName("option of an agent of pydantic-ai", name, _OPTIONS)

    def forget(self, thread_id: str, *, resource_id: str | None = None) -> None:
        """Drop what was said in a thread: its conversation is over."""
        self._threads.pop((resource_id, thread_id), None)


def _prompt_of(call: Call) -> tuple[str, list[Any]]:
    """What is asked now, and what stands before it in the input."""
    from pydantic_ai.messages import ModelRequest, ModelResponse, SystemPromptPart, TextPart, UserPromptPart

    messages = read_input(call.input)
    if not messages or messages[-1].role != "user":
        raise UsageError("the input of an agent ends with what the user says")
    before: list[Any] = []
    for message in messages[:-1]:
        if message.role == "assistant":
            before.append(ModelResponse(parts=[TextPart(message.text)]))
        elif message.role in {"system", "user"}:
            kind = SystemPromptPart if message.role == "system" else UserPromptPart
            before.append(ModelRequest(parts=[kind(message.text)]))
    return messages[-1].text, before


def _arguments(call: Call) -> dict[str, Any]:
    options = dict(call.options or {})
    steps = options.pop("max_steps", None)
    if steps is not None:
        from pydantic_ai.usage import UsageLimits

        options["usage_limits"] = replace(options.get("usage_limits") or UsageLimits(), request_limit=steps)
    if call.request_context is not None:
        options.setdefault("deps", dict(call.request_context))
    return options


# ── what came of it ────────────────────────────────────────────────────────────────────────────────────────────────


def _reply_of(result: AgentRunResult[Any]) -> Reply:
    said = result.output
    messages = seen(result.new_messages())
    structured: Any = MISSING if isinstance(said, str) else plain(said)
    if structured is not MISSING:
        messages = [*messages, Message("assistant", (Data(structured),))]
    return Reply(
        output=messages,
        usage=_usage_of(result.usage),
        cost=_cost_of(result.usage),
        finish_reason=result.response.finish_reason,
        structured=structured,
    )


def seen(messages: Sequence[sent.ModelMessage]) -> list[Message]:
    """What an agent did, as messages: the user's prompt left out, each result joined to its call."""
    from pydantic_ai.messages import ModelResponse

    found: list[list[Part]] = []
    calls: dict[str, tuple[int, int]] = {}
    for message in messages:
        if isinstance(message, ModelResponse):
            found.append([part for each in message.parts for part in _said(each)])
            for at, part in enumerate(found[-1]):
                if isinstance(part, ToolCall) and part.id is not None:
                    calls[part.id] = (len(found) - 1, at)
            continue
        for given in message.parts:
            place = calls.get(getattr(given, "tool_call_id", None) or "")
            if place is not None:
                found[place[0]][place[1]] = _answered(found[place[0]][place[1]], given)
    return [Message("assistant", tuple(parts)) for parts in found if parts]


def _said(part: Any) -> list[Part]:
    if part.part_kind == "text":
        return [Text(part.content)] if part.content else []
    if part.part_kind == "thinking":
        return [Reasoning(part.content)] if part.content else []
    if part.part_kind == "tool-call" and not part.tool_name.startswith(_OUTPUT):
        return [ToolCall(part.tool_name, _args_of(part), id=part.tool_call_id)]
    return []


def _args_of(part: Any) -> Any:
    import json

    if not isinstance(part.args, str):
        return {} if part.args is None else plain(part.args)
    try:
        return json.loads(part.args)
    except ValueError:
        return part.args


def _answered(call: Any, part: Any) -> Any:
    """A call with what came back: its result, or what was wrong with it."""
    failed = part.part_kind == "retry-prompt" or getattr(part, "outcome", "success") != "success"
    if not failed:
        return replace(call, result=plain(part.content), state="done")
    content = part.content if isinstance(part.content, str) else plain(part.content)
    return replace(call, error=content if isinstance(content, str) else str(content), state="failed")


def _usage_of(usage: Any) -> Usage | None:
    if not (usage.input_tokens or usage.output_tokens):
        return None
    return Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        total_tokens=usage.input_tokens + usage.output_tokens,
        reasoning_tokens=usage.output_reasoning_tokens or None,
        cached_input_tokens=usage.cache_read_tokens or None,
        cache_creation_input_tokens=usage.cache_write_tokens or None,
    )


def _cost_of(usage: Any) -> Cost | None:
    """What the run cost, as far as pydantic-ai knows the prices."""
    cost = getattr(usage, "cost", None)
    return None if cost is None else Cost(amount=float(cost), source="pydantic-ai")
