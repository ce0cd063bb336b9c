"""Which failures of a target are worth another try, when, and what is left of the failed ones."""

import asyncio
import random
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor import MemoryRecorder, Reply, Retry, checks, run_evals
from proctor.errors import UsageError
from tests.running.graded import asked, graded

AT_ONCE = {"first_wait": 0, "jitter": 0}


class Answered(Exception):
    """What a client raises; *facts* are its attributes."""

    def __init__(self, **facts):
        super().__init__("the server answered")
        vars(self).update(facts)


class Response:
    def __init__(self, status_code, **headers):
        self.status_code = status_code
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


class Unreadable(Exception):
    """An error of which nothing can be read."""

    @property
    def status_code(self):
        raise RuntimeError("there is no response")

    response = retry_after = headers = status = status_code

    def __str__(self):
        raise RuntimeError("cannot be shown")


def flaky(*fails):
    """A target that raises these, one after the other, and then answers; it knows how often it was asked."""
    left = list(fails)

    async def target(given):
        target.calls += 1
        if left:
            raise left.pop(0)
        return given

    target.calls = 0
    return target


# ── which ──────────────────────────────────────────────────────────────────────────────────────────────────────────

PASSING = [
    ConnectionError("reset"),
    ConnectionResetError("reset"),
    BrokenPipeError("closed"),
    TimeoutError("too slow"),
    *(Answered(status_code=status) for status in (408, 425, 429, 500, 502, 503, 504, 529)),
    Answered(status=429),
    Answered(status_code=None, status=503),
    Answered(response=Response(429)),
    Answered(status="error", response=Response(502)),
]
LASTING = [
    ValueError("wrong"),
    OSError("disk full"),
    KeyError("x"),
    SystemExit(1),
    *(Answered(status_code=status) for status in (400, 401, 403, 404, 409, 422, 501)),
    Answered(status=[429]),
    Answered(status={"code": 503}),
    Answered(status_code="429"),
    Answered(status=lambda: 429),
    Answered(response=None),
    Unreadable(),
    asyncio.CancelledError(),
    ExceptionGroup("several", [ConnectionError()]),
]


def named(error):
    facts = vars(error) or (error.args if not isinstance(error, Unreadable) else ())
    said = re.sub(r"<function .*>", "a function", f"{facts}")  # an id with an address differs between processes
    return f"{type(error).__name__} {said if isinstance(error, Answered) else ''}"[:60]


@pytest.mark.parametrize("error", [pytest.param(error, id=f"{at} {named(error)}") for at, error in enumerate(PASSING)])
async def test_what_passes_is_tried_again(error):
    target = flaky(error, error)
    result = await run_evals(
        target=target, data=asked("a"), gates=[checks.includes("a")], retries=Retry(times=2, **AT_ONCE)
    )
    assert (target.calls, result.verdict, result.summary.errors) == (3, "passed", 0)


@pytest.mark.parametrize("error", [pytest.param(error, id=f"{at} {named(error)}") for at, error in enumerate(LASTING)])
async def test_what_lasts_is_not(error):
    target = flaky(error)
    result = await run_evals(target=target, data=asked("a"), gates=[graded()], retries=Retry(**AT_ONCE))
    assert target.calls == 1
    assert result.items[0].error.type == type(error).__name__


@pytest.mark.parametrize(
    ("on", "calls"),
    [
        (ValueError, 3),
        (Exception, 3),
        (BaseException, 3),
        ((KeyError, ValueError), 3),
        (KeyError, 1),
        ((), 1),
        (lambda error: "busy" in str(error), 3),
        (lambda error: [], 1),
    ],
)
async def test_on_says_which(on, calls):
    target = flaky(ValueError("busy"), ValueError("busy"), ValueError("busy"))
    await run_evals(target=target, data=asked("a"), gates=[graded()], retries=Retry(on=on, **AT_ONCE))
    assert target.calls == calls


async def test_on_that_raises_is_the_error_of_that_item_and_the_run_goes_on():
    target = flaky(ConnectionError("reset"))
    retry = Retry(on=lambda error: error.no_such, **AT_ONCE)
    result = await run_evals(target=target, data=asked("a", "b"), gates=[checks.includes("b")], retries=retry)
    assert [item.status for item in result.items] == ["error", "done"]
    assert result.items[0].error.type == "AttributeError"
    assert "reset" in result.items[0].error.traceback


