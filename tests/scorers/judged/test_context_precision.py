import pytest

from proctor import Item, run_evals
from proctor.errors import ScorerRunError, UnknownName, UsageError
from proctor.scorers.judged.context_precision import context_precision, formula
from proctor.scorers.material import tool_results
from proctor.testing import ScriptedModel
from tests.scorers.judged.asked import fenced, outcome_of

ASKED = {"input": "How big is Paris?", "output": "2 million", "context": ["Rome is old.", "Paris has 2 million."]}


def verdicts(*words):
    return {"verdicts": [{"id": at, "reason": f"r{at}", "verdict": word} for at, word in enumerate(words, start=1)]}


@pytest.mark.parametrize(
    ("words", "score"),
    [(["yes", "yes"], 1.0), (["yes", "no"], 1.0), (["no", "yes"], 0.5), (["no", "no"], 0.0), ([" No", "YES "], 0.5)],
)
async def test_useful_pieces_count_by_their_place(words, score):
    outcome, _ = await outcome_of(context_precision, [verdicts(*words), "why"], **ASKED)
    assert (outcome.score, outcome.reason) == (score, "why")


async def test_the_places_are_those_of_the_context_however_the_judge_orders_its_verdicts():
    answer = {"verdicts": verdicts("no", "yes")["verdicts"][::-1]}
    outcome, model = await outcome_of(context_precision, [answer, "why"], **ASKED)
    assert outcome.score == 0.5
    first, second = fenced(model.calls[1])["verdicts"].splitlines()
    assert first == '{"id": 1, "text": "Rome is old.", "reason": "r1", "verdict": "no"}'
    assert '"id": 2' in second


async def test_the_judge_sees_question_answer_and_numbered_context():
    outcome, model = await outcome_of(context_precision, [verdicts("no", "yes"), "why"], options={"scale": 10}, **ASKED)
    judge, explain = model.calls
    assert list(fenced(judge).items()) == [
        ("question", "How big is Paris?"),
        ("answer", "2 million"),
        ("context", '{"id": 1, "text": "Rome is old."}\n{"id": 2, "text": "Paris has 2 million."}'),
    ]
    assert list(fenced(explain)) == ["verdicts"]
    assert outcome.score == 5.0
    assert "5 of 10" in explain.messages[1].text


async def test_the_context_is_the_extractor_s_else_the_item_s_else_its_own():
    seen = []
    for options, given in [
        ({"context_extractor": lambda run: [run.output]}, {"context": "item's"}),
        ({"context": "own"}, {"context": "item's"}),
        ({"context": "own"}, {}),
    ]:
        _, model = await outcome_of(
            context_precision, [verdicts("yes"), "why"], options=options, input="q", output="out", **given
        )
        seen.append(fenced(model.calls[0])["context"])
    assert seen == ['{"id": 1, "text": "out"}', '{"id": 1, "text": "item\'s"}', '{"id": 1, "text": "own"}']


async def test_a_piece_without_verdict_is_asked_for_again():
    outcome, model = await outcome_of(context_precision, [verdicts("yes"), verdicts("no", "yes"), "why"], **ASKED)
    assert outcome.score == 0.5
    assert "2 is missing" in model.calls[1].messages[-1].text


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
        await outcome_of(context_precision, [answer, answer], **ASKED)
    assert caught.value.failed_step == "analyze"


@pytest.mark.parametrize(
    ("missing", "why"),
    [
        ({"context": []}, "there is no context"),
        ({"input": " "}, "there is no question"),
        ({"output": ""}, "there is no answer"),
    ],
)
async def test_it_declines_before_the_call_with_nothing_to_judge(missing, why):
    outcome, model = await outcome_of(context_precision, [verdicts("yes", "yes")], **{**ASKED, **missing})
    assert (outcome.status, outcome.score, model.calls) == ("not_scorable", None, [])
    assert outcome.reason.startswith(why)


async def test_results_of_tools_are_no_context_unless_they_are_asked_for():
    call = {"id": "1", "function": {"name": "find", "arguments": "{}"}}
    output = [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "2 million"},
        {"role": "assistant", "content": "2 million"},
    ]
    outcome, model = await outcome_of(context_precision, ["unused"], input="q", output=output)
    assert (outcome.reason, model.calls) == ("there is no context", [])
    outcome, _ = await outcome_of(
        context_precision,
        [verdicts("yes"), "why"],
        options={"context_extractor": tool_results},
        input="q",
        output=output,
    )
    assert outcome.score == 1.0


def test_options_are_refused_when_written():
    with pytest.raises(UsageError, match="context_precision: scale is a number above 0"):
        context_precision(scale=-1)
    with pytest.raises(UsageError, match="context_precision: context is a text"):
        context_precision(context=[])
    with pytest.raises(UsageError, match="context_precision: context_extractor is a def of one argument"):
        context_precision(context_extractor=lambda _input, _output: [])
    with pytest.raises(UnknownName, match="no prompt of context_precision 'preprocess'"):
        context_precision(prompts={"preprocess": "{answer}"})
    with pytest.raises(UnknownName, match="Did you mean 'question'"):
        context_precision(prompts={"analyze": "{questions} {answer} {context}"})
    with pytest.raises(UsageError, match=r"has no \{question\}"):
        context_precision(prompts={"analyze": "{answer} {context}"})


async def test_words_and_language_are_the_user_s_to_change():
    prompts = {"instructions": "Be strict.", "generate_reason": "Why {score}? {verdicts}"}
    _, model = await outcome_of(
        context_precision, [verdicts("yes", "no"), "x"], options={"language": "de", "prompts": prompts}, **ASKED
    )
    assert model.calls[0].messages[0].text.startswith("Be strict.")
    assert "the language with the code de" in model.calls[0].messages[0].text
    assert model.calls[1].messages[1].text.startswith("Why 1? <<<")
    assert (context_precision().better, context_precision(scale=2).range) == ("higher", (0.0, 2.0))


async def test_in_a_run_it_counts_what_it_could_judge():
    model = ScriptedModel({"2 million": verdicts("no", "yes"), "*": "why"})
    result = await run_evals(
        data=[
            Item(ASKED["input"], output=ASKED["output"], context=ASKED["context"]),
            Item(ASKED["input"], output="2 million"),
        ],
        scorers=[(context_precision(model=model), 0.6)],
    )
    mean = result.scores["context-precision-scorer"]
    assert (result.verdict, mean.mean, mean.n, mean.of, mean.not_scorable) == ("scored", 0.5, 1, 2, 1)


@pytest.mark.parametrize(
    ("words", "score"),
    [
        (["yes", "no", "yes"], 0.83),
        (["yes", "no", "no"], 1.0),
        (["no", "no", "yes"], 0.33),
        ([" YES", "no", "yes", "no"], 0.83),
        (["unsure"], 0.0),
        (["no", "no"], 0.0),
    ],
)
def test_the_formula_is_average_precision_over_the_useful_places(words, score):
    assert formula(verdicts(*words), {}) == score
    assert formula({"verdicts": verdicts(*words)["verdicts"][::-1]}, {"scale": 1}) == score


def test_the_formula_has_no_number_for_no_pieces():
    assert formula({"verdicts": []}, {}).reason == "there is no context"
    assert formula(verdicts("yes", "no", "yes", "no"), {"scale": 2}) == 1.67
