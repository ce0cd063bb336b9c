"""What judges did and took, summed up over the outcomes of a column or of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from proctor.data.judge import JudgeExecution, JudgeTotals
from proctor.data.outcome import Outcome
from proctor.data.usage import Cost, Usage
from proctor.stats.exact import ExactSum

__all__ = ["Spending", "total_cost"]

_COUNTS = ("executions", "outcomes", "failed", "cached", "truncated", "repaired", "requests", "calls", "unpriced")


class Spending:
    """Counts executions as they come, in any order; sums of money and time are exact."""

    __slots__ = ("costs", "counts", "ms", "usage", "waited_ms")

    def __init__(self) -> None:
        self.counts = dict.fromkeys(_COUNTS, 0)
        self.usage: Usage | None = None
        self.costs: dict[tuple[str, str], ExactSum] = {}
        self.ms, self.waited_ms = ExactSum(), ExactSum()

    def add(self, outcome: Outcome) -> None:
        """Count what an outcome's judges did, whatever its status."""
        self.counts["outcomes"] += any(record.executions for record in outcome.judge.values())
        for record in outcome.judge.values():
            for execution in record.executions:
                self._count(execution)

    def _count(self, execution: JudgeExecution) -> None:
        counts = self.counts
        counts["executions"] += 1
        counts["failed"] += execution.status == "failed"
        counts["cached"] += execution.cached
        counts["truncated"] += execution.truncated
        counts["repaired"] += execution.repaired
        if execution.cached:
            return  # what it took was spent, and counted, by the call that was made
        counts["calls"] += execution.model_call_count
        counts["requests"] += max(execution.attempt_count + execution.retry_count, execution.model_call_count)
        self.ms.add(execution.duration_ms or 0.0)
        self.waited_ms.add(execution.waited_ms)
        if execution.usage is not None:
            self.usage = execution.usage if self.usage is None else self.usage + execution.usage
        if execution.cost is not None:
            self.costs.setdefault((execution.cost.unit, execution.cost.source), ExactSum()).add(execution.cost.amount)
        elif execution.model_call_count:
            counts["unpriced"] += 1

    @property
    def totals(self) -> JudgeTotals | None:
        """The sums; None when no judge was asked."""
        if not self.counts["executions"]:
            return None
        return JudgeTotals(
            usage=self.usage,
            cost=total_cost(self.costs),
            duration_ms=self.ms.value,
            waited_ms=self.waited_ms.value,
            **self.counts,
        )

    def copy(self) -> Spending:
        """The same counts, to be counted on by themselves."""
        return Spending.together([self])

    @classmethod
    def together(cls, parts: Iterable[Spending]) -> Spending:
        """The sum of several."""
        made = cls()
        for part in parts:
            for name, count in part.counts.items():
                made.counts[name] += count
            if part.usage is not None:
                made.usage = part.usage if made.usage is None else made.usage + part.usage
            for of, total in part.costs.items():
                made.costs.setdefault(of, ExactSum()).merge(total)
            made.ms.merge(part.ms)
            made.waited_ms.merge(part.waited_ms)
        return made


def total_cost(costs: Mapping[tuple[str, str], ExactSum]) -> Cost | None:
    """Sums by (unit, source) as one cost; None when there is none, or when they are in several units."""
    units = {unit for unit, _ in costs}
    if len(units) != 1:
        return None
    total = ExactSum()
    for part in costs.values():
        total.merge(part)
    return Cost(amount=total.value, unit=units.pop(), source=", ".join(sorted({source for _, source in costs})))
