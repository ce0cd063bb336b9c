"""What a run would ask: found out without asking."""

import asyncio

import pytest

from proctor import Eval, Item, checks, create_scorer, not_scorable, run_evals_sync, scorer, scorers
from proctor.errors import UsageError
from proctor.judging.judge import Judge
from proctor.judging.model import ModelCall
from proctor.judging.tokens import estimated_tokens
from proctor.running.estimate import estimate_plan
from proctor.running.plan import make_plan
from proctor.scoring.steps import Prompt
from proctor.testing import ScriptedModel
from tests.running.judged import charging, fair

SAVED = [{"id": name, "output": name * 30} for name in "abcd"]


def echo(text, thread_id=None):
    raise AssertionError("a dry run asks no target")


def estimated(**options):
    return asyncio.run(estimate_plan(make_plan(Eval(**options))))


def counts(step):
    return {"calls": step.once.calls, "assumed": step.assumed, "cached": step.cached, "spared": step.spared}


def sent_tokens(call: ModelCall):
    return sum(estimated_tokens(message.text) for message in call.messages)


def test_nobody_is_asked_and_the_prompts_are_those_of_the_run():
    model = charging(modes=["prompted"])
    options = {"data": SAVED, "scorers": [fair(model)], "cache": False}
    estimate = estimated(**options)
    assert model.calls == []
    (step,) = estimate.steps
    assert (step.model, step.scorer, step.step) == ("test:scripted", "fair", "generate_score")
    assert counts(step) == {"calls": 4, "assumed": 0, "cached": 0, "spared": 0}
    run_evals_sync(**options)
    sent = sum(map(sent_tokens, model.calls))
    assert sent <= step.once.input_tokens <= sent + 4 * 200  # what a fence would say is counted in any case
    assert step.once.output_tokens == 4 * 1000


def test_the_cost_is_that_of_the_tokens():
    estimate = estimated(data=SAVED, scorers=[fair(charging(), settings={"max_tokens": 50})])
    once = estimate.steps[0].once
    assert once.output_tokens == 200
    assert once.cost.amount == pytest.approx(once.input_tokens * 0.001 + 200 * 0.01)
    assert (once.cost.source, estimate.once, estimate.unpriced) == ("prices 1", once, ())
    most = estimate.most
    assert (most.calls, most.output_tokens) == (8, 400)
    assert most.input_tokens > 2 * once.input_tokens + 200
    assert most.cost.amount > 2 * once.cost.amount


def test_at_most_is_what_a_model_takes_that_never_answers_rightly():
    model = charging(value={"what": "ever"}, modes=["prompted"])
    options = {"data": SAVED, "scorers": [fair(model)], "cache": False}
    most = estimated(**options).most
    run_evals_sync(**options)
    assert len(model.calls) == most.calls == 8
    assert sum(map(sent_tokens, model.calls)) <= most.input_tokens


def test_a_price_that_is_not_known_is_none_and_counted():
    free = charging(price=None, name="free")
    estimate = estimated(data=SAVED, scorers=[fair(free), fair(charging(), key="kind")])
    assert [step.once.cost is None for step in estimate.steps] == [True, False]
    assert estimate.unpriced == ("test:free",)
    assert estimate.once.calls == 8
    assert estimate.once.cost == estimate.steps[1].once.cost
    assert estimated(data=SAVED, scorers=[fair(free)]).once.cost is None


def test_a_step_behind_a_judged_one_is_assumed():
    score, reason = estimated(data=SAVED, scorers=[fair(charging(), reasons=True)]).steps
    assert counts(score) == {"calls": 4, "assumed": 0, "cached": 0, "spared": 0}
    assert counts(reason) == {"calls": 4, "assumed": 4, "cached": 0, "spared": 0}
    assert reason.once.input_tokens > 4 * 2000  # its own words, and the answer before it


def test_what_ends_before_the_judge_costs_nothing():
    def only_short(ctx):
        if ctx.run.output.startswith("b"):
            raise ValueError("b")
        return not_scorable("too long") if ctx.run.output.startswith("a") else 1

    judged = fair(charging()).preprocess(only_short)
    (step,) = estimated(data=SAVED, scorers=[judged]).steps
    assert counts(step) == {"calls": 2, "assumed": 0, "cached": 0, "spared": 1}
    assert step.broken == 1
    assert step.problem.startswith("ValueError in preprocess: b (test_estimate.py:")


def test_a_prompt_that_declines_costs_nothing():
    judged = create_scorer(id="fair", judge=Judge(charging(), instructions="Be exact.")).generate_score(
        Prompt("whether", create=lambda ctx: not_scorable("no") if "a" in ctx.run.output else "Judge.")
    )
    assert counts(estimated(data=SAVED, scorers=[judged]).steps[0])["spared"] == 1


def test_a_prompt_too_long_for_the_model_costs_nothing():
    (step,) = estimated(data=[{"output": "so " * 20000}, *SAVED], scorers=[fair(charging(window=2000))]).steps
    assert counts(step) == {"calls": 4, "assumed": 0, "cached": 0, "spared": 1}


def test_scorers_behind_a_gate_that_failed_are_not_asked_where_the_run_skips_them():
    options = {"data": SAVED, "gates": [checks.includes("a")], "scorers": [fair(charging())]}
    assert estimated(**options).once.calls == 4
    assert estimated(**options, skip_scorers_after_gate_failure=True).once.calls == 1


