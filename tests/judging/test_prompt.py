"""What `create` may give, and what is refused of it before anybody is asked."""

from decimal import Decimal
from pathlib import Path

import pytest

from proctor import Judge, Prompt, ScorerRun, create_scorer, not_scorable
from proctor.data.message import File
from proctor.errors import ScorerRunError, UsageError
from proctor.judging.fence import Fence
from proctor.judging.prompt import prompt_parts
from proctor.testing import ScriptedModel

RUN = ScorerRun(output="an answer", ground_truth="the truth")
PICTURE = File(b"\x89PNG", "image/png")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        pytest.param(
            not_scorable, "a function (not_scorable), not a prompt: call it, as in not_scorable('why')", id="f"
        ),
        pytest.param(lambda: "x", "a function (<lambda>), not a prompt: call it", id="lambda"),
        pytest.param(Fence(), "ctx.fence itself: call it, as in ctx.fence(ctx.run.text, 'answer')", id="fence"),
        pytest.param(RUN, "a ScorerRun: write ctx.fence(ctx.run.text, 'answer')", id="run"),
        pytest.param(True, "True, not a prompt", id="bool"),
        pytest.param(5, "5, not a prompt", id="number"),
        pytest.param(Decimal(3), "Decimal('3'), not a prompt", id="decimal"),
        pytest.param([], "an empty prompt", id="empty list"),
        pytest.param({}, "an empty prompt", id="empty mapping"),
        pytest.param(Path("a.png"), "a path and not what is in it", id="path"),
        pytest.param(Fence, "<class 'proctor.judging.fence.Fence'>, not a prompt", id="class"),
        pytest.param(["Look:", Path("a.png")], "a list with [1] ", id="path in a list"),
        pytest.param([PICTURE, RUN], "a list with [1] a ScorerRun", id="run in a list"),
        pytest.param(["x", not_scorable("y")], "a list with [1] not_scorable('y')", id="declined in a list"),
    ],
)
def test_what_nobody_means_to_send_is_refused(given, says):
    with pytest.raises(UsageError) as raised:
        prompt_parts(given)
    assert str(raised.value).startswith("create= gave ")
    assert says in str(raised.value)
    assert "the truth" not in str(raised.value)


@pytest.mark.parametrize("given", [{"a": 1}, [1, 2], ["a", PICTURE, {"b": None}], ("a", None)], ids=repr)
def test_what_holds_values_is_sent(given):
    assert prompt_parts(given)


@pytest.mark.parametrize(
    "given",
    [lambda ctx: ctx.fence(ctx.run, "run"), lambda ctx: ctx, lambda ctx: ctx.fence],
    ids=["fenced", "ctx", "fence"],
)
def test_no_prompt_is_made_of_what_knows_the_right_answer(given):
    model = ScriptedModel([{"score": 1}])
    scorer = create_scorer(id="x", judge=Judge(model, instructions="?")).generate_score(Prompt("asks", create=given))
    with pytest.raises(ScorerRunError, match=r"write ctx\.fence\(ctx\.run\.text, 'answer'\)|call it") as raised:
        scorer.run_sync(output="an answer", ground_truth="the truth")
    assert "the truth" not in str(raised.value)
    assert model.calls == []


def test_a_run_does_not_show_what_is_right():
    run = ScorerRun(output="an answer", ground_truth="the truth", expected_trajectory=["the truth"])
    assert str(run) == "ScorerRun(output='an answer', ground_truth=<given>, expected_trajectory=<given>)"
