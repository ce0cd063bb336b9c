"""What refusals do. The time is a number, and chance is given."""

from math import inf, nan

import pytest

from proctor.judging.pressure import MOST_IN_FLIGHT, Pressure


def refused(pressure, *, now=0.0, retry_after=None, cap=MOST_IN_FLIGHT, number=1, newest=None):
    pressure.refused(now, retry_after=retry_after, cap=cap, number=number, newest=newest or number)


def test_before_the_first_refusal_the_cap_alone_holds():
    pressure = Pressure()
    assert pressure.allowance == MOST_IN_FLIGHT == 64
    assert [pressure.places(cap) for cap in (1, 4, 64, 500)] == [1, 4, 64, 500]


def test_a_burst_of_refusals_is_one_cut_and_one_pause():
    pressure = Pressure(random=lambda: 0.0)
    for number in range(1, 65):
        refused(pressure, now=number / 100, number=number, newest=64)
    assert pressure.allowance == pytest.approx(44.8)
    assert pressure.places(64) == 44
    assert pressure.paused_until == pytest.approx(1.01)

    refused(pressure, now=2.0, number=65)
    assert pressure.allowance == pytest.approx(44.8 * 0.7)


def test_the_cut_is_of_what_was_allowed_to_the_call():
    pressure = Pressure()
    refused(pressure, cap=4)
    assert pressure.places(4) == pressure.places(64) == 2


def test_never_less_than_one_call():
    pressure = Pressure()
    for number in range(1, 50):
        refused(pressure, number=number)
    assert pressure.places(64) == pressure.allowance == 1


def test_answers_raise_the_allowance_by_one_a_round_up_to_the_cap():
    pressure = Pressure()
    refused(pressure, cap=10)
    for number in range(2, 9):
        pressure.answered(cap=10, number=number)
    assert 7.9 < pressure.allowance <= 8
    for number in range(9, 100):
        pressure.answered(cap=10, number=number)
    assert pressure.places(64) == 10


def test_what_the_server_asks_for_is_obeyed_and_the_longest_holds():
    pressure = Pressure()
    for number, retry_after in enumerate((2, 5, 1), start=1):
        refused(pressure, retry_after=retry_after, number=number, newest=3)
    assert pressure.paused_until == 5


@pytest.mark.parametrize("retry_after", [None, 0, -1, nan, inf])
def test_without_a_usable_number_pauses_double_to_a_minute(retry_after):
    pressure, pauses = Pressure(random=lambda: 0.0), []
    for number in range(1, 10):
        refused(pressure, now=number * 100, retry_after=retry_after, number=number)
        pauses.append(pressure.paused_until - number * 100)
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60]


def test_pauses_are_longer_by_chance():
    pressure = Pressure(random=lambda: 0.999)
    refused(pressure)
    assert pressure.paused_until == pytest.approx(1.25, abs=0.01)


def test_pauses_grow_only_while_nothing_at_all_is_answered():
    pressure = Pressure(random=lambda: 0.0)
    refused(pressure, number=1, newest=5)
    refused(pressure, now=100.0, number=6, newest=9)
    assert pressure.paused_until == 102
    pressure.answered(cap=64, number=5)  # of a round before
    refused(pressure, now=200.0, number=10, newest=15)
    assert pressure.paused_until == 204
    pressure.answered(cap=64, number=11)  # of the last round: the server takes some
    refused(pressure, now=300.0, number=16, newest=20)
    assert pressure.paused_until == 301


def test_chance_is_real_when_none_is_given():
    pressure = Pressure()
    refused(pressure)
    assert 1 <= pressure.paused_until <= 1.25
