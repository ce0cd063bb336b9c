"""What counts as a score: a finite number inside the scorer's range, and nothing else."""

from __future__ import annotations

from math import isfinite
from typing import Any

from proctor.data.threshold import TOLERANCE
from proctor.data.value import shown
from proctor.errors import ScoreError

__all__ = ["as_score"]

_BOOLS = {False: 0.0, True: 1.0}


def as_score(value: Any, bounds: tuple[float, float], *, scorer_id: str) -> float:
    """*value* as a float inside *bounds*. True and False are 1.0 and 0.0; numpy, Decimal and Fraction are floats.

    A value within 1e-9 outside the range is on its edge. Raises `ScoreError` that names the value and the scorer.

    >>> as_score(True, (0, 1), scorer_id="polite"), as_score(1.0000000002, (0, 1), scorer_id="polite")
    (1.0, 1.0)
    """
    number: float = value
    if type(value) is bool:
        number = _BOOLS[value]
    elif type(value) is not float:
        number = _foreign(value, scorer_id)
    low, high = bounds
    if low <= number <= high:
        return number
    if not isfinite(number):
        raise ScoreError(f"{scorer_id} gave {shown(value)}: a score must be a finite number", code="SCORE_NOT_FINITE")
    if low - TOLERANCE <= number <= high + TOLERANCE:
        return min(max(number, float(low)), float(high))
    raise ScoreError(
        f"{scorer_id} gave {shown(value)}, outside its range {low:g} to {high:g}; "
        "declare range= or scale= if this is meant",
        code="SCORE_OUT_OF_RANGE",
    )


def _foreign(value: Any, scorer_id: str) -> float:
    from decimal import Decimal
    from numbers import Real

    if type(value).__module__.partition(".")[0] == "numpy" and getattr(value, "size", 0) == 1:
        value = value.item()
    if isinstance(value, Real | Decimal):
        try:
            return float(value)
        except (OverflowError, ValueError) as problem:
            raise ScoreError(f"{scorer_id} gave {shown(value)}: {problem}", code="SCORE_NOT_FINITE") from None
    hint = "; did the function end without `return`?" if value is None else ""
    if isinstance(value, tuple | dict):
        hint = "; to give a reason too return Score(value, reason=...)"
    raise ScoreError(
        f"{scorer_id} gave {shown(value)} ({type(value).__name__}): a score must be a number or a bool{hint}"
    )
