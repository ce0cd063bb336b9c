"""How steps are called: on which thread, with what context, and whatever they raise."""

import asyncio
import contextvars
import random
import threading
import time
from functools import partial
from itertools import pairwise

import pytest

from proctor import ScorerRun, ScorerRunError, checks, create_scorer, not_scorable, run_evals, scorer
from proctor.scoring.steps import STEP_NAMES

REQUEST = contextvars.ContextVar("REQUEST", default="nobody")


def scored_by(step, **options):
    return create_scorer(id="s", **options).generate_score(step)


class Steps:
    """The same step in every way of writing it."""

    def method(self, ctx):
        return 0.5

    async def later(self, ctx):
        await asyncio.sleep(0)
        return 0.5

    __call__ = method


class LaterObject:
    async def __call__(self, ctx):
        await asyncio.sleep(0)
        return 0.5


def weighted(weight, ctx):
    return weight


async def weighted_later(weight, ctx):
    await asyncio.sleep(0)
    return weight


FORMS = {
    "def": lambda ctx: weighted(0.5, ctx),
    "method": Steps().method,
    "object": Steps(),
    "partial": partial(weighted, 0.5),
    "async method": Steps().later,
    "object with async __call__": LaterObject(),
    "partial of async def": partial(weighted_later, 0.5),
    "def that returns an awaitable": lambda ctx: weighted_later(0.5, ctx),
    "def that returns a future": lambda ctx: asyncio.wait_for(weighted_later(0.5, ctx), 1),
}
forms = pytest.mark.parametrize("step", FORMS.values(), ids=list(FORMS))


# ── every form of a function ───────────────────────────────────────────────────────────────────────────────────────


@forms
@pytest.mark.parametrize("inline", [False, True], ids=["away", "inline"])
async def test_t09_a_step_may_be_any_function_in_both_forms(step, inline):
    made = scored_by(step, inline=inline)
    assert (await made.run(output="x")).score == 0.5
    assert made.run_sync(output="x").score == 0.5


@forms
@pytest.mark.parametrize("name", STEP_NAMES)
async def test_every_step_may_be_any_function(step, name):
    def later(ctx):
        return "because"

    made = create_scorer(id="s").generate_score(lambda ctx: 1) if name != "generate_score" else create_scorer(id="s")
    outcome = await getattr(made, name)(later if name == "generate_reason" else step).run(output="x")
    assert outcome.status == "scored"


@forms
async def test_prepare_run_may_be_any_function(step):
    async def prepare(run):
        await asyncio.sleep(0)
        return run.replace(output="short")

    for shaping in (prepare, lambda run: run.replace(output="short"), lambda run: prepare(run)):  # noqa: PLW0108
        made = scored_by(step, prepare_run=shaping).preprocess(lambda ctx: ctx.run.text)
        assert (await made.run(output="long")).preprocess_step_result == "short"


# ── prepare_run ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_steps_see_what_prepare_run_gives_and_others_the_run_as_it_came():
    run = ScorerRun(output="long", ground_truth="gt")
    made = scored_by(lambda ctx: 1, prepare_run=lambda run: {"output": "short"}).preprocess(lambda ctx: ctx.run)
    seen = made.run_sync(run).preprocess_step_result
    assert (seen.output, bool(seen.ground_truth)) == ("short", False)
    assert run.output == "long"


def test_a_prepare_run_that_raises_is_an_error_before_any_step():
    def fail(run):
        raise ValueError("no input")

    with pytest.raises(ScorerRunError, match="s failed: no input") as caught:
        scored_by(lambda ctx: 1, prepare_run=fail).run_sync(output="x")
    assert (caught.value.failed_step, caught.value.completed_steps, caught.value.result) == (None, (), None)
    assert isinstance(caught.value.__cause__, ValueError)


@pytest.mark.parametrize("value", [None, "x", {}], ids=repr)
def test_a_prepare_run_that_gives_no_run_is_an_error(value):
    with pytest.raises(ScorerRunError, match="a run"):
        scored_by(lambda ctx: 1, prepare_run=lambda run: value).run_sync(output="x")


# ── declining ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("reason", ["No policy supplied", None], ids=["with a reason", "without"])
@pytest.mark.parametrize("at", STEP_NAMES[:3])
def test_a_step_that_declines_ends_the_walk(at, reason):
    ran = []

    def step(name):
        def run(ctx):
            ran.append(name)
            return not_scorable(reason) if name == at else 1

        return run

    made = create_scorer(id="s")
    for name in STEP_NAMES:
        made = getattr(made, name)(step(name))
    outcome = made.run_sync(output="x")
    assert (outcome.status, outcome.score, outcome.error) == ("not_scorable", None, None)
    assert (outcome.not_scorable.step, outcome.not_scorable.reason, outcome.reason) == (at, reason, reason)
    assert ran == list(STEP_NAMES[: STEP_NAMES.index(at) + 1])
    assert bool(outcome.evidence) == (at != "preprocess")


