"""Rows into columns: what is counted of each outcome as it comes, so that nothing needs to be read twice.

Rows may come in any order; sums are exact, and "the first that failed" is the first in the input. With repeats a
column's mean is the mean over items of each item's mean; the counts are of rows.
"""

from __future__ import annotations

from collections import Counter
from copy import copy
from math import fsum

from proctor.data.column import Column
from proctor.data.item import item_label
from proctor.data.judge import JudgeTotals
from proctor.data.outcome import NotRun, Outcome
from proctor.data.reply import ItemResult
from proctor.data.result import NotScorableCounts
from proctor.data.threshold import least_at
from proctor.data.usage import Cost, Usage
from proctor.errors import cut
from proctor.running.columns import Cell, Columns
from proctor.running.spending import Spending, total_cost
from proctor.stats.exact import ExactSum

__all__ = ["ColumnFold", "Fold"]

_MOST_REASONS = 200  # for which declines are counted; a reason that names its item is another each time
_LONGEST_REASON = 160


class ColumnFold:
    """The counts of one column, and its first outcome of each kind: `short`, `error`, `not_scorable`, `not_run`.

    *short*: how many scored below the top of the range; *no_reply*: not run because the target failed.
    """

    __slots__ = (
        "_begun", "_ended", "_repeats", "_sum", "cell", "declines", "duration_ms", "errors", "first", "judge", "n",
        "no_reply", "not_run", "not_scorable", "of", "short", "top",
    )  # fmt: skip

    def __init__(self, cell: Cell, *, repeats: int = 1) -> None:
        self.cell = cell
        self.top = least_at(cell.scorer.range[1])
        self.of = self.n = self.errors = self.not_scorable = self.not_run = self.no_reply = self.short = 0
        self.duration_ms = ExactSum()
        self.judge: Spending | None = None
        self.declines: Counter[str] = Counter()
        self.first: dict[str, tuple[tuple[int, int], str, Outcome]] = {}
        self._repeats = repeats
        self._ended = 0  # items with a mean that is not to change
        self._sum = ExactSum()
        self._begun: dict[int, tuple[int, list[float]]] = {}  # items with repeats to come: how many ended, their scores

    def add(self, outcome: Outcome, *, index: int, item: str, repeat: int = 0) -> bool:
        """Count one outcome of the item at *index* of the input. *item*: how people call it.

        Gives whether it fell short: of the top in a gate, of the bounds under a threshold.
        """
        self.of += 1
        if outcome.duration_ms is not None:
            self.duration_ms.add(outcome.duration_ms)
        if outcome.evidence is not None and outcome.evidence.judge:
            self.judge = self.judge or Spending()
            self.judge.add(outcome)
        kind: str = outcome.status
        score = outcome.score if kind == "scored" else None
        if self._repeats == 1:
            if score is not None:
                self._ended += 1
                self._sum.add(score)
        else:
            self._repeat(index, score)
        if score is not None:
            self.n += 1
            if score >= self.top:
                return self.cell.misses(score)
            self.short += 1
            kind = "short"
        elif kind == "error":
            self.errors += 1
        elif kind == "not_scorable":
            self.not_scorable += 1
            reason = cut(outcome.reason or "", _LONGEST_REASON)
            if reason in self.declines or len(self.declines) < _MOST_REASONS:
                self.declines[reason] += 1
        else:
            self.not_run += 1
            self.no_reply += isinstance(outcome.cause, NotRun) and outcome.cause.why == "target_failed"
            kind = "not_run"
        place = (index, repeat)
        if kind not in self.first or place < self.first[kind][0]:
            self.first[kind] = (place, item, outcome)
        return score is not None and self.cell.misses(score)

    def _repeat(self, index: int, score: float | None) -> None:
        ended, scores = self._begun.pop(index, (0, []))
        if score is not None:
            scores.append(score)
        if ended + 1 < self._repeats:
            self._begun[index] = (ended + 1, scores)
        elif scores:
            self._ended += 1
            self._sum.add(fsum(scores) / len(scores))

    def copy(self) -> ColumnFold:
        """The same counts, to be counted on by themselves."""
        made = copy(self)
        made.duration_ms, made.first = self.duration_ms.copy(), dict(self.first)
        made.declines = self.declines.copy()
        made.judge = None if self.judge is None else self.judge.copy()
        made._sum = self._sum.copy()  # noqa: SLF001 - it is one of these
        made._begun = {at: (ended, list(scores)) for at, (ended, scores) in self._begun.items()}  # noqa: SLF001
        return made

    @property
    def unit(self) -> str:
        """What the counts count: each repeat of an item is a run."""
        return "item" if self._repeats == 1 else "run"

    @property
    def items(self) -> int:
        """How many items have a mean, those with repeats to come too."""
        return self._ended + sum(bool(scores) for _, scores in self._begun.values())

    @property
    def mean(self) -> float | None:
        """The mean of the exact sum over items; None when nothing was scored."""
        begun = [fsum(scores) / len(scores) for _, scores in self._begun.values() if scores]
        items = self._ended + len(begun)
        return fsum([self._sum.value, *begun]) / items if items else None


class Fold:
    """All columns of a run, and the counts of the run itself. *paid_before*: another run has counted the replies."""

    def __init__(self, columns: Columns, *, repeats: int = 1) -> None:
        self._columns = columns
        self._repeats = repeats
        self.columns: dict[Column, ColumnFold] = {}
        self._catch_up()
        self.items = 0
        self.item_errors = 0
        self.usage: Usage | None = None
        self._costs: dict[tuple[str, str], ExactSum] = {}
        self.paid_before = False

    def _catch_up(self) -> None:
        for column, cell in self._columns.cells.items():
            if column not in self.columns:
                self.columns[column] = ColumnFold(cell, repeats=self._repeats)

    def in_order(self) -> list[ColumnFold]:
        """The columns in the order of reports."""
        self._catch_up()
        return [self.columns[cell.column] for cell in self._columns.in_order()]

    def add(self, result: ItemResult) -> bool:
        """Count one row. Gives whether a gate or threshold fell short in it."""
        index = result.index
        if len(self.columns) < len(self._columns.cells):
            self._catch_up()
        self.items += 1
        self.item_errors += result.status == "error"
        label = item_label(result.item, item_id=result.item_id, index=index)
        short = False
        for outcome in result.outcomes:
            short |= self.columns[outcome.column].add(outcome, index=index, item=label, repeat=result.repeat)
        for reply in () if self.paid_before else result.replies:
            if reply.usage is not None:
                self.usage = reply.usage if self.usage is None else self.usage + reply.usage
            if reply.cost is not None:
                self._costs.setdefault((reply.cost.unit, reply.cost.source), ExactSum()).add(reply.cost.amount)
        return short

    @property
    def cost(self) -> Cost | None:
        """What the replies that state a cost cost in all; None when none does, or when they do so in several units."""
        return total_cost(self._costs)

    @property
    def judge(self) -> JudgeTotals | None:
        """What all judges did and took; None when none was asked."""
        return Spending.together(fold.judge for fold in self.columns.values() if fold.judge is not None).totals

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
