"""What a model call used: tokens and money, with what is unknown left unknown."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

from proctor.data.value import Value, shown
from proctor.errors import UsageError

__all__ = ["Cost", "Usage"]

_MOST = 1e15  # more money than there is; sums of it stay finite


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Usage(Value):
    """Token counts as the provider reported them; None where it said nothing."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            count = getattr(self, field.name)
            if count is not None and (not isinstance(count, int) or isinstance(count, bool) or count < 0):
                raise UsageError(f"Usage({field.name}=...) is a count of tokens or None, not {shown(count)}")

    @property
    def total(self) -> int | None:
        """The total as reported, else the sum of the parts that are known; None when none is."""
        if self.total_tokens is not None:
            return self.total_tokens
        known = [count for count in (self.input_tokens, self.output_tokens) if count is not None]
        return sum(known) if known else None

    def __add__(self, other: Usage) -> Usage:
        """Field by field; a count that only one side knows is kept. A total is of both, reported or not."""
        counts = {field.name: _sum(getattr(self, field.name), getattr(other, field.name)) for field in fields(self)}
        if counts["total_tokens"] is not None:
            counts["total_tokens"] = _sum(self.total, other.total)
        return Usage(**counts)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Cost(Value):
    """What a call cost. *source*: who says so: `provider`, or the price list and its version."""

    amount: float
    unit: Literal["USD"] | str = "USD"
    source: str = "provider"

    def __post_init__(self) -> None:
        amount = self.amount
        if not isinstance(amount, int | float) or isinstance(amount, bool) or not 0 <= amount <= _MOST:
            raise UsageError(f"Cost(amount=...) is a finite number, 0 or more, not {shown(amount)}")


def _sum(left: int | None, right: int | None) -> int | None:
    if left is None or right is None:
        return right if left is None else left
    return left + right
