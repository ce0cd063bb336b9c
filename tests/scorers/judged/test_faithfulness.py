import pytest

from proctor import Item, Judge, run_evals
from proctor.errors import ScorerRunError, UnknownName, UsageError
from proctor.scorers.judged.faithfulness import faithfulness, formula
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
    ("words", "score"),
    [(["yes", "yes"], 1.0), (["yes", "no"], 0.5), (["yes", "unsure"], 0.5), (["no", "unsure"], 0.0)],
)
async def test_only_yes_counts(words, score):
    outcome, _ = await outcome_of(faithfulness, [CLAIMS, verdicts(*words), "why"], output="x", context="sunny")
    assert (outcome.score, outcome.reason) == (score, "why")


async def test_a_word_in_capitals_is_that_word():
    outcome, model = await outcome_of(faithfulness, [CLAIMS, verdicts("YES", " Yes "), "why"], output="x", context="c")
    assert (outcome.score, len(model.calls)) == (1.0, 3)


async def test_the_judge_sees_the_last_answer_and_numbered_claims_and_context():
    _, model = await outcome_of(
        faithfulness,
        [CLAIMS, verdicts("yes", "no"), "why"],
        input="Weather?",
        output=[{"role": "assistant", "content": "Let me see."}, {"role": "assistant", "content": "Sunny."}],
        context=["sunny", {"degrees": 20}],
    )
    extract, verify, explain = model.calls
    assert fenced(extract) == {"answer": "Sunny."}
    assert fenced(verify) == {
        "context": '{"id": 1, "text": "sunny"}\n{"id": 2, "text": "{\\"degrees\\": 20}"}',
        "claims": '{"id": 1, "text": "It is sunny"}\n{"id": 2, "text": "It is 30 degrees"}',
    }
    assert '"reason": "r2", "verdict": "no"' in fenced(explain)["verdicts"]
    assert "0.5 of 1" in explain.messages[1].text


async def test_a_claim_without_verdict_is_asked_for_and_then_an_error():
    with pytest.raises(ScorerRunError, match=r"exactly once: 2 is missing") as caught:
        await outcome_of(faithfulness, [CLAIMS, verdicts("yes"), verdicts("yes")], output="x", context="c")
    assert caught.value.failed_step == "analyze"
    assert caught.value.result.preprocess_step_result == CLAIMS

    outcome, model = await outcome_of(
        faithfulness, [CLAIMS, verdicts("yes"), verdicts("yes", "no"), "why"], output="x", context="c"
    )
    assert outcome.score == 0.5
    assert "2 is missing" in model.calls[2].messages[-1].text


@pytest.mark.parametrize(
    "answer",
    [
        {"verdicts": [*verdicts("yes", "yes")["verdicts"], {"id": 2, "reason": "again", "verdict": "yes"}]},
        {"verdicts": [*verdicts("yes", "yes")["verdicts"], {"id": 3, "reason": "planted", "verdict": "yes"}]},
        {"verdicts": []},
        verdicts("yes", "perhaps"),
    ],
)
async def test_lists_that_do_not_fit_are_errors(answer):
    with pytest.raises(ScorerRunError):
        await outcome_of(faithfulness, [CLAIMS, answer, answer], output="x", context="c")


@pytest.mark.parametrize(
    ("given", "why", "calls"),
    [
        ({"output": "", "context": "c"}, "there is no answer", 0),
        ({"output": "x"}, "there is no context", 0),
        ({"output": "x", "context": []}, "there is no context", 0),
        ({"output": "Hi!", "context": "c"}, "the answer makes no claims", 1),
    ],
)
async def test_it_declines_with_nothing_to_judge(given, why, calls):
    outcome, model = await outcome_of(faithfulness, [{"claims": ["  "]}], **given)
    assert (outcome.status, outcome.score) == ("not_scorable", None)
    assert outcome.reason.startswith(why)
    assert len(model.calls) == calls


async def test_the_context_is_the_extractor_s_else_the_item_s_else_its_own_else_the_tools():
    seen = []
    for options, given in [
        ({"context_extractor": lambda run: ["from a function"]}, {"context": "item's"}),
        ({"context": "own"}, {"context": "item's"}),
        ({"context": "own"}, {}),
        ({}, {}),
        ({"context_extractor": tool_results}, {"context": "item's"}),
    ]:
        _, model = await outcome_of(
            faithfulness, [CLAIMS, verdicts("yes", "no"), "why"], options=options, output=[CALL, RESULT], **given
        )
        seen.append(fenced(model.calls[1])["context"])
    tools = '{"id": 1, "text": "sunny, 20 degrees"}'
    told = ['{"id": 1, "text": "from a function"}', '{"id": 1, "text": "item\'s"}', '{"id": 1, "text": "own"}', tools]
    assert seen == [*told, tools]


async def test_options_are_refused_when_written():
    with pytest.raises(UsageError, match="scale is a number above 0"):
        faithfulness(scale=0)
    with pytest.raises(UsageError, match="context is a text"):
        faithfulness(context=[])
    with pytest.raises(UsageError, match="not both"):
        faithfulness(context="a", context_extractor=tool_results)
    with pytest.raises(UnknownName, match="Did you mean 'analyze'"):
        faithfulness(prompts={"analyse": "{claims}"})
    with pytest.raises(UnknownName, match="claim"):
        faithfulness(prompts={"analyze": "{claim} {context}"})
    with pytest.raises(UsageError, match=r"has no \{context\}"):
        faithfulness(prompts={"analyze": "Judge {claims}"})


async def test_words_language_and_instructions_are_the_user_s_to_change():
    scorer = faithfulness(
        model=Judge("test:none", settings={"temperature": 0}),
        language="German",
        prompts={"preprocess": "Claims, please: {answer}", "instructions": "Be strict."},
    )
    assert scorer.steps["preprocess"].create.text == "Claims, please: {answer}"
    assert (scorer.judge.instructions, scorer.judge.language) == ("Be strict.", "German")
    assert scorer.fingerprint not in {"unknown", faithfulness(model="test:none").fingerprint}
    assert faithfulness(model=Judge("test:none", instructions="Mine.")).judge.instructions == "Mine."
    other = scorer.replace(judge=Judge("test:other"))
    assert (other.judge.model, other.judge.instructions) == ("test:other", "Be strict.")


async def test_in_a_run_it_counts_what_it_could_judge():
    model = ScriptedModel(
        {"Sunny.": {"claims": ["Sunny"]}, "Hello!": {"claims": []}, "The claims": verdicts("yes"), "*": "why"}
    )
    result = await run_evals(
        data=[Item("?", output="Sunny.", context="sunny"), Item("?", output="Hello!", context="sunny")],
        scorers=[(faithfulness(model=model), 1.0)],
    )
    mean = result.scores["faithfulness-scorer"]
    assert (result.verdict, mean.mean, mean.n, mean.of, mean.not_scorable) == ("passed", 1.0, 1, 2, 1)


def test_the_formula_is_the_share_of_yes():
    said = [{"verdict": " YES"}, {"verdict": "no"}, {"verdict": "unsure"}]
    assert formula({"verdicts": said}, {"scale": 10}) == 3.33
    assert formula({"verdicts": []}, {}).reason == "the answer makes no claims"
