"""How a run over a stream ends: with data that breaks, that is without end, and with its generator closed."""

import asyncio
import itertools
import sys
import tracemalloc

import pytest

from proctor import MemoryRecorder, checks, run_evals, run_evals_sync, start_evals
from proctor.errors import TargetError
from tests.running.graded import asked, echo, graded, saved, until_done
from tests.running.streams import Source, at_any_concurrency, either_kind, later

# ── data that breaks ───────────────────────────────────────────────────────────────────────────────────────────────


async def cancelled_inside():
    inner = asyncio.create_task(asyncio.sleep(60))
    inner.cancel()
    await inner


class Silent(Exception):
    def __str__(self):
        raise RuntimeError("no")


@at_any_concurrency
@either_kind
@pytest.mark.parametrize("error", [KeyError("x"), Silent(), StopAsyncIteration(), RuntimeError("db is gone")], ids=repr)
async def test_data_that_raises_ends_the_run_with_its_error_after_what_is_done_is_recorded(error, kind, concurrency):
    def raising():
        yield from saved(*[1.0] * 6)
        raise error

    recorder = MemoryRecorder()
    with pytest.raises(TargetError, match=r"data raised \w+: .* \(after 6 items\)") as raised:
        await run_evals(
            data=getattr(Source(raising()), kind)(), gates=[graded()], recorder=recorder, concurrency=concurrency
        )
    assert raised.value.code == "DATA_FAILED"
    assert len(recorder.finished) >= 6 - concurrency


@at_any_concurrency
async def test_r14_data_in_which_something_was_cancelled_is_no_end_of_the_data(concurrency):
    async def raising():
        for row in saved(*[1.0] * 3):
            yield row
        await cancelled_inside()

    with pytest.raises(TargetError, match="data raised CancelledError"):
        await asyncio.wait_for(run_evals(data=raising(), gates=[graded()], concurrency=concurrency), 10)


@at_any_concurrency
@either_kind
def test_data_that_ends_the_program_ends_it(kind, concurrency):
    def ending():
        yield from saved(1.0, 1.0)
        sys.exit(3)

    with pytest.raises(SystemExit):
        run_evals_sync(data=getattr(Source(ending()), kind)(), gates=[graded()], concurrency=concurrency)
    assert run_evals_sync(data=iter(saved(1.0)), gates=[graded()]).verdict == "passed"


async def test_a_handle_over_data_that_raises_has_what_was_done():
    def raising():
        yield from saved(1.0, 0.5)
        raise KeyError("x")

    run = start_evals(data=raising(), scorers=[graded()])
    with pytest.raises(TargetError, match="data raised KeyError"):
        await run
    part = run.partial()
    assert (part.status, part.stopped_by, part.means[0].n, part.exit_code()) == ("stopped", "TargetError", 2, 4)


# ── closing ────────────────────────────────────────────────────────────────────────────────────────────────────────


@at_any_concurrency
@either_kind
async def test_a_generator_is_closed_when_the_run_is_cancelled(kind, concurrency):
    source, at_work = Source(asked(*range(100))), asyncio.Event()

    async def target(given):
        at_work.set()
        await asyncio.sleep(60)

    running = asyncio.create_task(
        run_evals(target=target, data=getattr(source, kind)(), gates=[graded()], concurrency=concurrency)
    )
    await at_work.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert source.closed
    assert source.taken <= concurrency


async def test_a_generator_that_is_waiting_is_closed_when_the_run_is_cancelled():
    closed = []

    async def waiting():
        try:
            yield asked(1.0)[0]
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.01)
            closed.append(True)

    run = start_evals(target=echo, data=waiting(), gates=[graded()], concurrency=4)
    await until_done(run, 1)
    run.cancel()
    result = await run
    assert (result.status, len(result.items), closed) == ("cancelled", 1, [True])


@pytest.mark.parametrize("makes", ["raises", "ends", "goes on"])
@pytest.mark.parametrize(("why", "concurrency"), [("cancelled", 1), ("cancelled", 4), ("stopped", 4)])
async def test_whatever_a_generator_makes_of_being_stopped_the_run_is_stopped(why, makes, concurrency):
    asked_for = []

    async def stubborn():
        for row in asked("a", "b"):
            yield row
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            if makes == "raises":
                raise ConnectionError("closed") from None
            if makes == "ends":
                return
        yield {"id": "one more", "input": "c"}

    async def target(given):
        asked_for.append(given)
        await asyncio.sleep(0.02 if why == "stopped" else 0)  # until another waits for the next item
        raise ConnectionError("gone")

    options = {"target": target, "gates": [graded()], "concurrency": concurrency}
    if why == "stopped":
        result = await asyncio.wait_for(run_evals(data=stubborn(), **options, stop_after_errors=2), 10)
    else:
        run = start_evals(data=stubborn(), **options)
        await until_done(run, 2)
        await asyncio.sleep(0.01)
        run.cancel()
        result = await asyncio.wait_for(run, 10)
    assert (result.status, result.summary.errors, asked_for) == (why, 2, ["a", "b"])


