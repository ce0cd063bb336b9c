"""Answers that several steps have: of a cache, and of one call that all who ask the same wait for."""

import asyncio
from typing import Annotated

import pytest
from pydantic import AfterValidator, create_model

from proctor.data.usage import Usage
from proctor.errors import ModelError
from proctor.judging.answer_schema import AnswerSchema
from proctor.judging.budget import Budget
from proctor.judging.waiting import limited_by
from proctor.testing import ScriptedModel, ScriptedReply
from tests.judging.asked import PASS, calls, memory, put


def small(word):
    if word != word.lower():
        raise ValueError("must be in small letters")
    return word


async def test_a_kept_answer_that_fits_no_more_is_asked_for_again():
    model, through = ScriptedModel([{"word": "PASS"}, {"word": "pass"}]), calls(memory())
    kinds = str, Annotated[str, AfterValidator(small)]
    first, second = (AnswerSchema.of(create_model("Verdict", word=(kind, ...))) for kind in kinds)
    assert first.json == second.json
    await put(model, through=through, schema=first)
    for cached in (False, True):
        value, execution = await put(model, through=through, schema=second)
        assert (value.word, execution.cached) == ("pass", cached)


async def test_what_one_does_to_its_answer_changes_nobody_elses_and_no_record():
    model, through = ScriptedModel(ScriptedReply(json=PASS, delay=0.02)), calls(memory())

    async def ask():
        value, execution = await put(model, through=through)
        seen = dict(value)
        value["verdict"] = "changed"
        return seen, execution.output

    assert await asyncio.gather(*(ask() for _ in range(3))) == [(PASS, PASS)] * 3
    assert await ask() == (PASS, PASS)


async def test_a_run_that_is_stopped_stops_no_other_that_asks_the_same():
    cache = memory()
    model = ScriptedModel(ScriptedReply(json=PASS, delay=0.02, usage=Usage(total_tokens=10)))
    stopping, going = calls(cache, budget=Budget(tokens=10)), calls(cache)
    asked = [
        put(model, f"{n}?", through=through, concurrency=1, output_mode="native")
        for through in (stopping, going)
        for n in range(3)
    ]
    found = await asyncio.gather(*asked, return_exceptions=True)
    assert [type(one).__name__ for one in found[:3]] == ["tuple", "CallsStopped", "CallsStopped"]
    assert [value for value, _ in found[3:]] == [PASS] * 3
    assert len(model.calls) == 3


async def test_what_a_model_says_that_it_sets_by_itself_makes_another_question():
    model, through = ScriptedModel([PASS]), calls(memory())
    for settings, cached in [({"temperature": 0}, False), ({"temperature": 1}, False), ({"temperature": 0}, True)]:
        model.own_settings = settings
        _, execution = await put(model, through=through)
        assert execution.cached is cached


@pytest.mark.parametrize("delay", [0.0, 0.1], ids=["with the call", "while it waits"])
async def test_who_waits_for_anothers_turn_is_not_timed_out_by_it(delay):
    """The call of all waits for 0.3 seconds, and each has 0.2."""
    model = ScriptedModel([ModelError("wait", kind="busy", retry_after=0.3), PASS])
    through = calls(memory())

    async def ask(delay):
        await asyncio.sleep(delay)
        async with asyncio.timeout(0.2) as limit:
            with limited_by(limit):
                return (await put(model, through=through))[0]

    assert await asyncio.gather(ask(0), ask(delay), ask(delay)) == [PASS] * 3
    assert len(model.calls) == 2


async def test_who_waits_for_anothers_call_is_timed_out_by_its_own_limit():
    model, through = ScriptedModel(ScriptedReply(json=PASS, delay=0.2)), calls(memory())

    async def ask(seconds):
        async with asyncio.timeout(seconds) as limit:
            with limited_by(limit):
                return (await put(model, through=through))[0]

    first, second, third = await asyncio.gather(ask(0.05), ask(0.05), ask(5), return_exceptions=True)
    assert (type(first), type(second), third) == (TimeoutError, TimeoutError, PASS)
    assert len(model.calls) == 1
