"""Any callable as a target: it is given the item's input, and what it returns is the output."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from functools import partial
from typing import Any

from proctor.bridge import in_thread
from proctor.data.reply import Reply
from proctor.errors import UsageError
from proctor.plugins import find, recognised
from proctor.running.target import Call, has_durable_threads
from proctor.scoring.callables import is_async, takes_one

__all__ = ["CallableTarget"]

_TOLD = {
    "thread_id": "thread_id",
    "resource_id": "resource_id",
    "request_context": "request_context",
    "target_options": "options",
    "toolbox": "toolbox",
}
"""What a function may ask for by the name of a parameter, and where a call has it."""


class CallableTarget:
    """A def or async def of one argument, the input. A def runs on a thread of its own, and may be slow.

    It is also given those of `thread_id`, `resource_id`, `request_context`, `target_options` and `toolbox` that it has
    parameters for. One that accepts `thread_id` says that it remembers a conversation, and with the attribute
    `durable_threads = True` that it does so beyond this process; one that accepts `toolbox`, that it calls its tools
    by `await toolbox.call(name, args, id=..., live=...)`, so that mocks can answer.

    It may return any value, messages, what a framework's run came to, or a `Reply` that also tells tokens and cost.
    What a generator yields is put together: texts joined, other values in a list.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        if isinstance(function, type):
            raise UsageError(f"target is the class {function.__name__}: give an instance, or a function")
        self.function = function
        self._told = _told(function)
        if not takes_one(partial(function, **dict.fromkeys(self._told))):
            name = getattr(function, "__name__", type(function).__name__)
            raise UsageError(f"the target {name} must be callable with one argument, the item's input")
        self._async = is_async(function)
        self.remembers = "thread_id" in self._told
        self.durable = not self.remembers or has_durable_threads(function)
        self.may_hang = not self._async
        self.mocks_tools = "toolbox" in self._told

    async def reply(self, call: Call) -> Reply:
        """Call the function. What it raises is raised."""
        function = self.function
        if self._told:
            function = partial(function, **{name: getattr(call, _TOLD[name]) for name in self._told})
        made = function(call.input) if self._async else await in_thread(function, call.input)
        while hasattr(type(made), "__await__"):
            made = await made
        if type(made) is str:
            return Reply(output=made)
        if isinstance(made, AsyncIterator | Iterator):
            made = await _gathered(made)
        if isinstance(made, Reply):
            return made
        framework = recognised("result", _that_tells(made), only_own=True)
        return Reply(output=made) if framework is None else find("result", framework)(made)


def _that_tells(made: Any) -> Any:
    """What the class of tells which framework a value is of: the last message of a graph's state, or the value."""
    messages = made.get("messages") if isinstance(made, Mapping) else made
    return messages[-1] if isinstance(messages, list) and messages else made


def _told(function: Callable[..., Any]) -> tuple[str, ...]:
    """Which of what a call tells the function asks for, by name and not as its first argument."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return ()
    named = {it.name for it in parameters[1:] if it.kind in (it.POSITIONAL_OR_KEYWORD, it.KEYWORD_ONLY)}
    return tuple(name for name in _TOLD if name in named)


async def _gathered(parts: AsyncIterator[Any] | Iterator[Any]) -> Any:
    if isinstance(parts, AsyncIterator):
        found = [part async for part in parts]
    else:
        found = await in_thread(list, parts)
    return "".join(found) if found and all(isinstance(part, str) for part in found) else found
