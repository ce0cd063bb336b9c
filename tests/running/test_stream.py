"""Items that arrive: good ones, bad ones, none, without end, and what becomes of where they came from."""

import asyncio
import itertools
import random
import sys
import tracemalloc
import warnings
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor import Item, MemoryRecorder, Turn, checks, run_evals, run_evals_sync, start_evals
from proctor.errors import ScorerRunError, TargetError, UsageError
from tests.running.graded import asked, echo, graded, saved, until_done

at_any_concurrency = pytest.mark.parametrize("concurrency", [1, 4], ids=["one at a time", "four at once"])


async def later(rows, *, pause=0.0):
    """The rows of an async generator."""
    for row in rows:
        await asyncio.sleep(pause)
        yield row


class Source:
    """A generator of either kind that knows what was taken from it, and that it was closed."""

    def __init__(self, rows):
        self.rows = rows
        self.taken = 0
        self.closed = False

    def sync(self):
        try:
            for row in self.rows:
                self.taken += 1
                yield row
        finally:
            self.closed = True

    async def later(self):
        try:
            for row in self.rows:
                await asyncio.sleep(0)
                self.taken += 1
                yield row
        finally:
            await asyncio.sleep(0)
            self.closed = True


either_kind = pytest.mark.parametrize("kind", ["sync", "later"])


# ── what arrives ───────────────────────────────────────────────────────────────────────────────────────────────────


class Rows:
    """An iterator, and an asynchronous one, that are no generators."""

    def __init__(self, rows):
        self.rows = iter(rows)

    def __iter__(self):
        return self

    def __next__(self):
        return next(self.rows)


class LateRows:
    def __init__(self, rows):
        self.rows = rows

    def __aiter__(self):
        return later(self.rows)


@at_any_concurrency
@pytest.mark.parametrize(
    "make", [iter, Rows, later, LateRows, partial(map, dict)], ids=["iter", "Rows", "later", "LateRows", "map"]
)
async def test_any_iterator_is_a_stream_and_rows_are_in_order(make, concurrency):
    result = await run_evals(data=make(saved(1.0, 0.5, 0.25, 0.75)), scorers=[graded()], concurrency=concurrency)
    assert [item.output for item in result.items] == [1.0, 0.5, 0.25, 0.75]
    assert [item.index for item in result.items] == [0, 1, 2, 3]
    assert (result.status, result.means[0].mean, result.means[0].n) == ("complete", 0.625, 4)


def test_a_stream_may_be_given_to_the_sync_form():
    assert run_evals_sync(data=later(saved(1.0)), gates=[graded()]).verdict == "passed"


@either_kind
async def test_items_are_taken_when_there_is_room_and_never_ahead(kind):
    source = Source(asked(*range(50)))
    ahead = []

    async def target(given):
        await asyncio.sleep(0)
        ahead.append(source.taken - done)
        return 1.0

    done = 0

    def count(item):
        nonlocal done
        done += 1

    await run_evals(
        target=target, data=getattr(source, kind)(), gates=[graded()], concurrency=3, on_item_complete=count
    )
    assert max(ahead) <= 3
    assert (source.taken, source.closed) == (50, True)


@at_any_concurrency
async def test_a_stream_is_asked_for_one_item_at_a_time(concurrency):
    """An async generator that is asked while it is at work raises."""
    result = await run_evals(data=later(saved(*[1.0] * 20), pause=0.001), gates=[graded()], concurrency=concurrency)
    assert result.means[0].n == 20


@pytest.mark.parametrize("empty", [iter([]), later([])], ids=["sync", "async"])
@at_any_concurrency
async def test_an_empty_stream_is_refused(empty, concurrency):
    with pytest.raises(UsageError, match="data has no items") as refused:
        await run_evals(target=echo, data=empty, gates=[graded()], concurrency=concurrency)
    assert refused.value.code == "RUN_EXPERIMENT_FAILED_NO_DATA_PROVIDED"


async def test_repeats_of_an_item_that_arrives():
    result = await run_evals(target=echo, data=later(asked(1.0, 0.0)), scorers=[graded()], repeats=2, concurrency=3)
    assert [(item.index, item.repeat) for item in result.items] == [(0, 0), (0, 1), (1, 0), (1, 1)]


async def test_conversations_and_items_own_scorers_may_arrive():
    rows = [
        Item(id="talk", turns=[Turn("a", gates=[checks.includes("a")])]),
        Item(id="own", input="b", scorers=[graded("g")]),
    ]
    with pytest.warns(UserWarning, match="the target has no memory"):
        result = await run_evals(target=echo, data=later(rows), gates=[checks.excludes("z")])
    assert sorted(mean.n for mean in result.means) == [0, 1, 2]  # g declines nothing: "b" is no score, an error
    assert result.turn_results[0][0].passed


async def test_a_warning_that_is_an_error_does_not_end_a_run_that_has_begun():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rows = [*asked("a"), {"id": "talk", "inputs": ["a", "a"]}, {"id": "last", "input": "a"}]
        result = await run_evals(target=echo, data=iter(rows), gates=[checks.includes("a")])
    assert (result.verdict, len(result.items)) == ("passed", 3)
    assert "the target has no memory" in result.summary.notes[0]


async def test_an_iterator_that_was_run_is_empty_and_says_why():
    rows = iter(saved(1.0))
    await run_evals(data=rows, gates=[graded()])
    with pytest.raises(UsageError, match="an iterator gives its items once"):
        await run_evals(data=rows, gates=[graded()])


