"""When a call may go. No test here waits: the time is a number."""

from bisect import bisect_left
from math import ceil, floor
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.judging.windows import CATCH_UP, LONGEST_SECOND, MINUTE, SECOND, Windows


class Schedule:
    """Sends what is asked as soon as it may go, each time a little *late*."""

    def __init__(self, *, late=lambda: 0.0):
        self.windows = Windows()
        self.late = late
        self.now = 0.0
        self.sent = []

    def send(self, *, tokens=0, rate=None, tokens_rate=None, arrives=0.0):
        self.now = max(self.now, arrives)
        looks = 0
        while (
            at := self.windows.ready_at(self.now, tokens=tokens, per_minute=rate, tokens_per_minute=tokens_rate)
        ) > self.now:
            self.now = at + self.late()
            looks += 1
            assert looks <= 2
        self.sent.append((self.now, tokens))
        return self.windows.send(self.now, tokens=tokens, per_minute=rate)

    @property
    def times(self):
        return [at for at, _ in self.sent]


def most_within(times, window):
    """The greatest number in any half-open window of this length. Times ascend."""
    return max(bisect_left(times, at + window - 1e-9) - index for index, at in enumerate(times))


# ── requests ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("rate", [60, 90, 600, 1000, 3000, 20_000.0])
def test_no_second_has_more_than_its_share_and_no_minute_more_than_its_number(rate):
    random = Random(1)
    schedule = Schedule(late=lambda: random.expovariate(1000))
    for _ in range(int(rate * 1.5)):
        schedule.send(rate=rate)

    assert most_within(schedule.times, 60) <= rate
    assert most_within(schedule.times, 1) <= ceil(rate / 60)


@pytest.mark.parametrize("rate", [600, 3000])
@pytest.mark.parametrize("lateness_ms", [0.2, 2, 5])
def test_late_timers_cost_nearly_no_throughput(rate, lateness_ms):
    random = Random(2)
    schedule = Schedule(late=lambda: random.expovariate(1000 / lateness_ms))
    while schedule.now < 120:
        schedule.send(rate=rate)

    assert len(schedule.times) / 2 > 0.97 * rate


def test_a_stall_is_caught_up_as_far_as_the_second_has_room():
    schedule = Schedule()
    for _ in range(100):
        schedule.send(rate=600)
    stalled = schedule.now + 10 + CATCH_UP
    schedule.send(rate=600, arrives=stalled)

    for _ in range(10):
        schedule.send(rate=600)

    assert schedule.times[100:103] == [stalled] * 3
    assert schedule.times[104] > stalled
    assert most_within(schedule.times, 1) <= 10


def test_a_start_does_not_spend_the_second_at_once():
    schedule = Schedule()
    for _ in range(50):
        schedule.send(rate=3000)

    assert 12 <= schedule.times.count(0.0) <= 14
    assert max(b - a for a, b in zip(schedule.times, schedule.times[1:], strict=False)) <= 1 / 49


@pytest.mark.parametrize("rate", [0.5, 1, 7, 30, 59.5, 60])
def test_once_a_second_or_slower_calls_are_evenly_apart(rate):
    random = Random(3)
    schedule = Schedule(late=lambda: random.uniform(0, 0.01))
    for _ in range(100):
        schedule.send(rate=rate)

    apart = [b - a for a, b in zip(schedule.times, schedule.times[1:], strict=False)]
    assert min(apart) >= 60 / rate
    assert sum(apart) / len(apart) < 60 / rate * 1.03
    assert most_within(schedule.times, 60) <= max(1, floor(rate))


def test_a_server_that_counts_too_many_gets_fewer_but_not_much():
    schedule = Schedule()
    for _ in range(100):
        schedule.windows.widen()
    while schedule.now < 60:
        schedule.send(rate=3000)

    assert all(b - a >= LONGEST_SECOND - 1e-9 for a, b in zip(schedule.times, schedule.times[50:], strict=False))
    assert len(schedule.times) > 0.95 * 3000


def test_without_a_limit_nothing_waits():
    schedule = Schedule()
    for _ in range(1000):
        schedule.send(tokens=1_000_000)
    assert schedule.now == 0


def test_calls_without_a_limit_count_for_those_that_have_one():
    schedule = Schedule()
    for _ in range(10):
        schedule.send()
    schedule.send(rate=300)
    assert schedule.now == pytest.approx(SECOND)


