"""What stops a run, and what only looks like it."""

import asyncio
import threading

import pytest

from proctor import MemoryRecorder, checks, create_scorer, run_evals, run_evals_sync, scorer
from tests.running.graded import asked, graded, saved

at_any_concurrency = pytest.mark.parametrize("concurrency", [1, 4], ids=["one at a time", "four at once"])


class Flushing(MemoryRecorder):
    """Knows how often it was flushed, which takes a moment."""

    def __init__(self):
        super().__init__()
        self.flushed = 0

    async def flush(self):
        await asyncio.sleep(0)
        self.flushed += 1


class Stop(BaseException):
    """An exception of somebody who does not want it to be caught."""


async def cancelled_inside():
    """An inner task that was cancelled, as a client does when it is closed."""
    inner = asyncio.create_task(asyncio.sleep(60))
    inner.cancel()
    await inner


def cancelled_inside_a_loop_of_its_own():
    asyncio.run(cancelled_inside())


def raise_stop():
    raise Stop("enough")


async def raise_stop_later():
    await asyncio.sleep(0)
    raise_stop()


def never_mind(value):
    return value


STRAY = [
    pytest.param(cancelled_inside, "CancelledError", id="inner task cancelled, async def"),
    pytest.param(cancelled_inside_a_loop_of_its_own, "CancelledError", id="inner task cancelled, def"),
    pytest.param(raise_stop_later, "Stop", id="BaseException of one's own, async def"),
    pytest.param(raise_stop, "Stop", id="BaseException of one's own, def"),
]
stray = pytest.mark.parametrize(("fail", "kind"), STRAY)


def failing_on_bad(fail, value_of):
    """A function like *fail*, def or async def, that fails on what *value_of* calls `bad` and gives 1 for others."""
    if not asyncio.iscoroutinefunction(fail):
        return lambda given: fail() if value_of(given) == "bad" else 1

    async def later(given):
        await asyncio.sleep(0)
        return await fail() if value_of(given) == "bad" else 1

    return later


MIXED = ("a", "bad", "b", "c", "bad", "bad", "d")
ENDED = ["error" if given == "bad" else "scored" for given in MIXED]


# ── what only looks like it ────────────────────────────────────────────────────────────────────────────────────────


@stray
@at_any_concurrency
async def test_r14_what_a_target_raises_is_an_error_of_that_item_and_no_row_is_lost(fail, kind, concurrency):
    result = await run_evals(
        target=failing_on_bad(fail, never_mind), data=asked(*MIXED), gates=[graded()], concurrency=concurrency
    )
    assert [item.status for item in result.items] == ["done" if end == "scored" else end for end in ENDED]
    assert {item.error.type for item in result.items if item.error} == {kind}
    assert (result.summary.items, result.summary.errors, result.gate_results[0].not_run) == (7, 3, 3)


@stray
@at_any_concurrency
@pytest.mark.parametrize("name", ["preprocess", "generate_score"])
async def test_r14_what_a_step_raises_is_an_error_of_that_outcome_and_no_row_is_lost(fail, kind, concurrency, name):
    step = failing_on_bad(fail, lambda ctx: ctx.run.output)
    made = create_scorer(id="s").generate_score(lambda ctx: 1)
    made = made.replace(**{name: step})
    result = await run_evals(data=saved(*MIXED), scorers=[made, checks.excludes("z")], concurrency=concurrency)
    assert [item.scorers["s"].status for item in result.items] == ENDED
    failures = [item.scorers["s"].error for item in result.items if item.scorers["s"].error]
    assert {(failure.type, failure.step) for failure in failures} == {(kind, name)}
    assert result.scores["check-excludes"].n == 7


@stray
@at_any_concurrency
async def test_r14_what_a_prepare_run_raises_is_an_error_of_that_outcome(fail, kind, concurrency):
    prepare = failing_on_bad(fail, lambda run: run.output)

    async def prepare_later(run):
        await prepare(run)
        return run

    shaping = prepare_later if asyncio.iscoroutinefunction(prepare) else lambda run: prepare(run) and run
    made = create_scorer(id="s", prepare_run=shaping).generate_score(lambda ctx: 1)
    result = await run_evals(data=saved(*MIXED), scorers=[made], concurrency=concurrency)
    assert [item.scorers["s"].status for item in result.items] == ENDED
    assert result.items[1].scorers["s"].error.type == kind


@stray
@at_any_concurrency
async def test_what_a_listener_raises_is_noted_and_no_row_is_lost(fail, kind, concurrency):
    listener = failing_on_bad(fail, lambda item: item.output)
    with pytest.warns(RuntimeWarning, match=f"on_item_complete raised 3 times, first {kind}"):
        result = await run_evals(
            data=saved(*MIXED), gates=[checks.excludes("z")], on_item_complete=listener, concurrency=concurrency
        )
    assert (len(result.items), result.verdict) == (7, "passed")


