"""Failures as an option decides of them: recorded, raised, or so many that the run stops; and odd ones."""

import asyncio
import contextvars
import sys
import threading

import pytest

from proctor import MemoryRecorder, ScorerRunError, checks, create_scorer, run_evals, run_evals_sync, scorer
from proctor.errors import TargetError
from tests.running.graded import asked, echo, graded, saved

at_any_concurrency = pytest.mark.parametrize("concurrency", [1, 4], ids=["one at a time", "four at once"])


# ── stop_after_errors ──────────────────────────────────────────────────────────────────────────────────────────────


async def test_after_so_many_errors_the_rest_is_not_run():
    told, recorder = [], MemoryRecorder()
    result = await run_evals(
        target=echo,
        data=asked(1.0, "fail", 1.0, "boom", "never", "never"),
        gates=[graded()],
        scorers=[checks.excludes("z")],
        stop_after_errors=2,
        recorder=recorder,
        on_item_complete=told.append,
    )
    assert (result.status, result.stopped_by, result.exit_code()) == ("stopped", "stop_after_errors=2", 4)
    assert [item.status for item in result.items] == ["done", "error", "done", "done", "not_run", "not_run"]
    last = result.items[-1]
    assert {outcome.status for outcome in last.outcomes} == {"not_run"}
    assert {outcome.cause.why for outcome in last.outcomes} == {"stopped"}
    assert (last.replies, last.item.input) == ((), "never")
    gate = result.gate_results[0]
    assert (gate.of, gate.n, gate.errors, gate.no_reply, gate.not_run) == (6, 2, 1, 1, 3)
    assert (len(told), len(recorder.finished)) == (4, 4)
    assert "stopped by stop_after_errors=2" in str(result)


@pytest.mark.parametrize("concurrency", [1, 3])
async def test_a_run_whose_last_row_was_one_error_too_many_is_complete(concurrency):
    result = await run_evals(
        data=saved(1.0, "boom", 1.0, "boom"), gates=[graded()], stop_after_errors=2, concurrency=concurrency
    )
    assert (result.status, result.stopped_by, result.verdict) == ("complete", None, "failed")
    assert result.summary.items == 4


async def test_a_row_counts_once_however_much_of_it_broke():
    broken = [graded(f"s{n}") for n in range(4)]
    result = await run_evals(data=saved("boom", "boom", 1.0), scorers=broken, stop_after_errors=3)
    assert (result.status, result.summary.outcome_errors) == ("complete", 8)


async def test_low_scores_and_declines_are_no_errors():
    result = await run_evals(data=saved(0.0, "n/a", 0.0, "n/a"), gates=[graded()], stop_after_errors=1)
    assert result.status == "complete"


async def test_each_repeat_counts():
    result = await run_evals(target=echo, data=asked("fail", 1.0), gates=[graded()], repeats=3, stop_after_errors=2)
    assert [(item.index, item.repeat, item.status) for item in result.items] == [
        (0, 0, "error"), (0, 1, "error"), (0, 2, "not_run"), (1, 0, "not_run"), (1, 1, "not_run"), (1, 2, "not_run"),
    ]  # fmt: skip


async def test_what_is_in_flight_is_ended_and_counted():
    async def target(given):
        if given == "fail":
            raise ConnectionError
        await asyncio.sleep(0.02)
        return 1.0

    result = await run_evals(
        target=target, data=asked(1.0, 1.0, "fail", *[1.0] * 5), gates=[graded()], stop_after_errors=1, concurrency=3
    )
    assert [item.status for item in result.items] == ["done", "done", "error", *["not_run"] * 5]


async def test_a_miss_is_decided_though_the_run_stopped_and_a_pass_is_not():
    missed = await run_evals(data=saved(0.0, "boom", 1.0), gates=[graded()], stop_after_errors=1)
    assert (missed.verdict, missed.exit_code()) == ("failed", 1)
    open_ = await run_evals(
        data=saved(1.0, "boom", 1.0), gates=[checks.excludes("z")], scorers=[graded()], stop_after_errors=1
    )
    assert (open_.verdict, open_.exit_code()) == (None, 4)
    assert open_.sentence == "not decided: the run ended early (stop_after_errors=1)"


# ── on_error ───────────────────────────────────────────────────────────────────────────────────────────────────────


@at_any_concurrency
async def test_a_run_that_ends_at_the_first_error_has_recorded_it(concurrency):
    recorder = MemoryRecorder()
    with pytest.raises(TargetError, match=r"item i1: the target failed: .*unable to answer"):
        await run_evals(
            target=echo,
            data=asked(1.0, "fail", *[1.0] * 50),
            gates=[graded()],
            on_error="raise",
            recorder=recorder,
            concurrency=concurrency,
        )
    assert recorder.finished["i1", 0].status == "error"
    assert len(recorder.finished) <= 2 + 2 * concurrency


