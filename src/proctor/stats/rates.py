"""How sure a rate is: the interval that is shown beside every mean."""

from __future__ import annotations

from functools import lru_cache
from math import sqrt

from proctor.errors import UsageError

__all__ = ["wilson_interval"]


def wilson_interval(passes: float, n: int, *, level: float = 0.95) -> tuple[float, float]:
    """The Wilson score interval (Wilson 1927) of a rate: *passes* of *n* independent cases. Both ends are in 0 to 1.

    *passes* need be no whole number: the sum of graded scores from 0 to 1 gives the interval of their mean, wider than
    it need be, since such scores vary less than passes and fails. *level*: two-sided, a fraction. The interval is never
    a point: 20 of 20 leaves room below 1. No cases have no interval: *n* of 0 is a `UsageError`.

    >>> [round(bound, 3) for bound in wilson_interval(8, 10)]
    [0.49, 0.943]
    """
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise UsageError(f"n must be a count of cases, 1 or more, not {n!r}")
    if not 0 <= passes <= n:
        raise UsageError(f"passes must be from 0 to {n}, not {passes!r}")
    if not 0 < level < 1:
        raise UsageError(f"level must be a fraction between 0 and 1, such as 0.95, not {level!r}")
    p, z = passes / n, _z(level)
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    low = 0.0 if passes == 0 else max(0.0, centre - half)
    high = 1.0 if passes == n else min(1.0, centre + half)
    return min(low, p), max(high, p)


@lru_cache
def _z(level: float) -> float:
    from statistics import NormalDist

    return NormalDist().inv_cdf((1 + level) / 2)
