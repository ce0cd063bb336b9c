"""An agent of the OpenAI Agents SDK as a target: each turn is one run, on the session of its thread if there is one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from proctor.data.read import read_input
from proctor.data.reply import Reply
from proctor.data.usage import Usage
from proctor.data.value import MISSING, shown
from proctor.errors import TargetError, UnknownName, UsageError
from proctor.running.target import Call, check_target_options, has_durable_threads, keep_with
from proctor.targets.openai_agents_items import given, results_of, seen, structured_of
from proctor.targets.openai_agents_tools import with_toolbox

if TYPE_CHECKING:
    from agents import RunResultBase

__all__ = ["OpenAIAgentsTarget", "reply_of"]

_OPTIONS: Final = (
    "context", "error_handlers", "hooks", "instructions", "max_steps", "model", "model_settings", "run_config",
    "stream",
)  # fmt: skip


class OpenAIAgentsTarget:
    """Asks an agent of the OpenAI Agents SDK.

    *session*: makes the session of a thread, of its id: `SQLiteSession` is such a function. Without it each turn is on
    its own, and a conversation gives a warning.

    Of `target_options` it takes `model`, `model_settings`, `run_config`, `hooks`, `context` and `error_handlers` as a
    run does, `instructions` in place of the agent's own, `max_steps`, the most turns of a run, and `stream=True`, which
    has the model answer in pieces, to the same reply. `request_context` is the run's `context`, unless that is given.
    """

    how_to_remember = "Say where threads are kept: target=OpenAIAgentsTarget(agent, session=SQLiteSession)"
    may_hang = False
    mocks_tools = True

    def __init__(self, agent: Any, *, session: Callable[[str], Any] | None = None) -> None:
        try:
            from agents import Agent, Runner  # noqa: F401 - another package of that name has none
        except ImportError:
            raise UsageError(_NO_SDK.format(type(agent).__name__)) from None
        if not isinstance(agent, Agent):
            raise UsageError(_NO_SDK.format(type(agent).__name__))
        if session is not None and not callable(session):
            raise UsageError(
                f"session makes the session of a thread, of its id: a function such as SQLiteSession, not "
                f"{shown(session)}, which all conversations would share"
            )
        self.agent = agent
        self.remembers = session is not None
        self.durable = session is None or has_durable_threads(session)
        self._session = session
        self._sessions: dict[tuple[str | None, str], Any] = {}

    async def reply(self, call: Call) -> Reply:
        """One turn. What the agent raises is raised, with what it did before."""
        messages = read_input(call.input)
        if not messages or messages[-1].role != "user":
            raise UsageError("the input of an agent ends with what the user says")
        agent, options = self._prepared(call)
        session, asked = self._session_of(call), given(messages)
        watch = _watch()(options.pop("hooks", None))
        try:
            result = await _run(agent, asked, {**options, "session": session, "hooks": watch})
        except BaseException as error:  # also of a turn that runs out of time
            details = getattr(error, "run_data", None)
            results = {**watch.results, **results_of(details.new_items if details else ())}
            so_far = seen(watch.responses, results)
            keep_with(error, Reply(output=so_far or MISSING, usage=_sum(watch.responses)))
            if session is not None and isinstance(error, Exception):  # what ran out of time is not tried again
                await _take_back(session, asked)
            raise
        reply = reply_of(result)
        waiting = [item.tool_name or "a tool" for item in getattr(result, "interruptions", None) or ()]
        if waiting:
            told = f"the agent waits until a person approves of {', '.join(waiting)}"
            stopped = TargetError(told, code="NEEDS_APPROVAL")
            keep_with(stopped, reply)
            raise stopped
        return reply

    def _prepared(self, call: Call) -> tuple[Any, dict[str, Any]]:
        """The agent of this turn, and what its run is told."""
        options = dict(call.options or {})
        agent = self.agent
        if "instructions" in options:
            agent = agent.clone(instructions=options.pop("instructions"))
        if call.toolbox is not None:
            agent = with_toolbox(agent, call.toolbox)
        if "max_steps" in options:
            options["max_turns"] = options.pop("max_steps")
        changed = {name: options.pop(name) for name in ("model", "model_settings") if name in options}
        if changed:
            from agents import ModelSettings, RunConfig

            settings = changed.get("model_settings")
            if isinstance(settings, Mapping):
                changed["model_settings"] = ModelSettings(**settings)
            config = options.get("run_config") or {}
            options["run_config"] = replace(RunConfig(**config) if isinstance(config, Mapping) else config, **changed)
        if call.request_context is not None:
            options.setdefault("context", dict(call.request_context))
        return agent, options

    def _session_of(self, call: Call) -> Any:
        if self._session is None or call.thread_id is None:
            return None
        key = (call.resource_id, call.thread_id)
        if key not in self._sessions:
            self._sessions[key] = self._session(call.thread_id)
        return self._sessions[key]

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Raise an `UnknownName` for what no run of an agent takes."""
        if "session" in options:
            hint = "one session would be shared by all conversations: give OpenAIAgentsTarget(agent, session=...)"
            raise UsageError(f"target_options['session']: {hint}")
        check_target_options(options, _OPTIONS, what="an agent of the OpenAI Agents SDK")
        from agents import ModelSettings

        settings, known = options.get("model_settings"), [field.name for field in fields(ModelSettings)]
        for name in settings if isinstance(settings, Mapping) else ():
            if name not in known:
                raise UnknownName("setting of a model of the OpenAI Agents SDK", name, known)

    def forget(self, thread_id: str, *, resource_id: str | None = None) -> None:
        """Let go of a thread's session: its conversation is over. What the session keeps elsewhere stays."""
        session = self._sessions.pop((resource_id, thread_id), None)
        close = getattr(session, "close", None)
        if close is not None and not _is_coroutine(close):
            close()


