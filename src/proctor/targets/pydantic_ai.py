"""An agent of pydantic-ai as a target: each turn is one run on the history of its thread, seen as messages.

pydantic-ai keeps no threads of its own: what was said is kept here for each resource and thread, and forgotten when the
conversation ends; or in a `ThreadMemory`, which keeps it as long as it will.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from inspect import isroutine
from typing import TYPE_CHECKING, Any, Final

from proctor.data.message import Data, Message
from proctor.data.plain import plain
from proctor.data.read import read_input
from proctor.data.reply import Reply
from proctor.data.usage import Cost, Usage
from proctor.data.value import MISSING, shown
from proctor.errors import UsageError
from proctor.running.target import Call, check_target_options, keep_with
from proctor.running.threads import ThreadMemory
from proctor.running.toolbox import MockedError, Toolbox
from proctor.targets.pydantic_ai_messages import args_of, given, kept, prompt, seen, was_kept

if TYPE_CHECKING:
    from pydantic_ai.run import AgentRunResult

__all__ = ["PydanticAITarget", "reply_of"]

_AS_IN_RUN: Final = (
    "capabilities", "deps", "event_stream_handler", "instructions", "metadata", "model", "model_settings",
    "output_type", "retries", "toolsets", "usage_limits",
)  # fmt: skip
_OPTIONS: Final = (*_AS_IN_RUN, "max_steps", "stream")


class PydanticAITarget:
    """Asks an agent of pydantic-ai. *memory*: where threads are kept; without one, here, while a conversation lasts.

    Of `target_options` it takes what `Agent.run` takes, as it does; `max_steps`, the most requests of a turn; and
    `stream=True`, which has the model answer in pieces, to the same reply. `request_context` is the agent's `deps`,
    unless these are given. What is no text in the output is its `structured`, too.
    """

    remembers = True
    may_hang = False
    mocks_tools = True

    def __init__(self, agent: Any, *, memory: ThreadMemory | None = None) -> None:
        if not callable(getattr(agent, "run", None)):
            kind = type(agent).__name__
            raise UsageError(f"target is a {kind} of pydantic-ai, which is no agent: give Agent(...) that uses it")
        if memory is not None and not isinstance(memory, ThreadMemory):
            raise UsageError(f"memory must be a ThreadMemory, such as Store(...).threads(), not {shown(memory)}")
        self.agent = agent
        self.durable = memory is not None and memory.durable
        self._memory = memory
        self._threads: dict[tuple[str | None, str], list[Any]] = {}

    async def reply(self, call: Call) -> Reply:
        """One turn. What the agent raises is raised, with what it did before."""
        messages = read_input(call.input)
        if not messages or messages[-1].role != "user":
            raise UsageError("the input of an agent ends with what the user says")
        history = [*await self._history(call), *given(messages[:-1])]
        from pydantic_ai import capture_run_messages
        from pydantic_ai.usage import RunUsage

        asked, used, options = prompt(messages[-1]), RunUsage(), _arguments(call, self.agent)
        with capture_run_messages() as captured:
            try:
                result = await self.agent.run(asked, message_history=history or None, usage=used, **options)
            except BaseException as error:  # also of a turn that runs out of time
                this = captured[-1].run_id if captured else None  # before it may stand what was said in earlier ones
                so_far = seen([message for message in captured if message.run_id == this])
                keep_with(error, Reply(output=so_far or MISSING, usage=_usage_of(used), cost=_cost_of(used)))
                raise
        await self._remember(call, result)
        return reply_of(result)

    async def _history(self, call: Call) -> list[Any]:
        if call.thread_id is None:
            return []
        if self._memory is None:
            return self._threads.get((call.resource_id, call.thread_id), [])
        return was_kept(await self._memory.load(call.thread_id, resource_id=call.resource_id))

    async def _remember(self, call: Call, result: AgentRunResult[Any]) -> None:
        if call.thread_id is None:
            return
        if self._memory is None:
            self._threads[(call.resource_id, call.thread_id)] = result.all_messages()
        else:
            new = kept(result.new_messages())
            await self._memory.append(call.thread_id, new, resource_id=call.resource_id)

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Raise an `UnknownName` for what no run of an agent takes."""
        check_target_options(options, _OPTIONS, what="an agent of pydantic-ai")

    def forget(self, thread_id: str, *, resource_id: str | None = None) -> None:
        """Drop what is kept here of a thread: its conversation is over. A memory of the user's is the user's."""
        self._threads.pop((resource_id, thread_id), None)


def _arguments(call: Call, agent: Any) -> dict[str, Any]:
    options = dict(call.options or {})
    steps = options.pop("max_steps", None)
    if steps is not None:
        from pydantic_ai.usage import UsageLimits

        options["usage_limits"] = replace(options.get("usage_limits") or UsageLimits(), request_limit=steps)
    if options.pop("stream", False):
        options.setdefault("event_stream_handler", _drained)
    if call.request_context is not None:
        options.setdefault("deps", dict(call.request_context))
    if call.toolbox is not None:
        options["capabilities"] = [*(options.get("capabilities") or ()), _through(call.toolbox, agent)]
        if call.toolbox.guards:
            functions = _functions(options.get("output_type") or agent.output_type)
            call.toolbox.refuse_unseen(functions, why="make the output")
    return options


def _functions(output_type: Any) -> list[str]:
    """The functions that an agent's output goes through: they may do anything."""
    if isinstance(output_type, list | tuple):
        return [name for each in output_type for name in _functions(each)]
    for holder in ("output", "outputs", "output_function"):
        if not isinstance(output_type, type) and (inner := getattr(output_type, holder, None)) is not None:
            return _functions(inner)
    return [output_type.__name__] if isroutine(output_type) else []


async def _drained(_context: Any, events: Any) -> None:
    async for _ in events:
        pass


def _through(toolbox: Toolbox, agent: Any) -> Any:
    """What has a run call its tools through a toolbox."""
    through, guarded = _capabilities()
    return (guarded if toolbox.guards else through)(toolbox, agent)


@cache
def _capabilities() -> tuple[Any, Any]:
    """The classes of that, without and with a look at each request; made once, since that takes a while."""
    from pydantic_ai import ToolFailed
    from pydantic_ai.capabilities import AbstractCapability

    class Through(AbstractCapability[Any]):
        def __init__(self, toolbox: Toolbox, agent: Any) -> None:
            self.toolbox = toolbox
            self.timeout = getattr(agent, "_tool_timeout", None)  # for tools that have none of their own

        async def wrap_tool_execute(self, ctx: Any, *, call: Any, tool_def: Any, args: Any, handler: Any) -> Any:
            if tool_def.kind == "output":
                return await handler(args)
            try:
                return await self.toolbox.call(
                    call.tool_name,
                    args_of(call),
                    id=call.tool_call_id,
                    live=lambda: handler(args),
                    timeout=tool_def.timeout or self.timeout,
                )
            except MockedError as error:
                raise ToolFailed(str(error)) from None

    class Guarded(Through):
        async def before_model_request(self, ctx: Any, request_context: Any) -> Any:
            native = request_context.model_request_parameters.native_tools
            self.toolbox.refuse_unseen([tool.kind for tool in native if tool.kind != "tool_search"])
            return request_context

    return Through, Guarded


# ── what came of it ────────────────────────────────────────────────────────────────────────────────────────────────


def reply_of(result: AgentRunResult[Any]) -> Reply:
    """What a run came to: what it added, what it took."""
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
