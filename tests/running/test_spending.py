"""What judges took, summed up."""

from proctor.data.column import Column
from proctor.data.judge import JudgeExecution, JudgeRecord, JudgeTotals
from proctor.data.outcome import Outcome, RunSnapshot
from proctor.data.usage import Cost, Usage
from proctor.running.spending import Spending

COLUMN = Column("scorer", None, "k", "id")


def outcome(*executions):
    made = [JudgeExecution(**({"status": "success", "prompt": "?"} | given)) for given in executions]
    judge = {f"step {n}": JudgeRecord((one,)) for n, one in enumerate(made)}
    return Outcome(COLUMN, "scored", 1.0, evidence=RunSnapshot(judge=judge))


def totals(*outcomes):
    spending = Spending()
    for one in outcomes:
        spending.add(one)
    return spending.totals


def test_without_judges_there_are_none():
    assert totals() is None
    assert totals(Outcome(COLUMN, "scored", 1.0)) is None


def test_everything_that_was_taken_is_added_up_failures_too():
    found = totals(
        outcome({"usage": Usage(input_tokens=3), "cost": Cost(amount=0.25, source="list"), "duration_ms": 10}),
        outcome({"usage": Usage(output_tokens=4), "cost": Cost(amount=0.5, source="list"), "model_call_count": 2}),
        outcome({"status": "failed", "usage": Usage(output_tokens=1), "cost": Cost(amount=1, source="provider")}),
    )
    assert found == JudgeTotals(
        executions=3,
        outcomes=3,
        failed=1,
        requests=4,
        calls=4,
        usage=Usage(input_tokens=3, output_tokens=5),
        cost=Cost(amount=1.75, source="list, provider"),
        duration_ms=10,
    )


def test_what_the_cache_gave_was_spent_by_the_call_that_was_made():
    kept = {"usage": Usage(input_tokens=3), "cost": Cost(amount=0.1), "duration_ms": 10}
    found = totals(outcome(kept), outcome({**kept, "cached": True}))
    assert (found.executions, found.cached, found.calls) == (2, 1, 1)
    assert (found.usage, found.cost, found.duration_ms) == (Usage(input_tokens=3), Cost(amount=0.1), 10)


def test_an_unknown_price_is_counted_and_no_zero():
    found = totals(outcome({"usage": Usage(input_tokens=3)}), outcome({"cost": Cost(amount=0.1)}))
    assert (found.cost, found.unpriced) == (Cost(amount=0.1), 1)
    assert totals(outcome({})).cost is None


def test_a_step_that_made_no_call_has_no_price_to_know():
    assert totals(outcome({"status": "failed", "model_call_count": 0})).unpriced == 0


def test_costs_of_several_units_are_not_added_up():
    assert totals(outcome({"cost": Cost(amount=1)}), outcome({"cost": Cost(amount=1, unit="EUR")})).cost is None


def test_sums_are_the_same_however_they_are_split():
    outcomes = [outcome({"cost": Cost(amount=0.1), "duration_ms": 0.1, "repaired": n % 2 == 0}) for n in range(10)]
    parts = [Spending(), Spending(), Spending()]
    for n, one in enumerate(outcomes):
        parts[n % 3].add(one)
    assert Spending.together(parts).totals == totals(*outcomes)
    copied = parts[0].copy()
    copied.add(outcomes[0])
    assert parts[0].totals.executions + 1 == copied.totals.executions