_NO_SDK = (
    "target is a {} of a package `agents`, and no Agent of the OpenAI Agents SDK (pip install 'proctor[openai-agents]')"
    ": give an Agent of it, or a function of the input that asks yours"
)


def _is_coroutine(function: Any) -> bool:
    from inspect import iscoroutinefunction

    return iscoroutinefunction(function)


async def _run(agent: Any, asked: Any, options: dict[str, Any]) -> Any:
    from agents import Runner

    if not options.pop("stream", False):
        return await Runner.run(agent, asked, **options)
    result = Runner.run_streamed(agent, asked, **options)
    async for _ in result.stream_events():
        pass
    return result


@cache
def _watch() -> Any:
    """The class of hooks that note what models answer and tools give while a run goes on; they tell the user's own."""
    from agents import RunHooks

    class Watch(RunHooks[Any]):
        def __init__(self, hooks: Any) -> None:
            self.responses: list[Any] = []
            self.results: dict[str, Any] = {}
            self._hooks = hooks
            if hooks is not None:
                for name in ("on_llm_start", "on_agent_start", "on_agent_end", "on_handoff", "on_tool_start"):
                    setattr(self, name, getattr(hooks, name))

        async def on_llm_end(self, context: Any, agent: Any, response: Any) -> None:
            self.responses.append(response)
            if self._hooks is not None:
                await self._hooks.on_llm_end(context, agent, response)

        async def on_tool_end(self, context: Any, agent: Any, tool: Any, result: Any) -> None:
            id = getattr(context, "tool_call_id", None)
            if id is not None:
                self.results[id] = result
            if self._hooks is not None:
                await self._hooks.on_tool_end(context, agent, tool, result)

    return Watch


async def _take_back(session: Any, asked: Any) -> None:
    """Take from a session what a turn that failed put there, so that a further try begins where it began."""
    if not isinstance(asked, str):
        return
    items = await session.get_items()
    begins = [at for at, item in enumerate(items) if item.get("role") == "user" and item.get("content") == asked]
    for _ in items[begins[-1] :] if begins else ():
        await session.pop_item()


# ── what came of it ────────────────────────────────────────────────────────────────────────────────────────────────


def reply_of(result: RunResultBase) -> Reply:
    """What a run came to: what it added, what it took. The SDK says nothing of prices, nor why a model stopped."""
    return Reply(
        output=seen(result.raw_responses, results_of(result.new_items)),
        usage=_sum(result.raw_responses),
        structured=structured_of(result.final_output),
    )


def _sum(responses: Sequence[Any]) -> Usage | None:
    """The tokens of a run's responses; None when none of them says how many."""
    known = [it for response in responses if (it := response.usage).input_tokens or it.output_tokens]
    if not known:
        return None
    return Usage(
        input_tokens=sum(it.input_tokens for it in known),
        output_tokens=sum(it.output_tokens for it in known),
        total_tokens=sum(it.total_tokens or it.input_tokens + it.output_tokens for it in known),
        reasoning_tokens=sum(it.output_tokens_details.reasoning_tokens or 0 for it in known) or None,
        cached_input_tokens=sum(it.input_tokens_details.cached_tokens or 0 for it in known) or None,
    )
