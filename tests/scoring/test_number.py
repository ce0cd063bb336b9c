"""S16, S17: what counts as a score."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from proctor.data.codec import dumps, loads
from proctor.errors import ScoreError
from proctor.scoring.create import scorer
from proctor.scoring.number import as_score


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(True, 1.0, id="True"),
        pytest.param(False, 0.0, id="False"),
        pytest.param(1, 1.0, id="int"),
        pytest.param(0.25, 0.25, id="float"),
        pytest.param(Decimal("0.5"), 0.5, id="Decimal"),
        pytest.param(Fraction(1, 2), 0.5, id="Fraction"),
        pytest.param(np.float64(0.5), 0.5, id="numpy.float64"),
        pytest.param(np.float32(0.5), 0.5, id="numpy.float32"),
        pytest.param(np.longdouble(0.5), 0.5, id="numpy.longdouble"),
        pytest.param(np.int64(1), 1.0, id="numpy.int64"),
        pytest.param(np.True_, 1.0, id="numpy.bool"),
        pytest.param(np.array([0.5]), 0.5, id="array of one"),
        pytest.param(np.array(0.5), 0.5, id="array without dimensions"),
    ],
)
def test_s16_numbers_of_every_kind_become_floats(value, expected):
    number = as_score(value, (0, 1), scorer_id="s")
    assert (number, type(number)) == (expected, float)


@pytest.mark.parametrize(
    "value",
    [np.float64(0.5), np.True_, Decimal("0.5"), Fraction(1, 2), True, 1, np.array([0.5])],
    ids=repr,
)
def test_s16_their_outcomes_can_be_written_and_read_back(value):
    outcome = scorer(id="s")(lambda run: value).run_sync(output="x")
    assert loads(dumps(outcome)) == outcome


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("0.5", id="text"),
        pytest.param(b"1", id="bytes"),
        pytest.param(None, id="None"),
        pytest.param([0.5], id="list"),
        pytest.param({"score": 0.5}, id="mapping"),
        pytest.param(0.5 + 0j, id="complex"),
        pytest.param(np.array([0.1, 0.2]), id="array of two"),
        pytest.param(np.array([]), id="empty array"),
        pytest.param(object(), id="object"),
    ],
)
def test_s16_anything_else_is_an_error_that_names_the_scorer_and_the_type(value):
    with pytest.raises(ScoreError, match=f"my-scorer gave .*{type(value).__name__}") as caught:
        as_score(value, (0, 1), scorer_id="my-scorer")
    assert caught.value.code == "INVALID_SCORE"


def test_s16_numpy_text_is_text():
    with pytest.raises(ScoreError, match="must be a number"):
        as_score(np.str_("0.5"), (0, 1), scorer_id="s")


def test_a_forgotten_return_is_hinted_at():
    with pytest.raises(ScoreError, match="`return`"):
        as_score(None, (0, 1), scorer_id="s")


@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        math.inf,
        -math.inf,
        pytest.param(np.float64("nan"), id="numpy nan"),
        Decimal("NaN"),
        Decimal("sNaN"),
        Decimal("-Infinity"),
        pytest.param(10**400, id="int beyond floats"),
        pytest.param(Fraction(10**400), id="Fraction beyond floats"),
    ],
)
def test_what_is_not_finite_is_an_error(value):
    with pytest.raises(ScoreError) as caught:
        as_score(value, (0, 1), scorer_id="s")
    assert caught.value.code == "SCORE_NOT_FINITE"


@pytest.mark.parametrize(("value", "edge"), [(1.0000000002, 1.0), (-1e-17, 0.0), (1 + 1e-9, 1.0), (-1e-9, 0.0)])
def test_s17_rounding_noise_is_put_on_the_edge(value, edge):
    assert as_score(value, (0, 1), scorer_id="s") == edge


@pytest.mark.parametrize("value", [1.2, -0.3, 7, -2, 1 + 1e-8])
def test_s17_a_score_outside_the_range_is_an_error_that_names_value_and_range(value):
    with pytest.raises(ScoreError) as caught:
        as_score(value, (0, 1), scorer_id="my-scorer")
    assert caught.value.code == "SCORE_OUT_OF_RANGE"
    assert f"my-scorer gave {value!r}, outside its range 0 to 1" in str(caught.value)


def test_the_range_is_the_scorers_own():
    assert as_score(7, (0, 10), scorer_id="s") == 7.0
    assert as_score(10 + 1e-10, (0, 10), scorer_id="s") == 10.0
    with pytest.raises(ScoreError, match="range -1 to 1"):
        as_score(-2, (-1, 1), scorer_id="s")
