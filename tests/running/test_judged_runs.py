"""Runs with judges: what is counted, what stops them, and how they go on."""

import asyncio

import pytest

from proctor import (
    Budget,
    Eval,
    Judge,
    Prompt,
    checks,
    create_scorer,
    not_scorable,
    resume,
    retry,
    run_evals,
    run_evals_sync,
)
from proctor.data.usage import Cost, Usage
from proctor.errors import ModelError, ScorerRunError
from proctor.testing import ScriptedModel, ScriptedReply

PASS = {"verdict": "pass"}
SCHEMA = {"type": "object", "properties": {"verdict": {"enum": ["pass", "fail", "unsure"]}}, "required": ["verdict"]}


def judged(model, id="kind", **judge):
    def score(ctx):
        verdict = ctx.analyze["verdict"]
        return not_scorable("the judge is not sure") if verdict == "unsure" else verdict == "pass"

    return (
        create_scorer(id=id, judge=Judge(model, instructions="Judge.", **judge))
        .analyze(Prompt("kind", output=SCHEMA, create=lambda ctx: ctx.fence(ctx.run.text, "answer")))
        .generate_score(score)
    )


def saved(*texts):
    return [{"id": f"i{n}", "input": "?", "output": text} for n, text in enumerate(texts)]


def replying(**by_text):
    """A judge whose verdict follows from the answer's word."""
    return ScriptedModel({word: {"verdict": verdict} for word, verdict in by_text.items()})


async def run(scorer, data, **options):
    return await run_evals(**({"data": data, "scorers": [scorer], "cache": False} | options))


async def test_three_verdicts_are_three_outcomes():
    model = replying(fine="pass", rude="fail", odd="unsure")
    result = await run(judged(model), saved("fine", "rude", "odd"))
    assert [item.scorers[0].status for item in result.items] == ["scored", "scored", "not_scorable"]
    mean = result.means[0]
    assert (mean.mean, mean.n, mean.of, mean.not_scorable) == (0.5, 2, 3, 1)


async def test_what_judges_took_is_told_for_each_scorer_and_in_all():
    reply = ScriptedReply(json=PASS, usage=Usage(input_tokens=10, output_tokens=2), cost=Cost(amount=0.25))
    one, two = judged(ScriptedModel(reply), "one"), judged(ScriptedModel([PASS]), "two")
    result = await run_evals(data=saved("a", "b"), scorers=[one, two, checks.includes("a")], cache=False)
    first, second, third = result.means
    assert (first.tokens, first.cost, first.judge.executions, first.judge.unpriced) == (24, Cost(amount=0.5), 2, 0)
    assert (second.tokens, second.cost, second.judge.unpriced) == (30, None, 2)
    assert (third.judge, third.tokens, third.cost) == (None, None, None)
    assert result.summary.judge.executions == 4
    assert result.summary.judge.usage.total == 24 + 30
    assert result.summary.judge.cost == Cost(amount=0.5)
    assert "2 judged; 2 calls; 24 tokens; $0.5000; " in str(result)
    assert "2 judged; 2 calls; 30 tokens; price not known; " in str(result)
    assert type(result).from_json(result.to_json()) == result


async def test_j17_one_reply_that_cannot_be_read_leaves_nine_scores():
    model = ScriptedModel(lambda call: "garbage" if "number 4" in call.messages[1].text else PASS)
    result = await run(judged(model), saved(*(f"number {n}" for n in range(10))))
    mean = result.means[0]
    assert (mean.mean, mean.n, mean.of, mean.errors) == (1.0, 9, 10, 1)
    assert "9 of 10" in str(result)
    failed = result.items[4].scorers[0]
    assert failed.error.code == "STRUCTURED_OUTPUT_SCHEMA_VALIDATION_FAILED"
    assert failed.judge["analyze"].executions[0].raw_output == "garbage"
    assert result.summary.judge.failed == 1


@pytest.mark.parametrize("settings", [{}, {"output_mode": "tool"}], ids=["any way", "one way"])
@pytest.mark.parametrize("kind", ["unauthorized", "quota", "not_found"])
async def test_what_is_the_same_for_every_call_stops_the_run_after_the_first(kind, settings):
    model = ScriptedModel(ModelError("the server says no", kind=kind), name="m")
    result = await run(judged(model, **settings), saved(*map(str, range(50))), concurrency=8)
    assert len(model.calls) == 1
    assert (result.status, result.stopped_by) == ("stopped", "test:m: the server says no")
    assert result.verdict is None
    assert result.verdict is None
    mean = result.means[0]
    assert (mean.n, mean.errors, mean.not_run) == (0, 1, 49)
    assert result.exit_code() == 4


