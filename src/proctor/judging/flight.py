"""Calls in flight: whoever asks the same thing meanwhile waits for the answer that is on its way."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Hashable
from typing import TYPE_CHECKING, Any, Final, TypeVar
from weakref import WeakKeyDictionary

from proctor.judging.waiting import Standing, limits_here

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Task

__all__ = ["once"]

T = TypeVar("T")


class _Flight:
    __slots__ = ("is_taken", "limits", "task", "waiting")

    def __init__(self, task: Task[Any], limits: Standing) -> None:
        self.task = task
        self.limits = limits
        self.waiting = 0
        self.is_taken = False


_FLYING: Final[WeakKeyDictionary[AbstractEventLoop, dict[Hashable, _Flight]]] = WeakKeyDictionary()


async def once(key: Hashable, make: Callable[[], Coroutine[Any, Any, T]]) -> tuple[T, bool]:
    """What *make* gives, made once for all who ask for *key* at the same time; and whether another has it already.

    So one of them, and no more, is the one who must count what it took: the first to ask, unless it was cancelled.

    A failure is everybody's. Whoever is cancelled leaves the others alone; when the last one is, the call is.
    """
    import asyncio

    loop = asyncio.get_running_loop()
    flying = _FLYING.setdefault(loop, {})
    flight = flying.get(key)
    if flight is None:
        with limits_here() as limits:
            flight = flying[key] = _Flight(loop.create_task(_made(make)), limits)
        flight.task.add_done_callback(lambda task: _landed(flying, key, task))
    flight.waiting += 1
    try:
        with limits_here() as own, flight.limits.joined(own):
            made, exit_ = await asyncio.shield(flight.task)
        if exit_ is not None:
            raise exit_
        is_anothers, flight.is_taken = flight.is_taken, True
        return made, is_anothers
    finally:
        flight.waiting -= 1
        if not flight.waiting and not flight.task.done():
            flying.pop(key, None)  # who comes now does not wait for what is being cancelled
            flight.task.cancel()


async def _made(make: Callable[[], Coroutine[Any, Any, Any]]) -> tuple[Any, SystemExit | None]:
    """What is made. A `SystemExit` is handed over to those who wait: out of a task, it would end the event loop."""
    try:
        return await make(), None
    except SystemExit as exit_:
        return None, exit_


def _landed(flying: dict[Hashable, _Flight], key: Hashable, task: Task[Any]) -> None:
    if key in flying and flying[key].task is task:
        del flying[key]
    if not task.cancelled():
        task.exception()  # seen, also when nobody waits for it any more
