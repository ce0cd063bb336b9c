import pytest

from proctor import Item, run_evals
from proctor.errors import ScorerRunError, UnknownName, UsageError
from proctor.scorers.judged.context_recall import context_recall, formula
from proctor.scorers.material import tool_results
from proctor.testing import ScriptedModel
from tests.scorers.judged.asked import fenced, outcome_of

CLAIMS = {"claims": ["It opens at nine", "It is free on Sundays"]}
KNOWN = {
    "output": "Never.",
    "ground_truth": "Opens at nine, free on Sundays.",
    "context": ["Opens at 9.", "Closed."],
}


def verdicts(*words):
    return {"verdicts": [{"id": at, "reason": f"r{at}", "verdict": word} for at, word in enumerate(words, start=1)]}


@pytest.mark.parametrize(
    ("words", "score"), [(["yes", "yes"], 1.0), (["yes", "no"], 0.5), (["no", "no"], 0.0), (["YES", " No"], 0.5)]
)
async def test_the_score_is_the_share_of_the_truth_that_the_context_holds(words, score):
    outcome, _ = await outcome_of(context_recall, [CLAIMS, verdicts(*words), "why"], **KNOWN)
    assert (outcome.score, outcome.reason) == (score, "why")


async def test_the_judge_sees_the_truth_then_its_claims_and_the_context_and_never_the_answer():
    _, model = await outcome_of(context_recall, [CLAIMS, verdicts("yes", "no"), "why"], input="When?", **KNOWN)
    extract, attribute, explain = model.calls
    assert fenced(extract) == {"ground_truth": "Opens at nine, free on Sundays."}
    assert fenced(attribute) == {
        "context": '{"id": 1, "text": "Opens at 9."}\n{"id": 2, "text": "Closed."}',
        "claims": '{"id": 1, "text": "It opens at nine"}\n{"id": 2, "text": "It is free on Sundays"}',
    }
    assert '"reason": "r2", "verdict": "no"' in fenced(explain)["verdicts"]
    assert "0.5 of 1" in explain.messages[1].text
    assert not any("Never." in message.text for call in model.calls for message in call.messages)


@pytest.mark.parametrize(
    ("truth", "shown"),
    [(0, "0"), (False, "false"), (["nine", "9"], '["nine","9"]'), ({"opens": "Δευτέρα"}, '{"opens":"Δευτέρα"}')],
)
async def test_a_truth_that_is_no_text_is_shown_readably(truth, shown):
    outcome, model = await outcome_of(
        context_recall, [CLAIMS, verdicts("yes", "yes"), "why"], **{**KNOWN, "ground_truth": truth}
    )
    assert outcome.score == 1.0
    assert fenced(model.calls[0]) == {"ground_truth": shown}


async def test_a_claim_without_verdict_is_asked_for_again():
    outcome, model = await outcome_of(context_recall, [CLAIMS, verdicts("yes"), verdicts("yes", "no"), "why"], **KNOWN)
    assert outcome.score == 0.5
    assert "2 is missing" in model.calls[2].messages[-1].text


@pytest.mark.parametrize(
    "answer",
    [
        verdicts("yes"),
        verdicts("yes", "yes", "yes"),
        verdicts("yes", "unsure"),
        {"verdicts": verdicts("yes")["verdicts"] * 2},
    ],
)
async def test_verdicts_that_do_not_fit_are_errors(answer):
    with pytest.raises(ScorerRunError) as caught:
        await outcome_of(context_recall, [CLAIMS, answer, answer], **KNOWN)
    assert caught.value.failed_step == "analyze"


@pytest.mark.parametrize(
    ("given", "why", "calls"),
    [
        ({"output": "x", "context": "c"}, "there is no ground truth", 0),
        ({"output": "x", "context": "c", "ground_truth": None}, "there is no ground truth", 0),
        ({"output": "x", "context": "c", "ground_truth": " "}, "the ground truth is empty", 0),
        ({"output": "x", "ground_truth": "t"}, "there is no context", 0),
        ({"output": "x", "ground_truth": "t", "context": ["", " "]}, "there is no context", 0),
        ({"output": "x", "ground_truth": "Hello!", "context": "c"}, "the ground truth makes no claims", 1),
    ],
)
async def test_it_declines_with_nothing_to_judge(given, why, calls):
    outcome, model = await outcome_of(context_recall, [{"claims": [""]}], **given)
    assert (outcome.status, outcome.score) == ("not_scorable", None)
    assert outcome.reason.startswith(why)
    assert len(model.calls) == calls


