"""What a run has come to so far: rows counted as they end, kept if rows like them are, and summed up at any time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from proctor.data.mean import Mean
from proctor.data.outcome import NotRun
from proctor.data.reply import ItemResult
from proctor.data.result import Summary
from proctor.data.tags import TagMeans
from proctor.running.fold import Fold
from proctor.running.plan import Plan
from proctor.running.progress import Progress
from proctor.running.record import Known
from proctor.running.tags import TagFolds
from proctor.running.verdict import column_mean

__all__ = ["Tally"]


STOPPED = NotRun("stopped")


class Taken(NamedTuple):
    """How a row that was counted ended: whether it fell short, and whether something in it broke."""

    failed: bool
    broke: bool


class Tally:
    """The counts of a plan's rows. *progress*: the same while the run goes on.

    *cut_short*: whether the run was stopped within a row.
    """

    def __init__(self, plan: Plan) -> None:
        evaluation = plan.evaluation
        self.progress = Progress(plan.total)
        self._keep = evaluation.keep
        self._allow_unscored = evaluation.allow_unscored_gates
        self._fold = Fold(plan.maker.columns, repeats=evaluation.repeats)
        self._tags = TagFolds(plan.maker.columns, self._fold, repeats=evaluation.repeats)
        self._kept: dict[tuple[int, int], ItemResult] = {}
        self._elsewhere: Sequence[ItemResult] | None = None
        self._failures = self._declined = 0
        self.cut_short = False

    def begin(self, known: Known) -> None:
        """Take in what a recorder says of the run: whether it keeps the rows, and who paid for the replies."""
        if self._keep == "all":
            self._elsewhere = known.rows
        self._fold.paid_before = known.paid_before

    def take(self, result: ItemResult) -> Taken:
        """Count a row, and keep it if rows like it are kept."""
        self._tags.add(result)
        failed = self._fold.add(result)
        statuses = [outcome.status for outcome in result.outcomes]
        if "not_run" in statuses and result.status == "done":
            self.cut_short |= any(it.cause == STOPPED for it in result.outcomes)
        broke = result.status == "error" or "error" in statuses
        progress = self.progress
        progress.done += result.status != "not_run"
        progress.failed += failed
        progress.errors += broke
        progress.not_scorable += statuses.count("not_scorable")
        if any(reply.cost is not None for reply in result.replies):
            progress.cost = self._fold.cost
        keeps_all = self._keep == "all" and self._elsewhere is None
        if keeps_all or (self._keep == "failures" and (failed or broke)):
            self._kept[result.index, result.repeat] = result
        self._failures += failed or broke
        self._declined += "not_scorable" in statuses
        return Taken(failed, broke)

    @property
    def rows(self) -> Sequence[ItemResult]:
        """The rows that are kept, in the order of the input: here, or where they were recorded."""
        if self._elsewhere is not None:
            return self._elsewhere
        return tuple(result for _, result in sorted(self._kept.items()))

    def means(self, *, whole: bool) -> tuple[Mean, ...]:
        """The means of all columns, in the order of reports. *whole*: whether every row is counted."""
        columns = self._fold.in_order()
        return tuple(column_mean(column, allow_unscored_gates=self._allow_unscored, whole=whole) for column in columns)

    def tag_means(self) -> tuple[TagMeans, ...]:
        """The same for each tag."""
        return self._tags.means()

    def summary(self, *, started_at: str | None, duration_ms: float, plan: Plan, notes: Sequence[str]) -> Summary:
        """The run in numbers. *notes*: besides those of the sums."""
        fold = self._fold
        return Summary(
            items=fold.items,
            planned=plan.total,
            errors=fold.item_errors,
            failures=self._failures,
            outcome_errors=sum(column.errors for column in fold.columns.values()),
            declined=self._declined,
            not_scorable=fold.not_scorable(),
            usage=fold.usage,
            cost=fold.cost,
            judge=fold.judge,
            started_at=started_at,
            duration_ms=duration_ms,
            provenance=plan.provenance,
            notes=(*notes, *fold.notes, *self._tags.notes),
        )
