"""What a run may spend on models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from proctor.data.value import Value, shown
from proctor.errors import UnknownName, UsageError

__all__ = ["Budget", "as_budget"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Budget(Value):
    """How much a run may spend, on judges and on targets that say what they took. Reached, it ends the run.

    *usd*: US dollars; *tokens*: read and written. Either or both. Calls that are in flight when it is reached are ended
    and counted, and conversations that were begun are held to their end: a run may go beyond it by those.
    """

    usd: float | None = None
    tokens: int | None = None

    def __post_init__(self) -> None:
        if self.usd is None and self.tokens is None:
            raise UsageError("Budget(usd=...) or Budget(tokens=...): one of them must be given")
        usd, tokens = self.usd, self.tokens
        number = isinstance(usd, int | float) and not isinstance(usd, bool) and isfinite(usd) and usd > 0
        if usd is not None and not number:
            raise UsageError(f"Budget(usd=...) is an amount above 0, not {shown(usd)}")
        if tokens is not None and (not isinstance(tokens, int) or isinstance(tokens, bool) or tokens < 1):
            raise UsageError(f"Budget(tokens=...) is a whole number, 1 or more, not {shown(tokens)}")

    def to_json(self) -> dict[str, Any]:
        """As plain data; `as_budget` reads it back."""
        whole = {"usd": self.usd, "tokens": self.tokens}
        return {name: value for name, value in whole.items() if value is not None}

    def __str__(self) -> str:
        parts = [] if self.usd is None else [f"${self.usd:,.2f}" if self.usd >= 0.01 else f"${self.usd:g}"]
        parts += [] if self.tokens is None else [f"{self.tokens:,} tokens"]
        return " or ".join(parts)


def as_budget(given: Any) -> Budget | None:
    """A `Budget` from itself, from a number of US dollars, or from a mapping with `usd` or `tokens`.

    >>> str(as_budget(5)), str(as_budget({"tokens": 200_000}))
    ('$5.00', '200,000 tokens')
    """
    if given is None or isinstance(given, Budget):
        return given
    if isinstance(given, Mapping):
        for name in given:
            if name not in {"usd", "tokens"}:
                raise UnknownName("part of a budget", str(name), ("usd", "tokens"))
        return Budget(**given)
    if isinstance(given, int | float) and not isinstance(given, bool):
        return Budget(usd=given)
    raise UsageError(f"budget is a number of US dollars, or Budget(usd=..., tokens=...), not {shown(given)}")