def test_declining_a_reason_drops_only_the_reason():
    outcome = (
        scored_by(lambda ctx: 0.8).generate_reason(lambda ctx: not_scorable("nothing to say")).run_sync(output="x")
    )
    assert (outcome.status, outcome.score, outcome.reason, outcome.not_scorable) == ("scored", 0.8, None, None)


async def test_an_async_step_may_decline():
    async def decline(ctx):
        return not_scorable()

    assert (await scored_by(lambda ctx: 1).analyze(decline).run(output="x")).status == "not_scorable"


# ── threads ────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_def_does_not_hold_the_event_loop():
    ticks = []

    async def heartbeat():
        while True:
            ticks.append(1)
            await asyncio.sleep(0.005)

    beating = asyncio.create_task(heartbeat())
    await scored_by(lambda ctx: time.sleep(0.2) or 1).run(output="x")
    beating.cancel()
    assert len(ticks) > 5


@pytest.mark.slow
async def test_a_pattern_that_searches_for_long_does_not_hold_the_event_loop():
    """Its first 20 milliseconds it does; after that it goes to a thread and lets others run."""
    ticks = [time.perf_counter()]

    async def heartbeat():
        while True:
            await asyncio.sleep(0.005)
            ticks.append(time.perf_counter())

    beating = asyncio.create_task(heartbeat())
    with pytest.raises(ScorerRunError, match="was still searching"):
        await checks.matches(r"(a|aa)+$").run(output="a" * 60 + "b")
    beating.cancel()
    assert ticks[-1] - ticks[0] > 0.5
    assert max(after - before for before, after in pairwise(ticks)) < 0.4


async def test_steps_that_are_all_def_share_one_daemon_thread_of_ours():
    seen = []

    def where(ctx):
        seen.append(threading.current_thread())
        return 1

    await create_scorer(id="s").preprocess(where).analyze(where).generate_score(where).run(output="x")
    assert len(set(seen)) == 1
    assert seen[0] is not threading.current_thread()
    assert seen[0].daemon


async def test_in_a_mixed_scorer_async_steps_stay_on_the_loop():
    seen = {}

    def away(ctx):
        seen["def"] = threading.current_thread()
        return 1

    async def here(ctx):
        seen["async def"] = threading.current_thread()
        return 1

    await create_scorer(id="s").preprocess(away).analyze(here).generate_score(away).run(output="x")
    assert seen["async def"] is threading.current_thread()
    assert seen["def"] is not threading.current_thread()


async def test_inline_steps_stay_on_the_loop():
    seen = []
    await scored_by(lambda ctx: seen.append(threading.current_thread()) or 1, inline=True).run(output="x")
    assert seen == [threading.current_thread()]


async def test_t04_the_callers_context_is_seen_by_def_and_async_def():
    async def later(ctx):
        return REQUEST.get()

    REQUEST.set("ada")
    made = scored_by(lambda ctx: 1).preprocess(lambda ctx: REQUEST.get()).analyze(later)
    outcome = await made.run(output="x")
    assert (outcome.preprocess_step_result, outcome.analyze_step_result) == ("ada", "ada")


def test_t04_the_callers_context_is_seen_through_run_sync():
    async def later(ctx):
        return REQUEST.get()

    def in_context():
        REQUEST.set("ada")
        return scored_by(lambda ctx: 1).preprocess(lambda ctx: REQUEST.get()).analyze(later).run_sync(output="x")

    outcome = contextvars.copy_context().run(in_context)
    assert (outcome.preprocess_step_result, outcome.analyze_step_result) == ("ada", "ada")


@pytest.mark.parametrize("later", [False, True], ids=["def", "async def"])
async def test_t07_results_of_one_scorer_do_not_mix(later):
    def look(ctx):
        time.sleep(random.uniform(0, 0.01))
        return ctx.run.text

    async def look_later(ctx):
        await asyncio.sleep(random.uniform(0, 0.01))
        return ctx.run.text

    made = create_scorer(id="s", scale=50).preprocess(look_later if later else look)
    made = made.generate_score(lambda ctx: int(ctx.preprocess)).generate_reason(lambda ctx: ctx.preprocess)
    outcomes = await asyncio.gather(*(made.run(output=str(n)) for n in range(50)))
    assert [(outcome.score, outcome.reason) for outcome in outcomes] == [(n, str(n)) for n in range(50)]


# ── how long it took ───────────────────────────────────────────────────────────────────────────────────────────────


async def test_the_time_of_a_scorer_that_waits_is_its_own():
    """It is started before its siblings and goes on after them: what they do in between is theirs."""

    async def waits(run):
        await asyncio.sleep(0.02)
        return 1

    holds = scorer(id="holds", inline=True)(lambda run: time.sleep(0.3) or 1)
    result = await run_evals(data=[{"output": "x"}], scorers=[scorer(waits), holds, scorer(id="def")(lambda run: 1)])
    spent = {outcome.key: outcome.duration_ms for outcome in result.items[0].scorers}
    assert 15 < spent["waits"] < 250
    assert spent["holds"] > 290
    assert spent["def"] < 250
    assert result.scores["holds"].duration_ms == spent["holds"]


