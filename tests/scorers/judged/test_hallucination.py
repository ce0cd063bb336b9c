import pytest

from proctor import Item, Judge, Threshold, run_evals
from proctor.errors import ScorerRunError, UnknownName, UsageError
from proctor.scorers.judged.hallucination import formula, hallucination
from proctor.scorers.material import tool_results
from proctor.testing import ScriptedModel
from tests.scorers.judged.asked import fenced, outcome_of

CLAIMS = {"claims": ["It is sunny", "It is 30 degrees"]}
CALL = {
    "role": "assistant",
    "content": "Sunny, 30 degrees.",
    "tool_calls": [{"id": "1", "function": {"name": "weather", "arguments": "{}"}}],
}
RESULT = {"role": "tool", "tool_call_id": "1", "content": "sunny, 20 degrees"}


def verdicts(*words):
    return {"verdicts": [{"id": at, "reason": f"r{at}", "verdict": word} for at, word in enumerate(words, start=1)]}


@pytest.mark.parametrize(
    ("words", "score"), [(["yes", "yes"], 1.0), (["no", "YES"], 0.5), (["no", "no"], 0.0), ([" No ", "yes "], 0.5)]
)
async def test_the_score_is_the_share_of_claims_that_are_made_up(words, score):
    outcome, _ = await outcome_of(hallucination, [CLAIMS, verdicts(*words), "why"], output="x", context="sunny")
    assert (outcome.score, outcome.reason) == (score, "why")


async def test_lower_is_better_and_the_scale_is_the_worst():
    scorer = hallucination(scale=5)
    assert (scorer.better, scorer.range) == ("lower", (0.0, 5.0))
    outcome, model = await outcome_of(
        hallucination, [CLAIMS, verdicts("yes", "no"), "why"], options={"scale": 5}, output="x", context="c"
    )
    assert outcome.score == 2.5
    assert "2.5 of 5" in model.calls[2].messages[1].text


async def test_the_judge_sees_the_last_answer_then_numbered_claims_and_context():
    _, model = await outcome_of(
        hallucination,
        [CLAIMS, verdicts("no", "yes"), "why"],
        input="Weather?",
        output=[{"role": "assistant", "content": "Let me see."}, {"role": "assistant", "content": "Sunny."}],
        context=["sunny", {"degrees": 20}],
    )
    extract, compare, explain = model.calls
    assert fenced(extract) == {"answer": "Sunny."}
    assert list(fenced(compare).items()) == [
        ("claims", '{"id": 1, "text": "It is sunny"}\n{"id": 2, "text": "It is 30 degrees"}'),
        ("context", '{"id": 1, "text": "sunny"}\n{"id": 2, "text": "{\\"degrees\\": 20}"}'),
    ]
    assert list(fenced(explain)) == ["question", "answer", "context", "verdicts"]
    assert '"reason": "r2", "verdict": "yes"' in fenced(explain)["verdicts"]


async def test_results_of_tools_are_no_context_unless_they_are_asked_for():
    outcome, model = await outcome_of(hallucination, [CLAIMS], output=[CALL, RESULT])
    assert (outcome.status, outcome.reason, model.calls) == ("not_scorable", "there is no context", [])
    outcome, model = await outcome_of(
        hallucination,
        [CLAIMS, verdicts("no", "yes"), "why"],
        options={"context_extractor": tool_results},
        output=[CALL, RESULT],
        context="the item's",
    )
    assert outcome.score == 0.5
    assert fenced(model.calls[1])["context"] == '{"id": 1, "text": "sunny, 20 degrees"}'


async def test_the_item_s_context_wins_over_the_scorer_s_own():
    seen = []
    for given in ({"context": "item's"}, {}):
        _, model = await outcome_of(
            hallucination, [CLAIMS, verdicts("no", "no"), "why"], options={"context": "own"}, output="x", **given
        )
        seen.append(fenced(model.calls[1])["context"])
    assert seen == ['{"id": 1, "text": "item\'s"}', '{"id": 1, "text": "own"}']