@at_any_concurrency
async def test_r14_a_time_limit_of_the_targets_own_is_an_error_of_that_item(concurrency):
    async def target(given):
        async with asyncio.timeout(0.01 if given == "bad" else 60):
            await asyncio.sleep(60 if given == "bad" else 0)
        return given

    result = await run_evals(target=target, data=asked(*MIXED), gates=[checks.excludes("z")], concurrency=concurrency)
    assert [item.error and item.error.type for item in result.items] == [
        "TimeoutError" if given == "bad" else None for given in MIXED
    ]


# ── what does ──────────────────────────────────────────────────────────────────────────────────────────────────────


class Cleaning:
    """Waits for ever, and takes a while to clean up."""

    def __init__(self, concurrency):
        self.begun = self.cleaned = 0
        self.at_work = asyncio.Event()
        self.concurrency = concurrency

    async def __call__(self, given):
        self.begun += 1
        if self.begun == self.concurrency:
            self.at_work.set()
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.01)
            self.cleaned += 1


@at_any_concurrency
@pytest.mark.parametrize("where", ["target", "scorer", "listener"])
async def test_a_run_that_is_cancelled_lets_its_parts_clean_up_and_is_flushed(where, concurrency):
    recorder = Flushing()
    waiting = Cleaning({"target": concurrency, "scorer": 2 * concurrency, "listener": 1}[where])
    options = {
        "target": {"target": waiting, "data": asked(*range(8)), "scorers": [graded()]},
        "scorer": {"data": saved(*range(8)), "scorers": [scorer(id="s")(waiting), scorer(id="t")(waiting)]},
        "listener": {"data": saved(*range(8)), "scorers": [graded(scale=8)], "on_item_complete": waiting},
    }[where]
    running = asyncio.create_task(run_evals(**options, recorder=recorder, concurrency=concurrency))
    await waiting.at_work.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert waiting.cleaned == waiting.begun == waiting.concurrency
    assert recorder.flushed == 1


@at_any_concurrency
async def test_a_time_limit_around_a_run_ends_it(concurrency):
    waiting, recorder = Cleaning(concurrency), Flushing()

    async def over_when_all_are_at_work(limit):
        await waiting.at_work.wait()
        limit.reschedule(asyncio.get_running_loop().time())

    with pytest.raises(TimeoutError):  # noqa: PT012 - the limit is only known inside
        async with asyncio.timeout(None) as limit:
            ending = asyncio.create_task(over_when_all_are_at_work(limit))
            await run_evals(
                target=waiting, data=asked(*range(8)), scorers=[graded()], recorder=recorder, concurrency=concurrency
            )
    await ending
    assert (waiting.begun, waiting.cleaned, recorder.flushed) == (concurrency, concurrency, 1)


@at_any_concurrency
@pytest.mark.parametrize("raises", [False, True], ids=["gives something", "raises something else"])
async def test_a_target_that_hides_the_cancellation_does_not_keep_the_run_going(raises, concurrency):
    waiting = Cleaning(concurrency)

    async def stubborn(given):
        try:
            await waiting(given)
        except asyncio.CancelledError:
            if raises:
                raise ConnectionError("closed") from None
        return "as far as it went"

    running = asyncio.create_task(
        run_evals(target=stubborn, data=asked(*range(8)), scorers=[checks.excludes("z")], concurrency=concurrency)
    )
    await waiting.at_work.wait()
    running.cancel()
    await asyncio.wait([running], timeout=5)
    assert running.cancelled()
    assert waiting.begun == concurrency


@at_any_concurrency
@pytest.mark.parametrize("later", [False, True], ids=["def", "async def"])
@pytest.mark.parametrize("where", ["target", "scorer", "listener"])
def test_a_keyboard_interrupt_ends_the_run_which_is_flushed(where, later, concurrency):
    def interrupt(given):
        raise KeyboardInterrupt

    async def interrupt_later(given):
        await asyncio.sleep(0)
        raise KeyboardInterrupt

    recorder, fail = Flushing(), interrupt_later if later else interrupt
    options = {
        "target": {"target": fail, "data": asked(*range(8)), "scorers": [graded()]},
        "scorer": {"data": saved(*range(8)), "scorers": [scorer(id="s")(fail), scorer(id="t")(fail)]},
        "listener": {"data": saved(*range(8)), "scorers": [graded(scale=8)], "on_item_complete": fail},
    }[where]
    with pytest.raises(KeyboardInterrupt):
        run_evals_sync(**options, recorder=recorder, concurrency=concurrency)
    assert recorder.flushed == 1


async def test_a_run_may_be_made_by_a_task_that_was_cancelled_before():
    """A handler that cleans up after a cancellation, and evaluates what there is."""

    async def main():
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            return await run_evals(data=saved(1.0, 0.5, 1.0), scorers=[graded()])

    task = asyncio.create_task(main())
    await asyncio.sleep(0.01)
    task.cancel()
    assert (await task).scores["graded"].n == 3


async def test_a_def_that_is_at_work_when_the_run_is_cancelled_is_not_waited_for():
    began, done = threading.Event(), threading.Event()

    def slow(given):
        began.set()
        done.wait(10)

    running = asyncio.create_task(run_evals(target=slow, data=asked("x"), scorers=[graded()]))
    assert await asyncio.to_thread(began.wait, 10)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    done.set()