async def test_the_context_is_the_extractor_s_else_the_item_s_else_its_own():
    seen = []
    for options, given in [
        ({"context_extractor": lambda run: [run.output]}, {"context": "item's"}),
        ({"context": "own"}, {"context": "item's"}),
        ({"context": "own"}, {}),
    ]:
        _, model = await outcome_of(
            context_recall,
            [CLAIMS, verdicts("yes", "yes"), "why"],
            options=options,
            output="out",
            ground_truth="t",
            **given,
        )
        seen.append(fenced(model.calls[1])["context"])
    assert seen == ['{"id": 1, "text": "out"}', '{"id": 1, "text": "item\'s"}', '{"id": 1, "text": "own"}']


def test_options_are_refused_when_written():
    with pytest.raises(UsageError, match="context_recall: scale is a number above 0"):
        context_recall(scale="10")
    with pytest.raises(UsageError, match="context_recall: context is 7, of the type int"):
        context_recall(context=7)
    with pytest.raises(UsageError, match="not both"):
        context_recall(context="a", context_extractor=tool_results)
    with pytest.raises(UnknownName, match="Did you mean 'ground_truth'"):
        context_recall(prompts={"preprocess": "{groundtruth}"})
    with pytest.raises(UsageError, match=r"has no \{claims\}"):
        context_recall(prompts={"analyze": "{context}"})


async def test_words_language_and_scale_are_the_user_s_to_change():
    options = {"language": "German", "scale": 10, "prompts": {"instructions": "Be strict.", "generate_reason": "Why?"}}
    outcome, model = await outcome_of(
        context_recall, [CLAIMS, verdicts("yes", "no"), "warum"], options=options, **KNOWN
    )
    assert (outcome.score, outcome.reason) == (5.0, "warum")
    assert model.calls[0].messages[0].text.startswith("Be strict.")
    assert all("in German" in call.messages[0].text for call in model.calls)
    assert model.calls[2].messages[1].text == "Why?"
    assert (context_recall().better, context_recall(scale=10).range) == ("higher", (0.0, 10.0))


async def test_in_a_run_it_counts_what_it_could_judge():
    model = ScriptedModel({"Opens at nine": CLAIMS, "Opens at 9.": verdicts("yes", "no"), "*": "why"})
    result = await run_evals(
        data=[
            Item("?", output="x", ground_truth=KNOWN["ground_truth"], context=KNOWN["context"]),
            Item("?", output="x", context="c"),
        ],
        scorers=[(context_recall(model=model), 0.6)],
    )
    mean = result.scores["context-recall-scorer"]
    assert (result.verdict, mean.mean, mean.n, mean.of, mean.not_scorable) == ("scored", 0.5, 1, 2, 1)


def test_the_formula_divides_by_the_claims_and_never_exceeds_the_scale():
    assert formula({"claims": ["a", "b", "c", "d"], "verdicts": [{"verdict": "yes"}]}, {}) == 0.25
    assert formula({"claims": ["a"], "verdicts": [{"verdict": "yes"}, {"verdict": "yes"}]}, {"scale": 3}) == 3.0
    said = [{"verdict": " YES"}, {"verdict": "yes"}, {"verdict": "perhaps"}]
    assert formula({"claims": ["a", "b", "c"], "verdicts": said}, {"scale": 1}) == 0.67
    assert formula({"claims": [], "verdicts": []}, {}).reason == "the ground truth makes no claims"


async def test_claims_that_the_judge_adds_to_its_verdicts_do_not_make_the_whole_smaller():
    said = {**verdicts("yes", "no"), "claims": ["one"]}
    outcome, _ = await outcome_of(context_recall, [CLAIMS, said, "why"], output="x", ground_truth="t", context="c")
    assert outcome.score == 0.5
