import pytest

from proctor import Item, Threshold, run_evals
from proctor.errors import ScorerRunError, UnknownName, UsageError
from proctor.scorers.judged.toxicity import formula, toxicity
from proctor.testing import ScriptedModel
from tests.scorers.judged.asked import fenced, outcome_of

ANSWER = "It is sunny. Look outside, fool!"


def verdicts(*words):
    return {
        "verdicts": [
            {"id": at, "text": f"t{at}", "reason": f"r{at}", "verdict": word} for at, word in enumerate(words, start=1)
        ]
    }


def with_ids(*ids):
    """Harmless remarks under these ids."""
    return {"verdicts": [{"id": at, "text": "t", "reason": "r", "verdict": "no"} for at in ids]}


@pytest.mark.parametrize(
    ("words", "score"),
    [(["yes", "yes"], 1.0), (["yes", "no"], 0.5), (["no"], 0.0), (["YES", "no", " No "], 0.33)],
)
async def test_the_score_is_the_share_that_is_toxic(words, score):
    outcome, model = await outcome_of(toxicity, [verdicts(*words), "why"], output=ANSWER)
    assert (outcome.score, outcome.reason, len(model.calls)) == (score, "why", 2)


def test_lower_is_better_up_to_the_scale():
    scorer = toxicity(scale=10)
    assert (scorer.better, scorer.range, scorer.arguments) == ("lower", (0.0, 10.0), {"scale": 10.0})
    assert formula({"verdicts": [{"verdict": "yes"}, {"verdict": "no"}, {"verdict": "no"}]}, {"scale": 10}) == 3.33


async def test_the_judge_sees_question_and_last_answer():
    _, model = await outcome_of(
        toxicity,
        [verdicts("no", "yes"), "why"],
        input="Weather?",
        output=[{"role": "assistant", "content": "Let me see."}, {"role": "assistant", "content": ANSWER}],
    )
    judging, explaining = model.calls
    assert list(fenced(judging).items()) == [("question", "Weather?"), ("answer", ANSWER)]
    assert fenced(explaining) == {
        "verdicts": '{"id": 1, "text": "t1", "reason": "r1", "verdict": "no"}\n'
        '{"id": 2, "text": "t2", "reason": "r2", "verdict": "yes"}'
    }
    assert "0.5 of 1 for toxicity" in explaining.messages[1].text


async def test_an_answer_that_nobody_asked_for_is_judged():
    outcome, model = await outcome_of(toxicity, [verdicts("no"), "why"], output="Good morning.")
    assert outcome.score == 0.0
    assert list(fenced(model.calls[0])) == ["answer"]
    assert "The question:\n\nIt was not recorded." in model.calls[0].messages[1].text


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (with_ids(1, 3), r"ids 1 to 2, in this order, each exactly once, not 1, 3"),
        (with_ids(1, 1), r"not 1, 1"),
        (with_ids(2, 1), r"not 2, 1"),
        (with_ids(0), r"not 0"),
        ({"verdicts": [*with_ids(1)["verdicts"], {"id": 2, "text": " ", "reason": "r", "verdict": "no"}]}, "of 2 is"),
        (verdicts("unsure"), "must be one of"),
        ({"verdicts": [{"id": 1, "reason": "r", "verdict": "no"}]}, "text: is missing"),
    ],
    ids=["a gap", "one twice", "another order", "from 0", "no words", "another word", "no text"],
)
async def test_lists_that_do_not_fit_are_asked_for_again_and_then_errors(answer, problem):
    with pytest.raises(ScorerRunError, match=problem) as caught:
        await outcome_of(toxicity, [answer, answer], output=ANSWER)
    assert caught.value.failed_step == "analyze"

    outcome, model = await outcome_of(toxicity, [answer, verdicts("yes"), "why"], output=ANSWER)
    assert (outcome.score, len(model.calls)) == (1.0, 3)


@pytest.mark.parametrize(
    ("said", "why", "calls"), [(" ", "there is no answer", 0), ("...", "the judge found nothing in the answer", 1)]
)
async def test_it_declines_with_nothing_to_judge(said, why, calls):
    outcome, model = await outcome_of(toxicity, [{"verdicts": []}], input="?", output=said)
    assert (outcome.status, outcome.score) == ("not_scorable", None)
    assert outcome.reason.startswith(why)
    assert len(model.calls) == calls


def test_options_are_refused_when_written():
    with pytest.raises(UsageError, match="toxicity: scale is a number above 0"):
        toxicity(scale="10")
    with pytest.raises(UnknownName, match="no prompt of toxicity 'preprocess'"):
        toxicity(prompts={"preprocess": "{answer}"})
    with pytest.raises(UsageError, match=r"has no \{answer\}"):
        toxicity(prompts={"analyze": "Judge {question}"})


async def test_prompts_and_language_are_the_user_s_to_change():
    options = {"prompts": {"analyze": "Judge {answer}"}, "language": "de"}
    _, model = await outcome_of(toxicity, [verdicts("no"), "why"], options=options, input="?", output=ANSWER)
    assert list(fenced(model.calls[0])) == ["answer"]
    assert all("the language with the code de" in call.messages[0].text for call in model.calls)


async def test_in_a_run_its_mean_has_an_upper_bound():
    model = ScriptedModel({'"verdict"': "why", "fool": verdicts("no", "yes"), "Sunny.": verdicts("no")})
    result = await run_evals(
        data=[Item("Weather?", output=ANSWER), Item("Weather?", output="Sunny."), Item("Weather?", output="")],
        scorers=[(toxicity(model=model), Threshold(max=0.25))],
    )
    mean = result.scores["toxicity-scorer"]
    assert (result.verdict, mean.mean, mean.n, mean.of, mean.not_scorable) == ("passed", 0.25, 2, 3, 1)


def test_the_formula_reads_words_in_any_form_and_gives_no_number_for_nothing():
    assert formula({"verdicts": [{"verdict": " YES"}, {"verdict": "perhaps"}]}, {}) == 0.5
    nothing = formula({"verdicts": []}, {"scale": 10})
    assert nothing.reason == "the judge found nothing in the answer that it could judge"
