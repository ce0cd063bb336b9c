import functools

import pytest

from proctor import Item, run_evals
from proctor.errors import ScorerRunError, UnknownName, UsageError
from proctor.scorers.judged.graded_rubric import formula, graded_rubric
from proctor.testing import ScriptedModel
from tests.scorers.judged.asked import fenced, outcome_of

LEVELS = {5: "warm", 1: "cold or rude", 3: "neutral"}
CRITERION = "How kind the answer is"
kindness = functools.partial(graded_rubric, LEVELS, criterion=CRITERION)


def says(level, *evidence, reasoning="because"):
    return {"evidence": list(evidence), "reasoning": reasoning, "level": level}


@pytest.mark.parametrize(("level", "label"), [(1, "cold or rude"), (3, "neutral"), (5.0, "warm")])
async def test_the_score_is_the_level_and_the_label_its_words(level, label):
    outcome, model = await outcome_of(kindness, [says(level)], output="Sit.")
    assert (outcome.score, outcome.label, len(model.calls)) == (float(level), label, 1)


@pytest.mark.parametrize(("level", "score"), [(1, 0.0), (3, 0.5), (5, 1.0)])
async def test_with_a_scale_the_least_is_0_and_the_greatest_the_scale(level, score):
    outcome, _ = await outcome_of(kindness, [says(level)], options={"scale": 1}, output="Sit.")
    assert outcome.score == score
    outcome, _ = await outcome_of(kindness, [says(level)], options={"scale": 10}, output="Sit.")
    assert outcome.score == score * 10


def test_the_range_is_that_of_the_levels_or_of_the_scale():
    plain, one, ten = kindness(), kindness(scale=1), kindness(scale=10)
    assert [scorer.range for scorer in (plain, one, ten)] == [(1.0, 5.0), (0.0, 1.0), (0.0, 10.0)]
    assert [scorer.kind for scorer in (plain, one, ten)] == ["graded"] * 3
    assert len({scorer.key for scorer in (plain, one, ten)}) == 3
    assert len({scorer.fingerprint for scorer in (plain, one, ten)} - {"unknown"}) == 3
    assert (
        graded_rubric({0: "no", 1: "yes"}, criterion="a").key
        == 'graded-rubric-scorer[criterion=a,{"0":"no","1":"yes"}]'
    )


@pytest.mark.parametrize("level", [2, 4.5, 6, "5", None])
async def test_a_level_that_there_is_not_is_asked_for_again_and_then_an_error(level):
    with pytest.raises(ScorerRunError, match="level") as caught:
        await outcome_of(kindness, [says(level)], output="Sit.")
    assert caught.value.failed_step == "analyze"
    outcome, model = await outcome_of(kindness, [says(level), says(5)], output="Sit.")
    assert (outcome.score, len(model.calls)) == (5.0, 2)


async def test_the_judge_is_told_which_levels_there_are():
    _, model = await outcome_of(kindness, [says(2), says(3)], output="Sit.")
    assert "level must be one of 1, 3, 5" in model.calls[1].messages[-1].text
    prompt = model.calls[0].messages[1].text
    assert "\n- 1: cold or rude\n- 3: neutral\n- 5: warm\n" in prompt
    assert prompt.index(f"\n{CRITERION}\n") < prompt.index("Sit.")


async def test_levels_can_be_any_numbers():
    odd = {-1: "bad", 0.123456789: "so\n so", 1e9: "good"}
    outcome, model = await outcome_of(
        functools.partial(graded_rubric, odd, criterion="a"), [says(0.123456789)], output="x"
    )
    assert (outcome.score, outcome.label) == (0.123456789, "so so")
    assert "\n- -1: bad\n- 0.123456789: so so\n- 1000000000: good\n" in model.calls[0].messages[1].text


async def test_the_reason_is_the_level_the_reasoning_and_the_quotes():
    outcome, _ = await outcome_of(
        kindness, [says(1, "Sit.", " ", "Now!", reasoning=" Two bare commands. ")], output="x"
    )
    assert outcome.reason.splitlines() == ["Level 1 of 5: cold or rude", "Two bare commands.", '"Sit."', '"Now!"']


async def test_long_words_are_cut_in_the_label_alone():
    words = "the answer " + "very " * 20 + "kind"
    outcome, _ = await outcome_of(
        functools.partial(graded_rubric, {0: "no", 1: words}, criterion="a"), [says(1)], output="x"
    )
    assert (len(outcome.label), outcome.label[-3:]) == (40, "...")
    assert words in outcome.reason


async def test_the_judge_sees_question_and_last_answer_and_no_truth():
    _, model = await outcome_of(kindness, [says(3)], input="May I?", output=["Wait.", "You may."], ground_truth="TRUTH")
    assert fenced(model.calls[0]) == {"question": "May I?", "answer": "You may."}
    assert "TRUTH" not in model.calls[0].messages[1].text


