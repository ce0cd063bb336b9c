"""A run under way: how far it is, what it has, how it is stopped, and one that nobody looks after."""

import asyncio
import gc
import logging
import threading

import pytest

from proctor import MemoryRecorder, checks, run_evals_sync, start_evals
from proctor.errors import ProctorError, UsageError
from tests.running.graded import asked, echo, graded, saved, until_done

at_any_concurrency = pytest.mark.parametrize("concurrency", [1, 4], ids=["one at a time", "four at once"])


class Gate:
    """A target that answers the first *few* and then waits until it is opened."""

    def __init__(self, few):
        self.few = few
        self.begun = self.cleaned = 0
        self.open = asyncio.Event()

    async def __call__(self, given):
        self.begun += 1
        if self.begun > self.few:
            try:
                await self.open.wait()
            finally:
                self.cleaned += 1
        return given


# ── how far it is ──────────────────────────────────────────────────────────────────────────────────────────────────


async def test_it_says_how_far_it_is_and_what_it_has():
    target = Gate(3)
    run = start_evals(target=target, data=asked(1.0, 0.0, "n/a", 1.0), gates=[graded()])
    assert (run.progress.total, run.progress.done, run.done()) == (4, 0, False)
    assert run.partial().means[0].of == 0
    await until_done(run, 3)
    await asyncio.sleep(0)
    progress = run.progress
    assert (progress.done, progress.failed, progress.errors, progress.not_scorable) == (3, 1, 0, 1)
    assert list(progress.in_flight) == ["i3"]
    part = run.partial()
    assert (part.status, part.verdict, part.means[0].of, len(part.items)) == ("running", "failed", 3, 3)
    target.open.set()
    result = await run
    assert (result.status, result.verdict, run.done(), progress.in_flight) == ("complete", "failed", True, {})


@at_any_concurrency
async def test_a_part_is_not_passed_before_the_end(concurrency):
    target = Gate(2)
    run = start_evals(target=target, data=asked(*[1.0] * 6), gates=[graded()], concurrency=concurrency)
    await until_done(run, 2)
    part = run.partial()
    assert (part.status, part.verdict, part.exit_code()) == ("running", None, 4)
    assert part.sentence == "not decided yet: the run goes on"
    assert "NO VERDICT, running" in str(part)
    target.open.set()
    assert (await run).verdict == "passed"
    assert run.partial().status == "complete"


async def test_a_stream_has_no_total_and_repeats_are_counted():
    assert start_evals(data=iter(saved(1.0)), gates=[graded()]).progress.total is None
    run = start_evals(target=Gate(2), data=asked(1.0, 1.0), gates=[graded()], repeats=3)
    assert run.progress.total == 6
    await until_done(run, 2)
    await asyncio.sleep(0)
    assert list(run.progress.in_flight) == ["i0 (repeat 2)"]
    run.cancel()
    await run


async def test_errors_are_counted_by_row():
    run = start_evals(target=echo, data=asked("fail", "boom", 1.0), gates=[graded("a")], scorers=[graded("b")])
    await run
    assert (run.progress.errors, run.progress.done) == (2, 3)


# ── awaiting it ────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_it_may_be_awaited_twice_and_by_two():
    run = start_evals(target=echo, data=asked(1.0), gates=[graded()])
    first, second = await asyncio.gather(run, run)
    assert first == second == await run


async def test_an_error_is_raised_each_time_it_is_awaited():
    run = start_evals(target=echo, data=asked("fail"), gates=[graded()], on_error="raise")
    for _ in range(2):
        with pytest.raises(Exception, match="the target failed"):
            await run


async def test_who_gives_up_waiting_does_not_end_it():
    target = Gate(0)
    run = start_evals(target=target, data=asked(1.0), gates=[graded()])
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.02):
            await run
    target.open.set()
    assert (await run).verdict == "passed"


