"""A call on its way: further tries, deadlines, limits, and what ends the calls of a run."""

import asyncio

import pytest

from proctor.errors import ModelError
from proctor.judging import sending
from proctor.judging.run_calls import CallsStopped
from proctor.testing import ScriptedModel, ScriptedReply
from tests.judging.asked import PASS, calls, failed, put


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch):
    """Tries that follow at once: how long one waits is not what is looked at here."""
    monkeypatch.setattr(sending, "_wait", lambda failed: 0.001 * failed)


@pytest.mark.parametrize("kind", ["unavailable", "timeout", "unreadable"])
async def test_what_passes_is_tried_again(kind):
    model = ScriptedModel([ModelError("down", kind=kind), ModelError("down", kind=kind), PASS])
    value, execution = await put(model)
    assert value == PASS
    assert (execution.attempt_count, execution.model_call_count, execution.retry_count) == (1, 1, 2)


async def test_t04_as_often_as_was_said_and_no_more():
    model = ScriptedModel(ModelError("down", kind="unavailable"))
    error, execution = await failed(model, retries=2)
    assert error.message.endswith(" (tried 3 times)")
    assert error.kind == "unavailable"
    assert len(model.calls) == 3
    assert (execution.attempt_count, execution.model_call_count, execution.retry_count) == (1, 0, 2)


async def test_a_model_in_this_process_that_took_too_long_is_not_asked_again():
    model = ScriptedModel(ModelError("slow", kind="timeout"))
    model.in_process = True
    error, _ = await failed(model)
    assert (error.message, len(model.calls)) == ("slow", 1)


async def test_a_rate_limit_is_waited_for_and_counts_as_no_failure():
    busy = ModelError("slow down", kind="busy", retry_after=0.02)
    model = ScriptedModel([busy] * 5 + [PASS])
    value, execution = await put(model, retries=0)
    assert value == PASS
    assert execution.retry_count == 5
    assert execution.waited_ms >= 80


async def test_a_rate_limit_without_end_is_an_error_in_the_end(monkeypatch):
    monkeypatch.setattr(sending, "_PATIENCE", 2.5)
    model = ScriptedModel(ModelError("slow down", kind="busy", retry_after=0.001))
    error, _ = await failed(model)
    assert error.kind == "busy"
    assert len(model.calls) == 3


@pytest.mark.parametrize("kind", ["rejected", "context"])
async def test_what_does_not_pass_is_not_tried_again(kind):
    model = ScriptedModel(ModelError("no", kind=kind))
    await failed(model, output_mode="native")
    assert len(model.calls) == 1


@pytest.mark.parametrize("kind", ["unauthorized", "quota", "not_found"])
async def test_what_is_the_same_for_every_call_ends_the_calls_of_the_run(kind):
    through = calls()
    model = ScriptedModel(ModelError("no such key", kind=kind), name="m")
    error, _ = await failed(model, through=through)
    assert error.kind == kind
    assert through.stopped == "test:m: no such key"
    error, execution = await failed(model, through=through)
    assert isinstance(error, CallsStopped)
    assert len(model.calls) == 1
    assert execution.model_call_count == 0


async def test_who_waits_for_a_turn_is_not_asked_when_the_run_was_stopped_meanwhile():
    through = calls()
    model = ScriptedModel([PASS, ScriptedReply(throw=ModelError("no", kind="unauthorized"), delay=0.01)])
    await put(model, through=through, output_mode="native")  # a first call goes alone
    found = await asyncio.gather(
        *(failed(model, f"{n}?", through=through, output_mode="native", concurrency=2) for n in range(8))
    )
    assert len(model.calls) == 1 + 2
    assert sum(isinstance(error, CallsStopped) for error, _ in found) == 6


async def test_a_model_is_named_once_where_its_error_names_it():
    through = calls()
    await failed(ScriptedModel(ModelError("test:m: no such key", kind="unauthorized"), name="m"), through=through)
    assert through.stopped == "test:m: no such key"


async def test_t02_a_call_that_takes_too_long_names_the_setting():
    class Slow:
        """A model of one's own, which knows nothing of deadlines."""

        id, provider, address, modes, accepts, window, price = "own:slow", None, None, ("native",), (), None, None

        async def request(self, call, /):
            await asyncio.sleep(60)

    error, execution = await failed(Slow(), timeout=0.02, retries=0)
    assert str(error) == "own:slow took longer than the 0.02 s of Judge(timeout=...)"
    assert execution.error["code"] == "MODEL_TIMEOUT"


