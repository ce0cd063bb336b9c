"""How numbers are shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.data.shown import count_of, shown_score
from proctor.data.threshold import Threshold


@pytest.mark.parametrize(
    ("score", "threshold", "expected"),
    [
        (None, None, "-"),
        (0, None, "0.00"),
        (1.0, None, "1.00"),
        (2 / 3, None, "0.67"),
        (0.69996, None, "0.70"),
        (0.69996, Threshold(0.7), "0.69996"),
        (2 / 3, Threshold(0.67), "0.667"),
        (0.7, Threshold(0.7), "0.70"),
        (0.004, Threshold(max=0), "0.004"),
        (-0.001, Threshold(0), "-0.001"),
        (0.5049, Threshold(0.1, 0.5), "0.505"),
        (12.345, Threshold(10), "12.35"),
    ],
)
def test_a_score_has_as_few_digits_as_are_true(score, threshold, expected):
    assert shown_score(score, threshold) == expected


@given(st.floats(0, 1), st.integers(0, 1000).map(lambda it: it / 1000), st.sampled_from(["min", "max"]))
def test_what_is_shown_would_be_decided_the_same(score, bound, end):
    threshold = Threshold(**{end: bound})
    assert threshold.admits(float(shown_score(score, threshold))) == threshold.admits(score)


def test_digits_can_be_asked_for():
    assert shown_score(0.123456, digits=4) == "0.1235"


@pytest.mark.parametrize(
    ("n", "of", "what", "expected"),
    [
        (3, 4, "item", "3 of 4 items"),
        (1, 1, "item", "1 of 1 item"),
        (0, 0, "item", "0 of 0 items"),
        (2, 5, "", "2 of 5"),
    ],
)
def test_a_count_has_its_whole(n, of, what, expected):
    assert count_of(n, of, what=what) == expected
