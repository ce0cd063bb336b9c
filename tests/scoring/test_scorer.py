import asyncio
import itertools
import json
import re
import threading
from dataclasses import dataclass

import pytest
from pydantic import BaseModel

from proctor import (
    MISSING,
    Judge,
    Score,
    ScorerRun,
    ScorerRunError,
    UsageError,
    checks,
    create_scorer,
    not_scorable,
)
from proctor.data.column import ScorerRef
from proctor.data.usage import Usage
from proctor.errors import UnknownName
from proctor.scoring.steps import STEP_NAMES

STEPS = {
    "preprocess": lambda ctx: "p",
    "analyze": lambda ctx: f"{ctx.preprocess}a",
    "generate_score": lambda ctx: 0.5,
    "generate_reason": lambda ctx: f"{ctx.preprocess} {ctx.analyze} {ctx.score}",
}


def made(*names, **options):
    scorer = create_scorer(id="s", **options)
    for name in names:
        scorer = getattr(scorer, name)(STEPS[name])
    return scorer


def seen_by(**run):
    """The run as the steps of a scorer see it."""
    return create_scorer(id="s").preprocess(lambda ctx: ctx.run).generate_score(lambda ctx: 1).run_sync(**run)


# ── building ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("order", list(itertools.permutations(STEP_NAMES)), ids=" ".join)
def test_steps_run_in_their_order_whatever_the_order_of_writing(order):
    scorer = made(*order)
    assert tuple(scorer.steps) == STEP_NAMES
    assert scorer.run_sync(output="x").reason == "p pa 0.5"


@pytest.mark.parametrize("name", STEP_NAMES)
def test_a_step_written_twice_is_refused(name):
    with pytest.raises(UsageError, match=rf"s already has {name}; use \.replace\({name}=\.\.\.\)"):
        made(name, name)


@pytest.mark.parametrize("name", STEP_NAMES)
@pytest.mark.parametrize(
    "step",
    [
        pytest.param(5, id="number"),
        pytest.param({"description": "Judge"}, id="mapping"),
        pytest.param(None, id="None"),
        pytest.param(lambda: 1, id="no argument"),
        pytest.param(lambda ctx, more: 1, id="two arguments"),
    ],
)
def test_a_step_that_cannot_run_is_refused_when_written(name, step):
    with pytest.raises(UsageError, match=f"s: {name} must be a function of one argument"):
        getattr(create_scorer(id="s"), name)(step)


def test_each_step_method_gives_a_new_scorer():
    parent = made("preprocess")
    child = parent.generate_score(STEPS["generate_score"])
    assert tuple(parent.steps) == ("preprocess",)
    assert tuple(child.steps) == ("preprocess", "generate_score")


def test_two_scorers_from_one_parent_do_not_leak_into_each_other():
    parent = made("preprocess", "generate_score")
    one = parent.generate_reason(lambda ctx: "one")
    other = parent.generate_reason(lambda ctx: "other")
    assert [s.run_sync(output="x").reason for s in (one, other, parent)] == ["one", "other", None]


def test_a_scorer_cannot_be_changed():
    with pytest.raises(AttributeError):
        made().id = "other"


def test_scorers_made_alike_are_equal():
    assert made("analyze") == made("analyze")
    assert made("analyze") != made("preprocess")


def test_named_gives_the_same_scorer_under_another_key():
    named = checks.includes("Brooklyn").named("names the place")
    assert (named.key, named.id) == ("names the place", "check-includes")
    assert named.run_sync(output="Brooklyn").key == "names the place"


@pytest.mark.parametrize("key", ["", " ", None, 5], ids=repr)
def test_a_key_is_a_text_that_is_not_empty(key):
    with pytest.raises(UsageError, match="a key is a text"):
        checks.includes("x").named(key)


def test_replace_changes_steps_and_settings_of_a_copy():
    original = made("preprocess", "generate_score", description="old")
    copy = original.replace(generate_score=lambda ctx: 1.0, description="new", judge=Judge("m"))
    assert (copy.run_sync(output="x").score, original.run_sync(output="x").score) == (1.0, 0.5)
    assert (copy.description, copy.judge.model, copy.id) == ("new", "m", "s")


def test_replace_adds_a_step_to_a_built_in():
    louder = checks.includes("Brooklyn").replace(generate_reason=lambda ctx: "LOOK")
    outcome = louder.run_sync(output="in Brooklyn")
    assert (outcome.score, outcome.reason, outcome.key) == (1.0, "LOOK", "check-includes[Brooklyn]")
    assert louder.fingerprint != checks.includes("Brooklyn").fingerprint


def test_replace_of_the_id_makes_a_key_of_its_own():
    assert checks.includes("Brooklyn").replace(id="place").key == "place[Brooklyn]"


