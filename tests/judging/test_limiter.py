"""Calls of one model share its limits, from whichever loop and thread they come."""

import asyncio
import gc
import os
import random
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from proctor.errors import UsageError
from proctor.judging.limiter import Limiter, Limits, limiter_for
from proctor.judging.windows import MINUTE

FOUR = Limits(concurrency=4)
ONE = Limits(concurrency=1)


class Server:
    """Counts what is in flight."""

    def __init__(self, limiter, *, seconds=0.005):
        self.limiter = limiter
        self.seconds = seconds
        self.in_flight = 0
        self.most = 0
        self.order = []
        self._lock = threading.Lock()

    async def ask(self, limits=FOUR, *, name=None, tokens=10):
        async with await self.limiter.turn(limits, tokens=tokens) as turn:
            with self._lock:
                self.in_flight += 1
                self.most = max(self.most, self.in_flight)
                self.order.append(name)
            try:
                await asyncio.sleep(self.seconds)
            finally:
                with self._lock:
                    self.in_flight -= 1
            turn.done(tokens)


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


async def turns(limiter, limits, number):
    return [await limiter.turn(limits) for _ in range(number)]


def idle(limiter):
    return limiter.in_flight == limiter.waiting == 0


# ── in flight ──────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_never_more_in_flight_than_set_and_as_many_as_that():
    server = Server(Limiter())
    await asyncio.gather(*(server.ask() for _ in range(80)))
    assert server.most == 4
    assert idle(server.limiter)


async def test_without_a_concurrency_64_are_in_flight():
    server = Server(Limiter())
    await asyncio.gather(*(server.ask(Limits()) for _ in range(150)))
    assert server.most == 64


def test_loops_in_several_threads_share_one_limit():
    server = Server(Limiter(), seconds=0.002)

    async def many():
        await asyncio.gather(*(server.ask() for _ in range(100)))

    with ThreadPoolExecutor(3) as pool:
        for done in [pool.submit(asyncio.run, many()) for _ in range(3)]:
            done.result(timeout=60)

    assert server.most == 4
    assert len(server.order) == 300
    assert idle(server.limiter)


async def test_who_comes_first_goes_first():
    server = Server(Limiter(), seconds=0)
    await asyncio.gather(*(server.ask(ONE, name=number) for number in range(200)))
    assert server.order == list(range(200))


async def test_each_call_is_held_to_its_own_limit():
    limiter = Limiter()
    held = await turns(limiter, FOUR, 2)
    strict = asyncio.create_task(limiter.turn(ONE))
    await asyncio.sleep(0)
    wide = asyncio.create_task(limiter.turn(FOUR))  # it came later, and does not pass
    await asyncio.sleep(0.01)
    assert (strict.done(), wide.done(), limiter.waiting) == (False, False, 2)

    for turn in held:
        turn.done()
    (await strict).done()
    (await wide).done()
    assert idle(limiter)


async def test_a_turn_says_how_long_it_waited():
    limiter = Limiter()
    first = await limiter.turn(ONE)
    assert first.waited_ms == 0
    asyncio.get_running_loop().call_later(0.03, first.done)
    with await limiter.turn(ONE) as second:
        assert second.waited_ms >= 29


async def test_a_turn_ends_once_however_it_is_left():
    limiter = Limiter()
    with await limiter.turn(FOUR) as turn:
        turn.done(5)
        turn.done(7)
        turn.busy(60)
    assert idle(limiter)
    assert limiter.paused_for == 0

    with pytest.raises(ZeroDivisionError):
        async with await limiter.turn(FOUR):
            1 / 0  # noqa: B018 - an error within the turn
    assert idle(limiter)
    assert limiter._windows.requests == 2


async def test_a_turn_counts_from_when_it_is_taken_not_from_when_it_was_given():
    limiter = Limiter()
    first = await limiter.turn(ONE)
    waiting = asyncio.create_task(limiter.turn(ONE))
    await asyncio.sleep(0)
    first.done()
    time.sleep(0.02)  # noqa: ASYNC251 - a loop that is held up
    taken = time.monotonic()
    assert (await waiting).sent.at >= taken