@pytest.mark.parametrize("on", [int, (ValueError, 3), (ValueError, "KeyError"), ValueError("x"), "x", 3, lambda: True])
def test_an_on_that_can_never_be_right_is_refused(on):
    with pytest.raises(UsageError, match=r"Retry\(on=...\) is an exception type, a tuple of them, or a function"):
        Retry(on=on)


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(("times", value) for value in (-1, True, 1.0, "2", None)),
        *((name, value) for name in ("first_wait", "most_wait") for value in (-1, NAN, INF, True, "2", None)),
        *(("jitter", value) for value in (-0.1, 1.1, NAN, True, "a")),
    ],
)
def test_a_retry_that_cannot_be_right_is_refused(option, value):
    with pytest.raises(UsageError, match=rf"Retry\({option}=...\) is a "):
        Retry(**{option: value})


# ── when ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def waits(retry, error=None, tries=7):
    return [retry.wait(error or ConnectionError(), tried=tried) for tried in range(1, tries + 1)]


def test_waits_double_up_to_the_most_and_end_after_the_last_try():
    assert waits(Retry(times=6, first_wait=1, most_wait=10, jitter=0)) == [1, 2, 4, 8, 10, 10, None]
    assert waits(Retry(times=0), tries=1) == [None]


@given(tried=st.integers(1, 5000), jitter=st.floats(0, 1), seed=st.integers())
def test_jitter_keeps_within_its_share(tried, jitter, seed):
    random.seed(seed)
    plain = min(0.5 * 2 ** min(tried - 1, 100), 30)
    wait = Retry(times=5000, first_wait=0.5, jitter=jitter).wait(ConnectionError(), tried=tried)
    assert plain * (1 - jitter) <= wait <= plain * (1 + jitter)


def test_jitter_spreads():
    assert len({Retry(jitter=0.5).wait(ConnectionError(), tried=1) for _ in range(20)}) > 10


@pytest.mark.parametrize(
    ("facts", "wait"),
    [
        ({"retry_after": 7}, 7.0),
        ({"retry_after": 7.5}, 7.5),
        ({"retry_after": 0.25}, 1.0),  # at least what would be waited anyway
        ({"retry_after": -3}, 1.0),
        ({"retry_after": NAN}, 1.0),
        ({"retry_after": INF}, 1.0),
        ({"retry_after": None}, 1.0),
        ({"retry_after": "soon"}, 1.0),
        ({"retry_after": 90}, 90.0),  # the server knows better than most_wait
        ({"response": Response(429, retry_after="2")}, 2.0),
        ({"response": Response(429, retry_after="Wed, 21 Oct 2026 07:28:00 GMT")}, 1.0),
        ({"response": Response(429, retry_after="inf")}, 1.0),
        ({"response": Response(429)}, 1.0),
        ({"headers": {"retry-after": "3"}}, 3.0),
        ({"headers": 3}, 1.0),
    ],
)
def test_a_server_may_ask_for_more(facts, wait):
    assert Retry(jitter=0).wait(Answered(**{"status_code": 429, **facts}), tried=1) == wait


async def test_t05_a_server_that_asks_to_wait_is_waited_for(monkeypatch):
    """Three times 429 with Retry-After: 2, for each of the items: all are scored, none is left out."""
    waited, sleep = [], asyncio.sleep

    async def note(seconds, *args):
        waited.append(seconds)
        await sleep(0, *args)

    monkeypatch.setattr(asyncio, "sleep", note)
    tries = {}

    async def target(given):
        tries[given] = tries.get(given, 0) + 1
        if tries[given] <= 3:
            raise Answered(response=Response(429, retry_after="2"))
        return 1.0

    result = await run_evals(
        target=target, data=asked("a", "b", "c"), gates=[graded()], retries=Retry(times=3, jitter=0), concurrency=3
    )
    assert (result.verdict, result.means[0].n, set(tries.values())) == ("passed", 3, {4})
    assert sorted(waited) == [2, 2, 2, 2, 2, 2, 4, 4, 4]


async def test_t04_two_retries_are_three_calls_and_the_last_error_is_told():
    target = flaky(*(ConnectionError(f"reset {n}") for n in range(9)))
    result = await run_evals(target=target, data=asked("a"), gates=[graded()], retries=Retry(**AT_ONCE))
    assert target.calls == 3
    assert result.items[0].error.message == "reset 2"


