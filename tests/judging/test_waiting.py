"""A limit stands still while a turn is waited for."""

import asyncio

import pytest

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
