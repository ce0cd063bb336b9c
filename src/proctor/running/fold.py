"""Rows into columns: what is counted of each outcome as it comes, so that nothing needs to be read twice.

Rows may come in any order; sums are exact, and "the first that failed" is the first in the input.
"""

from __future__ import annotations

from collections.abc import Iterable

from proctor.data.column import Column
from proctor.data.item import item_label
from proctor.data.outcome import Outcome
from proctor.data.reply import ItemResult
from proctor.data.result import NotScorableCounts
from proctor.data.threshold import TOLERANCE
from proctor.data.usage import Cost, Usage
from proctor.running.plan import Cell
from proctor.stats.exact import ExactSum

__all__ = ["ColumnFold", "Fold"]


class ColumnFold:
    """The counts of one column, and its first outcome of each bad kind: `short`, `error`, `not_scorable`, `not_run`.

    *short*: how many scored below the top of the range.
    """

    __slots__ = (
        "cell", "duration_ms", "errors", "first", "n", "not_run", "not_scorable", "of", "short", "sum", "top",
    )  # fmt: skip

    def __init__(self, cell: Cell) -> None:
        self.cell = cell
        self.top = cell.scorer.range[1] - TOLERANCE
        self.sum = ExactSum()
        self.of = self.n = self.errors = self.not_scorable = self.not_run = self.short = 0
        self.duration_ms = ExactSum()
        self.first: dict[str, tuple[int, str, Outcome]] = {}

    def add(self, outcome: Outcome, *, index: int, item: str) -> None:
        """Count one outcome of the item at *index* of the input. *item*: how people call it."""
        self.of += 1
        if outcome.duration_ms is not None:
            self.duration_ms.add(outcome.duration_ms)
        kind: str = outcome.status
        if kind == "scored":
            score = outcome.score
            if score is None:
                raise AssertionError("a scored outcome has a score")
            self.n += 1
            self.sum.add(score)
            if score >= self.top:
                return
            self.short += 1
            kind = "short"
        elif kind == "error":
            self.errors += 1
        elif kind == "not_scorable":
            self.not_scorable += 1
        else:
            self.not_run += 1
            kind = "not_run"
        if kind not in self.first or index < self.first[kind][0]:
            self.first[kind] = (index, item, outcome)

    @property
    def mean(self) -> float | None:
        """The mean of the exact sum; None when nothing was scored."""
        return self.sum.value / self.n if self.n else None


class Fold:
    """All columns of a run, and the counts of the run itself."""

    def __init__(self, cells: Iterable[Cell]) -> None:
        self.columns: dict[Column, ColumnFold] = {cell.column: ColumnFold(cell) for cell in cells}
        self.items = 0
        self.item_errors = 0
        self.usage: Usage | None = None
        self._costs: dict[tuple[str, str], ExactSum] = {}

    def add(self, result: ItemResult, *, index: int) -> None:
        """Count one row, the item at *index* of the input."""
        self.items += 1
        self.item_errors += result.status == "error"
        label = item_label(result.item, item_id=result.item_id, index=index)
        for outcome in result.outcomes:
            self.columns[outcome.column].add(outcome, index=index, item=label)
        for reply in result.replies:
            if reply.usage is not None:
                self.usage = reply.usage if self.usage is None else self.usage + reply.usage
            if reply.cost is not None:
                self._costs.setdefault((reply.cost.unit, reply.cost.source), ExactSum()).add(reply.cost.amount)

    @property
    def cost(self) -> Cost | None:
        """What the replies that state a cost cost in all; None when none does, or when they do so in several units."""
        units = {unit for unit, _ in self._costs}
        if len(units) != 1:
            return None
        total = ExactSum()
        for part in self._costs.values():
            total.add(part.value)
        sources = ", ".join(sorted({source for _, source in self._costs}))
        return Cost(amount=total.value, unit=units.pop(), source=sources)

    @property
    def notes(self) -> list[str]:
        """What a reader of the sums should know."""
        units = sorted({unit for unit, _ in self._costs})
        return [f"costs are in several units ({', '.join(units)}) and not added up"] if len(units) > 1 else []

    def not_scorable(self) -> NotScorableCounts:
        """Who declined how often."""
        by_label: dict[str, int] = {}
        by_id: dict[str, int] = {}
        for column, fold in self.columns.items():
            if fold.not_scorable:
                by_label[column.label] = by_label.get(column.label, 0) + fold.not_scorable
                by_id[column.scorer_id] = by_id.get(column.scorer_id, 0) + fold.not_scorable
        return NotScorableCounts(by_label, by_id)