async def test_a_claim_without_verdict_is_asked_for_again():
    outcome, model = await outcome_of(
        hallucination, [CLAIMS, verdicts("no"), verdicts("no", "yes"), "why"], output="x", context="c"
    )
    assert outcome.score == 0.5
    assert "2 is missing" in model.calls[2].messages[-1].text


@pytest.mark.parametrize(
    "answer",
    [
        verdicts("no"),
        verdicts("no", "no", "no"),
        verdicts("no", "unsure"),
        {"verdicts": verdicts("no")["verdicts"] * 2},
    ],
)
async def test_verdicts_that_do_not_fit_are_errors_and_no_low_score(answer):
    with pytest.raises(ScorerRunError) as caught:
        await outcome_of(hallucination, [CLAIMS, answer, answer], output="x", context="c")
    assert caught.value.failed_step == "analyze"


@pytest.mark.parametrize(
    ("given", "why", "calls"),
    [
        ({"output": "", "context": "c"}, "there is no answer", 0),
        ({"output": "x"}, "there is no context", 0),
        ({"output": "x", "context": [" "]}, "there is no context", 0),
        ({"output": "Hi!", "context": "c"}, "the answer makes no claims", 1),
    ],
)
async def test_it_declines_with_nothing_to_judge(given, why, calls):
    outcome, model = await outcome_of(hallucination, [{"claims": ["  "]}], **given)
    assert (outcome.status, outcome.score) == ("not_scorable", None)
    assert outcome.reason.startswith(why)
    assert len(model.calls) == calls


def test_options_are_refused_when_written():
    with pytest.raises(UsageError, match="hallucination: scale is a number above 0"):
        hallucination(scale=0)
    with pytest.raises(UsageError, match="hallucination: context is a text"):
        hallucination(context=[])
    with pytest.raises(UsageError, match="hallucination: context_extractor is a def"):
        hallucination(context_extractor="tool_results")
    with pytest.raises(UsageError, match="not both"):
        hallucination(context="a", context_extractor=tool_results)
    with pytest.raises(UnknownName, match="Did you mean 'analyze'"):
        hallucination(prompts={"analyse": "{claims}"})
    with pytest.raises(UsageError, match=r"has no \{context\}"):
        hallucination(prompts={"analyze": "Judge {claims}"})


async def test_words_and_language_are_the_user_s_to_change():
    prompts = {"instructions": "Be strict.", "preprocess": "Claims, please: {answer}"}
    _, model = await outcome_of(
        hallucination,
        [CLAIMS, verdicts("no", "no"), "warum"],
        options={"language": "German", "prompts": prompts},
        output="x",
        context="c",
    )
    system, user = model.calls[0].messages
    assert system.text.startswith("Be strict.")
    assert user.text.startswith("Claims, please: <<<")
    assert all("in German" in call.messages[0].text for call in model.calls)
    assert hallucination(model=Judge("test:none", instructions="Mine.")).judge.instructions == "Mine."


async def test_in_a_run_it_counts_what_it_could_judge():
    model = ScriptedModel(
        {"Sunny.": {"claims": ["Sunny"]}, "Hello!": {"claims": []}, "The claims": verdicts("no"), "*": "why"}
    )
    result = await run_evals(
        data=[Item("?", output="Sunny.", context="sunny"), Item("?", output="Hello!", context="sunny")],
        scorers=[(hallucination(model=model), Threshold(max=0.1))],
    )
    mean = result.scores["hallucination-scorer"]
    assert (result.verdict, mean.mean, mean.n, mean.of, mean.not_scorable) == ("passed", 0.0, 1, 2, 1)


def test_the_formula_is_the_share_of_yes():
    said = [{"verdict": " YES"}, {"verdict": "no"}, {"verdict": "perhaps"}]
    assert formula({"verdicts": said}, {"scale": 10}) == 3.33
    assert formula({"verdicts": said}, {}) == 0.33
    assert formula({"verdicts": []}, {}).reason == "the answer makes no claims"
