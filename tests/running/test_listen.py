"""`on_item_complete`: one at a time, and never in the way."""

import asyncio
import threading
import time

import pytest

from proctor import MemoryRecorder, run_evals
from tests.running.graded import asked, echo, graded


class OneAtATime:
    """Knows how many calls it was in at once at most, and on how many items it was called."""

    def __init__(self):
        self.lock = threading.Lock()
        self.most = self.active = 0
        self.told = []

    def enter(self, item):
        with self.lock:
            self.active += 1
            self.most = max(self.most, self.active)
            self.told.append(item.item_id)

    def leave(self):
        with self.lock:
            self.active -= 1

    def now(self, item):
        self.enter(item)
        time.sleep(0.002)
        self.leave()

    async def later(self, item):
        self.enter(item)
        await asyncio.sleep(0.002)
        self.leave()

    def now_and_later(self, item):
        return self.later(item)


@pytest.mark.parametrize("name", ["now", "later", "now_and_later"])
async def test_it_is_told_one_at_a_time_though_many_items_are_in_flight(name):
    listener = OneAtATime()
    result = await run_evals(
        target=echo,
        data=asked(*[1.0] * 40),
        gates=[graded()],
        on_item_complete=getattr(listener, name),
        concurrency=8,
    )
    assert listener.most == 1
    assert sorted(listener.told) == sorted(item.item_id for item in result.items)


async def test_an_item_is_recorded_before_it_is_told():
    recorder, seen = MemoryRecorder(), []
    await run_evals(
        target=echo,
        data=asked(1.0, "fail", 0.5),
        scorers=[graded()],
        recorder=recorder,
        on_item_complete=lambda item: seen.append((item.item_id, 0) in recorder.finished),
    )
    assert seen == [True, True, True]


async def test_a_row_that_is_taken_from_the_recorder_is_told_too():
    recorder, told = MemoryRecorder(), []
    options = {"target": echo, "data": asked(1.0, 0.5), "scorers": [graded()], "recorder": recorder}
    await run_evals(**options)
    await run_evals(**options, on_item_complete=lambda item: told.append(item.item_id))
    assert told == ["i0", "i1"]
