"""Judged steps that come as far as a judge, and are not asked."""

import asyncio

import pytest

from proctor.judging.asking import Question
from proctor.judging.cache import CacheNotes, MemoryCache
from proctor.judging.call_cache import NO_CACHE
from proctor.judging.dry_calls import DryCalls
from proctor.judging.fence import Fence
from proctor.judging.judge import Judge
from proctor.judging.run_calls import CallsStopped, RunCalls
from proctor.testing import ScriptedModel


def step(model, calls, **settings):
    return Question(whose="fair.generate_reason", judge=Judge(model, instructions="Be exact.", **settings)).asking(
        calls
    )


def ask(asking):
    return asyncio.run(asking.answer("Was it fair?", fence=Fence()))


def test_nothing_is_asked_and_the_step_says_what_would_be():
    model = ScriptedModel("It was.")
    asking = step(model, DryCalls(NO_CACHE))
    with pytest.raises(CallsStopped, match="dry run"):
        ask(asking)
    assert (model.calls, asking.asked) == ([], True)
    execution = asking.execution
    assert (execution.prompt, execution.attempt_count, execution.model_call_count) == ("Was it fair?", 0, 0)


def test_an_answer_of_the_cache_is_taken_and_nobody_is_told():
    model, cache, told = ScriptedModel("It was."), MemoryCache(), []
    ask(step(model, cache, on_finish=told.append))
    dry = step(model, DryCalls(cache), on_finish=told.append)
    assert ask(dry) == "It was."
    assert (dry.execution.cached, len(model.calls), len(told)) == (True, 1, 1)


def test_a_dry_run_waits_for_no_call_that_is_in_flight():
    model, cache = ScriptedModel("It was."), MemoryCache()

    async def both():
        real = asyncio.create_task(step(model, cache).answer("Was it fair?", fence=Fence()))
        with pytest.raises(CallsStopped):
            await step(model, DryCalls(cache)).answer("Was it fair?", fence=Fence())
        return await real

    assert asyncio.run(both()) == "It was."


def test_outside_a_dry_run_what_was_not_sent_is_not_recorded():
    calls = RunCalls(NO_CACHE, CacheNotes())
    calls.stop("enough")
    asking = step(ScriptedModel("It was."), calls)
    with pytest.raises(CallsStopped, match="enough"):
        ask(asking)
    assert not asking.asked
