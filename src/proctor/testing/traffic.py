"""What a model server has counted, and how many requests it lets in."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic
from typing import Any

from proctor.data.value import Value

__all__ = ["Traffic", "Window"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Window(Value):
    """One second of a server. *second*: its number since the server began; the requests let in, and those refused."""

    second: int
    admitted: int = 0
    refused: int = 0


class Traffic:
    """The requests of a server. *rate*: how many are let in within one second, counted from its start; None for all.

    *served*: answers sent whole, with status 200. *refused*: requests above the rate. *failed*: all other answers, and
    those that the client did not wait for. *most_in_flight*: how many requests it had at once. *busy_seconds*: how long
    it had any. *connections*: how many were opened.
    """

    def __init__(self, rate: int | None) -> None:
        self.rate = rate
        self.served = 0
        self.refused = 0
        self.failed = 0
        self.connections = 0
        self.in_flight = 0
        self.most_in_flight = 0
        self.busy_seconds = 0.0
        self._began = 0.0
        self._busy_since = 0.0
        self._windows: dict[int, list[int]] = {}

    def begin(self) -> None:
        """The server listens: its first second begins."""
        self._began = monotonic()

    def admit(self) -> float | None:
        """Let a request in: None; or the seconds until the next window, when this one is full."""
        now = monotonic() - self._began
        counts = self._windows.setdefault(int(now), [0, 0])
        if self.rate is not None and counts[0] >= self.rate:
            counts[1] += 1
            self.refused += 1
            return int(now) + 1 - now
        counts[0] += 1
        return None

    def enter(self) -> None:
        """A request has come."""
        if not self.in_flight:
            self._busy_since = monotonic()
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)

    def leave(self, *, served: bool) -> None:
        """It is answered, or given up."""
        self.in_flight -= 1
        self.served += served
        self.failed += not served
        if not self.in_flight:
            self.busy_seconds += monotonic() - self._busy_since

    @property
    def windows(self) -> list[Window]:
        """Every second from the first request to the last, those without any, too."""
        counts = dict(self._windows)
        if not counts:
            return []
        seconds = range(min(counts), max(counts) + 1)
        found = [(second, *counts.get(second, (0, 0))) for second in seconds]
        return [Window(second=second, admitted=admitted, refused=refused) for second, admitted, refused in found]

    @property
    def busy(self) -> float | None:
        """How much of the rate was used, 0 to 1, over the full seconds: without the first and the last, which the
        requests did not fill. None without a rate, or when there are no such seconds.
        """
        full = self.windows[1:-1]
        if self.rate is None or not full:
            return None
        return sum(window.admitted for window in full) / (self.rate * len(full))

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return {
            "rate": self.rate,
            "served": self.served,
            "refused": self.refused,
            "failed": self.failed,
            "connections": self.connections,
            "most_in_flight": self.most_in_flight,
            "busy_seconds": round(self.busy_seconds, 3),
            "busy": self.busy,
            "windows": [[window.second, window.admitted, window.refused] for window in self.windows],
        }
