"""Sums of floats without rounding error, so that a mean is the same in any order, at any concurrency."""

from __future__ import annotations

from math import fsum

__all__ = ["ExactSum"]


class ExactSum:
    """A running sum, exact: a few floats that add up to it without overlapping. After Shewchuk 1997.

    >>> total = ExactSum()
    >>> for _ in range(10):
    ...     total.add(0.1)
    >>> total.value, sum([0.1] * 10)
    (1.0, 0.9999999999999999)
    """

    __slots__ = ("_partials",)

    def __init__(self) -> None:
        self._partials: list[float] = []

    def add(self, x: float) -> None:
        """Add a finite float."""
        partials = self._partials
        kept = 0
        for y in partials:
            if abs(x) < abs(y):
                x, y = y, x  # noqa: PLW2901 - the larger one first, as the method has it
            high = x + y
            low = y - (high - x)
            if low:
                partials[kept] = low
                kept += 1
            x = high
        partials[kept:] = [x]

    def merge(self, other: ExactSum) -> None:
        """Add another sum, exactly."""
        for partial in list(other._partials):
            self.add(partial)

    def copy(self) -> ExactSum:
        """The same sum, to be added to by itself."""
        made = ExactSum()
        made._partials = self._partials.copy()
        return made

    @property
    def value(self) -> float:
        """The sum, rounded once."""
        return fsum(self._partials)