# ── where run_sync works ───────────────────────────────────────────────────────────────────────────────────────────


async def slow_half(run):
    await asyncio.sleep(0.001)
    return 0.5


def test_l01_run_sync_works_in_a_script_twice_in_a_row():
    assert [scorer(slow_half).run_sync(output="x").score for _ in range(2)] == [0.5, 0.5]


async def test_l01_run_sync_works_inside_a_running_loop():
    assert scorer(slow_half).run_sync(output="x").score == 0.5


def test_l01_run_sync_works_in_a_plain_thread():
    scores = []
    threads = [
        threading.Thread(target=lambda: scores.append(scorer(slow_half).run_sync(output="x").score)) for _ in range(5)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert scores == [0.5] * 5


def test_a_def_step_may_call_another_scorer():
    inner = scorer(slow_half)
    assert scored_by(lambda ctx: inner.run_sync(output="x").score).run_sync(output="x").score == 0.5


def test_an_async_step_that_blocks_its_own_loop_is_told_to_await():
    inner = scorer(slow_half)

    async def blocking(ctx):
        return inner.run_sync(output="x").score

    with pytest.raises(ScorerRunError, match="await the async form"):
        scored_by(blocking).run_sync(output="x")


# ── whatever a step raises ─────────────────────────────────────────────────────────────────────────────────────────


class Unreadable(Exception):
    def __str__(self):
        raise RuntimeError("no words")


def raising(error):
    def step(ctx):
        raise error

    return step


def raising_later(error):
    async def step(ctx):
        await asyncio.sleep(0)
        raise error

    return step


@pytest.mark.parametrize("form", [raising, raising_later], ids=["def", "async def"])
@pytest.mark.parametrize("inline", [False, True], ids=["away", "inline"])
@pytest.mark.parametrize(
    "error",
    [
        pytest.param(Unreadable(), id="whose str raises"),
        pytest.param(SystemExit(3), id="SystemExit"),
        pytest.param(StopIteration(1), id="StopIteration"),
        pytest.param(StopAsyncIteration(), id="StopAsyncIteration"),
        pytest.param(TimeoutError(), id="TimeoutError"),
        pytest.param(RecursionError(), id="RecursionError"),
        pytest.param(ExceptionGroup("many", [ValueError()]), id="ExceptionGroup"),
    ],
)
async def test_r14_an_exception_of_any_kind_is_an_error_of_that_step(error, form, inline):
    with pytest.raises(ScorerRunError) as caught:
        await scored_by(form(error), inline=inline).preprocess(lambda ctx: "kept").run(output="x")
    assert caught.value.failed_step == "generate_score"
    assert caught.value.result.preprocess_step_result == "kept"


def test_r14_a_mixed_scorer_too():
    async def later(ctx):
        return "kept"

    with pytest.raises(ScorerRunError) as caught:
        scored_by(raising(StopIteration(1))).preprocess(later).run_sync(output="x")
    assert caught.value.completed_steps == ("preprocess",)


def test_r14_prepare_run_too():
    with pytest.raises(ScorerRunError) as caught:
        scored_by(lambda ctx: 1, prepare_run=raising(StopIteration(1))).run_sync(output="x")
    assert caught.value.failed_step is None


@pytest.mark.parametrize("form", [raising, raising_later], ids=["def", "async def"])
@pytest.mark.parametrize("inline", [False, True], ids=["away", "inline"])
async def test_a_keyboard_interrupt_is_not_a_step_that_failed(form, inline):
    with pytest.raises(KeyboardInterrupt):
        await scored_by(form(KeyboardInterrupt()), inline=inline).run(output="x")


@pytest.mark.parametrize("form", [raising, raising_later], ids=["def", "async def"])
def test_a_keyboard_interrupt_comes_out_of_run_sync_which_still_works_after_it(form):
    with pytest.raises(KeyboardInterrupt):
        scored_by(form(KeyboardInterrupt())).run_sync(output="x")
    assert scorer(slow_half).run_sync(output="x").score == 0.5


@pytest.mark.parametrize("form", [raising, raising_later], ids=["def", "async def"])
@pytest.mark.parametrize("inline", [False, True], ids=["away", "inline"])
async def test_r14_a_cancellation_that_nobody_asked_for_is_an_error_of_that_step(form, inline):
    """An inner task that somebody else cancelled raises the same as being cancelled oneself."""
    with pytest.raises(ScorerRunError) as caught:
        await scored_by(form(asyncio.CancelledError()), inline=inline).run(output="x")
    assert caught.value.failed_step == "generate_score"


async def test_cancelling_a_run_ends_it_at_once_though_its_def_goes_on():
    done = threading.Event()

    def slow(ctx):
        done.wait(5)
        return 1

    running = asyncio.create_task(scored_by(slow).run(output="x"))
    await asyncio.sleep(0.02)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    done.set()
