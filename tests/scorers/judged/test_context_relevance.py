import math

import pytest

from proctor import Item, run_evals
from proctor.errors import ScorerRunError, UnknownName, UsageError
from proctor.scorers.judged.context_relevance import context_relevance, formula
from proctor.scorers.material import tool_results
from proctor.testing import ScriptedModel
from tests.scorers.judged.asked import fenced, outcome_of

ASKED = {"input": "Fare to Bern?", "output": "30 francs", "context": ["The fare is 30.", "Buses in Basel."]}


def seen(*levels, missing=(), unused=()):
    evaluations = [
        {"id": at, "reason": f"r{at}", "relevance_level": level, "was_used": at not in unused}
        for at, level in enumerate(levels, start=1)
    ]
    return {"evaluations": evaluations, "missing_context": list(missing)}


@pytest.mark.parametrize(
    ("said", "score"),
    [
        (seen("high", "high"), 1.0),
        (seen("high", "none"), 0.5),
        (seen("HIGH", " Medium "), 0.85),
        (seen("high", "medium", unused=[1], missing=["the time"]), 0.6),
        (seen("none", "none", missing=["a", "b"]), 0.0),
    ],
)
async def test_the_score_is_the_mean_of_the_levels_less_what_was_not_used_or_is_missing(said, score):
    outcome, _ = await outcome_of(context_relevance, [said, "why"], **ASKED)
    assert (outcome.score, outcome.reason) == (score, "why")


async def test_the_judge_sees_question_answer_and_numbered_context():
    said = seen("high", "none", unused=[2], missing=["the time"])
    _, model = await outcome_of(context_relevance, [said, "why"], **ASKED)
    judge, explain = model.calls
    assert list(fenced(judge).items()) == [
        ("question", "Fare to Bern?"),
        ("answer", "30 francs"),
        ("context", '{"id": 1, "text": "The fare is 30."}\n{"id": 2, "text": "Buses in Basel."}'),
    ]
    told = fenced(explain)
    assert list(told) == ["evaluations", "missing"]
    assert told["evaluations"].splitlines()[1] == (
        '{"id": 2, "text": "Buses in Basel.", "reason": "r2", "relevance_level": "none", "was_used": false}'
    )
    assert told["missing"] == '{"id": 1, "text": "the time"}'


async def test_the_reason_is_asked_for_with_the_penalties_that_were_taken():
    options = {"unused_high_relevance_context": 0.2, "missing_context_per_item": 0, "scale": 10}
    outcome, model = await outcome_of(
        context_relevance, [seen("high", "high", unused=[1], missing=["a"]), "why"], options=options, **ASKED
    )
    prompt = " ".join(model.calls[1].messages[1].text.split())
    assert outcome.score == 8.0
    assert "8 of 10" in prompt
    assert "0.2 for each piece of high relevance" in prompt
    assert "0 for each thing that is missing, together at most 0.5." in prompt


async def test_nothing_missing_is_told_as_nothing():
    _, model = await outcome_of(context_relevance, [seen("high", "high", missing=[" "]), "why"], **ASKED)
    assert list(fenced(model.calls[1])) == ["evaluations"]
    assert "What is missing:\n\nNothing.\n" in model.calls[1].messages[1].text


async def test_what_is_missing_costs_at_most_its_share():
    missing = [f"thing {at}" for at in range(20)]
    outcome, _ = await outcome_of(context_relevance, [seen("high", "high", missing=missing), "why"], **ASKED)
    assert outcome.score == 0.5
    outcome, _ = await outcome_of(
        context_relevance,
        [seen("high", "high", missing=missing), "why"],
        options={"max_missing_context_penalty": 0.9},
        **ASKED,
    )
    assert outcome.score == 0.1


async def test_a_piece_without_evaluation_is_asked_for_again():
    outcome, model = await outcome_of(context_relevance, [seen("high"), seen("high", "low"), "why"], **ASKED)
    assert outcome.score == 0.65
    assert "2 is missing" in model.calls[1].messages[-1].text


@pytest.mark.parametrize(
    "answer",
    [
        seen("high"),
        seen("high", "high", "high"),
        seen("high", "very high"),
        {**seen("high"), "evaluations": seen("high")["evaluations"] * 2},
        {"evaluations": seen("high", "low")["evaluations"]},
    ],
)
async def test_evaluations_that_do_not_fit_are_errors(answer):
    with pytest.raises(ScorerRunError) as caught:
        await outcome_of(context_relevance, [answer, answer], **ASKED)
    assert caught.value.failed_step == "analyze"


