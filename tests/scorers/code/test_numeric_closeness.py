import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor import UsageError, scorers
from proctor.errors import UnknownName

FINITE = st.floats(allow_nan=False, allow_infinity=False)


def outcome(expected, output, **options):
    return scorers.numeric_closeness(**options).run_sync(output=output, ground_truth=expected)


@pytest.mark.parametrize(
    ("expected", "output", "options", "score"),
    [
        pytest.param(100, 90, {}, 1 - 10 / 190, id="near"),
        pytest.param(5, -5, {}, 0, id="other sign"),
        pytest.param(0, 0, {}, 1, id="both zero"),
        pytest.param(0, 1e-12, {}, 0, id="zero and hardly more"),
        pytest.param(0, 1e-12, {"tolerance": 1e-9}, 1, id="zero and hardly more, tolerated"),
        pytest.param(1.0, 1.1, {"tolerance": 0.1}, 1, id="just within"),
        pytest.param(1.0, 1.11, {"tolerance": 0.1}, 1 - 0.11 / 2.11, id="just outside"),
        pytest.param(1000, 1010, {"relative": 0.01}, 1, id="within a share"),
        pytest.param(1000, 1020, {"relative": 0.01}, 1 - 20 / 2020, id="outside a share"),
        pytest.param(0.3, 0.1 + 0.2, {}, 1, id="rounding"),
        pytest.param(1.7e308, -1.7e308, {}, 0, id="nothing overflows"),
        pytest.param(5e-324, 5e-324, {}, 1, id="the smallest number"),
        pytest.param("42", "42", {}, 1, id="numbers written as text"),
        pytest.param(Decimal("1.5"), 1.5, {}, 1, id="decimal"),
        pytest.param(1234.5, " 1,234.5 ", {}, 1, id="thousands"),
        pytest.param(-3, "−3", {}, 1, id="a real minus sign"),
        pytest.param(0.5, ".5", {}, 1, id="no leading zero"),
        pytest.param(1200, "1.2e3", {}, 1, id="with an exponent"),
        pytest.param(12, "１２", {}, 1, id="wide digits"),
        pytest.param(42, "It is 42.", {}, 0, id="text around it"),
        pytest.param(42, "6 times 7 makes 42.", {"take": "last"}, 1, id="the last number"),
        pytest.param(6, "6 times 7 makes 42.", {"take": "first"}, 1, id="the first number"),
        pytest.param(42, "None at all", {"take": "last"}, 0, id="no number to take"),
        pytest.param(-4, "from 3 to -4", {"take": "last"}, 1, id="the sign belongs to it"),
        pytest.param(2026, "2026-01-02", {"take": "first"}, 1, id="a dash between is no sign"),
    ],
)
def test_scores(expected, output, options, score):
    assert outcome(expected, output, **options).score == pytest.approx(score, abs=1e-12)


@given(FINITE, FINITE)
def test_d03_it_is_symmetric_and_in_range(left, right):
    score = outcome(left, right).score
    assert 0 <= score <= 1
    assert score == outcome(right, left).score
    assert outcome(left, left).score == 1


@given(st.floats(0, 1e300), st.floats(0, 1e300), st.floats(0, 1e300))
def test_on_one_side_what_is_nearer_scores_no_less(expected, this, that):
    near, far = sorted([this, that], key=lambda answer: abs(answer - expected))
    if (near > expected) == (far > expected):
        assert outcome(expected, near).score >= outcome(expected, far).score - 1e-12


@pytest.mark.parametrize(
    "truth", [math.nan, math.inf, "inf", "NaN", "", None, True, "about 5", [5], 10**400], ids=lambda it: repr(it)[:12]
)
def test_d03_a_ground_truth_that_is_no_number_is_not_scorable(truth):
    assert outcome(truth, 5).status == "not_scorable"


@pytest.mark.parametrize(
    "output",
    ["", "null", "NaN", "inf", "-inf", "zero", "0x0", "1e999", math.nan, math.inf, False],
    ids=lambda it: repr(it)[:12],
)
def test_s06_what_is_no_number_is_no_match_for_zero(output):
    found = outcome(0, output)
    assert found.score == 0
    assert "is no number" in found.reason


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"expected": "5"}, UsageError, "must be a finite number, not '5'"),
        ({"expected": True}, UsageError, "must be a finite number, not True"),
        ({"expected": math.inf}, UsageError, "must be a finite number, not inf"),
        ({"tolerance": -1}, UsageError, "tolerance must be a number, 0 or more, not -1"),
        ({"relative": "1%"}, UsageError, "relative must be a number, 0 or more, not '1%'"),
        ({"take": "lst"}, UnknownName, "Did you mean 'last'"),
    ],
)
def test_options_are_refused_when_written(options, error, message):
    with pytest.raises(error, match=message):
        scorers.numeric_closeness(**options)


def test_keys_name_what_was_given():
    assert scorers.numeric_closeness(42, tolerance=1).key == "numeric-closeness-scorer[42,tolerance=1.0]"


def test_the_reason_has_both_numbers():
    assert outcome(100, "90").reason == "90 and 100 differ by 10"