async def test_g08_a_low_score_is_never_tried_again():
    target = flaky()
    result = await run_evals(target=target, data=asked(0.0), gates=[graded()], retries=Retry(times=5, **AT_ONCE))
    assert (target.calls, result.verdict) == (1, "failed")


async def test_a_def_is_tried_again_too():
    left = [ConnectionError(), TimeoutError()]

    def target(given):
        if left:
            raise left.pop()
        return given

    result = await run_evals(target=target, data=asked("a"), gates=[checks.includes("a")], retries=Retry(**AT_ONCE))
    assert result.verdict == "passed"


# ── how long in all, and what stays ────────────────────────────────────────────────────────────────────────────────


async def test_all_tries_and_waits_share_the_timeout():
    target = flaky(*(ConnectionError() for _ in range(99)))
    began = time.perf_counter()
    result = await run_evals(
        target=target,
        data=asked("a"),
        gates=[graded()],
        retries=Retry(times=50, first_wait=0.05, most_wait=60),
        timeout=0.2,
    )
    assert time.perf_counter() - began < 5
    assert 2 <= target.calls <= 4
    assert (result.items[0].error.code, result.items[0].error.type) == ("TIMEOUT", "TargetError")


async def test_a_client_that_calls_a_timeout_a_lost_connection_gets_no_further_try():
    """What it makes of being stopped is neither asked again without a limit, nor told as the reason."""
    calls = 0

    async def target(given):
        nonlocal calls
        calls += 1
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            raise ConnectionError("closed") from None

    result = await run_evals(
        target=target, data=asked("a"), gates=[graded()], retries=Retry(times=3, **AT_ONCE), timeout=0.05
    )
    assert (calls, result.items[0].error.code) == (1, "TIMEOUT")


@pytest.mark.parametrize("concurrency", [1, 2])
async def test_a_run_that_is_cancelled_makes_no_further_try(concurrency):
    calls, asked_once = 0, asyncio.Event()

    async def target(given):
        nonlocal calls
        calls += 1
        asked_once.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            raise ConnectionError("closed") from None

    running = asyncio.create_task(
        run_evals(target=target, data=asked("a"), gates=[graded()], retries=Retry(**AT_ONCE), concurrency=concurrency)
    )
    await asked_once.wait()
    running.cancel()
    await asyncio.wait([running], timeout=10)
    assert (running.cancelled(), calls) == (True, 1)


async def test_only_the_turn_that_failed_is_asked_again_and_the_recorder_sees_one_reply_a_turn():
    heard = []

    async def target(text, *, thread_id):
        heard.append(text)
        if heard.count(text) == 1 and text == "b":
            raise ConnectionError("reset")
        return Reply(output=text.upper())

    recorder = MemoryRecorder()
    data = [{"id": "talk", "inputs": ["a", "b", "c"]}]
    await run_evals(
        target=target, data=data, scorers=[checks.includes("B")], retries=Retry(**AT_ONCE), recorder=recorder
    )
    assert heard == ["a", "b", "b", "c"]
    assert [reply.output for reply in recorder.finished["talk", 0].replies] == ["A", "B", "C"]


async def test_a_reply_took_as_long_as_all_its_tries():
    result = await run_evals(
        target=flaky(ConnectionError()), data=asked(1.0), gates=[graded()], retries=Retry(first_wait=0.05, jitter=0)
    )
    assert result.items[0].replies[0].duration_ms >= 49


@pytest.mark.parametrize(
    ("module", "name", "again"),
    [
        ("httpx", "TimeoutException", True),
        ("httpx2", "NetworkError", True),
        ("pydantic_ai.exceptions", "ModelConnectionError", True),
        ("requests.exceptions", "ConnectionError", True),
        ("openai", "APIConnectionError", True),
        ("httpx", "UnsupportedProtocol", False),
        ("mine", "TimeoutException", False),
    ],
)
def test_a_connection_lost_in_a_client_of_its_own_is_known_by_its_name(module, name, again):
    kind = type(name, (Exception,), {"__module__": module})
    below = type("Deeper", (kind,), {})
    for error in (kind(), below()):
        assert (Retry(times=1).wait(error, tried=1) is not None) == again
