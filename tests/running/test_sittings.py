"""What a recorder is told when a run has ended, and what a second sitting adds to it."""

import asyncio
import re

import pytest

from proctor import MemoryRecorder, run_evals, run_evals_sync, scorer, start_evals
from proctor.errors import ProctorError
from proctor.running.record import Known
from tests.running.graded import asked, echo, graded, saved, until_done
from tests.running.plans import plan_of


class Ending(MemoryRecorder):
    """Knows what it was told at the end, and when."""

    def __init__(self):
        super().__init__()
        self.told = []

    async def end(self, result):
        await asyncio.sleep(0)
        self.told.append(result)
        await super().end(result)

    async def flush(self):
        self.told.append("flushed")


@pytest.fixture
def recorder():
    return Ending()


# ── what it is told ────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_run_tells_its_result_once_and_is_flushed_after_it(recorder):
    result = await run_evals(data=saved(1.0, 0.5), scorers=[(graded(), 0.5)], recorder=recorder)
    assert recorder.told == [result, "flushed"]
    assert (result.status, result.verdict, len(result.items)) == ("complete", "passed", 2)


async def test_it_is_told_only_the_items_that_are_kept(recorder):
    result = await run_evals(data=saved(1.0, 0.0), scorers=[(graded(), 0.5)], keep="failures", recorder=recorder)
    assert recorder.told == [result, "flushed"]


async def test_rows_that_a_stopped_run_did_not_come_to_are_in_what_it_is_told(recorder):
    data = asked("fail", 1.0, 1.0)
    result = await run_evals(
        target=echo, data=data, scorers=[graded()], stop_after_errors=1, concurrency=1, recorder=recorder
    )
    assert recorder.told == [result, "flushed"]
    assert (result.status, [row.status for row in result.items]) == ("stopped", ["error", "not_run", "not_run"])


async def test_a_run_that_raises_has_stopped(recorder):
    with pytest.raises(Exception, match="unable to answer"):
        await run_evals(target=echo, data=asked("fail"), scorers=[graded()], on_error="raise", recorder=recorder)
    told, flushed = recorder.told
    assert (told.status, told.verdict, told.items[0].status, flushed) == ("stopped", None, "error", "flushed")
    assert told.stopped_by


@pytest.mark.parametrize("concurrency", [1, 4])
async def test_a_run_that_is_cancelled_tells_what_was_done(recorder, concurrency):
    async def hold(given):
        if given == 0.5:
            await asyncio.Event().wait()
        return given

    run = start_evals(target=hold, data=asked(1.0, 0.5), scorers=[graded()], recorder=recorder, concurrency=concurrency)
    await until_done(run, 1)
    run.cancel()
    result = await run
    assert recorder.told == [result, "flushed"]
    assert (result.status, [row.item_id for row in result.items]) == ("cancelled", ["i0"])


async def test_a_run_that_is_cancelled_while_it_tells_is_flushed(recorder):
    telling = asyncio.Event()

    class Slow(Ending):
        async def end(self, result):
            telling.set()
            await asyncio.Event().wait()

    slow = Slow()
    run = start_evals(data=saved(1.0), scorers=[graded()], recorder=slow)
    await telling.wait()
    run.cancel()
    assert (await run).status == "cancelled"
    assert slow.told == ["flushed"]


def test_a_run_that_is_interrupted_from_inside_tells_it(recorder):
    def interrupt(run):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_evals_sync(data=saved(1.0), scorers=[scorer(interrupt)], recorder=recorder)
    told, flushed = recorder.told
    assert (told.status, flushed) == ("cancelled", "flushed")


async def test_a_recorder_that_cannot_start_is_told_nothing(recorder):
    class Closed(Ending):
        async def start(self, plan):
            raise OSError("no such folder")

    closed = Closed()
    with pytest.raises(ProctorError, match="no such folder"):
        await run_evals(data=saved(1.0), scorers=[graded()], recorder=closed)
    assert closed.told == []


# ── what a second sitting adds ─────────────────────────────────────────────────────────────────────────────────────


async def test_each_sitting_adds_its_time_and_keeps_the_first_start():
    recorder = MemoryRecorder()
    options = {"target": echo, "scorers": [graded()], "recorder": recorder}
    first = (await run_evals(data=asked(0.1), **options)).summary
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00", first.started_at)
    found = await recorder.start(plan_of())
    assert (found.started_at, found.spent_ms) == (first.started_at, first.duration_ms)
    second = (await run_evals(data=asked(0.1, 0.2), **options)).summary
    third = (await run_evals(data=asked(0.1, 0.2), **options)).summary
    assert first.duration_ms < second.duration_ms < third.duration_ms
    assert first.started_at == second.started_at == third.started_at


async def test_the_time_that_a_recorder_knows_of_is_in_the_result_from_the_start():
    class Knowing(MemoryRecorder):
        async def start(self, plan):
            return Known(started_at="2026-11-30T19:20:01.123456+00:00", spent_ms=1e6)

    run = start_evals(target=echo, data=asked(0.1), scorers=[graded()], recorder=Knowing())
    result = await run
    for summary in (run.partial().summary, result.summary):
        assert summary.started_at == "2026-11-30T19:20:01.123456+00:00"
        assert 1e6 < summary.duration_ms < 1.1e6


async def test_without_a_recorder_a_run_began_when_it_began():
    first, second = [await run_evals(data=saved(1.0), scorers=[graded()]) for _ in range(2)]
    assert first.summary.started_at < second.summary.started_at
    assert first.from_json(first.to_json()) == first


async def test_a_run_that_has_not_begun_has_no_start():
    run = start_evals(data=saved(1.0), scorers=[graded()])
    assert run.partial().summary.started_at is None
    await run