@pytest.mark.parametrize("where", ["gates", "scorers"])
async def test_the_scorers_failure_says_which_item_step_and_what_was_done(where):
    @scorer(id="later")
    async def later(run):
        raise ValueError("no such key")

    made = create_scorer(id="s").preprocess(lambda ctx: "seen").generate_score(lambda ctx: 1 / 0)
    with pytest.raises(ScorerRunError, match=r"item i0: .*s failed: ZeroDivisionError") as raised:
        await run_evals(data=saved(1.0), **{where: [made, later]}, on_error="raise")
    error = raised.value
    assert (error.failed_step, error.completed_steps) == ("generate_score", ("preprocess",))
    assert error.code == "RUN_EXPERIMENT_SCORER_FAILED_TO_SCORE_RESULT"


def test_the_sync_form_raises_the_same():
    with pytest.raises(TargetError, match="the target failed"):
        run_evals_sync(target=echo, data=asked("fail"), gates=[graded()], on_error="raise")


async def test_low_scores_do_not_end_it():
    result = await run_evals(data=saved(0.0, "n/a"), gates=[graded()], on_error="raise")
    assert result.status == "complete"


# ── an earlier run's errors ────────────────────────────────────────────────────────────────────────────────────────


async def test_the_errors_of_an_earlier_run_do_not_stop_the_one_that_goes_on():
    recorder = MemoryRecorder()
    options = {"target": echo, "data": asked("fail", 1.0, "boom", 1.0, "boom", 1.0), "gates": [graded()]}
    ran = []
    for _ in range(3):
        result = await run_evals(**options, recorder=recorder, stop_after_errors=1)
        ran.append((result.status, len(recorder.finished)))
    assert ran == [("stopped", 1), ("stopped", 3), ("stopped", 5)]
    result = await run_evals(**options, recorder=recorder, stop_after_errors=1)
    assert (result.status, result.means[0].n, result.means[0].errors, result.summary.errors) == ("complete", 3, 2, 1)


async def test_nor_does_one_that_should_end_at_the_first_error():
    recorder = MemoryRecorder()
    options = {"target": echo, "data": asked("fail", 1.0), "gates": [graded()], "recorder": recorder}
    with pytest.raises(TargetError):
        await run_evals(**options, on_error="raise")
    assert (await run_evals(**options, on_error="raise")).means[0].n == 1


# ── odd exceptions ─────────────────────────────────────────────────────────────────────────────────────────────────


class Unshown(Exception):
    def __str__(self):
        raise RuntimeError("no")

    __repr__ = __str__


class Unpicklable(Exception):
    def __init__(self, lock):
        super().__init__(lock)
        self.lock = lock

    def __reduce__(self):
        raise TypeError("cannot be pickled")


def exit_now():
    sys.exit(3)


def raising(error):
    def fail():
        raise error

    return fail


ODD = [
    pytest.param(exit_now, "SystemExit", id="SystemExit"),
    pytest.param(raising(Unshown()), "Unshown", id="cannot be shown"),
    pytest.param(raising(Unpicklable(threading.Lock())), "Unpicklable", id="cannot be pickled"),
    pytest.param(raising(ExceptionGroup("two", [ValueError(1), Unshown()])), "ExceptionGroup", id="group"),
    pytest.param(raising(BaseExceptionGroup("b", [SystemExit(1)])), "BaseExceptionGroup", id="base group"),
    pytest.param(raising(StopIteration("x")), "RuntimeError", id="StopIteration"),
    pytest.param(raising(UnicodeDecodeError("utf-8", b"\xff", 0, 1, "\udc00")), "UnicodeDecodeError", id="surrogate"),
    pytest.param(raising(RecursionError("deep")), "RecursionError", id="RecursionError"),
    pytest.param(raising(MemoryError()), "MemoryError", id="MemoryError"),
    pytest.param(raising(asyncio.InvalidStateError("x")), "InvalidStateError", id="InvalidStateError"),
]


def on_bad(fail, later, value_of=lambda given: given):
    def now(given):
        return fail() if value_of(given) == "bad" else 1.0

    async def then(given):
        await asyncio.sleep(0)
        return now(given)

    return then if later else now


@at_any_concurrency
@pytest.mark.parametrize("later", [False, True], ids=["def", "async def"])
@pytest.mark.parametrize(("fail", "kind"), ODD)
def test_r14_an_odd_exception_of_a_target_is_an_error_of_that_item(fail, kind, later, concurrency):
    result = run_evals_sync(
        target=on_bad(fail, later), data=asked("a", "bad", "b"), gates=[graded()], concurrency=concurrency
    )
    assert [item.status for item in result.items] == ["done", "error", "done"]
    assert result.items[1].error.type == kind
    assert str(result)


