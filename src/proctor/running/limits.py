"""What a run will not go on trying."""

from __future__ import annotations

from proctor.data.outcome import Failure, Outcome
from proctor.running.columns import Cell

__all__ = ["MOST_ABANDONED", "Strikes"]

MOST_ABANDONED = 3
"""How often a scorer, or a target that holds a thread, may run out of time before it is not started again."""


class Strikes:
    """Counts the timeouts of each scorer, wherever it stands; after three it is not started again in this run."""

    def __init__(self) -> None:
        self._timeouts: dict[str, int] = {}

    def refuse(self, cell: Cell) -> Outcome | None:
        """The outcome of a scorer that has had its chances; None for one that may run."""
        if not self._timeouts or self._timeouts.get(cell.column.key, 0) < MOST_ABANDONED:
            return None
        message = f"not started: it ran out of time on {MOST_ABANDONED} items before this one"
        return Outcome(cell.column, "error", cause=Failure(type="TimeoutError", message=message, code="TIMEOUT"))

    def note(self, outcome: Outcome) -> None:
        """Count the outcome of a scorer that ran."""
        if outcome.status == "error" and outcome.error is not None and outcome.error.code == "TIMEOUT":
            self._timeouts[outcome.column.key] = self._timeouts.get(outcome.column.key, 0) + 1
