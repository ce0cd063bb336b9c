"""When a call may go, by what went in the last minute. Nothing here waits, or knows the time: it is told.

Calls are spaced evenly. A call that goes late does not delay those after it: for as long as `CATCH_UP` they follow
closer, so that late timers cost no throughput. The two windows hold besides, wherever they begin: one second has no
more calls than its share, one minute no more than its number.
"""

from __future__ import annotations

from collections import deque
from math import ceil, floor
from typing import Final

__all__ = ["CATCH_UP", "LONGEST_SECOND", "MINUTE", "SECOND", "Sent", "Windows"]

MINUTE: Final = 60.1
SECOND: Final = 1.02
LONGEST_SECOND: Final = 1.04
"""All a little long: two calls take unequal time to the server, which counts them as they come."""
CATCH_UP: Final = 0.25
"""Seconds of lateness that are made good. It is also what may go at once after a pause: a quarter second's share."""


class Sent:
    """One call that went: when, and the tokens that it takes. Told apart by identity."""

    __slots__ = ("at", "counted", "tokens")

    def __init__(self, at: float, tokens: float) -> None:
        self.at = at
        self.tokens = tokens
        self.counted = True


class Windows:
    """The calls of the last minute, in the order in which they went. Each call is held to limits of its own."""

    __slots__ = ("_last", "_second", "_sent", "_slot", "_tokens")

    def __init__(self) -> None:
        self._sent: deque[Sent] = deque()
        self._last = float("-inf")
        self._slot = float("-inf")
        """When the last call should have gone: at most `CATCH_UP` before it went."""
        self._second = SECOND
        self._tokens = 0.0

    @property
    def requests(self) -> int:
        """How many calls are counted."""
        return len(self._sent)

    @property
    def tokens(self) -> float:
        """How many tokens are counted."""
        return self._tokens

    def ready_at(
        self, now: float, *, tokens: float, per_minute: float | None, tokens_per_minute: float | None
    ) -> float:
        """The earliest moment at which a call keeps these limits; *now* or before: at once."""
        self._forget(now)
        at = now
        if per_minute is not None:
            at = max(at, self._request_at(per_minute))
        if tokens_per_minute is not None:
            at = max(at, self._tokens_at(now, tokens=tokens, per_minute=tokens_per_minute))
        return at

    def send(self, now: float, *, tokens: float, per_minute: float | None) -> Sent:
        """Count a call that goes now."""
        sent = Sent(now, tokens)
        self._sent.append(sent)
        self._tokens += tokens
        self._last = now
        due = now if per_minute is None else self._slot + MINUTE / per_minute
        self._slot = min(now, max(due, now - CATCH_UP))
        return sent

    def correct(self, sent: Sent, *, tokens: float) -> None:
        """The call took other *tokens* than were thought."""
        if sent.counted:
            self._tokens += tokens - sent.tokens
        sent.tokens = tokens

    def take_back(self, sent: Sent) -> None:
        """The call did not go. Its place in the schedule stays empty: a moment lost, and never a call too many."""
        if sent.counted:
            self._sent.remove(sent)
            self._drop(sent)

    def put_off(self, sent: Sent, now: float) -> None:
        """The call goes only now."""
        if sent.counted and now > sent.at:
            if self._sent[-1] is not sent:
                self._sent.remove(sent)
                self._sent.append(sent)
            sent.at = self._last = now
            self._slot = max(self._slot, now - CATCH_UP)

    def widen(self) -> None:
        """The server counted too many in a second that had its share: calls take more unequal time than was thought."""
        self._second = min(self._second + 0.01, LONGEST_SECOND)

    def _request_at(self, per_minute: float) -> float:
        """Once a second or slower, calls keep their distance; faster, they keep the schedule."""
        at = (self._slot if per_minute > 60 else self._last) + MINUTE / per_minute
        for most, window in ((floor(per_minute), MINUTE), (ceil(per_minute / 60), self._second)):
            if 0 < most <= len(self._sent):
                at = max(at, self._sent[-most].at + window)
        return at

    def _tokens_at(self, now: float, *, tokens: float, per_minute: float) -> float:
        """A call that is greater than the whole budget waits until nothing is counted, and no longer."""
        over = self._tokens + min(tokens, per_minute) - per_minute
        if over <= 0:
            return now
        for sent in self._sent:
            over -= sent.tokens
            if over <= 0:
                return sent.at + MINUTE
        return self._sent[-1].at + MINUTE if self._sent else now  # rounding left a crumb

    def _forget(self, now: float) -> None:
        """Drop what is a minute old."""
        while self._sent and self._sent[0].at + MINUTE <= now:
            self._drop(self._sent.popleft())

    def _drop(self, sent: Sent) -> None:
        sent.counted = False
        self._tokens = self._tokens - sent.tokens if self._sent else 0.0