@at_any_concurrency
@either_kind
@pytest.mark.parametrize("how", ["stop_after_errors", "on_error"])
async def test_a_generator_without_end_is_closed_when_the_run_stops_by_itself(how, kind, concurrency):
    source = Source({"id": f"i{n}", "input": "fail" if n % 3 == 2 else 1.0} for n in itertools.count())
    options = {"target": echo, "data": getattr(source, kind)(), "scorers": [graded()], "concurrency": concurrency}
    if how == "stop_after_errors":
        result = await run_evals(**options, stop_after_errors=2)
        assert (result.status, result.stopped_by) == ("stopped", "stop_after_errors=2")
        assert (result.summary.errors >= 2, result.exit_code()) == (True, 4)
        assert "stopped by stop_after_errors=2" in str(result)
    else:
        with pytest.raises(TargetError, match="item i2: the target failed"):
            await run_evals(**options, on_error="raise")
    assert source.closed
    assert source.taken <= 6 + concurrency


@pytest.mark.parametrize("broken", ["raises", "yields"])
async def test_a_generator_that_breaks_when_it_is_closed_is_warned_of_and_the_result_stays(broken):
    async def endless():
        try:
            while True:
                yield {"input": "fail"}
        finally:
            if broken == "raises":
                raise OSError("connection is gone")
            yield {"input": "more"}

    with pytest.warns(RuntimeWarning, match="when it was closed"):
        result = await run_evals(target=echo, data=endless(), gates=[graded()], stop_after_errors=2)
    assert (result.status, result.summary.errors) == ("stopped", 2)


# ── without end ────────────────────────────────────────────────────────────────────────────────────────────────────


@at_any_concurrency
async def test_bad_items_without_end_stop_after_so_many_errors(concurrency):
    result = await run_evals(
        target=echo, data=({"inptu": n} for n in itertools.count()), gates=[graded()], stop_after_errors=5,
        concurrency=concurrency,
    )  # fmt: skip
    assert result.status == "stopped"
    assert 5 <= result.summary.errors < 5 + concurrency


@at_any_concurrency
async def test_bad_items_without_end_do_not_hold_the_loop(concurrency):
    run = start_evals(
        target=echo,
        data=({"inptu": n} for n in itertools.count()),
        gates=[graded()],
        concurrency=concurrency,
        keep="none",
    )
    await until_done(run, 10)
    run.cancel()
    assert (await run).status == "cancelled"


@at_any_concurrency
async def test_saved_outputs_without_end_do_not_hold_the_loop(concurrency):
    run = start_evals(
        data=({"output": 1.0} for _ in itertools.count()), scorers=[graded()], concurrency=concurrency, keep="none"
    )
    await until_done(run, 10)
    run.cancel()
    assert (await run).means[0].mean == 1.0


async def test_a_stream_that_waits_does_not_keep_a_run_that_is_to_stop():
    """A queue that nobody feeds any more: the worker at the queue is let go."""
    queue = asyncio.Queue()

    async def from_queue():
        while True:
            yield await queue.get()

    async def target(given):
        await asyncio.sleep(0.02)  # until the others wait for the queue
        raise ConnectionError("gone")

    for row in asked("a", "b"):
        queue.put_nowait(row)
    result = await asyncio.wait_for(
        run_evals(target=target, data=from_queue(), gates=[graded()], concurrency=4, stop_after_errors=2), 10
    )
    assert (result.status, result.summary.errors) == ("stopped", 2)


async def test_a_stream_that_had_ended_when_the_last_error_came_was_run_whole():
    """At one item at a time nobody has asked whether more would come: that run was stopped."""

    async def slow(given):
        await asyncio.sleep(0.02)  # until the others have seen the end
        raise ConnectionError("gone")

    options = {"target": slow, "gates": [graded()], "stop_after_errors": 2}
    result = await run_evals(data=iter(asked("a", "b")), concurrency=4, **options)
    assert (result.status, result.stopped_by) == ("complete", None)
    result = await run_evals(data=iter(asked("a", "b")), concurrency=1, **options)
    assert (result.status, result.stopped_by) == ("stopped", "stop_after_errors=2")


@pytest.mark.parametrize("kind", [list, iter])
async def test_repeats_that_a_stop_left_out_are_told_as_those_of_a_list(kind):
    replies = iter([1.0, 1.0, 0.0, "boom", 1.0])
    data = kind(asked("a", "b", *([] if kind is iter else ["c"])))
    result = await run_evals(
        target=lambda given: next(replies), data=data, scorers=[graded()], repeats=3, stop_after_errors=1
    )
    rows = [(row.item_id, row.repeat, row.status) for row in result.items if row.item.input != "c"]
    assert [(repeat, status) for _, repeat, status in rows] == [
        (0, "done"), (1, "done"), (2, "done"), (0, "done"), (1, "not_run"), (2, "not_run"),
    ]  # fmt: skip
    assert result.status == "stopped"
    assert result.scores["graded"].not_run == (2 if kind is iter else 5)


async def test_a_slow_stream_is_run_as_it_comes():
    result = await run_evals(target=echo, data=later(asked(*[1.0] * 5), pause=0.01), gates=[graded()], concurrency=8)
    assert (result.verdict, result.means[0].n) == ("passed", 5)


@pytest.mark.slow
def test_memory_does_not_grow_with_the_number_of_items():
    def peak(count):
        tracemalloc.start()
        data = ({"id": f"i{n}", "output": "x" * 500} for n in range(count))
        result = run_evals_sync(data=data, scorers=[checks.includes("x")], concurrency=4, keep="none")
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert result.means[0].n == count
        return most

    peak(100)
    assert peak(3000) < peak(300) + 400_000  # bytes; one row alone takes over 1,000
