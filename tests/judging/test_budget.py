"""What a run may spend."""

import pytest

from proctor.data.usage import Cost, Usage
from proctor.errors import UnknownName, UsageError
from proctor.judging.budget import Budget, as_budget
from proctor.judging.cache import CacheNotes
from proctor.judging.call_cache import NO_CACHE
from proctor.judging.run_calls import CallsStopped, RunCalls


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (None, None),
        (5, Budget(usd=5)),
        (0.001, Budget(usd=0.001)),
        ({"tokens": 10}, Budget(tokens=10)),
        ({"usd": 1, "tokens": 10}, Budget(usd=1, tokens=10)),
        (Budget(tokens=3), Budget(tokens=3)),
    ],
)
def test_a_budget_is_given_as(given, meant):
    assert as_budget(given) == meant


@pytest.mark.parametrize("given", [0, -1, True, "5", float("nan"), float("inf"), {"usd": 0}, {"tokens": 0.5}, {}, []])
def test_what_is_no_budget_is_refused(given):
    with pytest.raises(UsageError, match=r"budget|Budget"):
        as_budget(given)


def test_an_unknown_part_is_named():
    with pytest.raises(UnknownName, match="Did you mean 'tokens'"):
        as_budget({"token": 5})


def calls(budget):
    reasons = []
    return RunCalls(NO_CACHE, CacheNotes(), budget=budget, on_stop=reasons.append), reasons


def test_reaching_it_stops_the_calls_once():
    run, reasons = calls(Budget(usd=0.10))
    run.spend(None, Cost(amount=0.06))
    run.check()
    run.spend(None, Cost(amount=0.04))
    run.spend(None, Cost(amount=0.04))
    assert reasons == ["budget: $0.10 are spent ($0.1000)"]
    with pytest.raises(CallsStopped, match="not asked: the run was stopped"):
        run.check()


def test_tokens_count_as_far_as_they_are_reported():
    run, reasons = calls(Budget(tokens=100))
    run.spend(None, None)
    run.spend(Usage(input_tokens=90, output_tokens=9), None)
    assert reasons == []
    run.spend(Usage(total_tokens=1), None)
    assert reasons == ["budget: 100 tokens are spent (100)"]


def test_money_of_another_unit_is_not_counted_as_dollars():
    run, reasons = calls(Budget(usd=1))
    run.spend(None, Cost(amount=50, unit="EUR"))
    assert (run.cost, reasons) == (0, [])


def test_the_first_reason_stands():
    run, reasons = calls(None)
    run.stop("one")
    run.stop("two")
    assert (run.stopped, reasons) == ("one", ["one"])
