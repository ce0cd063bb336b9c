"""Time limits on the target and on scorers, and what runs on behind them."""

import asyncio
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from proctor import Item, MemoryRecorder, Retry, Turn, checks, run_evals, run_evals_sync, scorer
from tests.running.graded import asked, graded, saved

at_any_concurrency = pytest.mark.parametrize("concurrency", [1, 4], ids=["one at a time", "four at once"])


@pytest.fixture
def hang():
    """A def that hangs until the test has ended; *begun* counts its calls."""
    over = threading.Event()

    def hang(given):
        hang.begun += 1
        over.wait(60)
        return 1

    hang.begun = 0
    yield hang
    over.set()


async def slow_for_bad(given):
    await asyncio.sleep(60 if given == "bad" else 0)
    return 1.0


# ── the target ─────────────────────────────────────────────────────────────────────────────────────────────────────


@at_any_concurrency
async def test_t02_a_reply_that_takes_too_long_is_an_error_that_names_the_option(concurrency):
    result = await run_evals(
        target=slow_for_bad, data=asked("a", "bad", "b", "bad"), gates=[graded()], timeout=0.1, concurrency=concurrency
    )
    assert [item.status for item in result.items] == ["done", "error", "done", "error"]
    error = result.items[1].error
    assert (error.code, error.message) == ("TIMEOUT", "the target took longer than the 0.1 s of timeout=")
    assert result.items[1].gates["graded"].cause.why == "target_failed"
    assert (result.verdict, result.exit_code()) == ("failed", 4)


async def test_t02_without_a_limit_nothing_is_cut():
    async def target(given):
        await asyncio.sleep(0.2)
        return 1.0

    assert (await run_evals(target=target, data=asked("a"), gates=[graded()])).verdict == "passed"


async def test_an_async_def_is_asked_for_every_item_however_often_it_took_too_long():
    """Nothing of it stays behind, so nothing has to be bounded."""
    result = await run_evals(
        target=slow_for_bad, data=asked(*["bad"] * 5, "a"), gates=[graded()], timeout=0.02, concurrency=3
    )
    assert [item.status for item in result.items] == ["error"] * 5 + ["done"]


async def test_it_is_cleaned_up_before_the_next_is_asked():
    order = []

    async def target(given):
        order.append(f"{given} began")
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.01)
            order.append(f"{given} cleaned up")

    await run_evals(target=target, data=asked("a", "b"), gates=[graded()], timeout=0.03)
    assert order == ["a began", "a cleaned up", "b began", "b cleaned up"]


async def test_a_late_reply_of_a_target_that_hides_the_limit_is_taken():
    async def target(given):
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            return 1.0

    result = await run_evals(target=target, data=asked("a", "b"), gates=[graded()], timeout=0.03)
    assert (result.verdict, result.means[0].n) == ("passed", 2)


@at_any_concurrency
async def test_t01_threads_left_behind_are_bounded(hang, concurrency):
    before = threading.active_count()
    result = await run_evals(
        target=hang, data=asked(*range(30)), gates=[graded()], timeout=0.05, concurrency=concurrency
    )
    assert result.summary.errors == 30
    assert {item.error.code for item in result.items} == {"TIMEOUT"}
    assert "not asked: the target ran out of time 3 times before" in result.items[-1].error.message
    assert hang.begun <= 3 + concurrency
    assert threading.active_count() - before <= 3 + concurrency + 1


async def test_time_that_ran_out_between_two_tries_tells_the_failure_and_leaves_no_thread_behind():
    def refuses(given):
        raise ConnectionError("refused")

    tries = Retry(times=1, first_wait=60)
    result = await run_evals(target=refuses, data=asked(*"abcd"), gates=[graded()], timeout=0.03, retries=tries)
    assert {item.error.code for item in result.items} == {"TIMEOUT"}
    assert {item.error.message for item in result.items} == {
        "the target took longer than the 0.03 s of timeout=; the last try failed: ConnectionError: refused"
    }


async def test_p24_a_call_that_ends_after_it_was_given_up_changes_nothing():
    ended = threading.Event()
    recorder = MemoryRecorder()

    def target(given):
        time.sleep(0.15)
        ended.set()
        return 1.0

    result = await run_evals(target=target, data=asked("a"), gates=[graded()], timeout=0.03, recorder=recorder)
    before = dict(recorder.finished)
    assert await asyncio.to_thread(ended.wait, 30)
    await asyncio.sleep(0.02)
    assert recorder.finished == before
    assert (result.items[0].status, len(result.items)) == ("error", 1)


