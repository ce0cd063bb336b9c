import pytest

from proctor import Item, not_scorable, run_evals
from proctor.errors import ScorerRunError, UnknownName, UsageError
from proctor.scorers.judged.summarization import formula, summarization
from proctor.testing import ScriptedModel
from tests.scorers.judged.asked import fenced, outcome_of

SOURCE = "ZZ The bridge was closed on Monday. It opens in May."
MADE = {"input": SOURCE, "output": "The bridge was closed."}


def first(*supported, questions=("Was it closed?", "Does it open in May?")):
    alignment = [
        {"claim": f"claim {at}", "reason": f"a{at}", "supported": is_so} for at, is_so in enumerate(supported, start=1)
    ]
    return {"alignment": alignment, "questions": list(questions)}


def second(*answered):
    return {"coverage": [{"id": at, "reason": f"c{at}", "answered": is_so} for at, is_so in enumerate(answered, 1)]}


@pytest.mark.parametrize(
    ("said", "answered", "score"),
    [
        (first(True, True), second(True, True), 1.0),
        (first(True, False), second(True, True), 0.5),
        (first(True, True), second(True, False), 0.5),
        (first(True, False, False), second(True, False), 0.33),
        (first(False), second(True, True), 0.0),
        (first(True), second(False, False), 0.0),
    ],
)
async def test_the_score_is_the_smaller_share(said, answered, score):
    outcome, _ = await outcome_of(summarization, [said, answered, "why"], **MADE)
    assert (outcome.score, outcome.reason) == (score, "why")


async def test_the_second_prompt_does_not_see_the_source():
    _, model = await outcome_of(summarization, [first(True, False), second(True, False), "why"], **MADE)
    compare, answer, explain = model.calls
    assert list(fenced(compare).items()) == [("source", SOURCE), ("summary", "The bridge was closed.")]
    assert list(fenced(answer).items()) == [
        ("summary", "The bridge was closed."),
        ("questions", '{"id": 1, "text": "Was it closed?"}\n{"id": 2, "text": "Does it open in May?"}'),
    ]
    assert not any("ZZ" in message.text for message in answer.messages)
    assert fenced(explain) == {
        "source": SOURCE,
        "summary": "The bridge was closed.",
        "claims": '{"id": 1, "text": "claim 1", "supported": true, "reason": "a1"}\n'
        '{"id": 2, "text": "claim 2", "supported": false, "reason": "a2"}',
        "questions": '{"id": 1, "text": "Was it closed?", "reason": "c1", "answered": true}\n'
        '{"id": 2, "text": "Does it open in May?", "reason": "c2", "answered": false}',
    }
    assert "0.5 of 1" in explain.messages[1].text


async def test_the_summary_is_the_last_that_the_assistant_said():
    output = [{"role": "assistant", "content": "One moment."}, {"role": "assistant", "content": "It was closed."}]
    _, model = await outcome_of(summarization, [first(True), second(True, True), "why"], **{**MADE, "output": output})
    assert fenced(model.calls[0])["summary"] == fenced(model.calls[1])["summary"] == "It was closed."


async def test_the_source_is_the_extractor_s_else_its_own_else_the_user_s_words():
    seen = []
    for options in ({"source_extractor": lambda run: run.context}, {"source": "own"}, {}):
        _, model = await outcome_of(
            summarization, [first(True), second(True, True), "why"], options=options, context={"page": 1}, **MADE
        )
        seen.append(fenced(model.calls[0])["source"])
    assert seen == ['{"page": 1}', "own", SOURCE]


async def test_no_more_questions_are_asked_than_were_wanted():
    said = first(True, questions=["a?", " ", "b?", "a? ", "c?"])
    outcome, model = await outcome_of(
        summarization, [said, second(False, True), "why"], options={"max_questions": 2}, **MADE
    )
    assert outcome.score == 0.5
    assert "at most 2." in model.calls[0].messages[1].text
    assert fenced(model.calls[1])["questions"] == '{"id": 1, "text": "a?"}\n{"id": 2, "text": "b?"}'


async def test_answers_are_matched_by_their_id():
    answered = {"coverage": second(True, False, False)["coverage"][::-1]}
    said = first(True, questions=["a?", "b?", "c?"])
    outcome, model = await outcome_of(summarization, [said, answered, "why"], **MADE)
    assert outcome.score == 0.33
    assert '"text": "a?", "reason": "c1", "answered": true' in fenced(model.calls[2])["questions"]


async def test_a_question_without_answer_is_asked_for_again():
    outcome, model = await outcome_of(summarization, [first(True), second(True), second(True, False), "why"], **MADE)
    assert outcome.score == 0.5
    assert "coverage must have each of the 2 ids" in model.calls[2].messages[-1].text


@pytest.mark.parametrize(
    "answer",
    [
        second(True),
        second(True, True, True),
        {"coverage": second(True)["coverage"] * 2},
        {"coverage": [{**entry, "answered": "yes"} for entry in second(True, True)["coverage"]]},
    ],
)
async def test_answers_that_do_not_fit_are_errors(answer):
    with pytest.raises(ScorerRunError) as caught:
        await outcome_of(summarization, [first(True), answer, answer], **MADE)
    assert caught.value.failed_step == "analyze"


