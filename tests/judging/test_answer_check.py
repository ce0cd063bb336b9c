"""What no schema can know of an answer: the check of a Prompt."""

import pytest

from proctor import Judge, Prompt, create_scorer
from proctor.errors import ScorerRunError, UsageError
from proctor.judging.cache import CacheNotes, MemoryCache
from proctor.judging.run_calls import RunCalls
from proctor.scoring.run import ScorerRun
from proctor.testing import ScriptedModel

IDS = {"type": "object", "properties": {"ids": {"type": "array"}}, "required": ["ids"]}


def scorer_of(replies, check):
    model = ScriptedModel(replies)
    made = (
        create_scorer(id="s", judge=Judge(model, instructions="Judge."))
        .preprocess(lambda ctx: len(ctx.run.text))
        .analyze(Prompt("Lists", output=IDS, create=lambda ctx: f"List {ctx.run.text}", check=check))
        .generate_score(lambda ctx: 1)
    )
    return made, model


def as_many(ctx, answer):
    return None if len(answer["ids"]) == ctx.preprocess else f"give {ctx.preprocess} ids, not {len(answer['ids'])}"


async def test_the_model_is_told_what_is_wrong_and_asked_again():
    scorer, model = scorer_of([{"ids": [1]}, {"ids": [1, 2]}], as_many)
    outcome = await scorer.run(output="ab")
    assert outcome.evidence.analyze_step_result == {"ids": [1, 2]}
    assert "give 2 ids, not 1" in model.calls[1].messages[-1].text
    assert outcome.judge["analyze"].executions[0].attempt_count == 2


async def test_what_is_wrong_twice_is_an_error_and_keeps_the_reply():
    scorer, _ = scorer_of([{"ids": []}], as_many)
    with pytest.raises(ScorerRunError, match=r"give 2 ids, not 0 \(asked twice\)") as caught:
        await scorer.run(output="ab")
    execution = caught.value.result.judge["analyze"].executions[0]
    assert (execution.status, execution.raw_output) == ("failed", '{"ids": []}')


async def test_a_kept_answer_that_fails_the_check_is_asked_for_again():
    calls = RunCalls(MemoryCache(), CacheNotes())
    lenient, model = scorer_of([{"ids": []}, {"ids": [1, 2]}], None)
    run = ScorerRun(output="ab", calls=calls)
    await lenient.run(run)
    await lenient.run(run)
    assert len(model.calls) == 1
    strict = lenient.replace(
        analyze=Prompt("Lists", output=IDS, create=lambda ctx: f"List {ctx.run.text}", check=as_many)
    )
    assert (await strict.run(run)).evidence.analyze_step_result == {"ids": [1, 2]}


async def test_a_check_gives_none_or_a_sentence():
    scorer, _ = scorer_of([{"ids": []}], lambda ctx, answer: False)
    with pytest.raises(ScorerRunError, match=r"check= must give None or what is wrong, not False"):
        await scorer.run(output="ab")
    with pytest.raises(UsageError, match="a function of two arguments"):
        Prompt("Lists", output=IDS, create=str, check=lambda ctx: None)