@pytest.mark.parametrize(
    ("missing", "why"),
    [
        ({"context": []}, "there is no context"),
        ({"input": ""}, "there is no question"),
        ({"output": " "}, "there is no answer"),
    ],
)
async def test_it_declines_before_the_call_with_nothing_to_judge(missing, why):
    outcome, model = await outcome_of(context_relevance, [seen("high", "high")], **{**ASKED, **missing})
    assert (outcome.status, outcome.score, model.calls) == ("not_scorable", None, [])
    assert outcome.reason.startswith(why)


@pytest.mark.parametrize(
    "name", ["unused_high_relevance_context", "missing_context_per_item", "max_missing_context_penalty"]
)
@pytest.mark.parametrize("wrong", [-0.1, math.nan, math.inf, True, "0.1", None])
def test_a_penalty_is_a_number_from_0_up(name, wrong):
    with pytest.raises(UsageError, match=f"context_relevance: {name} must be a number, 0 or more"):
        context_relevance(**{name: wrong})


def test_options_are_refused_when_written():
    with pytest.raises(UsageError, match="context_relevance: scale is a number above 0"):
        context_relevance(scale=True)
    with pytest.raises(UsageError, match="context_relevance: context is a text"):
        context_relevance(context=["", " "])
    with pytest.raises(UsageError, match="not both"):
        context_relevance(context="a", context_extractor=tool_results)
    with pytest.raises(UnknownName, match="Did you mean 'missing'"):
        context_relevance(prompts={"generate_reason": "{mising}"})
    with pytest.raises(UsageError, match=r"has no \{answer\}"):
        context_relevance(prompts={"analyze": "{question} {context}"})


def test_only_options_that_were_given_are_in_its_arguments():
    assert dict(context_relevance().arguments) == {}
    given = context_relevance(missing_context_per_item=0.3, scale=2)
    assert dict(given.arguments) == {"missing_context_per_item": 0.3, "scale": 2.0}
    assert (given.better, given.range) == ("higher", (0.0, 2.0))


async def test_words_and_language_are_the_user_s_to_change():
    prompts = {"instructions": "Be strict.", "generate_reason": "Why {score}? {missing}"}
    _, model = await outcome_of(
        context_relevance, [seen("high", "high"), "x"], options={"language": "de", "prompts": prompts}, **ASKED
    )
    assert model.calls[0].messages[0].text.startswith("Be strict.")
    assert "the language with the code de" in model.calls[0].messages[0].text
    assert model.calls[1].messages[1].text == "Why 1? Nothing."


async def test_in_a_run_it_counts_what_it_could_judge():
    model = ScriptedModel({"30 francs": seen("high", "low"), "*": "why"})
    result = await run_evals(
        data=[
            Item(ASKED["input"], output=ASKED["output"], context=ASKED["context"]),
            Item(ASKED["input"], output="30 francs"),
        ],
        scorers=[(context_relevance(model=model), 0.6)],
    )
    mean = result.scores["context-relevance-scorer"]
    assert (result.verdict, mean.mean, mean.n, mean.of, mean.not_scorable) == ("passed", 0.65, 1, 2, 1)


def test_the_formula_takes_penalties_for_each_piece_and_thing():
    assert formula(seen("high", "medium", "low", "none", unused=[3, 4]), {}) == 0.5
    assert formula(seen("high", "high", "high", unused=[1], missing=["a"]), {}) == 0.75
    assert formula(seen("medium", unused=[1]), {"scale": 10}) == 7.0
    told = {"missing_context_per_item": 0.3, "max_missing_context_penalty": 0.9}
    assert formula(seen("high", missing=["a", "b"]), told) == 0.4
    assert formula(seen("low", missing=["a", "b"]), {"unused_high_relevance_context": 9}) == 0.0


def test_the_formula_gives_nothing_for_a_level_that_it_does_not_know():
    assert formula(seen("very high", "high"), {}) == 0.5
    assert formula(seen(missing=["a"]), {}).reason == "there is no context"


def test_a_thing_that_is_named_twice_is_missing_once():
    assert formula(seen("high", missing=["the time", "the time ", ""]), {}) == 0.85
