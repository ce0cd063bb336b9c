"""Answers that are kept, or on their way to another: when they are of use, and who counts what they took."""

import asyncio

from pydantic import BaseModel, field_validator

from proctor.judging.answer_schema import AnswerSchema
from proctor.judging.run_calls import CallsStopped
from proctor.testing import ScriptedModel, ScriptedReply
from tests.judging.asked import PASS, calls, failed, memory, put


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