def test_without_a_loop_it_says_which_function_to_call():
    with pytest.raises(UsageError, match="start_evals needs a running event loop; without one, call run_evals_sync"):
        start_evals(target=echo, data=asked(1.0), gates=[graded()])
    gc.collect()  # a coroutine that nobody awaits would be warned of


# ── stopping it ────────────────────────────────────────────────────────────────────────────────────────────────────


@at_any_concurrency
async def test_r05_a_run_that_is_cancelled_has_what_was_done_and_lets_the_rest_clean_up(concurrency):
    target, recorder = Gate(3), MemoryRecorder()
    run = start_evals(
        target=target, data=asked(*[1.0] * 10), gates=[graded()], recorder=recorder, concurrency=concurrency
    )
    await until_done(run, 3)
    await asyncio.sleep(0)
    run.cancel()
    result = await run
    assert (result.status, result.verdict, result.exit_code()) == ("cancelled", None, 130)
    assert [item.item_id for item in result.items] == ["i0", "i1", "i2"]
    assert sorted(recorder.finished) == [("i0", 0), ("i1", 0), ("i2", 0)]
    stopped = target.cleaned
    assert target.begun == 3 + stopped
    assert run.partial().status == (await run).status == "cancelled"
    assert run.progress.in_flight == {}

    target.open.set()
    again = await start_evals(target=target, data=asked(*[1.0] * 10), gates=[graded()], recorder=recorder)
    assert (again.verdict, again.means[0].n) == ("passed", 10)
    assert target.begun == 10 + stopped


async def test_what_is_decided_stays_decided():
    run = start_evals(target=Gate(1), data=asked(0.0, 1.0), gates=[graded()])
    await until_done(run, 1)
    run.cancel()
    result = await run
    assert (result.verdict, result.exit_code()) == ("failed", 130)


async def test_cancelled_before_it_began_it_has_nothing():
    run = start_evals(target=echo, data=asked(1.0), gates=[graded()])
    run.cancel()
    run.cancel()
    result = await run
    assert (result.status, result.items, result.summary.items) == ("cancelled", (), 0)


async def test_too_few_scores_decide_nothing_before_the_end():
    target = Gate(1)
    both = {"gates": [graded()], "scorers": [(checks.excludes("z"), 0.5), (graded(), 0.5)]}
    run = start_evals(target=target, data=asked("n/a", 1.0), **both)
    begun = run.partial()
    await until_done(run, 1)
    run.cancel()
    for part in (begun, await run):
        assert part.verdict is None
        assert not [mean for mean in part.means if mean.passed is False]
    assert part.sentence == "not decided: the run ended early (cancelled)"


async def test_cancelled_after_the_end_it_is_complete():
    run = start_evals(target=echo, data=asked(1.0), gates=[graded()])
    await run
    run.cancel()
    assert (await run).status == "complete"


@at_any_concurrency
@pytest.mark.parametrize("later", [False, True], ids=["def", "async def"])
async def test_a_listener_may_stop_it(later, concurrency):
    told = []

    def stop(item):
        told.append(item.item_id)
        if len(told) == 2:
            run.cancel()

    async def stop_later(item):
        stop(item)

    run = start_evals(
        target=echo,
        data=({"id": f"i{n}", "input": 1.0} for n in range(100_000)),
        gates=[graded()],
        on_item_complete=stop_later if later else stop,
        concurrency=concurrency,
    )
    result = await asyncio.wait_for(run, 30)
    assert result.status == "cancelled"
    assert 2 <= len(result.items) <= 2 + 2 * concurrency


@at_any_concurrency
@pytest.mark.parametrize("later", [False, True], ids=["def", "async def"])
async def test_a_target_may_stop_it(later, concurrency):
    def target(given):
        if given == 5.0:
            run.cancel()
        return 1.0

    async def target_later(given):
        return target(given)

    run = start_evals(
        target=target_later if later else target,
        data=asked(*map(float, range(60))),
        gates=[graded()],
        concurrency=concurrency,
    )
    result = await asyncio.wait_for(run, 30)
    assert result.status == "cancelled"
    assert len(result.items) < 50


