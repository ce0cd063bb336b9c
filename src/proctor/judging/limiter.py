"""One limiter for all calls of one model in this process, from whichever loop and thread they come.

A call waits in one line with all others, and the first in line goes first. Each brings its own limits over what is
counted in common: how many are in flight, and what went in the last minute (`windows.py`). When the server says that
it is busy, all pause, and fewer may be in flight from then on; with each answer, a little more (`pressure.py`).
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from proctor.data.value import Value, shown
from proctor.errors import UsageError
from proctor.judging.line import Line
from proctor.judging.pressure import MOST_IN_FLIGHT, Pressure
from proctor.judging.windows import Sent, Windows

__all__ = ["Limiter", "Limits", "Turn", "limiter_for"]

_LATE = 0.002
"""Seconds between the leave to go and going, above which a call counts from when it went."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Limits(Value):
    """What one call is held to, counting all calls of its model. None: no limit but what the server says."""

    concurrency: int | None = None
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None

    def __post_init__(self) -> None:
        for name in ("concurrency", "requests_per_minute", "tokens_per_minute"):
            value = getattr(self, name)
            if value is not None and not value > 0:  # the whole line would wait for it
                raise UsageError(f"Limits({name}=...) is a number above 0, not {shown(value)}")


class Turn:
    """Leave to make one call, for the length of a `with` or `async with`. Say how the call ended: `done` or `busy`.

    *waited_ms*: how long it waited. Leaving without a word (an error, a cancellation) frees the place in flight; the
    request and its estimated tokens stay counted.
    """

    __slots__ = ("_limiter", "limits", "number", "open", "sent", "waited_ms")

    def __init__(self, limiter: Limiter, *, number: int, limits: Limits, sent: Sent) -> None:
        self._limiter = limiter
        self.number = number
        self.limits = limits
        self.sent = sent
        self.open = True
        self.waited_ms = 0.0

    def done(self, tokens: int | None = None) -> None:
        """The call was answered, and took *tokens*; None where nobody says: the estimate stays."""
        self._limiter.answered(self, tokens=tokens)

    def busy(self, retry_after: float | None = None) -> None:
        """The server refused the call: too many. All pause for *retry_after* seconds; without, ever longer up to 60."""
        self._limiter.refused(self, retry_after=retry_after)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.open:
            self._limiter.left(self)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self.open:
            self._limiter.left(self)


class Limiter:
    """Holds the calls of one model to their limits. For several loops and threads at once.

    A call with limits far below those of others holds them up while it waits: it would never go otherwise.

    >>> import asyncio
    >>> async def ask(limiter):
    ...     async with await limiter.turn(Limits(concurrency=4), tokens=500) as turn:
    ...         turn.done(420)
    ...     return limiter.in_flight
    >>> asyncio.run(ask(Limiter()))
    0
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.RLock()
        self._windows = Windows()
        self._pressure = Pressure()
        self._in_flight = 0
        self._number = 0
        self._line = Line[tuple[Limits, int], Turn](
            self._lock, clock=clock, ready_at=self._ready_at, give=self._give, take_back=self._take_back
        )

    @property
    def in_flight(self) -> int:
        """Calls that went and have not come back."""
        return self._in_flight

    @property
    def waiting(self) -> int:
        """Calls in line."""
        return len(self._line)

    @property
    def allowance(self) -> float:
        """How many calls may be in flight: as many as the last call set, or fewer since the server was busy."""
        return self._pressure.allowance

    @property
    def paused_for(self) -> float:
        """Seconds until the pause ends that a busy server asked for; 0 when there is none."""
        return max(0.0, self._pressure.paused_until - self._clock())

    async def turn(self, limits: Limits, *, tokens: int = 0) -> Turn:
        """Wait until the call may go. *tokens*: what it will take, by estimate."""
        want = (limits, tokens)
        asked = self._clock()
        with self._lock:
            if not self._line and self._ready_at(want, asked) <= asked:
                return self._give(want, asked)
        turn = await self._line.wait(want)
        now = self._clock()
        turn.waited_ms = (now - asked) * 1000
        if now - turn.sent.at > _LATE:
            with self._lock:
                self._windows.put_off(turn.sent, now)
        return turn

    # ── how a turn ends ─────────────────────────────────────────────────────────────────────────────────────────────

    def answered(self, turn: Turn, *, tokens: int | None) -> None:
        """See `Turn.done`. The first word about a turn counts."""
        with self._lock:
            if turn.open:
                self._pressure.answered(cap=_cap(turn.limits), number=turn.number)
                if tokens is not None:
                    self._windows.correct(turn.sent, tokens=max(0, tokens))
                self.left(turn)

    def refused(self, turn: Turn, *, retry_after: float | None) -> None:
        """See `Turn.busy`. It took no tokens: nothing was read or written."""
        with self._lock:
            if turn.open:
                now = self._clock()
                cap, number = _cap(turn.limits), turn.number
                news = self._pressure.refused(now, retry_after=retry_after, cap=cap, number=number, newest=self._number)
                if news and turn.limits.requests_per_minute is not None:
                    self._windows.widen()
                self._windows.correct(turn.sent, tokens=0)
                self.left(turn)

    def left(self, turn: Turn) -> None:
        """Its place in flight is free, unless it was before."""
        with self._lock:
            if turn.open:
                turn.open = False
                self._in_flight -= 1
                if self._line:
                    self._line.move()

    # ── what the line asks, under the lock ──────────────────────────────────────────────────────────────────────────

    def _ready_at(self, want: tuple[Limits, int], now: float) -> float:
        limits, tokens = want
        if self._in_flight >= self._pressure.places(_cap(limits)):
            return float("inf")
        at = self._windows.ready_at(
            now,
            tokens=tokens,
            per_minute=limits.requests_per_minute,
            tokens_per_minute=limits.tokens_per_minute,
        )
        return max(at, self._pressure.paused_until)

    def _give(self, want: tuple[Limits, int], now: float) -> Turn:
        limits, tokens = want
        self._in_flight += 1
        self._number += 1
        self._pressure.cap = _cap(limits)
        sent = self._windows.send(now, tokens=tokens, per_minute=limits.requests_per_minute)
        return Turn(self, number=self._number, limits=limits, sent=sent)

    def _take_back(self, turn: Turn) -> None:
        if turn.open:
            turn.open = False
            self._in_flight -= 1
            self._windows.take_back(turn.sent)


def _cap(limits: Limits) -> int:
    return MOST_IN_FLIGHT if limits.concurrency is None else limits.concurrency


# ── the limiters of a process ──────────────────────────────────────────────────────────────────────────────────────


class _Process:
    """A fork gets its own: the calls in flight are not its calls, and locks may be held."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        self.lock = threading.Lock()
        self.limiters: dict[str, Limiter] = {}


_process = _Process()
if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_process.begin)


def limiter_for(key: str) -> Limiter:
    """The one limiter of a model in this process. *key*: the model's id, and its address where it has one.

    >>> limiter_for("openai:gpt-5-mini") is limiter_for("openai:gpt-5-mini")
    True
    """
    with _process.lock:
        limiter = _process.limiters.get(key)
        if limiter is None:
            limiter = _process.limiters[key] = Limiter()
        return limiter