async def test_a_step_that_asks_for_text_stops_it_after_the_first_too():
    model = ScriptedModel(ModelError("no", kind="unauthorized"))
    scorer = create_scorer(id="told", judge=Judge(model, instructions="Say why."))
    scorer = scorer.generate_score(lambda ctx: 1).generate_reason(Prompt("why", create=lambda ctx: ctx.run.text))
    result = await run(scorer, saved(*map(str, range(20))), concurrency=8)
    assert len(model.calls) == 1
    assert (result.status, result.means[0].errors, result.means[0].not_run) == ("stopped", 1, 19)


async def test_a_budget_ends_a_run_with_what_it_has_and_a_resumed_one_completes_it(tmp_path):
    reply = ScriptedReply(json=PASS, usage=Usage(input_tokens=90, output_tokens=10))
    model = ScriptedModel(reply, address="here")
    options = {"data": saved(*map(str, range(20))), "scorers": [judged(model)], "store": tmp_path / "runs.db"}
    first = await run_evals(**options, budget=Budget(tokens=500))
    assert len(model.calls) == 5
    assert (first.status, first.stopped_by) == ("stopped", "budget: 500 tokens are spent (500)")
    assert (first.means[0].n, first.means[0].not_run, first.exit_code()) == (5, 15, 4)
    second = await resume(first.run, Eval(**options))
    assert len(model.calls) == 20
    assert (second.status, second.means[0].n) == ("complete", 20)
    assert second.summary.judge.usage.total == 2000


async def test_a_run_that_is_cut_within_a_row_is_not_complete():
    model = ScriptedModel(ScriptedReply(json=PASS, usage=Usage(total_tokens=10), delay=0.001))
    scorers = [judged(model, f"s{n}", concurrency=1) for n in range(4)]
    result = await run_evals(data=saved("a"), scorers=scorers, cache=False, budget=Budget(tokens=20))
    outcomes = result.items[0].scorers
    assert sorted(outcome.status for outcome in outcomes) == ["not_run", "not_run", "scored", "scored"]
    assert {outcome.cause.why for outcome in outcomes if outcome.status == "not_run"} == {"stopped"}
    assert (result.status, result.verdict) == ("stopped", None)


async def test_a_run_whose_last_call_spends_the_budget_is_complete():
    model = ScriptedModel(ScriptedReply(json=PASS, usage=Usage(total_tokens=10)))
    result = await run(judged(model), saved("a", "b"), budget=Budget(tokens=20))
    assert (result.status, result.stopped_by) == ("complete", None)


async def test_the_cost_of_the_target_counts():
    from proctor import Reply

    def target(text):
        return Reply("fine", cost=Cost(amount=0.4))

    result = await run_evals(
        target=target, data=[{"input": str(n)} for n in range(9)], scorers=[checks.includes("fine")], budget=1
    )
    assert (result.status, result.means[0].n) == ("stopped", 3)
    assert result.stopped_by == "budget: $1.00 are spent ($1.2000)"


async def test_a_prompt_that_is_too_long_is_not_scorable():
    result = await run(judged(ScriptedModel([PASS], window=300)), saved("short", "long " * 1000))
    assert [item.scorers[0].status for item in result.items] == ["scored", "not_scorable"]
    assert result.items[1].scorers[0].cause.reason.startswith("judge context exceeded: ")


async def test_a_shortened_prompt_marks_its_outcome():
    model = ScriptedModel([PASS], window=1400)
    result = await run(judged(model, window=1400, on_overflow="shorten"), saved("short", "long " * 1000))
    assert [item.scorers[0].truncated for item in result.items] == [False, True]
    assert "1 on a shortened prompt" in str(result)


@pytest.mark.slow
async def test_waiting_for_a_turn_is_not_the_scorers_time():
    model = ScriptedModel(ScriptedReply(json=PASS, delay=0.15))
    result = await run(judged(model, concurrency=1), saved(*map(str, range(4))), concurrency=4, scorer_timeout=0.5)
    assert result.means[0].n == 4


@pytest.mark.slow
async def test_a_scorer_that_is_timed_out_keeps_its_record():
    model = ScriptedModel(ScriptedReply(json=PASS, delay=60))
    result = await run(judged(model), saved("a"), scorer_timeout=0.4)
    outcome = result.items[0].scorers[0]
    assert outcome.error.code == "TIMEOUT"
    assert outcome.judge["analyze"].executions[0].status == "failed"


async def test_t07_fifty_at_once_each_get_their_own():
    def echo(call):
        return ScriptedReply(text=call.messages[-1].text.split("item ")[1].split("\n")[0])

    scorer = (
        create_scorer(id="echo", judge=Judge(ScriptedModel(echo), instructions="Judge."))
        .generate_score(lambda ctx: 1)
        .generate_reason(Prompt("echo", create=lambda ctx: ctx.fence(ctx.run.text, "answer")))
    )
    result = await run(scorer, saved(*(f"item {n}" for n in range(50))), concurrency=50)
    assert [item.scorers[0].reason for item in result.items] == [str(n) for n in range(50)]


