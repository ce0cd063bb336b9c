import math
import re

import pytest

from proctor import Judge, Prompt, Score, UsageError, checks, create_scorer, not_scorable, scorer
from proctor.testing import ScriptedModel


def given(**options):
    return create_scorer(**{"id": "s"} | options)


# ── create_scorer ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("id", ["", "  ", None, 5], ids=repr)
def test_a_scorer_needs_an_id(id):
    with pytest.raises(UsageError, match="needs an id") as caught:
        create_scorer(id=id, name="only a name")
    assert caught.value.code == "SCORER_FAILED_TO_CREATE_MISSING_ID"


@pytest.mark.parametrize("id", ["agent", "steps", "a.b", "天気", "with space"])
def test_any_text_is_an_id(id):
    assert given(id=id).generate_score(lambda ctx: 1).run_sync(output="x").scorer_id == id


@pytest.mark.parametrize(
    ("judge", "says"),
    [
        ("openai:gpt-5-mini", "not 'openai:gpt-5-mini': write judge=Judge('openai:gpt-5-mini', instructions='...')"),
        (ScriptedModel(["a"]), "write judge=Judge(model, instructions='...')"),
        (Judge, "write judge=Judge(model, instructions='...')"),
    ],
    ids=["name", "model", "class"],
)
def test_a_model_is_no_judge(judge, says):
    makers = (
        lambda: given(judge=judge),
        lambda: given().replace(judge=judge),
        lambda: Prompt("asks", create=lambda ctx: "x", judge=judge),
    )
    for make, begin in zip(makers, ("s: ", "s: ", "Prompt('asks'): "), strict=True):
        with pytest.raises(UsageError) as raised:
            make()
        assert str(raised.value).startswith(f"{begin}judge= takes a Judge, not ")
        assert says in str(raised.value)


def test_the_name_is_the_id_unless_it_is_given():
    assert given().name == "s"
    assert given(name="Short answers").name == "Short answers"


def test_what_it_is_made_with_can_be_read():
    made = given(description="d", judge=Judge("m"), type="agent", version="2", kind="binary", better="lower")
    assert (made.description, made.judge, made.type) == ("d", Judge("m"), "agent")
    assert (made.version, made.kind, made.better) == ("2", "binary", "lower")


def test_the_range_is_0_to_1_or_as_given():
    assert given().range == (0, 1)
    assert given(scale=5).range == (0, 5)
    assert given(range=(-1, 1)).range == (-1, 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param({"scale": 5, "range": (0, 5)}, "not both", id="range and scale"),
        pytest.param({"scale": 0}, "scale is a number above 0", id="scale 0"),
        pytest.param({"scale": -1}, "scale is a number above 0", id="scale below 0"),
        pytest.param({"scale": True}, "scale is a number above 0", id="scale that is a bool"),
        pytest.param({"scale": "5"}, "scale is a number above 0", id="scale that is text"),
        pytest.param({"scale": math.nan}, "scale is a number above 0", id="scale NaN"),
        pytest.param({"scale": math.inf}, "at least 1e-06 wide", id="scale infinite"),
        pytest.param({"range": (1, 0)}, "at least 1e-06 wide", id="range upside down"),
        pytest.param({"range": (0, 0)}, "at least 1e-06 wide", id="range without width"),
        pytest.param({"range": (0, 1e-9)}, "at least 1e-06 wide", id="range as narrow as rounding noise"),
        pytest.param({"range": (0, 10**400)}, "two numbers", id="range beyond floats"),
        pytest.param({"range": 5}, "two numbers", id="range of one number"),
        pytest.param({"range": (0, 1, 2)}, "two numbers", id="range of three numbers"),
        pytest.param({"range": ("low", "high")}, "two numbers", id="range of words"),
        pytest.param({"better": "up"}, "better is 'higher' or 'lower'", id="better"),
        pytest.param({"kind": "percent"}, "kind is 'binary' or 'graded'", id="kind"),
    ],
)
def test_options_that_cannot_be_right_are_refused_when_written(options, message):
    with pytest.raises(UsageError, match=re.escape(message)):
        given(**options)


def test_an_unknown_option_is_refused():
    with pytest.raises(UsageError, match=r"takes no descripton=\. Did you mean 'description'"):
        given(descripton="x")


# ── @scorer ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_one_function_is_a_scorer():
    @scorer
    def polite(run):
        """Says please.

        More is not shown.
        """
        return "please" in run.text.lower()

    assert (polite.id, polite.name, polite.key, polite.description) == ("polite", "polite", "polite", "Says please.")
    assert polite.run_sync(output="Sit down, PLEASE.").score == 1.0
    assert polite.run_sync(output="Sit down.").score == 0.0


def test_its_options_are_those_of_create_scorer():
    @scorer(id="words", description="How many words", scale=10, better="lower", inline=True)
    def count(run):
        return len(run.text.split())

    assert (count.id, count.description, count.range, count.better) == ("words", "How many words", (0, 10), "lower")
    assert count.run_sync(output="one two").score == 2.0


async def test_it_may_be_async():
    @scorer
    async def polite(run):
        return "please" in run.text.lower()

    assert (await polite.run(output="please")).score == 1.0


@pytest.mark.parametrize(
    ("value", "score", "label", "reason"),
    [
        pytest.param(0.25, 0.25, None, None, id="number"),
        pytest.param(True, 1.0, None, None, id="bool"),
        pytest.param(Score(0.5, label="half", reason="so so"), 0.5, "half", "so so", id="Score"),
        pytest.param(Score(True), 1.0, None, None, id="Score of a bool"),
    ],
)
def test_it_gives_a_number_a_bool_or_a_score_with_more_to_say(value, score, label, reason):
    outcome = scorer(id="s")(lambda run: value).run_sync(output="x")
    assert (outcome.status, outcome.score, outcome.label, outcome.reason) == ("scored", score, label, reason)


def test_it_may_decline():
    outcome = scorer(id="s")(lambda run: not_scorable("No policy supplied")).run_sync(output="x")
    assert (outcome.status, outcome.score, outcome.reason) == ("not_scorable", None, "No policy supplied")
    assert outcome.not_scorable.step == "generate_score"


def test_a_lambda_needs_an_id():
    with pytest.raises(UsageError, match="a lambda has no name"):
        scorer(lambda run: 1)
    assert scorer(id="one")(lambda run: 1).id == "one"


def test_an_object_without_a_name_needs_an_id():
    class Judge:
        def __call__(self, run):
            return 1

    with pytest.raises(UsageError, match="needs an id"):
        scorer(Judge())
    assert scorer(id="one")(Judge()).run_sync(output="x").score == 1.0


@pytest.mark.parametrize(
    "function",
    [
        pytest.param(lambda: 1, id="no argument"),
        pytest.param(lambda run, other: 1, id="two arguments"),
        pytest.param(5, id="no function"),
        pytest.param(checks.includes("x"), id="a scorer already"),
    ],
)
def test_what_takes_no_run_is_refused(function):
    with pytest.raises(UsageError, match="a function of one argument, the run"):
        scorer(id="s")(function)