async def test_another_thread_may_stop_it():
    run = start_evals(target=Gate(0), data=asked(1.0), gates=[graded()])
    await asyncio.sleep(0)
    threading.Thread(target=run.cancel).start()
    assert (await asyncio.wait_for(run, 30)).status == "cancelled"


async def test_r13_a_store_that_cannot_write_at_the_end_is_an_error_though_it_was_cancelled():
    class Full(MemoryRecorder):
        async def flush(self):
            raise OSError("no space left")

    run = start_evals(target=Gate(0), data=asked(1.0), gates=[graded()], recorder=Full())
    for _ in range(1000):
        if run.progress.in_flight:
            break
        await asyncio.sleep(0.001)
    run.cancel()
    with pytest.raises(ProctorError, match=r"recorder Full: its flush\(\) raised OSError: no space left"):
        await run
    assert run.partial().status == "cancelled"


# ── a handle that nobody looks after ───────────────────────────────────────────────────────────────────────────────


def complaints(main, caplog):
    """What Python logs while *main* runs in a loop of its own, and after."""
    with caplog.at_level(logging.DEBUG, "asyncio"):
        asyncio.run(main(), debug=False)
        gc.collect()
    return [record.message for record in caplog.records if record.levelno >= logging.WARNING]


@pytest.mark.parametrize("concurrency", [1, 3])
def test_one_that_failed_is_not_complained_of(caplog, concurrency):
    async def main():
        start_evals(target=echo, data=asked("fail"), gates=[graded()], on_error="raise", concurrency=concurrency)
        await asyncio.sleep(0.05)

    assert complaints(main, caplog) == []


@pytest.mark.parametrize("how", ["running", "cancelled", "not begun"])
@pytest.mark.parametrize("concurrency", [1, 3])
def test_one_whose_loop_ends_cleans_up_and_is_not_complained_of(caplog, how, concurrency):
    recorder = MemoryRecorder()
    seen = {}

    async def main():
        target = seen["target"] = Gate(2)
        run = seen["run"] = start_evals(
            target=target, data=iter(asked(*[1.0] * 9)), gates=[graded()], recorder=recorder, concurrency=concurrency
        )
        if how != "not begun":
            await until_done(run, 2)
            await asyncio.sleep(0)
        if how == "cancelled":
            run.cancel()

    assert complaints(main, caplog) == []
    target, run = seen["target"], seen["run"]
    assert target.begun - target.cleaned == len(recorder.finished) == (0 if how == "not begun" else 2)
    assert run.done()
    assert run.partial().means[0].n == len(recorder.finished)
    run.cancel()  # the loop is gone: nothing to do


async def test_one_that_nobody_holds_runs_to_its_end():
    told = []
    start_evals(target=echo, data=asked(*[1.0] * 20), gates=[graded()], on_item_complete=told.append, concurrency=3)
    gc.collect()
    for _ in range(500):
        await asyncio.sleep(0.01)
        gc.collect()
        if len(told) == 20:
            break
    assert len(told) == 20


async def test_several_runs_go_on_at_once():
    runs = [start_evals(target=echo, data=asked(n / 10), scorers=[graded()]) for n in range(10)]
    results = await asyncio.gather(*runs)
    assert [result.means[0].mean for result in results] == [n / 10 for n in range(10)]
    assert len({result.eval_id for result in results}) == 10


def test_a_handle_may_be_had_inside_a_sync_run_of_another():
    async def target(given):
        inner = await start_evals(target=echo, data=asked(given), gates=[checks.includes("a")])
        return inner.verdict

    result = run_evals_sync(target=target, data=asked("a"), gates=[checks.includes("passed")])
    assert result.verdict == "passed"
