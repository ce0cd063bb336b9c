import asyncio
import threading
from collections import UserDict
from functools import partial

import pydantic_ai
import pytest
from pydantic import BaseModel
from pydantic_ai.models.test import TestModel

from proctor import MISSING, Item, Message, Reply, Text, checks, run_evals
from proctor.data.usage import Cost, Usage
from proctor.running.target import Call
from proctor.targets.callable import CallableTarget


class Weather(BaseModel):
    city: str


class Agent:
    def __call__(self, given):
        return f"object {given}"

    def method(self, given):
        return f"method {given}"

    async def later(self, given):
        await asyncio.sleep(0)
        return f"async method {given}"


class LaterAgent:
    async def __call__(self, given):
        await asyncio.sleep(0)
        return f"async object {given}"


async def later(given):
    await asyncio.sleep(0)
    return f"async def {given}"


async def twice_later(given):
    return later(given)


def two(prefix, given):
    return f"{prefix} {given}"


async def words(given):
    for word in ("async ", "generator ", given):
        await asyncio.sleep(0)
        yield word


def words_now(given):
    yield from ("generator ", given)


async def numbers(given):
    yield 1
    yield "a"


async def nothing(given):
    return
    yield


async def replied(function, given="x"):
    result = await run_evals(target=function, data=[Item(given, id="i")], scorers=[checks.used_no_tools()])
    return result.items[0].replies[0]


@pytest.mark.parametrize(
    ("function", "output"),
    [
        pytest.param(lambda given: f"def {given}", "def x", id="def"),
        pytest.param(later, "async def x", id="async def"),
        pytest.param(Agent(), "object x", id="object"),
        pytest.param(Agent().method, "method x", id="method"),
        pytest.param(Agent().later, "async method x", id="async method"),
        pytest.param(LaterAgent(), "async object x", id="async object"),
        pytest.param(partial(two, "partial"), "partial x", id="partial"),
        pytest.param(partial(later), "async def x", id="partial of async def"),
        pytest.param(lambda given: later(given), "async def x", id="def that returns an awaitable"),  # noqa: PLW0108
        pytest.param(twice_later, "async def x", id="async def that returns an awaitable"),
        pytest.param(words, "async generator x", id="async generator"),
        pytest.param(words_now, "generator x", id="generator"),
        pytest.param(numbers, [1, "a"], id="generator of other values"),
        pytest.param(nothing, [], id="generator of nothing"),
        pytest.param(lambda given: None, None, id="None"),
        pytest.param(lambda given: {"a": (1, 2)}, {"a": [1, 2]}, id="mapping"),
        pytest.param(lambda given: UserDict(a=1), {"a": 1}, id="mapping of another kind"),
        pytest.param(lambda given: Weather(city="Brooklyn"), {"city": "Brooklyn"}, id="pydantic model"),
    ],
)
async def test_l04_what_a_target_gives_is_the_output(function, output):
    reply = await replied(function)
    assert (reply.output, reply.error) == (output, None)
    assert reply.duration_ms >= 0


async def test_messages_of_ours_stay_messages():
    message = Message("assistant", (Text("Hi"),))
    assert (await replied(lambda given: message)).output == message


async def test_a_reply_tells_more():
    made = Reply(
        {1, 2}, usage=Usage(input_tokens=3), cost=Cost(amount=0.1), structured=Weather(city="B"), duration_ms=9
    )
    reply = await replied(lambda given: made)
    assert (reply.usage, reply.cost, reply.duration_ms) == (Usage(input_tokens=3), Cost(amount=0.1), 9)
    assert (reply.output, reply.structured) == ([1, 2], {"city": "B"})


async def test_a_reply_without_a_duration_gets_that_of_the_call():
    assert (await replied(lambda given: Reply("x"))).duration_ms >= 0


async def test_a_target_gets_the_input_as_it_was_given():
    thing = object()
    seen = []
    await CallableTarget(seen.append).reply(Item(thing))
    assert seen == [thing]


# ── failing ────────────────────────────────────────────────────────────────────────────────────────────────────────


class Unreadable(Exception):
    def __str__(self):
        raise RuntimeError


async def fails_late(given):
    yield "It is"
    raise ConnectionError("lost")


def raising(error):
    def fail(given):
        raise error

    return fail


def raising_later(error):
    async def fail(given):
        await asyncio.sleep(0)
        raise error

    return fail


@pytest.mark.parametrize("form", [raising, raising_later], ids=["def", "async def"])
@pytest.mark.parametrize(
    "error",
    [ConnectionError("x"), SystemExit(1), Unreadable(), StopIteration(), RecursionError()],
    ids=lambda e: type(e).__name__,
)
async def test_whatever_it_raises_is_an_error_of_the_reply(form, error):
    reply = await replied(form(error))
    assert reply.output is MISSING
    assert reply.error.code == "RUN_EXPERIMENT_TARGET_FAILED_TO_GENERATE_RESULT"
    assert reply.error.traceback
    assert reply.duration_ms >= 0


async def test_a_stream_that_breaks_is_an_error():
    reply = await replied(fails_late)
    assert (reply.output, reply.error.type, reply.error.message) == (MISSING, "ConnectionError", "lost")


@pytest.mark.parametrize("form", [raising, raising_later], ids=["def", "async def"])
async def test_a_keyboard_interrupt_is_not_the_targets(form):
    with pytest.raises(KeyboardInterrupt):
        await CallableTarget(form(KeyboardInterrupt())).reply(Call(input="x", item=Item("x")))


def endless():
    value = []
    value.append(value)
    return value


def deep():
    value = "x"
    for _ in range(5000):
        value = [value]
    return value


class Broken:
    @property
    def __dict__(self):
        raise RuntimeError


@pytest.mark.parametrize("make", [endless, deep], ids=["endless", "deep"])
async def test_a05_an_output_that_cannot_be_written_is_an_error_of_the_reply(make):
    reply = await replied(lambda given: make())
    assert (reply.output, reply.error.code) == (MISSING, "NOT_PLAIN_DATA")


@pytest.mark.parametrize("make", [object, Broken, lambda: open], ids=["object", "broken", "function"])
async def test_a05_an_output_without_a_plain_form_is_kept_as_it_is(make):
    assert (await replied(lambda given: make())).error is None


# ── threads ────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_def_runs_on_a_thread_and_an_async_def_on_the_loop():
    async def where(given):
        return str(threading.current_thread() is here)

    here = threading.current_thread()
    assert (await replied(where)).output == "True"
    assert (await replied(lambda given: str(threading.current_thread() is here))).output == "False"


async def test_a_def_does_not_hold_the_loop():
    waiting = threading.Event()
    running = asyncio.create_task(replied(lambda given: waiting.wait(5)))
    await asyncio.sleep(0.01)
    waiting.set()  # nobody would, if the loop were held
    assert (await running).output is True


async def test_what_a_run_of_pydantic_ai_came_to_is_read_with_its_calls():
    agent = pydantic_ai.Agent(TestModel(), tools=[weather])

    async def asked(question):
        return await agent.run(question)

    result = await run_evals(target=asked, data=[Item("Rome?")], gates=[checks.called_tool("weather")])
    (reply,) = result.items[0].replies
    assert (result.verdict, reply.usage.output_tokens > 0) == ("passed", True)


def weather(city: str) -> str:
    return f"sun in {city}"