async def test_never_more_at_once_than_was_said():
    model = ScriptedModel(ScriptedReply(json=PASS, delay=0.002))
    await asyncio.gather(*(put(model, f"{n}?", concurrency=4) for n in range(80)))
    assert model.most_in_flight == 4


async def test_a_model_may_say_how_many_it_takes_at_once():
    model = ScriptedModel(ScriptedReply(json=PASS, delay=0.002))
    model.at_once = 1
    await asyncio.gather(*(put(model, f"{n}?", concurrency=4) for n in range(10)))
    assert model.most_in_flight == 1


@pytest.mark.parametrize("limit", ["requests_per_minute", "concurrency"])
async def test_a_stop_ends_the_wait_for_a_turn(limit):
    through, options = calls(), {limit: 1, "output_mode": "native"}
    model = ScriptedModel({"first": ScriptedReply(json=PASS, delay=60), "*": PASS})
    await put(model, output_mode="native")  # nobody waits for a first call any more
    holder = asyncio.create_task(put(model, "first", **options))
    await asyncio.sleep(0)
    waiting = [asyncio.create_task(failed(model, f"{n}?", through=through, **options)) for n in range(5)]
    await asyncio.sleep(0.05)
    through.stop("enough")
    found = await asyncio.wait_for(asyncio.gather(*waiting), 10)
    assert {type(error) for error, _ in found} == {CallsStopped}
    assert {call.messages[1].text for call in model.calls} <= {"Is it kind?", "first"}
    holder.cancel()


async def test_a_stop_ends_the_wait_for_a_first_call():
    through = calls()
    model = ScriptedModel({"first": ScriptedReply(json=PASS, delay=60), "*": PASS})
    holder = asyncio.create_task(put(model, "first"))
    await asyncio.sleep(0)
    waiting = [asyncio.create_task(failed(model, f"{n}?", through=through)) for n in range(3)]
    await asyncio.sleep(0.05)
    through.stop("enough")
    found = await asyncio.wait_for(asyncio.gather(*waiting), 10)
    assert {type(error) for error, _ in found} == {CallsStopped}
    assert len(model.calls) == 1
    holder.cancel()


async def test_a_stop_ends_the_wait_for_a_further_try(monkeypatch):
    monkeypatch.setattr(sending, "_wait", lambda failed: 60.0)
    through = calls()
    waiting = asyncio.create_task(failed(ScriptedModel(ModelError("down", kind="unavailable")), through=through))
    await asyncio.sleep(0.05)
    through.stop("enough")
    error, execution = await asyncio.wait_for(waiting, 10)
    assert isinstance(error, CallsStopped)
    assert (execution.attempt_count, execution.retry_count) == (1, 1)


async def test_a_stop_may_come_from_another_thread():
    through = calls()
    waiting = asyncio.create_task(through.unless_stopped(asyncio.sleep(60)))
    await asyncio.sleep(0.01)
    await asyncio.to_thread(through.stop, "enough")
    with pytest.raises(CallsStopped):
        await asyncio.wait_for(waiting, 10)


async def test_a_wait_that_is_cancelled_is_cancelled():
    through = calls()
    waiting = asyncio.create_task(through.unless_stopped(asyncio.sleep(60)))
    await asyncio.sleep(0.01)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    through.stop("enough")


async def test_a_rate_limit_of_hours_ends_the_calls_of_the_run():
    through = calls()
    model = ScriptedModel(ModelError("quota of the day", kind="busy", retry_after=36_000), name="day")
    found = await asyncio.wait_for(
        asyncio.gather(*(failed(model, f"{n}?", through=through, output_mode="native") for n in range(3))), 10
    )
    assert all(isinstance(error, ModelError | CallsStopped) for error, _ in found)
    assert through.stopped == "test:day: it asks to wait for 36,000 s: quota of the day"


async def test_a_server_that_is_down_for_hours_is_not_waited_for():
    model = ScriptedModel(ModelError("maintenance", kind="unavailable", retry_after=36_000))
    error, _ = await asyncio.wait_for(failed(model), 10)
    assert error.kind == "unavailable"
    assert len(model.calls) == 1


async def test_pauses_that_the_server_does_not_name_count_as_long_as_they_are(monkeypatch):
    monkeypatch.setattr(sending, "_PATIENCE", 0.5)
    model = ScriptedModel(ModelError("slow down", kind="busy"))
    error, _ = await asyncio.wait_for(failed(model), 10)
    assert error.kind == "busy"
    assert len(model.calls) == 1