def test_t09_sync_and_async_give_the_same():
    scorer = judged(ScriptedModel([PASS]))
    sync = scorer.run_sync(output="a", run_id="r")
    there = asyncio.run(scorer.run(output="a", run_id="r"))
    assert (sync.score, sync.evidence.analyze_step_result) == (there.score, there.evidence.analyze_step_result)
    options = {"data": saved("a"), "scorers": [scorer], "cache": False}
    assert run_evals_sync(**options).means[0].mean == asyncio.run(run_evals(**options)).means[0].mean == 1.0


async def test_j19_the_error_of_a_judge_names_the_step_and_keeps_what_was_there():
    scorer = judged(ScriptedModel([{}])).preprocess(lambda ctx: {"n": 1})
    with pytest.raises(ScorerRunError) as caught:
        await scorer.run(output="x")
    error = caught.value
    assert (error.failed_step, error.completed_steps) == ("analyze", ("preprocess",))
    assert error.result.preprocess_step_result == {"n": 1}
    (execution,) = error.result.judge["analyze"].executions
    assert (execution.status, execution.attempt_count) == ("failed", 2)
    assert "result" not in error.to_dict()


async def test_create_may_decline_before_anybody_is_asked():
    model = ScriptedModel([PASS])
    scorer = judged(model).replace(analyze=Prompt("k", output=SCHEMA, create=lambda ctx: not_scorable("no answer")))
    outcome = await scorer.run(output="")
    assert (outcome.status, outcome.cause.step, outcome.reason) == ("not_scorable", "analyze", "no answer")
    assert model.calls == []


async def test_a_step_has_settings_of_its_own():
    first, second = ScriptedModel([PASS], name="first"), ScriptedModel("because", name="second")
    scorer = judged(first).generate_reason(Prompt("why", create=lambda ctx: "Why?", judge=Judge(second)))
    outcome = await scorer.run(output="x")
    assert outcome.reason == "because"
    assert second.calls[0].messages[0].text == "Judge."
    assert outcome.evidence.prompts["generate_reason"] == "Why?"


async def test_repeats_ask_each_for_itself_and_a_second_run_asks_nobody(tmp_path):
    model = ScriptedModel([PASS], address="here")
    options = {"data": saved("a"), "scorers": [judged(model)], "repeats": 3, "store": tmp_path / "runs.db"}
    await run_evals(**options)
    assert len(model.calls) == 3
    result = await run_evals(**options)
    assert len(model.calls) == 3
    assert (result.summary.judge.cached, result.summary.judge.usage) == (3, None)


async def test_records_come_back_from_a_store(tmp_path):
    model = ScriptedModel([PASS], name="m")
    result = await run_evals(data=saved("a"), scorers=[judged(model)], store=tmp_path / "runs.db")
    (execution,) = result.items[0].scorers[0].judge["analyze"].executions
    assert (execution.judge_model_id, execution.output, execution.usage.total) == ("test:m", PASS, 15)
    assert result.items[0].scorers[0].evidence.prompts["analyze"] == execution.prompt


async def test_what_was_paid_before_a_run_was_cut_or_an_error_is_retried_stays_counted(tmp_path):
    paid = {"json": PASS, "usage": Usage(total_tokens=10), "cost": Cost(amount=1)}
    broken = ScriptedReply(text="no verdict", usage=Usage(total_tokens=5), cost=Cost(amount=0.5))
    model = ScriptedModel([broken, broken, ScriptedReply(**paid)], address="here")
    options = {"data": saved("a"), "scorers": [judged(model)], "store": tmp_path / "runs.db"}
    first = await run_evals(**options)
    assert (first.means[0].errors, first.summary.judge.cost) == (1, Cost(amount=1))
    second = await retry(first.run, Eval(**options))
    assert (second.means[0].n, second.summary.judge.cost, second.summary.judge.failed) == (1, Cost(amount=2), 1)
    records = second.items[0].scorers[0].judge["analyze"].executions
    assert [record.status for record in records] == ["failed", "success"]


async def test_the_first_step_of_a_cut_row_stays_counted(tmp_path):
    reply = ScriptedReply(json=PASS, usage=Usage(total_tokens=10))
    model = ScriptedModel(reply, address="here")
    scorer = judged(model).generate_reason(Prompt("why", create=lambda ctx: "Why?"))
    options = {"data": saved("a"), "scorers": [scorer], "store": tmp_path / "runs.db"}
    first = await run_evals(**options, budget=Budget(tokens=10))
    assert (first.status, first.items[0].scorers[0].status) == ("stopped", "not_run")
    assert first.summary.judge.usage.total == 10
    second = await resume(first.run, Eval(**options))
    assert (second.status, second.summary.judge.usage.total, len(model.calls)) == ("complete", 20, 2)