@pytest.mark.parametrize(
    ("given", "reply", "why", "calls"),
    [
        ({"output": "x"}, first(True), "there is no source", 0),
        ({"input": SOURCE, "output": ""}, first(True), "there is no summary", 0),
        (MADE, first(), "the summary makes no claims", 1),
        (MADE, first(True, questions=[" "]), "the source holds nothing to ask about", 1),
    ],
)
async def test_it_declines_with_nothing_to_judge(given, reply, why, calls):
    outcome, model = await outcome_of(summarization, [reply], **given)
    assert (outcome.status, outcome.score) == ("not_scorable", None)
    assert outcome.reason.startswith(why)
    assert len(model.calls) == calls


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (None, "there is no source"),
        (" ", "there is no source"),
        (not_scorable("the page is gone"), "the page is gone"),
    ],
    ids=["None", "blank", "declined"],
)
async def test_it_declines_when_the_extractor_finds_nothing(found, why):
    options = {"source_extractor": lambda _: found}
    outcome, model = await outcome_of(summarization, [first(True)], options=options, **MADE)
    assert (outcome.status, model.calls) == ("not_scorable", [])
    assert outcome.reason.startswith(why)


async def extract_later(run):
    return run.context


def test_options_are_refused_when_written():
    for wrong in (0, 0.5, True, "10"):
        with pytest.raises(UsageError, match="summarization: max_questions must be a whole number, 1 or more"):
            summarization(max_questions=wrong)
    for wrong in (" ", ["a", "b"]):
        with pytest.raises(UsageError, match="summarization: source is a text that is not empty"):
            summarization(source=wrong)
    for wrong in ("page", lambda: "", extract_later):
        with pytest.raises(UsageError, match="source_extractor is a"):
            summarization(source_extractor=wrong)
    with pytest.raises(UsageError, match="not both"):
        summarization(source="a", source_extractor=str)
    with pytest.raises(UsageError, match="summarization: scale is a number above 0"):
        summarization(scale=0)
    with pytest.raises(UnknownName, match="Did you mean 'summary'"):
        summarization(prompts={"analyze": "{sumary} {questions}"})
    with pytest.raises(UnknownName, match="source"):
        summarization(prompts={"analyze": "{source} {summary} {questions}"})
    with pytest.raises(UsageError, match=r"has no \{source\}"):
        summarization(prompts={"preprocess": "{summary}"})


async def test_words_language_and_scale_are_the_user_s_to_change():
    options = {"language": "German", "scale": 10, "prompts": {"instructions": "Be strict.", "generate_reason": "Why?"}}
    outcome, model = await outcome_of(
        summarization, [first(True, True, False), second(True, True), "warum"], options=options, **MADE
    )
    assert (outcome.score, outcome.reason) == (6.67, "warum")
    assert model.calls[0].messages[0].text.startswith("Be strict.")
    assert all("in German" in call.messages[0].text for call in model.calls)
    assert model.calls[2].messages[1].text == "Why?"
    assert (summarization().better, summarization(scale=10).range) == ("higher", (0.0, 10.0))
    assert dict(summarization(max_questions=3).arguments) == {"max_questions": 3}


async def test_in_a_run_it_counts_what_it_could_judge():
    model = ScriptedModel({"ZZ": first(True), "The questions, a line": second(True, False), "*": "why"})
    result = await run_evals(
        data=[Item(SOURCE, output="It was closed."), Item(SOURCE, output="")],
        scorers=[(summarization(model=model), 0.6)],
    )
    mean = result.scores["summarization-scorer"]
    assert (result.verdict, mean.mean, mean.n, mean.of, mean.not_scorable) == ("scored", 0.5, 1, 2, 1)


def test_the_formula_counts_a_question_without_an_answer_as_missing_and_drops_what_is_too_much():
    asked = first(True, questions=["a?", "b?", "c?", "d?"])
    assert formula({**asked, **second(True)}, {}) == 0.25
    assert formula({**first(True, questions=["a?"]), **second(True, True, True)}, {"scale": 1}) == 1.0
    assert formula({**asked, **second(False, False, True, True)}, {"max_questions": 2}) == 0.0
    many = first(True, questions=[f"{at}?" for at in range(12)])
    assert formula({**many, **second(*[True] * 12)}, {}) == 1.0


def test_a_claim_that_is_listed_twice_counts_once_and_by_its_worse_verdict():
    said = first(True, True)
    said["alignment"] += [{"claim": "claim 1 ", "reason": "again", "supported": False}]
    said["alignment"] += [{"claim": "claim 2", "reason": "again", "supported": True}]
    said["alignment"] += [{"claim": " ", "reason": "", "supported": False}]
    assert formula({**said, **second(True, True)}, {}) == 0.5


def test_the_formula_has_no_number_for_an_axis_that_was_not_judged():
    assert formula({**first(), **second(True, True)}, {}).reason == "the summary makes no claims"
    empty = {**first(True, questions=[]), "coverage": []}
    assert formula(empty, {}).reason == "the source holds nothing to ask about"
