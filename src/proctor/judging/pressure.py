"""What a server's "too many requests" does to those who ask it: a pause for all, and fewer calls in flight.

The allowance follows AIMD (Chiu and Jain, 1989): it is cut by a factor when the server is busy, and grows by one for
each round of calls that are answered. Calls that were in flight together are refused together: one cut, one pause.
"""

from __future__ import annotations

from collections.abc import Callable
from math import floor, isfinite
from typing import Final

__all__ = ["MOST_IN_FLIGHT", "Pressure"]

MOST_IN_FLIGHT: Final = 64
"""How many calls are in flight at most where no concurrency is set."""

_CUT: Final = 0.7
_FIRST_PAUSE: Final = 1.0
_LONGEST_PAUSE: Final = 60.0
_JITTER: Final = 0.25


class Pressure:
    """How many calls a server takes, learnt from its refusals. *random* gives numbers in [0, 1), for the jitter."""

    __slots__ = ("_allowance", "_cut_before", "_last_cut", "_random", "_refusals", "cap", "paused_until")

    def __init__(self, *, random: Callable[[], float] | None = None) -> None:
        self._random = random
        self._allowance = float("inf")  # never refused yet
        self.cap = MOST_IN_FLIGHT
        """Of the call that went last."""
        self._last_cut = 0
        """Number of the newest call at the last cut: what is not newer was sent before anyone knew."""
        self._cut_before = 0
        self._refusals = 0
        """Rounds of refusals in a row in which nothing was answered."""
        self.paused_until = float("-inf")

    @property
    def allowance(self) -> float:
        """How many calls may be in flight: what the last call set, or less since the server was busy."""
        return min(self._allowance, self.cap)

    def places(self, cap: int) -> int:
        """How many calls may be in flight for one whose own cap this is."""
        return cap if self._allowance >= cap else floor(self._allowance)

    def answered(self, *, cap: int, number: int) -> None:
        """A call was answered."""
        if self._allowance < cap:
            self._allowance = min(self._allowance + 1 / self._allowance, float(cap))
        if number > self._cut_before:  # of the last round, or newer: the server takes some
            self._refusals = 0

    def refused(self, now: float, *, retry_after: float | None, cap: int, number: int, newest: int) -> bool:
        """A call was refused; *newest* is the number of the last one that went. Whether that is news."""
        news = number > self._last_cut
        if news:
            self._cut_before, self._last_cut = self._last_cut, newest
            self._allowance = max(1.0, min(self._allowance, cap) * _CUT)
            self._refusals += 1
        if retry_after is not None and isfinite(retry_after) and retry_after > 0:
            self.paused_until = max(self.paused_until, now + retry_after)
        elif news:
            self.paused_until = max(self.paused_until, now + self._pause())
        return news

    def _pause(self) -> float:
        """Twice as long with each round, and a little more, by chance, so that processes do not come back together."""
        if self._random is None:
            from random import random

            self._random = random
        longer = 1 + _JITTER * self._random()
        return min(_FIRST_PAUSE * 2.0 ** min(self._refusals - 1, 10) * longer, _LONGEST_PAUSE)