def test_without_a_reply_all_is_assumed():
    data = [{"input": "hello"}, {"inputs": ["one", "two", "three"]}, {"input": "is it?", "output": "it is"}]
    estimate = estimated(data=data, target=echo, scorers=[fair(charging())], repeats=2)
    assert (estimate.items, estimate.saved, estimate.target_calls) == (3, 1, 8)
    assert counts(estimate.steps[0]) == {"calls": 6, "assumed": 4, "cached": 0, "spared": 0}
    known = estimate.once.input_tokens / 6
    assert known == int(known)  # each is as long as the known one
    assert any("4 of 6 prompts cannot be known before" in sentence for sentence in estimate.assumptions)


def test_with_no_prompt_known_the_texts_of_the_item_count():
    def tokens(text):
        return estimated(data=[{"input": text}], target=echo, scorers=[fair(charging())]).once.input_tokens

    assert tokens("a" * 3000) - tokens("a" * 300) == 900


def test_turns_have_their_own_scorers():
    kind = fair(charging(), key="kind")
    data = [{"turns": [{"input": "one", "scorers": [kind]}, {"input": "two", "scorers": [kind]}]}]
    estimate = estimated(data=data, target=echo, scorers=[fair(charging())])
    assert [step.once.calls for step in estimate.steps] == [1, 1, 1]
    assert estimate.target_calls == 2


def test_answers_of_a_store_are_no_calls(tmp_path):
    where = tmp_path / "runs.db"
    model = charging()
    options = {"scorers": [fair(model, reasons=True)], "store": where}
    assert [counts(step)["cached"] for step in estimated(data=SAVED, **options).steps] == [0, 0]
    assert not where.exists()
    run_evals_sync(data=SAVED[:3], **options)
    score, reason = estimated(data=SAVED, **options).steps
    assert counts(score) == {"calls": 1, "assumed": 0, "cached": 3, "spared": 0}
    assert counts(reason) == {"calls": 1, "assumed": 1, "cached": 3, "spared": 0}
    assert estimated(data=SAVED, **options, cache=False).once.calls == 8
    assert [counts(step)["cached"] for step in estimated(data=SAVED, **options, repeats=2).steps] == [3, 3]


def test_without_a_store_the_answers_of_this_process_are_no_calls():
    model = charging()
    run_evals_sync(data=SAVED[:2], scorers=[fair(model)])
    assert counts(estimated(data=SAVED, scorers=[fair(model)]).steps[0])["cached"] == 2


def test_callbacks_are_not_called(tmp_path):
    told = []
    model = charging()
    options = {"data": SAVED, "scorers": [fair(model, on_finish=told.append, on_step_finish=told.append)]}
    run_evals_sync(**options)
    told.clear()
    assert estimated(**options).steps[0].cached == 4
    assert told == []


def test_of_a_stream_one_item_is_told():
    estimate = estimated(data=iter(SAVED), target=echo, scorers=[fair(charging())], repeats=3)
    assert (estimate.items, estimate.target_calls, estimate.once.calls) == (None, 1, 1)
    assert estimate.assumptions[0].startswith("items arrive one by one")


def test_scorers_without_a_judge_need_not_run():
    ran = []

    @scorer
    def short(output):
        ran.append(output)
        return 1.0

    assert estimated(data=SAVED, gates=[short], scorers=[short.named("again"), fair(charging())]).once.calls == 4
    estimate = estimated(data=SAVED, scorers=[short, checks.includes("a")])
    assert (estimate.steps, estimate.once.calls, estimate.once.cost, estimate.assumptions) == ((), 0, None, ())
    assert ran == []


def test_what_a_run_would_refuse_is_refused(monkeypatch):
    monkeypatch.delenv("PROCTOR_JUDGE_MODEL", raising=False)
    with pytest.raises(UsageError, match="no model"):
        estimated(data=SAVED, scorers=[fair(None)])


def test_it_is_plain_data():
    estimate = estimated(name="desk", data=SAVED, scorers=[fair(charging())], budget=5)
    written = estimate.to_json()
    assert (written["name"], written["items"], written["budget"]) == ("desk", 4, "$5.00")
    assert written["judges"][0]["once"]["calls"] == written["once"]["calls"] == 4
    assert written["once"]["cost_usd"]["source"] == "prices 1"


def test_what_fails_before_the_judge_is_told_apart_from_what_declines():
    def create(ctx):
        if ctx.run.text.startswith("It"):
            raise KeyError("last_week")
        return not_scorable("no policy")

    made = create_scorer(id="s", judge=Judge(ScriptedModel([{"score": 1}]), instructions="x"))
    step = estimated(data=[Item("?", output="It is"), Item("?", output="No")],
                     scorers=[made.generate_score(Prompt("p", create=create))]).steps[0]  # fmt: skip
    assert (step.spared, step.broken, step.once.calls) == (1, 1, 0)
    assert "KeyError" in step.problem
    assert "last_week" in step.problem


def test_each_judge_of_a_panel_is_counted():
    model = ScriptedModel([{"reasoning": "r", "satisfied": True}])
    jury = scorers.panel([scorers.multi_turn_judge("kind", model=model) for _ in range(3)])
    estimate = estimated(data=[Item("?", output="x"), Item("?", output="y")], scorers=[jury])
    assert [(step.step, step.once.calls, step.assumed) for step in estimate.steps] == [
        ("1.analyze", 2, 0),
        ("2.analyze", 2, 0),
        ("3.analyze", 2, 0),
    ]
    assert model.calls == []
