"""A compiled graph of LangGraph, or an agent of LangChain, as a target: each turn is one run of the graph.

Memory is the graph's own: a checkpointer keeps what was said in a thread, and without one a conversation is warned of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final
from uuid import uuid4

from proctor.bridge import in_thread
from proctor.data.plain import plain
from proctor.data.read import read_input
from proctor.data.reply import Reply
from proctor.data.value import MISSING
from proctor.errors import TargetError, UsageError, safe_message
from proctor.running.target import Call, check_target_options, keep_with, kept_with
from proctor.running.toolbox import Toolbox
from proctor.targets.langgraph_messages import finish_reason_of, given, seen, usage_of
from proctor.targets.langgraph_tools import TOOLBOX, guard, through_toolbox

__all__ = ["LangGraphTarget", "reply_of"]

_AS_IN_RUN: Final = ("context", "durability", "interrupt_after", "interrupt_before")
_OF_CONFIG: Final = ("callbacks", "configurable", "metadata", "tags")
_OPTIONS: Final = (*_AS_IN_RUN, *_OF_CONFIG, "max_steps", "stream")
_IN_PROCESS: Final = frozenset({"InMemorySaver", "MemorySaver"})


class LangGraphTarget:
    """Asks a compiled graph of LangGraph, which agents of LangChain are too.

    Of `target_options` it takes `context`, `durability`, `interrupt_before` and `interrupt_after` as a run does;
    `configurable`, `callbacks`, `tags` and `metadata` as a config does; `max_steps`, the recursion limit; and
    `stream=True`, which has models answer in pieces, to the same reply. `request_context` is in `configurable`, and is
    the `context` of a graph that has a schema for one, unless that is given.

    An input that is a mapping is the state that the graph begins with; any other is read as messages.

    *sync*: run the graph as `stream` does, on a thread: for one whose checkpointer, middleware or nodes are not async.
    """

    how_to_remember = "Give the graph a checkpointer when it is compiled: checkpointer=InMemorySaver()"
    mocks_tools = True

    def __init__(self, graph: Any, *, sync: bool = False) -> None:
        if not hasattr(graph, "astream") or not hasattr(graph, "checkpointer"):
            raise UsageError(_refusal(graph))
        saver = graph.checkpointer
        self.graph = graph
        self.may_hang = sync
        self._sync = sync
        self.remembers = saver is not None and saver is not False
        self._here = any(base.__name__ in _IN_PROCESS for base in type(saver).__mro__)
        self.durable = not self._here
        self._saver = saver
        self._graph: Any = None
        self._begin_at: dict[str, str] = {}

    async def reply(self, call: Call) -> Reply:
        """One turn. What the graph raises is raised, with what it did before."""
        self._graph = self._graph or through_toolbox(self.graph)
        from asyncio import get_running_loop

        config, options = self._told(call)
        token = TOOLBOX.set(None if call.toolbox is None else (call.toolbox, get_running_loop()))
        turn = _Turn(call.toolbox)
        run = turn.run_on_a_thread if self._sync else turn.run
        try:
            await run(self._graph, _state(call.input), config, **options)
        except BaseException as error:  # also of a turn that runs out of time
            messages = turn.added
            keep_with(error, Reply(output=seen(messages) or MISSING, usage=usage_of(messages)))
            if (
                self.remembers and turn.begun and isinstance(error, Exception)
            ):  # what ran out of time is not tried again
                await self._take_back(config, call)
            if isinstance(error, NotImplementedError) and not self._sync:
                told = (
                    f"{safe_message(error)} - for a graph that is not async: target=LangGraphTarget(graph, sync=True)"
                )
                hinted = TargetError(told)
                keep_with(hinted, kept_with(error))
                raise hinted from error
            raise
        finally:
            TOOLBOX.reset(token)
            if call.thread_id is None:
                self.forget(config["configurable"]["thread_id"])  # of this question alone
        self._begin_at.pop(config["configurable"]["thread_id"], None)
        if turn.waits_for:
            stopped = TargetError(f"the graph waits for a person: {turn.waits_for}", code="NEEDS_APPROVAL")
            keep_with(stopped, _reply(turn.added, turn.last))
            raise stopped
        return _reply(turn.added, turn.last)

    def _told(self, call: Call) -> tuple[dict[str, Any], dict[str, Any]]:
        """The config of this turn, and what its run is told besides."""
        options = dict(call.options or {})
        thread = call.thread_id or str(uuid4())
        places = {"thread_id": thread, "resource_id": call.resource_id or thread}
        if thread in self._begin_at:
            places["checkpoint_id"] = self._begin_at[thread]
        configurable = {**(call.request_context or {}), **options.pop("configurable", {}), **places}
        config: dict[str, Any] = {"configurable": configurable}
        config |= {name: options.pop(name) for name in _OF_CONFIG if name in options}
        if "max_steps" in options:
            config["recursion_limit"] = options.pop("max_steps")
        if call.toolbox is not None and call.toolbox.guards:
            config["callbacks"] = [*(config.get("callbacks") or ()), guard()(call.toolbox)]
        if call.request_context is not None and self.graph.context_schema is not None:
            options.setdefault("context", dict(call.request_context))
        return config, options

    async def _take_back(self, config: dict[str, Any], call: Call) -> None:
        """Have a further try of a turn that failed begin where the turn began."""
        thread = config["configurable"]["thread_id"]
        place = {"configurable": {"thread_id": thread}}
        with suppress(Exception):  # a saver that cannot look back: what the turn left in the thread stays there
            if self._sync:
                states = await in_thread(lambda: list(self.graph.get_state_history(place)))
            else:
                states = [state async for state in self.graph.aget_state_history(place)]
            begun = next((it for it in states if (it.metadata or {}).get("source") == "input"), None)
            if begun is None:
                return
            if begun.parent_config is not None:
                self._begin_at[thread] = begun.parent_config["configurable"]["checkpoint_id"]
            elif call.turn is not None and self._sync:  # a thread of this conversation alone
                await in_thread(self._saver.delete_thread, thread)
            elif call.turn is not None:
                await self._saver.adelete_thread(thread)

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Raise an `UnknownName` for what no run of a graph takes."""
        for name in options:
            if name in {"model", "model_settings", "instructions"}:
                raise UsageError(
                    f"target_options[{name!r}]: a compiled graph has its own; one that looks it up in its config or "
                    "context takes it by configurable= or context="
                )
        check_target_options(options, _OPTIONS, what="a graph of LangGraph")

    def forget(self, thread_id: str, *, resource_id: str | None = None) -> None:
        """Drop a thread that is kept in this process alone: its conversation is over."""
        self._begin_at.pop(thread_id, None)
        if self._here:
            self._saver.delete_thread(thread_id)


