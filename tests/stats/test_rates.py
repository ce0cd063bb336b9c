import json
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.errors import UsageError
from proctor.stats.rates import wilson_interval
from tests.support import shared


def test_the_vectors():
    """Made by R 4.2.2 `prop.test(correct=FALSE)` and statsmodels `proportion_confint(method="wilson")`."""
    cases = json.loads(shared("stats/vectors.json").read_text(encoding="utf-8"))["methods"]["wilson"]
    assert len(cases) == 9
    for case in cases:
        given = case["in"]
        low, high = wilson_interval(given["k"], given["n"], level=given["level"])
        assert low == pytest.approx(case["out"]["low"], abs=case["tol"], rel=0)
        assert high == pytest.approx(case["out"]["high"], abs=case["tol"], rel=0)


@given(st.data(), st.integers(1, 10**9), st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_it_holds_the_rate_and_stays_inside_and_is_no_point(data, n, level):
    passes = data.draw(st.floats(0, n))
    low, high = wilson_interval(passes, n, level=level)
    assert 0 <= low <= passes / n <= high <= 1
    assert low < high


@given(st.integers(1, 10**6), st.data())
def test_it_is_symmetric(n, data):
    passes = data.draw(st.integers(0, n))
    low, high = wilson_interval(passes, n)
    assert wilson_interval(n - passes, n) == pytest.approx((1 - high, 1 - low), abs=1e-12)


def test_all_and_none_reach_the_ends_and_leave_room():
    low, high = wilson_interval(20, 20)
    assert high == 1.0
    assert low == pytest.approx(0.8389, abs=1e-4)
    assert wilson_interval(0, 20)[0] == 0.0


@pytest.mark.parametrize(("n", "least"), [(10, 0.83), (20, 0.86), (50, 0.91), (200, 0.92)])
def test_it_covers_the_truth_as_often_as_it_says(n, least):
    """By exact enumeration over true rates from .005 to .995: mean coverage near 95%, and never far below."""
    intervals = [wilson_interval(k, n) for k in range(n + 1)]
    covered = []
    for step in range(2, 399):
        p = step * 0.0025
        covered.append(
            sum(comb(n, k) * p**k * (1 - p) ** (n - k) for k, (low, high) in enumerate(intervals) if low <= p <= high)
        )
    assert 0.945 <= sum(covered) / len(covered) <= 0.958
    assert min(covered) >= least


@pytest.mark.parametrize(
    ("passes", "n", "level"),
    [(0, 0, 0.95), (1, 0.5, 0.95), (1, True, 0.95), (-1, 5, 0.95), (6, 5, 0.95), (float("nan"), 5, 0.95), (1, 5, 95)],
)
def test_what_has_no_interval_is_refused(passes, n, level):
    with pytest.raises(UsageError):
        wilson_interval(passes, n, level=level)
