"""Any callable as a target: it is given the item's input, and what it returns is the output."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from time import perf_counter
from typing import Any

from proctor.bridge import in_thread, recordable
from proctor.data.reply import Reply
from proctor.errors import TargetError, UsageError
from proctor.running.target import Call
from proctor.scoring.callables import is_async, takes_one
from proctor.scoring.failure import failure_from

__all__ = ["CallableTarget"]


class CallableTarget:
    """A def or async def of one argument. A def runs on a thread of its own, and may be slow.

    It may return any value, messages, or a `Reply` that also tells tokens and cost. What an async generator yields is
    put together: texts joined, other values as a list.
    """

    def __init__(self, function: Callable[[Any], Any]) -> None:
        if isinstance(function, type):
            raise UsageError(f"target is the class {function.__name__}: give an instance, or a function")
        if not takes_one(function):
            name = getattr(function, "__name__", type(function).__name__)
            raise UsageError(f"the target {name} must be callable with one argument, the item's input")
        self.function = function
        self._async = is_async(function)

    async def reply(self, call: Call) -> Reply:
        """Call the function with the item's input, as it was given."""
        began = perf_counter()
        try:
            made = self.function(call.input) if self._async else await in_thread(self.function, call.input)
            while hasattr(type(made), "__await__"):
                made = await made
            if isinstance(made, AsyncIterator | Iterator):
                made = await _gathered(made)
            if isinstance(made, Reply):
                duration = _since(began) if made.duration_ms is None else made.duration_ms
                return replace(made, duration_ms=duration)
            return Reply(output=made, duration_ms=_since(began))
        except BaseException as error:
            if not recordable(error):
                raise
            return Reply(error=failure_from(error, code=TargetError.code), duration_ms=_since(began))


async def _gathered(parts: AsyncIterator[Any] | Iterator[Any]) -> Any:
    if isinstance(parts, AsyncIterator):
        found = [part async for part in parts]
    else:
        found = await in_thread(list, parts)
    return "".join(found) if found and all(isinstance(part, str) for part in found) else found


def _since(began: float) -> float:
    return (perf_counter() - began) * 1000.0