def test_a_call_that_did_not_go_leaves_no_trace_in_the_windows():
    windows = Windows()
    sent = windows.send(0.0, tokens=7, per_minute=None)
    windows.take_back(sent)
    windows.take_back(sent)
    assert (windows.requests, windows.tokens) == (0, 0)


def test_a_call_that_goes_later_counts_from_then():
    windows = Windows()
    first = windows.send(0.0, tokens=0, per_minute=2)
    windows.send(1.0, tokens=0, per_minute=None)
    windows.put_off(first, 5.0)
    assert windows.ready_at(5.0, tokens=0, per_minute=2, tokens_per_minute=None) == 1.0 + MINUTE
    assert windows.ready_at(61.5, tokens=0, per_minute=2, tokens_per_minute=None) == 61.5
    assert windows.requests == 1


# ── tokens ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_tokens_wait_until_enough_have_left_the_minute():
    schedule = Schedule()
    for arrives in (0, 10, 20):
        schedule.send(tokens=300, tokens_rate=1000, arrives=arrives)

    schedule.send(tokens=100, tokens_rate=1000)
    assert schedule.now == 20
    schedule.send(tokens=400, tokens_rate=1000)
    assert schedule.now == 10 + MINUTE


def test_what_a_call_really_took_corrects_its_estimate():
    schedule = Schedule()
    sent = schedule.send(tokens=1000, tokens_rate=1000)
    schedule.windows.correct(sent, tokens=200)
    schedule.send(tokens=800, tokens_rate=1000)
    assert schedule.now == 0

    schedule.windows.correct(sent, tokens=5000)
    schedule.send(tokens=1, tokens_rate=1000)
    assert schedule.now == MINUTE


def test_a_correction_that_comes_after_the_minute_changes_nothing():
    schedule = Schedule()
    sent = schedule.send(tokens=1000, tokens_rate=1000)
    schedule.send(tokens=400, tokens_rate=1000)
    assert schedule.now == MINUTE
    schedule.windows.correct(sent, tokens=1)
    assert schedule.windows.tokens == 400


def test_a_call_greater_than_the_budget_goes_alone():
    schedule = Schedule()
    schedule.send(tokens=10, tokens_rate=100)
    schedule.send(tokens=1_000_000, tokens_rate=100)
    schedule.send(tokens=10, tokens_rate=100)
    assert schedule.times == [0, MINUTE, 2 * MINUTE]


# ── laws ───────────────────────────────────────────────────────────────────────────────────────────────────────────

CALLS = st.lists(
    st.tuples(
        st.one_of(st.just(0.0), st.floats(0, 30)),  # since the call before it
        st.integers(0, 3000),  # tokens, by estimate
        st.one_of(st.none(), st.integers(0, 3000)),  # what they really were
        st.floats(0, 0.05),  # how late the timer rings
    ),
    min_size=1,
    max_size=150,
)


@given(CALLS, st.floats(0.5, 5000), st.floats(1, 20_000))
@settings(max_examples=150)
def test_no_window_is_ever_exceeded_and_each_call_goes(calls, rate, tokens_rate):
    schedule, arrives, counted = Schedule(), 0.0, []
    for since, tokens, really, late in calls:
        arrives += since
        schedule.late = lambda late=late: late
        asked = max(arrives, schedule.now)
        sent = schedule.send(tokens=tokens, rate=rate, tokens_rate=tokens_rate, arrives=arrives)

        assert schedule.now - asked <= 60 / min(rate, 1) + 2 * MINUTE
        before = sum(took for at, took in counted if at > schedule.now - 60)
        assert before + tokens <= tokens_rate + 1e-6 or before == 0
        if really is not None:
            schedule.windows.correct(sent, tokens=really)
        counted.append((schedule.now, tokens if really is None else really))

    assert most_within(schedule.times, 60) <= max(1, floor(rate))
    assert most_within(schedule.times, 1) <= max(1, ceil(rate / 60))


@given(st.lists(st.tuples(st.floats(0, 2), st.sampled_from([None, 20, 100, 1200])), min_size=1, max_size=150))
@settings(max_examples=100)
def test_each_call_keeps_its_own_limit_over_the_calls_of_all(calls):
    schedule, arrives = Schedule(), 0.0
    for since, rate in calls:
        arrives += since
        schedule.send(rate=rate, arrives=arrives)
        if rate is not None:
            times = schedule.times
            assert sum(at > schedule.now - 60 for at in times) <= max(rate, 1)
            assert sum(at > schedule.now - 1 for at in times) <= ceil(rate / 60)