@at_any_concurrency
@pytest.mark.parametrize("later", [False, True], ids=["def", "async def"])
@pytest.mark.parametrize(("fail", "kind"), ODD)
def test_r14_an_odd_exception_of_a_scorer_leaves_its_siblings(fail, kind, later, concurrency):
    made = scorer(id="odd")(on_bad(fail, later, lambda run: run.output))
    result = run_evals_sync(
        data=saved("a", "bad", "b"), gates=[made], scorers=[checks.excludes("z"), made], concurrency=concurrency
    )
    assert [item.gates["odd"].status for item in result.items] == ["scored", "error", "scored"]
    failure = result.items[1].scorers["odd"].error
    assert failure.type == kind or (kind, failure.type) == ("RuntimeError", "StopIteration")
    assert result.scores["check-excludes"].n == 3


@at_any_concurrency
@pytest.mark.parametrize("later", [False, True], ids=["def", "async def"])
@pytest.mark.parametrize(("fail", "kind"), ODD)
def test_r14_an_odd_exception_of_a_listener_is_noted(fail, kind, later, concurrency):
    listener = on_bad(fail, later, lambda item: item.output)
    with pytest.warns(RuntimeWarning, match=f"on_item_complete raised once, first ({kind}|StopIteration)"):
        result = run_evals_sync(
            data=saved("a", "bad", "b"),
            gates=[checks.excludes("z")],
            on_item_complete=listener,
            concurrency=concurrency,
        )
    assert result.verdict == "passed"


@at_any_concurrency
@pytest.mark.parametrize("where", ["target", "scorer"])
async def test_r14_a_task_that_cancels_itself_is_an_error_of_its_row_and_no_row_is_lost(where, concurrency):
    async def give_up(given):
        if getattr(given, "output", given) == "bad":
            asyncio.current_task().cancel()
            await asyncio.sleep(60)
        return 1.0

    recorder = MemoryRecorder()
    given = {"target": give_up, "data": asked("a", "bad", "b", "c"), "gates": [graded()]}
    if where == "scorer":
        given = {"data": saved("a", "bad", "b", "c"), "gates": [scorer(id="s")(give_up)]}
    result = await asyncio.wait_for(run_evals(**given, recorder=recorder, concurrency=concurrency), 30)
    assert [item.status for item in result.items] == ["done", "error", "done", "done"]
    assert (result.status, result.verdict, result.items[1].error.type) == ("complete", "failed", "CancelledError")
    assert len(recorder.finished) == 4


async def test_a_task_that_cancels_itself_as_it_ends_ends_its_row_once(tmp_path):
    async def score_and_go(run):
        asyncio.current_task().cancel()
        return 1.0

    given = {"data": saved("a", "b"), "gates": [scorer(id="s")(score_and_go)]}
    result = await run_evals(**given, store=tmp_path / "x.db")
    assert (result.status, [item.status for item in result.items]) == ("complete", ["error", "error"])


# ── what an item sets is its own ───────────────────────────────────────────────────────────────────────────────────

WHO = contextvars.ContextVar("WHO", default="nobody")


@at_any_concurrency
@pytest.mark.parametrize("later", [False, True], ids=["def", "async def"])
def test_t04_the_callers_context_is_seen_everywhere_and_what_an_item_sets_nowhere_else(later, concurrency):
    seen = []

    def target(given):
        seen.append(("target", WHO.get()))
        WHO.set(f"item {given}")
        return 1.0

    async def target_later(given):
        await asyncio.sleep(0)
        return target(given)

    def look(run):
        seen.append(("scorer", WHO.get()))
        return 1

    WHO.set("the caller")
    try:
        run_evals_sync(
            target=target_later if later else target,
            data=asked(*range(6)),
            gates=[scorer(id="s")(look)],
            on_item_complete=lambda item: seen.append(("listener", WHO.get())),
            concurrency=concurrency,
        )
        assert WHO.get() == "the caller"
    finally:
        WHO.set("nobody")
    assert {who for place, who in seen if place in {"target", "listener"}} == {"the caller"}
    own = {f"item {n}" for n in range(6)} if later else {"the caller"}
    assert {who for place, who in seen if place == "scorer"} == own


async def test_one_exception_that_is_raised_for_every_item_does_not_gather_all_its_tracebacks():
    down, wrong = ValueError("down"), ValueError("wrong")

    async def target(given):
        if given < 4:
            raise down
        return given

    @scorer
    def broken(output):
        raise wrong

    result = await run_evals(target=target, data=asked(*range(8)), scorers=[broken])
    assert len({len(item.error.traceback) for item in result.items[:4]}) == 1
    assert len({len(item.scorers[0].error.traceback) for item in result.items[4:]}) == 1
