"""Who waits, in order. The owner of these lines hands out numbers while there are any."""

import asyncio
import threading

import pytest

from proctor.judging.line import Line


class Numbers:
    def __init__(self, *free):
        self.free = list(free)
        self.at = float("inf")
        self.interrupt = lambda: None
        self.line = Line(
            threading.RLock(), clock=lambda: 0.0, ready_at=self.ready_at, give=self.give, take_back=self.free.append
        )

    def ready_at(self, want, now):
        self.interrupt()
        return now if self.free else self.at

    def give(self, want, now):
        self.interrupt()
        return self.free.pop(0)


async def queued(numbers, count):
    tasks = [asyncio.create_task(numbers.line.wait(None)) for _ in range(count)]
    await asyncio.sleep(0)
    return tasks


async def test_each_is_given_something_in_order():
    numbers = Numbers()
    tasks = await queued(numbers, 3)
    numbers.free += [1, 2]
    numbers.line.move()
    assert [await tasks[0], await tasks[1], len(numbers.line)] == [1, 2, 1]
    numbers.free.append(3)
    numbers.line.move()
    assert await tasks[2] == 3


async def test_what_is_given_at_the_moment_of_cancellation_goes_back():
    numbers = Numbers()
    first, second = await queued(numbers, 2)
    numbers.free.append(1)
    numbers.line.move()
    first.cancel()
    assert await second == 1
    assert first.cancelled()


@pytest.mark.parametrize("moment", [1, 2], ids=["before it is given", "as it is given"])
async def test_a_wait_that_is_closed_while_the_line_moves_keeps_nothing(moment):
    """So does Python when it collects an abandoned coroutine, on whichever thread it happens to be."""
    numbers = Numbers()
    abandoned = numbers.line.wait(None)
    abandoned.send(None)  # it waits
    assert len(numbers.line) == 1
    times = 0

    def interrupt():
        nonlocal times
        times += 1
        if times == moment:
            abandoned.close()

    numbers.interrupt = interrupt
    numbers.free.append(1)
    numbers.line.move()
    assert times >= moment
    assert (len(numbers.line), numbers.free) == (0, [1])
    async with asyncio.timeout(5):
        assert await numbers.line.wait(None) == 1


async def test_a_moment_years_away_is_waited_for_too():
    numbers = Numbers()
    numbers.at = 1e12
    (task,) = await queued(numbers, 1)
    numbers.free.append(1)
    numbers.line.move()
    assert await task == 1


async def test_an_earlier_moment_moves_the_timer():
    numbers = Numbers()
    numbers.at = 3600
    (task,) = await queued(numbers, 1)
    numbers.at = 0.01
    numbers.line.move()
    numbers.free.append(1)
    async with asyncio.timeout(5):
        assert await task == 1


def test_the_timer_is_set_in_the_loop_of_whoever_is_first():
    """Someone in another thread moves the line; whoever waits is woken by the clock of its own loop."""
    numbers = Numbers()

    async def wait():
        async with asyncio.timeout(10):
            return await numbers.line.wait(None)

    got = []
    waiting = threading.Thread(target=lambda: got.append(asyncio.run(wait())))
    waiting.start()
    while not len(numbers.line):
        pass
    numbers.at = 0.01
    numbers.line.move()
    numbers.free.append(1)
    waiting.join(timeout=20)
    assert got == [1]
