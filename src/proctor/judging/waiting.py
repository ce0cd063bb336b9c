"""Time that is spent waiting for a turn is not the scorer's: its own limit stands still meanwhile.

So do the limits of all who wait for the same call (`flight.py`), and no longer than that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asyncio import Timeout

__all__ = ["Standing", "limited_by", "limits_here", "not_counted"]


class Standing:
    """Limits that stand still together: `asyncio.timeout`s of one loop, each of which was entered."""

    __slots__ = ("_depth", "_left", "_running")

    def __init__(self, running: Iterable[Timeout] = ()) -> None:
        self._running = set(running)
        self._left: dict[Timeout, float] = {}  # of those that stand still
        self._depth = 0

    @contextmanager
    def still(self) -> Iterator[None]:
        """They stand still within, and go on with what was left of them."""
        self._depth += 1
        self._stop()
        try:
            yield
        finally:
            self._depth -= 1
            if not self._depth:
                self._go_on(list(self._left))

    @contextmanager
    def joined(self, others: Standing | None) -> Iterator[None]:
        """Those of *others*, which run, are of these within."""
        more = set() if others is None else others._running - self._running  # noqa: SLF001 - it is one of these
        self._running |= more
        if self._depth:
            self._stop()
        try:
            yield
        finally:
            self._go_on([limit for limit in more if limit in self._left])
            self._running -= more

    def _stop(self) -> None:
        for limit in list(self._running):
            when = limit.when()
            self._running.discard(limit)
            if when is not None and _moved(limit, None):
                self._left[limit] = when - _now()

    def _go_on(self, limits: Iterable[Timeout]) -> None:
        for limit in limits:
            if _moved(limit, _now() + self._left.pop(limit)):
                self._running.add(limit)


_LIMITS: ContextVar[Standing | None] = ContextVar("proctor_scorer_limits", default=None)


@contextmanager
def limited_by(limit: Timeout) -> Iterator[None]:
    """What is done within is held to *limit*, an `asyncio.timeout` that was entered."""
    with limits_here(Standing([limit])):
        yield


@contextmanager
def limits_here(limits: Standing | None = None) -> Iterator[Standing]:
    """The limits of what is begun within: *limits*, else those that hold here, which may be none."""
    limits = limits or _LIMITS.get() or Standing()
    token = _LIMITS.set(limits)
    try:
        yield limits
    finally:
        _LIMITS.reset(token)


@contextmanager
def not_counted() -> Iterator[None]:
    """The limits that hold here stand still within."""
    limits = _LIMITS.get()
    if limits is None:
        yield
        return
    with limits.still():
        yield


def _now() -> float:
    import asyncio

    return asyncio.get_running_loop().time()


def _moved(limit: Timeout, when: float | None) -> bool:
    """Whether the limit could be moved: it may have run out, or be over, while a call that others wait for goes on."""
    try:
        limit.reschedule(when)
    except RuntimeError:
        return False
    return True
