"""Bounds on a mean."""

import math

import numpy as np
import pytest

from proctor.data.threshold import Threshold
from proctor.errors import UnknownName, UsageError


def refusal(make):
    with pytest.raises(UsageError) as caught:
        make()
    assert caught.value.code == "INVALID_SCORER_THRESHOLD"
    return str(caught.value)


@pytest.mark.parametrize(
    ("threshold", "inside", "outside"),
    [
        (Threshold(0.5), [0.5, 0.5 - 1e-10, 1, 100], [0.4999, -1]),
        (Threshold(max=0.5), [0.5, 0.5 + 1e-10, -3], [0.5001]),
        (Threshold(0.2, 0.5), [0.2, 0.3, 0.5], [0.1, 0.6]),
        (Threshold(max=0), [0, 0.0, -1e-10], [0.001]),
        (Threshold(0.7), [(0.6 + 0.7 + 0.8) / 3], [0.69996]),
        (Threshold(-5, -1), [-5, -1], [0]),
    ],
    ids=str,
)
def test_both_ends_are_inside(threshold, inside, outside):
    assert all(threshold.admits(mean) for mean in inside)
    assert not any(threshold.admits(mean) for mean in outside)


@pytest.mark.parametrize(
    "bound", [math.nan, math.inf, -math.inf, True, False, "0.5", [0.5], 10**400], ids=lambda it: str(it)[:9]
)
def test_a_bound_is_a_finite_number(bound):
    assert refusal(lambda: Threshold(bound)).startswith("threshold min must be a finite number, not ")
    assert refusal(lambda: Threshold(max=bound)).startswith("threshold max must be a finite number, not ")
    assert refusal(lambda: Threshold.of({"min": bound}))


def test_one_bound_is_needed():
    assert refusal(Threshold) == "a threshold needs min, max or both"
    assert refusal(lambda: Threshold.of({})) == "a threshold needs min, max or both"
    assert refusal(lambda: Threshold(max_errors=0.1)) == "a threshold needs min, max or both"


def test_bounds_are_in_order():
    assert refusal(lambda: Threshold(0.8, 0.2)) == "threshold min 0.8 is above max 0.2"
    assert Threshold(0.5, 0.5).admits(0.5)


@pytest.mark.parametrize("rate", [-0.1, 1.1, math.nan, True, "0", None])
def test_max_errors_is_a_rate(rate):
    assert refusal(lambda: Threshold(0, max_errors=rate)) == f"max_errors is a rate from 0 to 1, not {rate!r}"


@pytest.mark.parametrize("count", [-1, 1.5, True, "1", None])
def test_min_scored_is_a_count(count):
    assert refusal(lambda: Threshold(0, min_scored=count)).startswith("min_scored is a count of items, 0 or more")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (0.5, Threshold(0.5)),
        (0, Threshold(0)),
        (np.float64(0.5), Threshold(0.5)),
        ({"max": 0.2}, Threshold(max=0.2)),
        ({"min": 0.1, "maxErrors": 0.5, "minScored": 0}, Threshold(0.1, max_errors=0.5, min_scored=0)),
        ({"min": 0.1, "max_errors": 0.5, "min_scored": 0}, Threshold(0.1, max_errors=0.5, min_scored=0)),
        (Threshold(max=1), Threshold(max=1)),
    ],
    ids=repr,
)
def test_thresholds_are_made_of_numbers_and_mappings(given, expected):
    assert Threshold.of(given) == expected


@pytest.mark.parametrize("given", [True, "0.5", None, [0.5], math.nan])
def test_other_things_make_no_threshold(given):
    assert refusal(lambda: Threshold.of(given))


def test_an_unknown_field_is_refused_with_the_nearest_name():
    with pytest.raises(
        UnknownName, match=r"no field of a threshold 'maxError'\. Did you mean 'max_errors'\?"
    ) as caught:
        Threshold.of({"min": 0, "maxError": 1})
    assert caught.value.code == "INVALID_SCORER_THRESHOLD"


def test_a_threshold_reads_as_its_bounds():
    assert [str(it) for it in (Threshold(0.5), Threshold(max=0), Threshold(0.25, 1))] == [
        ">= 0.5",
        "<= 0",
        ">= 0.25 and <= 1",
    ]


@pytest.mark.parametrize(
    ("threshold", "text"),
    [
        pytest.param(Threshold(0.5, min_scored=3), ">= 0.5 (n >= 3)", id="3"),
        pytest.param(Threshold(0.5, 0.9, min_scored=2), ">= 0.5 and <= 0.9 (n >= 2)", id="both bounds"),
        pytest.param(Threshold(0.5, min_scored=1), ">= 0.5", id="1, as always"),
        pytest.param(Threshold(0.5, min_scored=0), ">= 0.5", id="0"),
    ],
)
def test_how_many_must_be_scored_is_told_when_it_is_more_than_one(threshold, text):
    assert str(threshold) == text
