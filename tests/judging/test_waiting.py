"""A limit stands still while a turn is waited for."""

import asyncio

import pytest

from proctor.judging.flight import once
from proctor.judging.waiting import limited_by, not_counted


async def test_waiting_is_not_counted():
    async with asyncio.timeout(0.05) as limit:
        with limited_by(limit), not_counted():
            await asyncio.sleep(0.1)


async def within(seconds, work):
    async with asyncio.timeout(seconds) as limit:
        with limited_by(limit):
            await work()


async def test_what_was_left_is_left():
    async def work():
        with not_counted():
            await asyncio.sleep(0.15)
        await asyncio.sleep(60)

    with pytest.raises(TimeoutError):
        await within(0.1, work)


async def test_without_a_limit_nothing_happens():
    with not_counted():
        await asyncio.sleep(0)


async def test_a_limit_that_has_run_out_is_left_alone():
    """A call that others wait for goes on after the limit of whoever made it."""
    gone = asyncio.Event()

    async def go_on():
        await gone.wait()
        with not_counted():
            return "done"

    tasks = []

    async def work():
        tasks.append(asyncio.create_task(go_on()))
        await asyncio.sleep(60)

    with pytest.raises(TimeoutError):
        await within(0.01, work)
    gone.set()
    assert await tasks[0] == "done"


async def test_who_waits_for_anothers_call_waits_for_its_turn_too():
    async def make():
        with not_counted():
            await asyncio.sleep(0.2)
        return "made"

    found = []

    async def ask():
        found.append(await once("key", make))

    await asyncio.gather(within(0.1, ask), within(0.1, ask), ask())
    assert sorted(found) == [("made", False), ("made", True), ("made", True)]


async def test_who_comes_while_a_turn_is_waited_for_has_what_was_left_when_it_goes_on():
    async def make():
        with not_counted():
            await asyncio.sleep(0.15)
        await asyncio.sleep(60)

    async def ask():
        await once("key", make)

    first = asyncio.create_task(ask())
    await asyncio.sleep(0.02)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(within(0.1, ask), 10)
    first.cancel()


async def test_the_limit_of_who_waited_for_anothers_call_runs_on_afterwards():
    async def make():
        with not_counted():
            await asyncio.sleep(0.15)

    async def ask():
        await once("key", make)
        await asyncio.sleep(60)

    for _ in range(2):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.gather(within(0.1, ask), within(0.1, ask)), 10)
