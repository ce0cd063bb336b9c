"""How far a run is, for whoever shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from proctor.data.usage import Cost

__all__ = ["Progress"]


class Progress:
    """How far a run is, while it goes on.

    *total*: rows in all, None for a stream. *done*, *failed* (a gate or threshold fell short), *errors* (the target or
    a scorer failed): rows. *not_scorable*: outcomes. *in_flight*: what is being worked at, since when (`perf_counter`).
    *cost*: of the replies so far, as in `Summary.cost`.
    """

    __slots__ = ("cost", "done", "errors", "failed", "in_flight", "not_scorable", "total")

    def __init__(self, total: int | None) -> None:
        self.total = total
        self.done = self.failed = self.errors = self.not_scorable = 0
        self.cost: Cost | None = None
        self.in_flight: dict[str, float] = {}