@pytest.mark.parametrize("name", ["concurrency", "requests_per_minute", "tokens_per_minute"])
@pytest.mark.parametrize("value", [0, -1, float("nan")])
def test_limits_that_nobody_could_keep_are_refused(name, value):
    with pytest.raises(UsageError, match=rf"Limits\({name}=...\) is a number above 0"):
        Limits(**{name: value})


# ── cancellation ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("seed", range(5))
async def test_a_storm_of_cancellations_loses_no_place(seed):
    server, chance = Server(Limiter(), seconds=0.001), random.Random(seed)
    tasks = [asyncio.create_task(server.ask()) for _ in range(300)]
    for _ in range(40):
        await asyncio.sleep(chance.choice((0, 0, 0.001)))
        for task in chance.sample(tasks, 6):
            task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)

    assert idle(server.limiter)
    assert server.most <= 4
    await asyncio.gather(*(server.ask() for _ in range(10)))


async def test_a_turn_given_at_the_moment_of_cancellation_goes_to_the_next():
    limiter = Limiter()
    first = await limiter.turn(ONE)
    unlucky = asyncio.create_task(limiter.turn(Limits(concurrency=1, requests_per_minute=2)))
    await asyncio.sleep(0)
    following = asyncio.create_task(limiter.turn(ONE))
    await asyncio.sleep(0)

    first.done()  # the turn is the unlucky one's from here on
    unlucky.cancel()
    async with asyncio.timeout(5):
        turn = await following

    assert unlucky.cancelled()
    assert limiter.in_flight == 1
    assert limiter._windows.requests == 2  # the unlucky one never went
    turn.done()
    assert idle(limiter)


def test_storms_in_several_threads_lose_no_place():
    server = Server(Limiter(), seconds=0.0005)

    async def storm(seed):
        chance = random.Random(seed)
        tasks = [asyncio.create_task(server.ask()) for _ in range(200)]
        for _ in range(30):
            await asyncio.sleep(chance.choice((0, 0.001)))
            for task in chance.sample(tasks, 5):
                task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    with ThreadPoolExecutor(3) as pool:
        for done in [pool.submit(asyncio.run, storm(seed)) for seed in range(3)]:
            done.result(timeout=60)

    assert idle(server.limiter)
    assert server.most <= 4


# ── loops that go away ─────────────────────────────────────────────────────────────────────────────────────────────


def left_waiting(limiter, *, number):
    """A loop that stopped while calls were in line."""
    loop = asyncio.new_event_loop()
    tasks = [loop.create_task(limiter.turn(ONE)) for _ in range(number)]
    loop.run_until_complete(asyncio.sleep(0.001))
    assert limiter.waiting == number
    return loop, tasks


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_those_who_wait_in_a_closed_loop_are_passed_over():
    limiter = Limiter()
    first = asyncio.run(limiter.turn(ONE))
    loop, tasks = left_waiting(limiter, number=3)
    for task in tasks:
        task._log_destroy_pending = False
    loop.close()

    async def next_one():
        following = asyncio.create_task(limiter.turn(ONE))
        await asyncio.sleep(0)
        first.done()
        async with asyncio.timeout(5):
            (await following).done()

    asyncio.run(next_one())
    del tasks, loop
    gc.collect()
    assert idle(limiter)


def test_those_who_wait_in_a_loop_that_stands_still_hold_up_nobody_and_go_on_with_it():
    limiter = Limiter()
    first = asyncio.run(limiter.turn(ONE))
    loop, tasks = left_waiting(limiter, number=2)

    async def next_one():
        following = asyncio.create_task(limiter.turn(ONE))
        await asyncio.sleep(0)
        first.done()
        async with asyncio.timeout(5):
            (await following).done()

    async def go_on():
        async with asyncio.timeout(5):
            for task in tasks:
                (await task).done()

    asyncio.run(next_one())
    loop.run_until_complete(go_on())
    loop.close()
    assert idle(limiter)


# ── what the server says ───────────────────────────────────────────────────────────────────────────────────────────