@pytest.mark.parametrize(("name", "guess"), [("generate_scor", "generate_score"), ("verson", "version")])
def test_replace_refuses_what_a_scorer_does_not_have(name, guess):
    with pytest.raises(UnknownName, match=f"Did you mean '{guess}'"):
        made().replace(**{name: 1})


def test_replace_checks_what_it_changes():
    with pytest.raises(UsageError, match="range must be"):
        made().replace(range=(1, 0))


def test_a_scorer_is_written_as_a_reference():
    check = checks.includes("x")
    assert check.to_ref() == ScorerRef("check-includes", "check-includes[x]", check.fingerprint)


def test_a_scorer_shows_as_its_key():
    assert repr(made("generate_score")) == "Scorer('s')"
    assert repr(checks.includes("x" * 10_000)) == f"Scorer({checks.includes('x' * 10_000).key!r})"
    assert len(repr(checks.includes("x" * 10_000))) < 80


def test_scorers_may_stand_in_sets_and_keys():
    one, other = made("generate_score"), made("generate_score", arguments={"bound": [1, {"a": 2}]})
    assert {one, made("generate_score"), other} == {one, other}
    assert {other: 1}[other] == 1


# ── a built-in with a step of one's own ────────────────────────────────────────────────────────────────────────────

OWN_STEPS = {
    "another score": lambda step: checks.includes("x").replace(generate_score=step),
    "another look": lambda step: checks.includes("x").replace(
        preprocess=step, generate_score=lambda ctx: 1, generate_reason=lambda ctx: None
    ),
    "a step more": lambda step: checks.includes("x").analyze(step),
}
own_steps = pytest.mark.parametrize("make", OWN_STEPS.values(), ids=list(OWN_STEPS))


@own_steps
async def test_a_def_of_ones_own_in_a_built_in_goes_to_a_thread(make):
    seen = []
    outcome = await make(lambda ctx: seen.append(threading.current_thread()) or 1).run(output="x")
    assert outcome.score == 1.0
    assert seen[0] is not threading.current_thread()


@own_steps
@pytest.mark.parametrize("form", ["async def", "def that returns a coroutine"])
async def test_an_async_def_of_ones_own_in_a_built_in_is_awaited(make, form):
    async def later(ctx):
        await asyncio.sleep(0)
        return 1

    scorer = make(later if form == "async def" else lambda ctx: later(ctx))  # noqa: PLW0108
    outcome = await scorer.run(output="x")
    assert outcome.score == 1.0
    assert not asyncio.iscoroutine(outcome.preprocess_step_result)


def test_what_a_step_of_ones_own_in_a_built_in_gives_is_plain_data():
    class Found(BaseModel):
        n: int = 1

    outcome = checks.includes("x").analyze(lambda ctx: Found()).run_sync(output="x")
    assert outcome.analyze_step_result == {"n": 1}
    assert outcome.preprocess_step_result == checks.includes("x").run_sync(output="x").preprocess_step_result


@own_steps
def test_a_step_of_ones_own_makes_it_another_scorer(make):
    same, other = (make(lambda ctx: 1) for _ in range(2))
    assert same.fingerprint != checks.includes("x").fingerprint
    assert same.fingerprint != make(lambda ctx: 0.5).fingerprint
    assert (same.key, other.key) == ("check-includes[x]", "check-includes[x]")


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"prepare_run": lambda run: run.replace(output="y")}, id="prepare_run"),
        pytest.param({"type": (None, str)}, id="type"),
    ],
)
def test_a_built_in_that_sees_another_run_is_another_scorer(changes):
    changed = checks.includes("x").replace(**changes)
    assert changed.fingerprint != checks.includes("x").fingerprint
    assert changed.run_sync(output="x").score == ("prepare_run" not in changes)


@pytest.mark.parametrize("changes", [{"name": "n"}, {"description": "d"}, {"key": "k"}], ids=lambda it: next(iter(it)))
def test_a_built_in_with_another_name_is_the_same_scorer(changes):
    assert checks.includes("x").replace(**changes).fingerprint == checks.includes("x").fingerprint


# ── running ────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_run_gives_the_outcome():
    outcome = await made(*STEP_NAMES).run(output="x")
    assert (outcome.status, outcome.score, outcome.reason) == ("scored", 0.5, "p pa 0.5")
    assert (outcome.preprocess_step_result, outcome.analyze_step_result) == ("p", "pa")
    assert (outcome.scorer_id, outcome.position, outcome.turn_index) == ("s", "scorer", None)
    assert outcome.duration_ms >= 0


def test_steps_that_are_not_there_have_no_result():
    outcome = made("generate_score").run_sync(output="x")
    assert (outcome.preprocess_step_result, outcome.evidence, outcome.reason) == (MISSING, None, None)