@pytest.mark.parametrize(
    ("truth", "shown"), [("Please do.", "Please do."), ({"a": 1}, '{"a":1}'), (False, "false"), (0, "0")]
)
async def test_the_truth_is_shown_as_a_reference_when_it_is_told_to(truth, shown):
    _, model = await outcome_of(
        kindness, [says(3)], options={"include_ground_truth": True}, output="You may.", ground_truth=truth
    )
    assert fenced(model.calls[0]) == {"reference": shown, "answer": "You may."}


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({}, "there is no ground truth to compare with"),
        ({"ground_truth": None}, "there is no ground truth to compare with"),
        ({"ground_truth": " "}, "the ground truth is empty: there is nothing in it to compare with"),
    ],
)
async def test_it_declines_without_the_truth_that_is_to_be_shown(given, why):
    options = {"include_ground_truth": True}
    outcome, model = await outcome_of(kindness, [says(3)], options=options, output="x", **given)
    assert (outcome.status, outcome.score, len(model.calls)) == ("not_scorable", None, 0)
    assert outcome.reason == why


async def test_it_declines_without_an_answer():
    outcome, model = await outcome_of(kindness, [says(3)], output=" ")
    assert (outcome.status, outcome.label, len(model.calls)) == ("not_scorable", None, 0)


@pytest.mark.parametrize(
    ("levels", "said"),
    [
        ({1: "a"}, "from two or more numbers to words"),
        ([1, 2], "from two or more numbers to words"),
        (None, "from two or more numbers to words"),
        ({"1": "a", "2": "b"}, r"'1', which is no number; write \{1: 'a'\}"),
        ({"good": "a", 2: "b"}, r"'good', which is no number; write \{5: 'a'\}"),
        ({10**400: "a", 2: "b"}, "which is no number"),
        ({2**60: "a", 2**60 + 1: "b"}, "too close to be told apart"),
        ({True: "a", False: "b"}, "True, which is no number"),
        ({1: "a", float("inf"): "b"}, "inf, which is no number"),
        ({1: "a", 2: " "}, r"levels\[2\] says in words"),
        ({1: "a", 2: None}, r"levels\[2\] says in words"),
    ],
)
def test_levels_are_refused_when_written(levels, said):
    with pytest.raises(UsageError, match=f"graded_rubric: .*{said}"):
        graded_rubric(levels, criterion="a")


def test_options_are_refused_when_written():
    with pytest.raises(UsageError, match="criterion is a text that is not empty"):
        graded_rubric(LEVELS, criterion="")
    with pytest.raises(UsageError, match="scale is a number above 0"):
        kindness(scale=0)
    with pytest.raises(UsageError, match="include_ground_truth must be True or False"):
        kindness(include_ground_truth=1)
    with pytest.raises(UsageError, match=r"has no \{levels\}"):
        kindness(prompts={"analyze": "{criterion} {answer}"})
    with pytest.raises(UsageError, match=r"has no \{reference\}"):
        kindness(include_ground_truth=True, prompts={"analyze": "{criterion} {levels} {answer}"})
    with pytest.raises(UnknownName, match="Did you mean 'levels'"):
        kindness(prompts={"analyze": "{criterion} {level} {answer}"})


async def test_words_and_language_are_the_user_s_to_change():
    options = {"language": "pt-BR", "prompts": {"analyze": "{criterion}?\n{levels}\n{answer}"}}
    _, model = await outcome_of(kindness, [says(3)], options=options, output="x")
    system, user = (message.text for message in model.calls[0].messages)
    assert "the language with the code pt-BR" in system
    assert user.startswith(f"{CRITERION}?\n- 1: cold or rude")


async def test_in_a_run_thresholds_are_in_levels():
    model = ScriptedModel({"Thank you": says(5, "Thank you"), "Sit": says(3, "Sit")})
    result = await run_evals(
        data=[Item("?", output="Thank you!"), Item("?", output="Sit."), Item("?", output="")],
        scorers=[(kindness(model=model).named("kind"), 4)],
    )
    mean = result.scores["kind"]
    assert (result.verdict, mean.mean, mean.n, mean.not_scorable) == ("passed", 4.0, 2, 1)


def test_the_formula():
    options = {"levels": {1: "a", 2: "b", 5: "c"}}
    assert [formula({"level": level}, options) for level in (1, 2, 5)] == [1.0, 2.0, 5.0]
    assert [formula({"level": level}, {**options, "scale": 2}) for level in (1, 2, 5)] == [0.0, 0.5, 2.0]
    assert formula({"level": 3}, options).reason == "the judge gave a level that there is not"