async def test_a_busy_server_pauses_all_and_is_asked_by_fewer():
    limiter, went = Limiter(), []
    first, *others = await turns(limiter, Limits(concurrency=10), 10)
    began = time.monotonic()
    first.busy(0.05)
    assert 0 < limiter.paused_for <= 0.05
    assert limiter.allowance == pytest.approx(7)
    for turn in others:
        turn.busy(0.05)
    assert limiter.allowance == pytest.approx(7)  # one burst, one cut
    server = Server(limiter, seconds=0.001)

    async def ask():
        await server.ask(Limits(concurrency=10))
        went.append(time.monotonic() - began)

    await asyncio.gather(*(ask() for _ in range(30)))
    assert min(went) >= 0.05
    assert 7 <= server.most <= 10
    assert limiter.allowance > 7


async def test_a_refused_call_counts_as_a_request_and_takes_no_tokens():
    clock = Clock()
    limiter = Limiter(clock=clock)
    limits = Limits(requests_per_minute=1, tokens_per_minute=100)
    (await limiter.turn(limits, tokens=100)).busy(1)
    assert limiter._windows.requests == 1
    assert limiter._windows.tokens == 0
    waiting = asyncio.create_task(limiter.turn(limits, tokens=100))
    await asyncio.sleep(0)
    clock.now += 59
    limiter._line.move()
    assert limiter.waiting == 1
    clock.now += MINUTE - 59
    limiter._line.move()
    (await waiting).done()


# ── the minute ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
async def test_a_server_of_fifty_a_second_is_kept_busy_and_never_has_more():
    limiter, went = Limiter(), []
    limits = Limits(requests_per_minute=3000)

    async def ask():
        async with await limiter.turn(limits) as turn:
            went.append(time.monotonic())
            await asyncio.sleep(0.02)
            turn.done()

    await asyncio.gather(*(ask() for _ in range(150)))
    assert went[-1] - went[0] < 4.5  # 3 s, on a machine that does other things too
    assert all(later - first >= 1 for first, later in zip(went, went[50:], strict=False))


async def test_tokens_that_were_not_needed_are_others_to_take():
    limiter = Limiter()
    limits = Limits(tokens_per_minute=1000)
    first = await limiter.turn(limits, tokens=900)
    waiting = asyncio.create_task(limiter.turn(limits, tokens=500))
    await asyncio.sleep(0)
    assert limiter.waiting == 1
    first.done(100)
    async with asyncio.timeout(5):
        (await waiting).done(500)


async def test_nobody_looks_before_it_is_time():
    """One timer for all who wait, and no call of the loop before it rings."""
    looks = []

    class Looked(Limiter):
        def _ready_at(self, want, now):
            looks.append(now)
            return super()._ready_at(want, now)

    limiter = Looked()
    (await limiter.turn(Limits(requests_per_minute=600))).busy(0.2)
    tasks = [asyncio.create_task(limiter.turn(ONE)) for _ in range(50)]
    await asyncio.sleep(0.1)
    assert len(looks) <= 110
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert idle(limiter)


# ── one for a model ────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_model_has_one_limiter_however_many_ask_at_once():
    together = threading.Barrier(20)

    def ask(_):
        together.wait(timeout=10)
        return limiter_for("openai:test-model http://127.0.0.1/one")

    with ThreadPoolExecutor(20) as pool:
        assert len(set(pool.map(ask, range(20)))) == 1
    assert limiter_for("openai:test-model") is not limiter_for("openai:test-model http://127.0.0.1/one")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="only systems that fork")
def test_a_fork_begins_anew():
    """The calls in flight are not its calls."""
    code = """
import asyncio, os
from proctor.errors import UsageError
from proctor.judging.limiter import Limits, limiter_for
asyncio.run(limiter_for("m").turn(Limits(concurrency=1)))
if os.fork() == 0:
    os._exit(limiter_for("m").in_flight)
print(os.waitstatus_to_exitcode(os.wait()[1]), limiter_for("m").in_flight)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["0", "1"]