def test_a_step_may_give_none():
    outcome = made("generate_score").preprocess(lambda ctx: None).run_sync(output="x")
    assert outcome.preprocess_step_result is None


async def test_run_needs_an_output():
    with pytest.raises(UsageError, match="needs output="):
        await made("generate_score").run()


@pytest.mark.parametrize("output", [None, 0, False, "", []], ids=repr)
def test_an_output_that_is_empty_is_an_output(output):
    assert seen_by(output=output).preprocess_step_result.output == output


def test_a_scorer_without_generate_score_says_what_is_missing():
    with pytest.raises(UsageError, match=r"no generate_score step \(steps: preprocess, analyze\)") as caught:
        made("preprocess", "analyze").run_sync(output="x")
    assert caught.value.code == "SCORER_FAILED_TO_RUN_MISSING_GENERATE_SCORE"


def test_the_run_id_is_the_callers_or_a_new_one():
    scorer = made("generate_score")
    assert scorer.run_sync(output="x", run_id="r-1").run_id == "r-1"
    assert scorer.run_sync({"output": "x", "runId": "r-2"}).run_id == "r-2"
    ids = {scorer.run_sync(output="x").run_id for _ in range(3)}
    assert len(ids) == 3
    assert all(re.fullmatch("[0-9a-f-]{36}", one) for one in ids)


def test_everything_that_is_given_is_in_the_run():
    run = seen_by(
        output="out",
        input="in",
        ground_truth="truth",
        context=["fact"],
        expected_trajectory=["search"],
        request_context={"user": 1},
        usage=Usage(input_tokens=3),
        additional=1,
    ).preprocess_step_result
    assert (run.output, run.input, run.ground_truth, run.context) == ("out", "in", "truth", ["fact"])
    assert (run.expected_trajectory, run.request_context, run.usage) == (["search"], {"user": 1}, Usage(input_tokens=3))
    assert run.extra == {"additional": 1}


def test_what_is_not_given_is_missing():
    run = seen_by(output="x").preprocess_step_result
    assert (run.input, run.ground_truth, run.extra) == (MISSING, MISSING, {})


@pytest.mark.parametrize(
    "run",
    [
        pytest.param({"output": "x", "groundTruth": "gt", "extra": "kept"}, id="camelCase"),
        pytest.param({"output": "x", "ground_truth": "gt", "extra": "kept"}, id="snake_case"),
        pytest.param(ScorerRun(output="x", ground_truth="gt", extra={"extra": "kept"}), id="ScorerRun"),
    ],
)
def test_a_run_may_be_given_as_a_whole(run):
    scorer = create_scorer(id="s").preprocess(lambda ctx: ctx.run).generate_score(lambda ctx: 1)
    seen = scorer.run_sync(run).preprocess_step_result
    assert (seen.output, seen.ground_truth, seen.extra) == ("x", "gt", {"extra": "kept"})


def test_a_run_that_is_none_of_these_is_refused():
    with pytest.raises(UsageError, match="a run is a ScorerRun or a mapping"):
        made("generate_score").run_sync("x")
    with pytest.raises(UsageError, match="a run needs an output"):
        made("generate_score").run_sync({"input": "x"})


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        pytest.param({"output": "y"}, "output", id="output"),
        pytest.param({"ground_truth": None}, "ground_truth", id="a label that is None"),
        pytest.param({"context": ["fact"], "more": 1}, "context, more", id="several"),
    ],
)
def test_a_run_and_fields_beside_it_are_refused(fields, named):
    for run in ({"output": "x"}, ScorerRun(output="x")):
        with pytest.raises(UsageError, match=rf"s\.run takes a run, or its fields as keywords \({named}\), not both"):
            made("generate_score").run_sync(run, **fields)


class Answer(BaseModel):
    text: str


@dataclass
class Question:
    words: tuple[str, ...]


@pytest.mark.parametrize("form", ["mapping", "keywords"])
def test_foreign_objects_are_seen_as_plain_data_as_in_an_evaluation(form):
    given = {
        "output": Answer(text="x"),
        "input": Question(("a", "b")),
        "ground_truth": {Answer(text="y").text: Answer(text="y")},
        "context": (Answer(text="z"),),
        "more": Answer(text="m"),
    }
    scorer = create_scorer(id="s").preprocess(lambda ctx: seen.append(ctx.run)).generate_score(lambda ctx: 1)
    seen = []
    if form == "mapping":
        scorer.run_sync(given)
    else:
        scorer.run_sync(**given)
    (run,) = seen
    assert (run.output, run.ground_truth) == ({"text": "x"}, {"y": {"text": "y"}})
    assert list(run.input["words"]) == ["a", "b"]
    assert list(run.context) == [{"text": "z"}]
    assert run.extra == {"more": {"text": "m"}}


