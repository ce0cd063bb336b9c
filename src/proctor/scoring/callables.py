"""What can be known of a user's function before it is called."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

__all__ = ["RunFunction", "is_async", "takes", "takes_one"]


class RunFunction:
    """A function of the run, as a step: steps are given a context, `@scorer` functions the run."""

    __slots__ = ("function",)

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function

    def __call__(self, ctx: Any) -> Any:
        return self.function(ctx.run)


def is_async(function: Any) -> bool:
    """Whether calling it gives a coroutine: an `async def`, a partial of one, or an object whose `__call__` is one."""
    while isinstance(function, partial):
        function = function.func
    if isinstance(function, RunFunction):
        return is_async(function.function)
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def takes_one(function: Any) -> bool:
    """Whether it can be called with one positional argument; True when its signature cannot be read."""
    return takes(function, 1)


def takes(function: Any, count: int) -> bool:
    """Whether it can be called with so many positional arguments; True when its signature cannot be read."""
    if not callable(function):
        return False
    try:
        inspect.signature(function).bind(*[None] * count)
    except TypeError:
        return False
    except ValueError:
        return True  # some functions written in C do not say
    return True
