"""A bound on a mean."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from proctor.data.fields import named_fields
from proctor.data.value import Value
from proctor.errors import UsageError

__all__ = ["TOLERANCE", "Threshold", "least_at"]

TOLERANCE = 1e-9
"""Scores and means this near to a bound are on it: sums of floats must not decide a release."""

_LARGEST = sys.float_info.max  # also refuses NaN, the infinities, and ints that no float can hold
_CODE = "INVALID_SCORER_THRESHOLD"


@dataclass(frozen=True, slots=True, repr=False)
class Threshold(Value):
    """Bounds on a scorer's mean, in the scorer's own units, both ends included.

    *max_errors*: the rate of items (0 to 1) that may have an error or a failed target before the threshold is missed
    whatever the mean. *min_scored*: how many items must have a score; 0 leaves a threshold that scored nothing out.

    >>> Threshold(0.5).admits(0.5), Threshold(max=0).admits(0.25)
    (True, False)
    """

    min: float | None = None
    max: float | None = None
    max_errors: float = 0.0
    min_scored: int = 1

    def __post_init__(self) -> None:
        for name, bound in (("min", self.min), ("max", self.max)):
            if bound is not None and (not _is_number(bound) or not abs(bound) <= _LARGEST):
                raise UsageError(f"threshold {name} must be a finite number, not {bound!r}", code=_CODE)
        if self.min is None and self.max is None:
            raise UsageError("a threshold needs min, max or both", code=_CODE)
        if self.min is not None and self.max is not None and self.min > self.max:
            raise UsageError(f"threshold min {self.min!r} is above max {self.max!r}", code=_CODE)
        if not _is_number(self.max_errors) or not 0 <= self.max_errors <= 1:
            raise UsageError(f"max_errors is a rate from 0 to 1, not {self.max_errors!r}", code=_CODE)
        if not isinstance(self.min_scored, int) or isinstance(self.min_scored, bool) or self.min_scored < 0:
            raise UsageError(f"min_scored is a count of items, 0 or more, not {self.min_scored!r}", code=_CODE)

    @classmethod
    def of(cls, value: Any) -> Threshold:
        """A threshold from a number (the least mean), a mapping of the fields, or a Threshold."""
        if isinstance(value, Threshold):
            return value
        if _is_number(value):
            return cls(min=value)
        if isinstance(value, Mapping):
            return cls(**named_fields(value, [field.name for field in fields(cls)], what="a threshold", code=_CODE))
        raise UsageError(
            f"a threshold is a number, {{'min': ..., 'max': ...}} or Threshold(...), not {value!r}", code=_CODE
        )

    def admits(self, mean: float) -> bool:
        """Whether a mean is inside the bounds, with a tolerance of 1e-9."""
        above = self.min is None or mean >= least_at(self.min)
        return above and (self.max is None or mean <= self.max + TOLERANCE)

    def __str__(self) -> str:
        bounds = [
            f">= {self.min:g}" if self.min is not None else "",
            f"<= {self.max:g}" if self.max is not None else "",
        ]
        fewest = f" (n >= {self.min_scored})" if self.min_scored > 1 else ""
        return " and ".join(bound for bound in bounds if bound) + fewest


def least_at(bound: float) -> float:
    """The least number that still counts as *bound*."""
    return bound - TOLERANCE


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