def _refusal(thing: Any) -> str:
    kind = type(thing).__name__
    if hasattr(thing, "compile"):
        return f"target is a {kind} of LangGraph that is not compiled: give the graph that its .compile() makes"
    return (
        f"target is a {kind} of LangChain, which is neither an agent nor a compiled graph: give one, or a function "
        "that asks it, as in target=lambda question: thing.invoke(question)"
    )


def _state(asked: Any) -> Any:
    """What a graph begins with."""
    if isinstance(asked, Mapping) and "role" not in asked:
        return asked
    messages = read_input(asked)
    if not messages or messages[-1].role != "user":
        raise UsageError("the input of an agent ends with what the user says")
    return {"messages": given(messages)}


class _Turn:
    """One run of a graph as it goes: the messages that it *added*, its *last* state, and what it *waits_for*."""

    def __init__(self, toolbox: Toolbox | None) -> None:
        self.last: Any = MISSING
        self.waits_for = ""
        self._toolbox = toolbox
        self._before: frozenset[str | None] | None = None
        self._count = 0
        self._added: dict[Any, Any] = {}

    @property
    def begun(self) -> bool:
        """Whether the graph has taken in what it was asked."""
        return self._before is not None

    @property
    def added(self) -> list[Any]:
        """In the order in which they came, also those that the graph took out again."""
        return list(self._added.values())

    async def run(self, graph: Any, state: Any, config: Any, *, stream: bool = False, **options: Any) -> None:
        """To the end, or to a call of a tool that nothing may answer."""
        async for mode, chunk in graph.astream(state, config, stream_mode=_modes(stream), **options):
            self._see(mode, chunk)

    async def run_on_a_thread(
        self, graph: Any, state: Any, config: Any, *, stream: bool = False, **options: Any
    ) -> None:
        """The same for a graph that is not async."""

        def all_of_it() -> None:
            for mode, chunk in graph.stream(state, config, stream_mode=_modes(stream), **options):
                self._see(mode, chunk)

        await in_thread(all_of_it)

    def _see(self, mode: str, chunk: Any) -> None:
        if mode == "values":
            self._take(chunk)
        elif mode == "updates" and "__interrupt__" in chunk:
            self.waits_for = "; ".join(str(it.value) for it in chunk["__interrupt__"]) or "an interrupt"
        if self._toolbox is not None and self._toolbox.failure is not None:
            raise self._toolbox.failure  # a node made a message of it

    def _take(self, state: Any) -> None:
        self.last = state
        messages = state.get("messages") if isinstance(state, Mapping) else getattr(state, "messages", None)
        if not isinstance(messages, list | tuple):
            return
        if self._before is None:  # the first state: what was there, and what was asked
            self._before = frozenset(_id(message) for message in messages)
            self._count = len(messages)
            return
        if None in self._before:
            self._added = dict(enumerate(messages[self._count :]))
            return
        for message in messages:
            if _id(message) not in self._before:
                self._added[_id(message)] = message


def _modes(stream: Any) -> list[str]:
    return ["values", "updates", "messages"] if stream else ["values", "updates"]


def _id(message: Any) -> Any:
    return getattr(message, "id", None)


# ── what came of it ────────────────────────────────────────────────────────────────────────────────────────────────


def reply_of(made: Any) -> Reply:
    """What a function made of a graph: its last state, messages, or one message. Those after the user's last count."""
    state = made if isinstance(made, Mapping) else {"messages": made if isinstance(made, list) else [made]}
    messages: Sequence[Any] = state["messages"]
    last = max((at for at, message in enumerate(messages) if message.type == "human"), default=-1)
    return _reply(messages[last + 1 :], state)


def _reply(added: Sequence[Any], state: Any) -> Reply:
    has_messages = "messages" in state if isinstance(state, Mapping) else hasattr(state, "messages")
    if not has_messages:
        return Reply(output=plain(state))
    object_ = state.get("structured_response") if isinstance(state, Mapping) else None
    structured = MISSING if object_ is None else plain(object_)
    return Reply(
        output=seen(added, structured=structured),
        usage=usage_of(added),
        finish_reason=finish_reason_of(added),
        structured=structured,
    )
