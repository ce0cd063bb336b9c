import copy
import pickle

import pytest

from proctor import MISSING, Prompt, Score, ScorerRun, UsageError, not_scorable
from proctor.scoring.steps import StepContext, is_not_scorable


def test_a_declined_step_is_recognised_by_what_it_returned():
    assert is_not_scorable(not_scorable("No policy supplied"))
    assert is_not_scorable(not_scorable())


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"reason": "No policy supplied"}, id="copy from JSON"),
        pytest.param([not_scorable()], id="inside a list"),
        pytest.param({"x": not_scorable()}, id="inside a mapping"),
        pytest.param(not_scorable, id="not called"),
        pytest.param(None, id="None"),
        pytest.param(MISSING, id="MISSING"),
    ],
)
def test_nothing_else_declines(value):
    assert not is_not_scorable(value)


def test_a_copy_of_the_object_still_declines():
    assert copy.copy(not_scorable("x")).reason == "x"
    assert is_not_scorable(pickle.loads(pickle.dumps(not_scorable("x"))))  # noqa: S301


@pytest.mark.parametrize("reason", [5, ["x"], True], ids=repr)
def test_a_reason_is_text(reason):
    with pytest.raises(UsageError, match="reason as text"):
        not_scorable(reason)


def test_a_prompt_needs_a_function_that_makes_it():
    with pytest.raises(UsageError, match=r"Prompt\('Judge'\) needs create="):
        Prompt("Judge")
    with pytest.raises(UsageError, match="needs create="):
        Prompt("Judge", create="Say yes.")
    with pytest.raises(UsageError, match=r"Prompt\('Judge'\): create= must be a function of one argument \(ctx\)"):
        Prompt("Judge", create=lambda: "Say yes.")


def test_a_context_shows_what_the_steps_gave():
    ctx = StepContext(ScorerRun(output="x"))
    assert (ctx.preprocess, ctx.analyze, ctx.score) == (MISSING, MISSING, MISSING)
    ctx.preprocess = 3
    assert repr(ctx) == "StepContext(preprocess=3, analyze=MISSING, score=MISSING)"


def test_a_score_has_a_label_and_a_reason_when_it_says_more():
    assert (Score(1).label, Score(1).reason) == (None, None)
    assert repr(Score(0.5, label="half")) == "Score(value=0.5, label='half')"


@pytest.mark.parametrize("value", [5, True, ["x"], b"x"], ids=repr)
@pytest.mark.parametrize("name", ["label", "reason"])
def test_what_a_score_says_is_text(name, value):
    with pytest.raises(UsageError, match=rf"Score\({name}=\.\.\.\) must give text or None, not ") as caught:
        Score(1, **{name: value})
    assert repr(value) in str(caught.value)
