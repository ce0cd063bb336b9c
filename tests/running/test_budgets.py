"""A run ends when its models took what it may spend, and goes on from there."""

from dataclasses import replace
from time import perf_counter

import pytest

from proctor import Eval, Store, checks, resume_sync, run_evals_sync
from proctor.data.outcome import NotRun
from proctor.data.reply import Reply
from proctor.data.usage import Cost, Usage
from proctor.errors import UsageError
from proctor.judging.budget import Budget
from tests.running.judged import charging, fair

SAVED = [{"id": name, "output": name} for name in "abcd"]


def statuses(result):
    return [item.scorers[0].status for item in result.items]


@pytest.mark.parametrize(
    ("budget", "reason"),
    [
        (2, "budget: $2.00 are spent ($2.0000)"),
        (Budget(usd=1.5), "budget: $1.50 are spent ($2.0000)"),
        (Budget(tokens=200), "budget: 200 tokens are spent (200)"),
        ({"usd": 50, "tokens": 101}, "budget: 101 tokens are spent (200)"),
    ],
)
def test_reaching_it_ends_the_run(budget, reason):
    model = charging()
    result = run_evals_sync(data=SAVED, scorers=[(fair(model), 0.5)], budget=budget)
    assert (result.status, result.stopped_by, len(model.calls)) == ("stopped", reason, 2)
    assert statuses(result) == ["scored", "scored", "not_run", "not_run"]
    assert result.exit_code() == 4
    assert reason in str(result)


def test_reached_on_the_last_call_the_run_is_complete():
    model = charging()
    result = run_evals_sync(data=SAVED, scorers=[(fair(model), 0.5)], budget=4)
    assert (result.status, result.stopped_by, result.exit_code()) == ("complete", None, 0)
    assert statuses(result) == ["scored"] * 4


def test_within_a_row_what_is_left_of_it_is_not_run():
    model = charging()
    scorers = [fair(model, reasons=True), checks.includes("a")]
    result = run_evals_sync(data=SAVED[:1], scorers=scorers, budget=1)
    assert (result.status, len(model.calls)) == ("stopped", 1)
    cut, whole = result.items[0].scorers
    assert (cut.status, cut.cause, cut.score) == ("not_run", NotRun("stopped"), None)
    assert (whole.status, whole.score) == ("scored", 1.0)


def test_what_was_not_asked_is_no_failure_of_a_judge():
    result = run_evals_sync(data=SAVED[:1], scorers=[fair(charging(), reasons=True)], budget=1)
    outcome = result.items[0].scorers[0]
    assert list(outcome.judge) == ["generate_score"]
    assert (result.means[0].judge.executions, result.means[0].judge.failed) == (1, 0)


def test_what_the_target_says_it_took_counts():
    class Agent:
        durable = remembers = may_hang = False

        async def reply(self, call):
            return Reply(output=call.input, usage=Usage(total_tokens=30), cost=Cost(amount=0.4))

    data = [{"id": name, "input": name} for name in "abcd"]
    result = run_evals_sync(data=data, target=Agent(), scorers=[checks.includes("a")], budget=0.8)
    assert result.stopped_by == "budget: $0.80 are spent ($0.8000)"
    assert [item.status for item in result.items] == ["done", "done", "not_run", "not_run"]
    model = charging(0.4, tokens=20)
    result = run_evals_sync(data=data, target=Agent(), scorers=[fair(model)], budget={"tokens": 80})
    assert result.stopped_by == "budget: 80 tokens are spent (80)"
    assert [len(model.calls), *statuses(result)] == [1, "scored", "not_run", "not_run", "not_run"]


def test_answers_from_the_cache_take_nothing(tmp_path):
    where = tmp_path / "runs.db"
    model = charging()
    whole = run_evals_sync(data=SAVED, scorers=[fair(model)], store=where)
    again = run_evals_sync(data=SAVED, scorers=[fair(model)], store=where, budget=1)
    assert (whole.status, again.status, len(model.calls)) == ("complete", "complete", 4)


def test_what_is_in_flight_is_ended_and_counted():
    model = charging()
    result = run_evals_sync(data=SAVED, scorers=[fair(model)], budget=1, concurrency=3)
    assert statuses(result).count("scored") == len(model.calls) <= 3


@pytest.mark.slow
@pytest.mark.parametrize("budget", [1, 2, 3, 5])
def test_a_run_goes_on_and_nothing_is_paid_for_twice(tmp_path, budget):
    model = charging()
    evaluation = Eval(
        name="desk", data=SAVED, scorers=[(fair(model, reasons=True), 0.5)], store=tmp_path / "runs.db", budget=budget
    )
    result = run_evals_sync(evaluation)
    for _ in range(10):
        if result.status == "complete":
            break
        assert result.exit_code() == 4
        result = resume_sync("latest", evaluation)
    assert (result.status, result.exit_code()) == ("complete", 0)
    assert len(model.calls) == 8
    assert statuses(result) == ["scored"] * 4


def test_going_on_may_have_another_budget(tmp_path):
    model = charging()
    evaluation = Eval(name="desk", data=SAVED, scorers=[fair(model)], store=tmp_path / "runs.db", budget=1)
    assert run_evals_sync(evaluation).status == "stopped"
    assert resume_sync("latest", replace(evaluation, budget=None)).status == "complete"
    assert len(model.calls) == 4


def test_a_price_that_is_not_known_is_told_before_anything_is_paid():
    model = charging(price=None)
    with pytest.raises(UsageError, match=r"price of test:scripted, which judges fair\.generate_score, is not known"):
        run_evals_sync(data=SAVED, scorers=[fair(model)], budget=1)
    assert model.calls == []
    assert run_evals_sync(data=SAVED, scorers=[fair(model)], budget={"tokens": 1000}).status == "complete"


def test_a_store_knows_its_answers_before_a_run_begins(tmp_path):
    where = tmp_path / "runs.db"
    recorder = Store(where).recorder()
    assert "NoCache" in type(recorder.kept_calls).__name__
    assert not where.exists()


def test_who_waits_for_a_turn_does_not_hold_up_the_end():
    model = charging()
    began = perf_counter()
    result = run_evals_sync(data=SAVED, scorers=[fair(model, requests_per_minute=1)], budget=1, concurrency=4)
    assert (result.status, len(model.calls)) == ("stopped", 1)
    assert perf_counter() - began < 30  # the second turn comes after a minute