@pytest.mark.slow
async def test_a_conversations_replies_share_the_time_and_its_scorers_do_not_use_it():
    async def target(text, *, thread_id):
        await asyncio.sleep(0.01)
        return text

    @scorer(id="slow")
    async def slow(run):
        await asyncio.sleep(0.4)
        return 1

    turns = [Turn("a", scorers=[slow]), Turn("b", scorers=[slow]), Turn("c")]
    result = await run_evals(target=target, data=[Item(id="talk", turns=turns)], scorers=[slow], timeout=0.3)
    assert result.items[0].error is None

    async def slower(text, *, thread_id):
        await asyncio.sleep(0.2)
        return text

    result = await run_evals(target=slower, data=[Item(id="talk", turns=turns)], scorers=[slow], timeout=0.3)
    (item,) = result.items
    assert (item.status, item.error.code, len(item.replies)) == ("error", "TIMEOUT", 2)
    assert [turn.scorers[0].status for turn in item.turns[:2]] == ["scored", "not_run"]


@pytest.mark.slow
@pytest.mark.parametrize("where", ["target", "scorer"])
def test_a_process_with_hung_functions_ends(where):
    program = """
        import sys, time
        from proctor import create_scorer, run_evals_sync, checks
        hang = lambda given: time.sleep(600)
        data = [{"input": n} for n in range(5)]
        made = create_scorer(id="s").generate_score(hang)
        if sys.argv[1] == "target":
            result = run_evals_sync(target=hang, data=data, gates=[checks.includes("a")], timeout=0.05)
        else:
            result = run_evals_sync(target=lambda given: given, data=data, gates=[made], scorer_timeout=0.05)
        print(result.exit_code())
    """
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(program), where]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "4\n", "")


# ── scorers ────────────────────────────────────────────────────────────────────────────────────────────────────────


@at_any_concurrency
async def test_t01_a_scorer_that_never_returns_costs_bounded_time_and_threads(hang, concurrency):
    before, began = threading.active_count(), time.perf_counter()
    result = await run_evals(
        data=saved(*range(20)),
        scorers=[scorer(id="hung")(hang), graded(scale=20)],
        scorer_timeout=0.05,
        concurrency=concurrency,
    )
    assert time.perf_counter() - began < 20
    assert (result.scores["hung"].errors, result.scores["graded"].n) == (20, 20)
    assert {item.scorers["hung"].error.code for item in result.items} == {"TIMEOUT"}
    assert hang.begun <= 2 + concurrency
    assert threading.active_count() - before <= 3 + concurrency


async def test_a_scorer_that_takes_too_long_says_so_and_its_siblings_are_scored():
    @scorer(id="slow")
    async def slow(run):
        await asyncio.sleep(60 if run.output == 0.5 else 0)
        return 1

    result = await run_evals(data=saved(0.5, 1.0), gates=[slow], scorers=[graded()], scorer_timeout=0.05)
    assert [item.gates["slow"].status for item in result.items] == ["error", "scored"]
    error = result.items[0].gates["slow"].error
    assert error.message == "took longer than the 0.05 s of scorer_timeout="
    assert result.scores["graded"].mean == 0.75


async def test_what_a_scorer_makes_of_being_stopped_is_a_timeout_and_a_late_score_is_a_score():
    ran = []

    @scorer(id="s")
    async def stubborn(run):
        ran.append(run.output)
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            if run.output == 0:
                return 1
            raise ConnectionError("closed") from None

    result = await run_evals(data=saved(*range(7)), scorers=[stubborn], scorer_timeout=0.02)
    assert [item.scorers["s"].status for item in result.items] == ["scored", *["error"] * 6]
    assert {item.scorers["s"].error.code for item in result.items[1:]} == {"TIMEOUT"}
    assert ran == [0, 1, 2, 3]  # three timeouts, and no more


async def test_the_limit_is_on_each_scorer_by_itself():
    def waiting(id):
        @scorer(id=id)
        async def wait(run):
            await asyncio.sleep(0.2)
            return 1

        return wait

    made = [waiting(f"s{n}") for n in range(4)]
    result = await run_evals(data=saved(1.0), gates=made[:2], scorers=made[2:], scorer_timeout=0.35)
    assert (result.verdict, result.summary.outcome_errors) == ("passed", 0)


async def test_a_time_limit_of_the_scorers_own_is_not_ours():
    @scorer(id="own")
    async def own(run):
        async with asyncio.timeout(0.01):
            await asyncio.sleep(60)

    result = await run_evals(data=saved(*range(5)), scorers=[own], scorer_timeout=30)
    assert {item.scorers["own"].error.type for item in result.items} == {"TimeoutError"}
    assert {item.scorers["own"].error.code for item in result.items} != {"TIMEOUT"}


def test_a_limit_that_is_not_reached_changes_nothing():
    options = {"target": str.upper, "data": asked("a", "b"), "gates": [checks.includes("A")]}
    with_limits = run_evals_sync(**options, timeout=30, scorer_timeout=30)
    without = run_evals_sync(**options)
    assert (with_limits.sentence, with_limits.means[0].mean) == (without.sentence, without.means[0].mean)
