"""Items that arrive: good ones, bad ones, none, without end, and what becomes of where they came from."""

import asyncio
import random
import warnings
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor import Item, MemoryRecorder, Turn, checks, run_evals, run_evals_sync
from proctor.errors import ScorerRunError, TargetError, UsageError
from tests.running.graded import asked, echo, graded, saved
from tests.running.streams import Source, at_any_concurrency, either_kind, later

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
    assert [(item.item_id, item.status) for item in result.items] == [
        ("x", "done"),
        ("x (item 1)", "error"),
        ("y", "done"),
    ]
    assert "the id 'x' is taken by an earlier item" in result.items[1].error.message
    assert recorder.finished["x", 0].output == 1.0
    assert list(recorder.finished) == [("x", 0), ("x (item 1)", 0), ("y", 0)]


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
