"""Scorers that are made of judged ones: nothing of what their judges did is lost."""

import pytest

from proctor import Budget, Item, Judge, Prompt, ScorerRun, checks, create_scorer, run_evals
from proctor.data.judge import JudgeRecord
from proctor.errors import ModelError, UsageError
from proctor.testing import ScriptedModel


def judged(replies, *, id="j", **judge):
    model = ScriptedModel(replies, name=id)
    made = create_scorer(id=id, judge=Judge(model, **({"instructions": "Judge."} | judge))).generate_score(
        Prompt("Judges", create=lambda ctx: f"Judge {ctx.fence(ctx.run.text, 'answer')}")
    )
    return made, model


async def test_the_records_of_parts_are_in_the_record_of_the_whole():
    one, two = judged([{"score": 1}], id="one")[0], judged([{"score": 1}], id="two")[0]
    outcome = await checks.all_of(checks.includes("x"), one, checks.all_of(two, checks.includes("x"))).run(output="x")
    assert outcome.score == 1.0
    assert {name: record.executions[0].judge_model_id for name, record in outcome.judge.items()} == {
        "2.generate_score": "test:one",
        "3.1.generate_score": "test:two",
    }
    assert all(isinstance(record, JudgeRecord) for record in outcome.judge.values())


async def test_what_a_part_paid_before_another_failed_is_counted():
    good, bad = judged([{"score": 1}], id="good")[0], judged([ModelError("gone", kind="rejected")], id="bad")[0]
    result = await run_evals(data=[Item("?", output="x")], scorers=[checks.all_of(good, bad)])
    mean = result.means[0]
    assert (mean.errors, mean.judge.executions, mean.judge.calls, mean.judge.failed) == (1, 2, 1, 1)


async def test_a_part_without_instructions_is_refused_before_anything_is_paid():
    good, model = judged([{"score": 1}], id="good")
    bare, _ = judged([{"score": 1}], id="bare", instructions=None)
    with pytest.raises(UsageError, match=r"bare\.generate_score: the judge has no instructions"):
        await run_evals(data=[Item("?", output="x")], scorers=[checks.all_of(good, bare)])
    assert model.calls == []


async def test_a_part_that_the_budget_stopped_is_not_run_and_decides_nothing():
    one, two = judged([{"score": 0}], id="one")[0], judged([{"score": 0}], id="two")[0]
    result = await run_evals(
        data=[Item("?", output=text) for text in "abcdef"],
        scorers=[checks.not_(one), checks.not_(two)],
        budget=Budget(tokens=20),
    )
    assert result.status == "stopped"
    statuses = [outcome.status for item in result.items for outcome in item.scorers]
    assert "not_run" in statuses
    assert set(statuses) <= {"scored", "not_run"}


async def test_parts_share_the_answers_that_the_run_keeps():
    one, model = judged([{"score": 1}], id="one")
    run = ScorerRun(output="x")
    assert (await checks.all_of(one, one.named("again")).run(run)).score == 1.0
    assert 1 <= len(model.calls) <= 2