# ── failing ────────────────────────────────────────────────────────────────────────────────────────────────────────


class Broken(Exception):
    """What a step raises."""


def breaking(at):
    def fail(ctx):
        raise Broken("boom")

    scorer = create_scorer(id="s")
    for name in STEP_NAMES:
        scorer = getattr(scorer, name)(fail if name == at else STEPS[name])
    return scorer


@pytest.mark.parametrize(
    ("at", "completed", "kept"),
    [
        ("preprocess", (), None),
        ("analyze", ("preprocess",), ("p", MISSING, None)),
        ("generate_score", ("preprocess", "analyze"), ("p", "pa", None)),
        ("generate_reason", ("preprocess", "analyze", "generate_score"), ("p", "pa", 0.5)),
    ],
)
def test_a_step_that_fails_says_which_and_keeps_what_the_others_gave(at, completed, kept):
    with pytest.raises(ScorerRunError, match=f"s failed in {at}: boom") as caught:
        breaking(at).run_sync(output="x")
    error = caught.value
    assert (error.failed_step, error.completed_steps) == (at, completed)
    assert isinstance(error.__cause__, Broken)
    assert error.code == "SCORER_FAILED_TO_RUN_WORKFLOW_FAILED"
    result = error.result
    found = result and (result.preprocess_step_result, result.analyze_step_result, result.score)
    assert found == kept


def test_a_score_of_zero_is_kept_when_the_reason_fails():
    def fail(ctx):
        raise Broken

    with pytest.raises(ScorerRunError) as caught:
        create_scorer(id="s").generate_score(lambda ctx: 0).generate_reason(fail).run_sync(output="x")
    assert caught.value.result.score == 0.0


def test_the_error_as_data_never_holds_the_results():
    with pytest.raises(ScorerRunError) as caught:
        breaking("analyze").run_sync(output="x")
    assert json.loads(json.dumps(caught.value.to_dict())) == {
        "type": "ScorerRunError",
        "code": "SCORER_FAILED_TO_RUN_WORKFLOW_FAILED",
        "message": "s failed in analyze: boom",
        "failed_step": "analyze",
        "completed_steps": ["preprocess"],
    }


async def test_the_async_form_raises_the_same():
    with pytest.raises(ScorerRunError, match="s failed in analyze: boom"):
        await breaking("analyze").run(output="x")


@pytest.mark.parametrize("value", [float("nan"), "0.5", None, 1.2], ids=repr)
def test_a_score_that_is_none_is_a_failure_of_that_step(value):
    with pytest.raises(ScorerRunError, match=f"s gave {value!r}") as caught:
        made("preprocess").generate_score(lambda ctx: value).run_sync(output="x")
    assert (caught.value.failed_step, caught.value.completed_steps) == ("generate_score", ("preprocess",))


@pytest.mark.parametrize("value", [42, ["x"], True], ids=repr)
def test_a_reason_that_is_no_text_is_a_failure_that_keeps_the_score(value):
    with pytest.raises(ScorerRunError, match="must give text or None") as caught:
        made("generate_score").generate_reason(lambda ctx: value).run_sync(output="x")
    assert (caught.value.failed_step, caught.value.result.score) == ("generate_reason", 0.5)


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        pytest.param((1, "good"), r"to give a reason too return Score\(value, reason=\.\.\.\)", id="pair"),
        pytest.param({"score": 1}, r"to give a reason too return Score\(value, reason=\.\.\.\)", id="mapping"),
        pytest.param(None, "did the function end without `return`", id="nothing"),
    ],
)
def test_what_was_meant_as_a_score_is_hinted_at(value, hint):
    with pytest.raises(ScorerRunError, match=hint):
        create_scorer(id="s").generate_score(lambda ctx: value).run_sync(output="x")


def test_a_score_that_says_more_is_in_the_outcome():
    outcome = create_scorer(id="s").generate_score(lambda ctx: Score(True, "good", "it is")).run_sync(output="x")
    assert (outcome.score, outcome.label, outcome.reason) == (1.0, "good", "it is")


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        pytest.param(lambda ctx: "because", "because", id="text"),
        pytest.param(lambda ctx: "", "it is", id="empty"),
        pytest.param(lambda ctx: None, "it is", id="nothing"),
        pytest.param(lambda ctx: not_scorable(), "it is", id="declined"),
    ],
)
def test_generate_reason_comes_before_the_reason_of_a_score(step, reason):
    scorer = create_scorer(id="s").generate_score(lambda ctx: Score(1, reason="it is")).generate_reason(step)
    assert scorer.run_sync(output="x").reason == reason
