"""What can be put under test, as the run sees it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

from proctor.data.item import Item
from proctor.data.reply import Reply
from proctor.data.value import Value, shown
from proctor.errors import UnknownName, UsageError
from proctor.plugins import find, import_object, recognised
from proctor.running.toolbox import Toolbox
from proctor.scoring.callables import is_async

__all__ = [
    "Call",
    "Target",
    "as_target",
    "check_target_options",
    "has_durable_threads",
    "is_address",
    "keep_with",
    "kept_with",
    "shown_address",
    "without_place",
]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Call(Value):
    """What a target is asked. *input*: of this turn, as the item gave it; *item*: all the rest of it.

    *turn*: which one in a conversation, else None. *thread_id*: of the conversation, fresh for each one and each
    repeat; for a single question the caller's, or None. *resource_id*: whose memory it is. *options*: the caller's,
    without `memory`'s thread and resource. *toolbox*: where the target's tools are called through, when it says
    `mocks_tools = True`; else None.
    """

    input: Any
    item: Item
    turn: int | None = None
    thread_id: str | None = None
    resource_id: str | None = None
    options: Mapping[str, Any] | None = None
    request_context: Mapping[str, Any] | None = None
    toolbox: Toolbox | None = None


class Target(Protocol):
    """Something that answers. What goes wrong with the thing under test is raised.

    *remembers*: whether it keeps what was said in a thread. *durable*: whether what was said in a thread outlives the
    process, or there is nothing to remember, so that a conversation that broke off can go on at its next turn.
    *may_hang*: whether a call that is given up stays behind on a thread, so that too many of those must not be made.

    One may have two methods more: `forget(thread_id, *, resource_id)` is called when a conversation is over, and
    `check_options(options)` when a run is planned: it raises for `target_options` that it does not take. And it may say
    `mocks_tools = True`: every call of a tool goes through `call.toolbox`, so that mocks can answer it. And what is to
    be done for it to remember, *how_to_remember*, for the warning of a conversation.
    """

    remembers: bool
    durable: bool
    may_hang: bool

    async def reply(self, call: Call) -> Reply:
        """The answer to one call."""
        ...


class _OwnTarget:
    """An object of the user's with `async def reply(call)`, and whatever else it does not say."""

    def __init__(self, thing: Any) -> None:
        self.thing = thing
        self.remembers = bool(getattr(thing, "remembers", True))
        self.durable = not self.remembers or has_durable_threads(thing)
        self.may_hang = bool(getattr(thing, "may_hang", False))
        self.mocks_tools: bool | None = getattr(thing, "mocks_tools", False)
        self.how_to_remember: str | None = getattr(thing, "how_to_remember", None)

    async def reply(self, call: Call) -> Reply:
        given = await self.thing.reply(call)
        return given if isinstance(given, Reply) else Reply(output=given)

    def forget(self, thread_id: str, *, resource_id: str | None = None) -> None:
        drop = getattr(self.thing, "forget", None)
        if drop is not None:
            drop(thread_id, resource_id=resource_id)

    def check_options(self, options: Mapping[str, Any]) -> None:
        check = getattr(self.thing, "check_options", None)
        if check is not None:
            check(options)


def without_place(options: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The options as they go to the target: thread and resource go by themselves."""
    if options is None or "memory" not in options:
        return options
    memory = {name: value for name, value in (options["memory"] or {}).items() if name not in ("thread", "resource")}
    rest = {name: value for name, value in options.items() if name != "memory"}
    return {**rest, "memory": memory} if memory else rest or None


def check_target_options(options: Mapping[str, Any], known: Collection[str], *, what: str) -> None:
    """Raise an `UnknownName` for an option that *what* does not take, a `UsageError` for steps that are no count."""
    for name, value in options.items():
        if name not in known:
            raise UnknownName(f"option of {what}", name, known)
        if name == "max_steps" and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
            raise UsageError(f"target_options['max_steps'] is a whole number, 1 or more, not {shown(value)}")
        if name == "stream" and not isinstance(value, bool):
            raise UsageError(f"target_options['stream'] is True or False, not {shown(value)}")


def keep_with(error: BaseException, reply: Reply) -> None:
    """Keep with an exception what there is of the reply that it ended: messages so far, and what they took."""
    with suppress(AttributeError, TypeError):  # one with slots
        error.__proctor_reply__ = reply  # type: ignore[attr-defined]  # ours, and any exception may be it


def kept_with(error: BaseException) -> Reply:
    """What was kept so; of most exceptions, nothing."""
    kept = getattr(error, "__proctor_reply__", None)
    return kept if isinstance(kept, Reply) else Reply()


def is_address(thing: Any) -> bool:
    """Whether a target is given as the address of an endpoint."""
    return isinstance(thing, str) and thing.partition("://")[0].lower() in ("http", "https")


def shown_address(address: str) -> str:
    """An address without its password and its query, which may be secret."""
    from urllib.parse import urlsplit

    parts = urlsplit(address)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname}{port}{parts.path.rstrip('/')}"


def has_durable_threads(thing: Any) -> bool:
    """Whether an agent or a function says, by `durable_threads = True`, that its threads outlive the process."""
    return getattr(thing, "durable_threads", False) is True


def as_target(thing: Any) -> Target:
    """The target that *thing* stands for: itself, what an import path names, or a wrapper around it."""
    if is_address(thing):
        return find("target", "http")(thing)  # type: ignore[no-any-return]  # the table says what it is
    if isinstance(thing, str):
        thing = import_object(thing)
    if not isinstance(thing, type):
        if is_async(getattr(thing, "reply", None)):
            return _OwnTarget(thing)
        if is_async(getattr(thing, "generate", None)):
            return find("target", "agent")(thing)  # type: ignore[no-any-return]  # the table says what it is
        framework = recognised("target", thing)
        if framework is not None:
            return find("target", framework)(thing)  # type: ignore[no-any-return]  # as above
    if callable(thing):
        return find("target", "callable")(thing)  # type: ignore[no-any-return]  # as above
    raise UsageError(_unknown(thing))


def _unknown(thing: Any) -> str:
    kind = type(thing)
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    ways = [
        way for way in ("run", "invoke", "ainvoke", "chat", "ask", "respond") if callable(getattr(thing, way, None))
    ]
    way = ways[0] if ways else "run"
    return (
        f"target is of type {name}, which is not known here. A target is an agent of pydantic-ai, the OpenAI Agents "
        "SDK, LangGraph or LangChain; a function of the input (def or async def); an object with async def "
        "generate(...) or reply(call); the http:// address of an endpoint; 'package.module:name' of one of these; or "
        "what an installed package adds (entry points proctor.targets). To wrap it: "
        f"target=lambda question: thing.{way}(question)"
    )
