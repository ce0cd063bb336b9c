"""Items that are run several times."""

import itertools
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor import Item, MemoryRecorder, Turn, checks, run_evals, run_evals_sync
from proctor.data.column import Column
from proctor.data.outcome import Outcome
from proctor.data.reply import ItemResult
from proctor.running.columns import Columns, read_cells
from proctor.running.fold import Fold
from tests.running.graded import asked, graded


def by_turns(**replies):
    """A target that answers each input with its replies, one after the other; `fail` is raised."""
    left = {name: iter(values) for name, values in replies.items()}

    async def target(given):
        value = next(left[given])
        if value == "fail":
            raise ConnectionError("unable to answer")
        return value

    return target


async def test_a_mean_is_the_mean_over_items_of_each_items_mean():
    """An item whose repeats failed in part counts as much as any other: (1 + (0 + 0 + 1) / 3) / 2, not 2 of 4."""
    target = by_turns(a=["fail", 1.0, "fail"], b=[0.0, 0.0, 1.0])
    result = await run_evals(target=target, data=asked("a", "b"), scorers=[graded()], repeats=3)
    mean = result.scores["graded"]
    assert mean.mean == pytest.approx((1 + 1 / 3) / 2, abs=1e-15)
    assert (mean.n, mean.of, mean.not_run, mean.no_reply) == (4, 6, 2, 2)
    assert (result.summary.items, result.summary.errors) == (6, 2)


async def test_an_item_that_was_never_scored_is_left_out_of_the_mean():
    target = by_turns(a=["fail", "fail"], b=[1.0, 0.5], c=["n/a", "n/a"])
    result = await run_evals(target=target, data=asked("a", "b", "c"), scorers=[graded()], repeats=2)
    assert (result.scores["graded"].mean, result.scores["graded"].n, result.scores["graded"].of) == (0.75, 2, 6)


@pytest.mark.parametrize("bad", [0.99, "boom", "fail"])
async def test_n05_a_gate_needs_every_repeat(bad):
    target = by_turns(a=[1.0, 1.0, 1.0], b=[1.0, bad, 1.0])
    result = await run_evals(target=target, data=asked("a", "b"), gates=[graded()], repeats=3)
    assert result.verdict == "failed"
    assert "i1" in result.sentence


async def test_what_is_said_counts_runs_not_items():
    target = by_turns(a=[1.0, 0.0, 0.0], b=[1.0, 1.0, 1.0])
    result = await run_evals(target=target, data=asked("a", "b"), gates=[graded()], scorers=[graded()], repeats=3)
    assert result.sentence == "gate graded missed: item i0 scored 0.00; 2 of 6 runs fell short"
    text = str(result)
    assert "4 of 6" not in text.split("\n")[1]
    assert "i0 (repeat 1)" in text
    assert "i0 (repeat 2)" in text
    assert "(repeat 0)" not in text


async def test_n06_repeats_stand_beside_each_other_under_the_items_id_whatever_the_concurrency():
    same = [{"input": 1.0}, {"input": 1.0}, {"id": "own", "input": 0.5}]
    for concurrency in (1, 5):
        result = await run_evals(
            target=lambda given: given, data=same, scorers=[graded()], repeats=2, concurrency=concurrency
        )
        ids = [(item.item_id, item.index, item.repeat) for item in result.items]
        first = ids[0][0]
        assert ids == [
            (first, 0, 0), (first, 0, 1), (f"{first}-2", 1, 0), (f"{first}-2", 1, 1), ("own", 2, 0), ("own", 2, 1),
        ]  # fmt: skip


async def test_n01_the_recorder_knows_each_repeat_and_only_what_is_missing_is_run():
    asked_for = []

    async def target(given):
        asked_for.append(given)
        return 1.0

    recorder = MemoryRecorder()
    options = {"target": target, "data": asked("a", "b"), "scorers": [graded()], "recorder": recorder}
    await run_evals(**options, repeats=2)
    assert list(recorder.finished) == [("i0", 0), ("i0", 1), ("i1", 0), ("i1", 1)]
    assert len(asked_for) == 4
    again = await run_evals(**options, repeats=3)
    assert asked_for[4:] == ["a", "b"]
    assert (again.scores["graded"].n, again.summary.items) == (6, 6)


async def test_every_repeat_of_a_conversation_has_a_thread_of_its_own():
    threads = []

    async def target(text, *, thread_id):
        threads.append(thread_id)
        return text

    talk = Item(id="talk", turns=[Turn("a"), Turn("b")])
    await run_evals(target=target, data=[talk], scorers=[checks.includes("a")], repeats=3)
    assert threads[0::2] == threads[1::2]
    assert len(set(threads)) == 3


async def test_an_item_that_carries_its_output_is_scored_each_time():
    result = await run_evals(data=[{"output": 0.5}], scorers=[graded()], repeats=3)
    assert (result.scores["graded"].mean, result.scores["graded"].n) == (0.5, 3)


async def test_s12_a_run_that_stops_between_repeats_has_the_mean_of_what_ran():
    target = by_turns(a=[1.0, 0.0], b=[1.0, "boom"])
    result = await run_evals(
        target=target, data=asked("a", "b", "c"), scorers=[graded()], repeats=2, stop_after_errors=1
    )
    assert (result.status, result.scores["graded"].mean) == ("stopped", 0.75)


# ── the order in which rows end ────────────────────────────────────────────────────────────────────────────────────

CELL = read_cells([graded()], "gate", where="gates")
COLUMN: Column = CELL[0].column


def row(index, repeat, score):
    outcome = Outcome(COLUMN, "scored", score, reason=f"repeat {repeat}")
    item = Item(id=f"i{index}", output=score)
    return ItemResult(item=item, item_id=f"i{index}", index=index, repeat=repeat, gates=[outcome])


def test_the_first_that_failed_is_the_first_repeat_of_the_first_item_in_any_order():
    rows = [row(0, 0, 1.0), row(0, 1, 0.5), row(0, 2, 0.25), row(1, 0, 0.125)]
    for order in itertools.permutations(rows):
        fold = Fold(Columns(CELL), repeats=3)
        for it in order:
            fold.add(it)
        (column,) = fold.in_order()
        assert column.first["short"][2].reason == "repeat 1"


@given(scores=st.lists(st.lists(st.floats(0, 1), min_size=3, max_size=3), min_size=1, max_size=6), shuffle=st.randoms())
def test_the_mean_is_the_same_in_any_order(scores, shuffle):
    rows = [row(i, r, score) for i, item in enumerate(scores) for r, score in enumerate(item)]
    found = set()
    for _ in range(4):
        fold = Fold(Columns(CELL), repeats=3)
        for it in rows:
            fold.add(it)
        found.add(fold.in_order()[0].mean)
        shuffle.shuffle(rows)
    exact = sum(sum(map(Fraction, item)) / 3 for item in scores) / len(scores)
    assert len(found) == 1
    assert found.pop() == pytest.approx(float(exact), abs=1e-15)


def test_repeats_need_no_loop_of_ones_own():
    result = run_evals_sync(target=lambda given: given, data=asked(1.0), gates=[graded()], repeats=2)
    assert result.sentence == "1 gate met"
