import pytest

from proctor import Item, Threshold, run_evals
from proctor.errors import ScorerRunError, UnknownName, UsageError
from proctor.scorers.judged.bias import bias, formula
from proctor.testing import ScriptedModel
from tests.scorers.judged.asked import fenced, outcome_of

LISTED = {"opinions": ["Northerners are rude", "The bridge is beautiful"]}
ANSWER = "A beautiful bridge, but northerners are rude."


def results(*words):
    return {"results": [{"id": at, "reason": f"r{at}", "result": word} for at, word in enumerate(words, start=1)]}


@pytest.mark.parametrize(
    ("words", "score"),
    [(["yes", "yes"], 1.0), (["yes", "no"], 0.5), (["no", "no"], 0.0), (["YES", " No "], 0.5)],
)
async def test_the_score_is_the_share_that_is_biased(words, score):
    outcome, model = await outcome_of(bias, [LISTED, results(*words), "why"], output=ANSWER)
    assert (outcome.score, outcome.reason, len(model.calls)) == (score, "why", 3)


def test_lower_is_better_up_to_the_scale():
    scorer = bias(scale=100)
    assert (scorer.better, scorer.range, scorer.arguments) == ("lower", (0.0, 100.0), {"scale": 100.0})
    assert formula({"results": [{"result": "yes"}, {"result": "no"}, {"result": "no"}]}, {"scale": 100}) == 33.33


async def test_the_judge_sees_the_last_answer_and_its_numbered_opinions():
    _, model = await outcome_of(
        bias,
        [LISTED, results("yes", "no"), "why"],
        input="How is the north?",
        output=[{"role": "assistant", "content": "Let me see."}, {"role": "assistant", "content": ANSWER}],
    )
    listing, judging, explaining = model.calls
    assert fenced(listing) == {"answer": ANSWER}
    assert list(fenced(judging).items()) == [
        ("answer", ANSWER),
        ("opinions", '{"id": 1, "text": "Northerners are rude"}\n{"id": 2, "text": "The bridge is beautiful"}'),
    ]
    assert fenced(explaining) == {
        "results": '{"id": 1, "text": "Northerners are rude", "reason": "r1", "result": "yes"}\n'
        '{"id": 2, "text": "The bridge is beautiful", "reason": "r2", "result": "no"}'
    }
    assert "0.5 of 1 for bias" in explaining.messages[1].text
    assert "How is the north?" not in "".join(message.text for call in model.calls for message in call.messages)


async def test_an_opinion_without_result_is_asked_for_and_then_an_error():
    with pytest.raises(ScorerRunError, match=r"exactly once: 2 is missing") as caught:
        await outcome_of(bias, [LISTED, results("no"), results("no")], output=ANSWER)
    assert (caught.value.failed_step, caught.value.result.preprocess_step_result) == ("analyze", LISTED)

    outcome, model = await outcome_of(bias, [LISTED, results("no"), results("no", "yes"), "why"], output=ANSWER)
    assert outcome.score == 0.5
    assert "2 is missing" in model.calls[2].messages[-1].text


@pytest.mark.parametrize(
    "answer",
    [
        results("no", "no", "no"),
        {"results": [*results("no")["results"], *results("no")["results"]]},
        results("no", "unsure"),
    ],
    ids=["one more", "one twice", "another word"],
)
async def test_results_that_do_not_fit_are_errors(answer):
    with pytest.raises(ScorerRunError):
        await outcome_of(bias, [LISTED, answer, answer], output=ANSWER)


@pytest.mark.parametrize(
    ("said", "why", "calls"),
    [("", "there is no answer", 0), ("The bridge is 90 m long.", "the answer states no opinion", 1)],
)
async def test_it_declines_with_nothing_to_judge(said, why, calls):
    outcome, model = await outcome_of(bias, [{"opinions": ["", " "]}], output=said)
    assert (outcome.status, outcome.score) == ("not_scorable", None)
    assert outcome.reason.startswith(why)
    assert len(model.calls) == calls


def test_options_are_refused_when_written():
    with pytest.raises(UsageError, match="bias: scale is a number above 0"):
        bias(scale=-1)
    with pytest.raises(UnknownName, match="Did you mean 'preprocess'"):
        bias(prompts={"preproces": "{answer}"})
    with pytest.raises(UsageError, match=r"has no \{opinions\}"):
        bias(prompts={"analyze": "Judge {answer}"})


async def test_prompts_and_language_are_the_user_s_to_change():
    options = {"prompts": {"analyze": "Judge {opinions}", "instructions": "Be strict."}, "language": "Finnish"}
    _, model = await outcome_of(bias, [LISTED, results("no", "no"), "why"], options=options, output=ANSWER)
    assert list(fenced(model.calls[1])) == ["opinions"]
    assert all(call.messages[0].text.startswith("Be strict.") for call in model.calls)
    assert all("Write every explanation and reason in Finnish." in call.messages[0].text for call in model.calls)


async def test_in_a_run_its_mean_has_an_upper_bound():
    model = ScriptedModel(
        {
            '"result"': "why",
            '"text": "All of them lie"': results("yes"),
            '"text": "The day is fine"': results("no"),
            "All of them lie.": {"opinions": ["All of them lie"]},
            "A fine day.": {"opinions": ["The day is fine"]},
            "It is noon.": {"opinions": []},
        }
    )
    items = [Item("?", output=said) for said in ("All of them lie.", "A fine day.", "It is noon.")]
    result = await run_evals(data=items, scorers=[(bias(model=model), Threshold(max=0.2))])
    mean = result.scores["bias-scorer"]
    assert (result.verdict, mean.mean, mean.n, mean.of, mean.not_scorable) == ("scored", 0.5, 2, 3, 1)
    with pytest.raises(UsageError, match="lower is better"):
        await run_evals(data=items, gates=[bias(model=model)])


def test_the_formula_reads_words_in_any_form_and_gives_no_number_for_nothing():
    assert formula({"results": [{"result": " YES"}, {"result": "unsure"}]}, {}) == 0.5
    assert formula({"results": []}, {}).reason == "the answer states no opinion"
