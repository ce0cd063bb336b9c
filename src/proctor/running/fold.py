"""Rows into columns: what is counted of each outcome as it comes, so that nothing needs to be read twice."""

from __future__ import annotations

from collections.abc import Iterable

from proctor.data.column import Column
from proctor.data.outcome import Outcome
from proctor.data.reply import ItemResult
from proctor.data.result import NotScorableCounts
from proctor.data.threshold import TOLERANCE
from proctor.data.usage import Cost, Usage
from proctor.running.plan import Cell
from proctor.stats.exact import ExactSum

__all__ = ["ColumnFold", "Fold"]


class ColumnFold:
    """The counts of one column, and its first outcomes of each bad kind, for the sentence."""

    __slots__ = (
        "cell", "duration_ms", "errors", "first", "n", "not_run", "not_scorable", "of", "short", "sum", "top",
    )  # fmt: skip

    def __init__(self, cell: Cell) -> None:
        self.cell = cell
        self.top = cell.scorer.range[1] - TOLERANCE
        self.sum = ExactSum()
        self.of = self.n = self.errors = self.not_scorable = self.not_run = self.short = 0
        self.duration_ms = 0.0
        self.first: dict[str, tuple[str, Outcome]] = {}

    def add(self, item_id: str, outcome: Outcome) -> None:
        """Count one outcome."""
        self.of += 1
        self.duration_ms += outcome.duration_ms or 0.0
        status = outcome.status
        if status == "scored":
            score = outcome.score or 0.0
            self.n += 1
            self.sum.add(score)
            if score >= self.top:
                return
            self.short += 1
            status_word = "short"
        elif status == "error":
            self.errors += 1
            status_word = "error"
        elif status == "not_scorable":
            self.not_scorable += 1
            status_word = "declined"
        else:
            self.not_run += 1
            status_word = "not_run"
        if status_word not in self.first:
            self.first[status_word] = (item_id, outcome)

    @property
    def mean(self) -> float | None:
        """The exact mean, rounded once; None when nothing was scored."""
        return self.sum.value / self.n if self.n else None


class Fold:
    """All columns of a run, and the counts of the run itself."""

    def __init__(self, cells: Iterable[Cell]) -> None:
        self.columns: dict[Column, ColumnFold] = {cell.column: ColumnFold(cell) for cell in cells}
        self.items = 0
        self.item_errors = 0
        self.usage: Usage | None = None
        self._cost = ExactSum()
        self._cost_of: Cost | None = None

    def add(self, result: ItemResult) -> None:
        """Count one row."""
        self.items += 1
        self.item_errors += result.status == "error"
        columns = self.columns
        for outcomes in (result.gates, result.scorers):
            for outcome in outcomes:
                columns[outcome.column].add(result.item_id, outcome)
        for reply in result.replies:
            if reply.usage is not None:
                self.usage = reply.usage if self.usage is None else self.usage + reply.usage
            if reply.cost is not None:
                self._cost.add(reply.cost.amount)
                self._cost_of = reply.cost

    @property
    def cost(self) -> Cost | None:
        """What the replies that state a cost cost in all; None when none does."""
        first = self._cost_of
        return None if first is None else Cost(amount=self._cost.value, unit=first.unit, source=first.source)

    def not_scorable(self) -> NotScorableCounts:
        """Who declined how often."""
        counts = {c.label: fold.not_scorable for c, fold in self.columns.items() if fold.not_scorable}
        by_id: dict[str, int] = {}
        for column, fold in self.columns.items():
            if fold.not_scorable:
                by_id[column.scorer_id] = by_id.get(column.scorer_id, 0) + fold.not_scorable
        return NotScorableCounts(counts, by_id)