async def test_data_that_cannot_be_begun_says_so():
    class NoIterator:
        def __aiter__(self):
            return 3

    with pytest.raises(TargetError, match=r"data raised TypeError: .*async iterator.* \(after 0 items\)"):
        await run_evals(data=NoIterator(), gates=[graded()])


# ── bad items ──────────────────────────────────────────────────────────────────────────────────────────────────────

BAD = [
    {"inptu": "a"},
    {"input": "a", "inputs": ["b"]},
    {"id": 5.5, "input": "a"},
    {"id": ["a"], "input": "a"},
    {"id": "", "input": "a"},
    {"input": "a", "turns": [], "id": "none"},
    "just text",
    None,
    7,
    Item(),
    Item(id=["unhashable"], input="a"),
]


@at_any_concurrency
@pytest.mark.parametrize("bad", [pytest.param(bad, id=f"{at}") for at, bad in enumerate(BAD)])
async def test_an_item_that_cannot_be_run_is_an_error_of_its_own_row(bad, concurrency):
    told = []
    rows = [*asked(1.0, 1.0), bad, {"id": "last", "input": 1.0}]
    result = await run_evals(
        target=echo, data=later(rows), gates=[graded()], concurrency=concurrency, on_item_complete=told.append
    )
    assert [item.status for item in result.items] == ["done", "done", "error", "done"]
    item = result.items[2]
    assert isinstance(item.item_id, str)
    assert (item.index, item.gates["graded"].cause.why) == (2, "target_failed")
    assert item.error.message
    assert (result.verdict, result.means[0].decided_by, result.exit_code()) == ("failed", "errors", 4)
    assert str(result)
    assert sorted(it.index for it in told) == [0, 1, 2, 3]


async def test_the_same_id_twice_is_an_error_where_ids_are_remembered_and_the_first_row_stays():
    recorder = MemoryRecorder()
    rows = [{"id": "x", "input": 1.0}, {"id": "x", "input": 0.0}, {"id": "y", "input": 1.0}]
    result = await run_evals(target=echo, data=iter(rows), scorers=[graded()], recorder=recorder)
    assert [(item.item_id, item.status) for item in result.items] == [("x", "done"), ("x", "error"), ("y", "done")]
    assert "the id 'x' is taken by an earlier item" in result.items[1].error.message
    assert recorder.finished["x", 0].output == 1.0


async def test_where_nothing_remembers_ids_it_says_so():
    rows = [{"id": "x", "input": 1.0}, {"id": "x", "input": 0.0}]
    result = await run_evals(target=echo, data=iter(rows), scorers=[graded()], keep="none")
    assert (result.means[0].n, result.summary.notes) == (
        2,
        ("ids were not checked: nothing in this run remembers them",),
    )


async def test_equal_items_without_an_id_are_items_of_their_own():
    result = await run_evals(target=echo, data=iter([{"input": 1.0}] * 3), scorers=[graded()])
    first = result.items[0].item_id
    assert [item.item_id for item in result.items] == [first, f"{first}-2", f"{first}-3"]


async def test_a_bad_item_ends_a_run_that_should_end_at_the_first_error():
    source = Source([*asked(1.0), {"inptu": 1}, *asked("never")])
    with pytest.raises(TargetError, match=r"item item 1: the target failed: .*inptu"):
        await run_evals(target=echo, data=source.sync(), gates=[graded()], on_error="raise")
    assert (source.taken, source.closed) == (2, True)


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


# ── the same numbers, however it is run ────────────────────────────────────────────────────────────────────────────

scores = st.one_of(st.floats(0, 1), st.sampled_from(["n/a", "boom", "fail", 0.0, 1.0]))


@settings(max_examples=40)
@given(outputs=st.lists(scores, min_size=1, max_size=12), concurrency=st.integers(2, 9), seed=st.integers())
def test_numbers_are_the_same_at_any_concurrency_from_a_list_and_from_a_stream(outputs, concurrency, seed):
    shuffled = random.Random(seed)

    async def target(given):
        for _ in range(shuffled.randrange(4)):
            await asyncio.sleep(0)
        return await echo(given)

    def numbers(data, **options):
        result = run_evals_sync(
            target=target, data=data, gates=[graded("gate")], scorers=[(graded(), 0.5)], repeats=2, **options
        )
        told = [(m.mean, m.n, m.of, m.errors, m.not_scorable, m.not_run, m.passed, m.sentence) for m in result.means]
        return told, result.verdict, result.sentence, result.exit_code(), result.summary.errors

    rows = asked(*outputs)
    expected = numbers(rows)
    assert numbers(rows, concurrency=concurrency) == expected
    assert numbers(iter(rows), concurrency=concurrency) == expected
    assert numbers(later(rows), concurrency=concurrency, keep="none") == expected


async def test_t07_each_result_belongs_to_its_item():
    async def target(given):
        await asyncio.sleep(random.random() / 100)
        return given

    result = await run_evals(target=target, data=later(asked(*range(50))), scorers=[graded(scale=50)], concurrency=16)
    assert [item.scorers["graded"].score for item in result.items] == list(range(50))


async def test_on_error_raises_the_scorers_failure_of_a_stream_too():
    with pytest.raises(ScorerRunError, match="item i1: gate graded failed"):
        await run_evals(data=iter(saved(1.0, "boom")), gates=[graded()], on_error="raise")
