"""Which questions are the same, so that they are asked once; and what of the answers is kept."""

import asyncio

import pytest
from pydantic import BaseModel, field_validator

from proctor.data.usage import Cost
from proctor.errors import ModelError
from proctor.judging.answer_schema import AnswerSchema
from proctor.judging.fence import Fence
from proctor.judging.run_calls import CallsStopped
from proctor.testing import ScriptedModel, ScriptedReply
from tests.judging.asked import PASS, SCORE, calls, failed, memory, put


async def test_the_same_question_is_answered_from_the_cache_whatever_its_boundary():
    model, through = ScriptedModel(ScriptedReply(json=PASS, cost=Cost(amount=2))), calls(memory())
    records = []
    for _ in range(2):
        fence = Fence()
        _, execution = await put(model, fence("Thanks!", "answer"), fence=fence, through=through)
        records.append(execution)
    assert len(model.calls) == 1
    made, found = records
    assert (made.cached, found.cached) == (False, True)
    assert (found.cost, found.usage, found.output) == (made.cost, made.usage, made.output)
    assert through.cost == 2  # spent once


@pytest.mark.parametrize(
    "other",
    [
        {"prompt": "Is it polite?"},
        {"instructions": "Judge well."},
        {"settings": {"temperature": 1}},
        {"schema": SCORE},
        {"repeat": 1},
        {"language": "Thai"},
        {"output_mode": "tool"},
    ],
    ids=lambda other: next(iter(other)),
)
async def test_what_decides_the_answer_makes_another_question(other):
    model = ScriptedModel(lambda call: {"score": 1, "verdict": "pass"})
    through = calls(memory())
    await put(model, through=through)
    _, execution = await put(model, **({"through": through} | other))
    assert not execution.cached
    assert len(model.calls) == 2


async def test_how_long_one_waits_does_not():
    model, through = ScriptedModel([PASS]), calls(memory())
    await put(model, through=through)
    _, execution = await put(model, through=through, timeout=3, retries=1, concurrency=2)
    assert execution.cached


@pytest.mark.parametrize(
    "reply", [ModelError("no", kind="rejected"), "?", ScriptedReply(text="{", finish_reason="length")], ids=str
)
async def test_failures_are_not_kept(reply):
    tried = 1 if isinstance(reply, Exception) else 2
    model, through = ScriptedModel([reply] * tried + [PASS]), calls(memory())
    await failed(model, through=through, output_mode="native")
    value, execution = await put(model, through=through, output_mode="native")
    assert (value, execution.cached) == (PASS, False)


async def test_identical_questions_in_flight_are_asked_once():
    model, through = ScriptedModel(ScriptedReply(json=PASS, delay=0.02)), calls(memory())
    found = await asyncio.gather(*(put(model, through=through) for _ in range(20)))
    assert len(model.calls) == 1
    assert [value for value, _ in found] == [PASS] * 20
    assert sorted(execution.cached for _, execution in found) == [False] + [True] * 19
    assert through.tokens == 15


async def test_without_a_cache_every_question_is_asked():
    model = ScriptedModel(ScriptedReply(json=PASS, delay=0.01))
    await asyncio.gather(*(put(model) for _ in range(5)))
    assert len(model.calls) == 5


async def test_a_kept_answer_that_the_validators_no_longer_take_is_asked_for_again():
    def within(most):
        class Answer(BaseModel):
            word: str

            @field_validator("word")
            @classmethod
            def _short(cls, word):
                if len(word) > most:
                    raise ValueError("too long")
                return word

        return AnswerSchema.of(Answer)

    through, model = calls(memory()), ScriptedModel([{"word": "kindly"}, {"word": "kind"}])
    assert (await put(model, through=through, schema=within(10)))[0].word == "kindly"
    value, execution = await put(model, through=through, schema=within(4))
    assert (value.word, execution.cached, len(model.calls)) == ("kind", False, 2)
    value, execution = await put(model, through=through, schema=within(4))
    assert (value.word, execution.cached, len(model.calls)) == ("kind", True, 2)


async def test_a_run_that_is_stopped_does_not_stop_another_that_waits_for_the_same_call():
    cache = memory()
    stopped, going = calls(cache), calls(cache)
    model = ScriptedModel(ScriptedReply(json=PASS, delay=0.02))
    holder = asyncio.create_task(put(model, "first", through=stopped, concurrency=1))
    await asyncio.sleep(0)
    both = asyncio.gather(
        failed(model, "same", through=stopped, concurrency=1), put(model, "same", through=going, concurrency=1)
    )
    await asyncio.sleep(0.005)
    stopped.stop("enough")
    (error, _), (value, execution) = await both
    assert isinstance(error, CallsStopped)
    assert (value, execution.cached, going.stopped) == (PASS, False, None)
    await holder


async def test_what_an_answer_took_is_counted_by_who_waited_for_it_when_who_asked_is_gone():
    through = calls(memory())
    model = ScriptedModel(ScriptedReply(json=PASS, delay=0.03))
    first, second = (asyncio.create_task(put(model, through=through)) for _ in range(2))
    await asyncio.sleep(0.01)
    first.cancel()
    _, execution = await second
    assert (execution.cached, execution.model_call_count, len(model.calls)) == (False, 1, 1)


async def test_who_is_more_patient_does_not_share_the_failure_of_who_is_less():
    through = calls(memory())
    model = ScriptedModel(ScriptedReply(json=PASS, delay=0.05))
    (error, _), (value, _) = await asyncio.gather(
        failed(model, through=through, timeout=0.005, retries=0, output_mode="native"),
        put(model, through=through, timeout=60, output_mode="native"),
    )
    assert error.kind == "timeout"
    assert value == PASS
