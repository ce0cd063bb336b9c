"""A scorer where it is used: with a threshold, or without."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from proctor.data.fields import named_fields
from proctor.data.threshold import TOLERANCE, Threshold
from proctor.data.value import Value
from proctor.errors import UsageError
from proctor.scoring.scorer import Scorer

__all__ = ["ScorerEntry", "read_entries", "read_entry"]


@dataclass(frozen=True, slots=True, repr=False)
class ScorerEntry(Value):
    """A scorer and the bound on its mean; also written `(scorer, threshold)`. Without a bound it decides nothing."""

    scorer: Scorer
    threshold: Any = None

    def __post_init__(self) -> None:
        if not isinstance(self.scorer, Scorer):
            raise UsageError(f"an entry takes a scorer, not {_shown(self.scorer)}{_hint(self.scorer)}")
        if self.threshold is not None:
            threshold = Threshold.of(self.threshold)
            if self.scorer.better == "lower" and not isinstance(self.threshold, Threshold | Mapping):
                raise UsageError(
                    f"a number is a least mean, but for {self.scorer.key} lower is better: "
                    f"use Threshold(max={self.threshold!r})",
                    code="INVALID_SCORER_THRESHOLD",
                )
            _check_range(self.scorer, threshold)
            object.__setattr__(self, "threshold", threshold)

    def to_ref(self) -> Any:
        """What is written of this entry: the scorer's reference, with the threshold when there is one."""
        reference = self.scorer.to_ref()
        return reference if self.threshold is None else (reference, self.threshold)


def read_entries(given: Any, where: str) -> tuple[ScorerEntry, ...]:
    """Entries from a list of scorers, `(scorer, threshold)` pairs, mappings and ScorerEntry values."""
    if isinstance(given, Scorer | str | Mapping) or not isinstance(given, Iterable):
        code = "INVALID_AGENT_SCORERS" if where == "scorers" else None
        hint = "; put it in a list: [...]" if isinstance(given, Scorer) else ""
        raise UsageError(f"{where} must be a list of scorers, not {_shown(given)}{hint}", code=code)
    return tuple(read_entry(entry, f"{where}[{index}]") for index, entry in enumerate(given))


def read_entry(given: Any, where: str) -> ScorerEntry:
    """One entry. Every mistake names *where* it stands."""
    try:
        if isinstance(given, ScorerEntry):
            return given
        if isinstance(given, tuple) and len(given) == 2:
            return ScorerEntry(given[0], _stated(given[1]))
        if isinstance(given, Mapping):
            named = named_fields(given, ["scorer", "threshold"], what="an entry")
            threshold = _stated(named["threshold"]) if "threshold" in named else None
            return ScorerEntry(named.get("scorer"), threshold)  # type: ignore[arg-type]  # checked there
        return ScorerEntry(given)
    except UsageError as problem:
        raise UsageError(f"{where}: {problem}", code=problem.code) from problem


def _stated(threshold: Any) -> Any:
    """A threshold that somebody wrote. None would take the bound away without a word."""
    if threshold is None:
        raise UsageError("the threshold is None; give a bound, or the scorer alone", code="INVALID_SCORER_THRESHOLD")
    return threshold


def _check_range(scorer: Scorer, threshold: Threshold) -> None:
    low, high = scorer.range
    for name, bound in (("min", threshold.min), ("max", threshold.max)):
        if bound is not None and not low - TOLERANCE <= bound <= high + TOLERANCE:
            message = f"threshold {name} {bound:g} of {scorer.key} is outside the scorer's range {low:g} to {high:g}"
            if high == 1 < bound <= 100:
                message += f"; for {bound:g}% write {bound / 100:g}"
            raise UsageError(message, code="INVALID_SCORER_THRESHOLD")
    share = threshold.min
    if (
        share is not None
        and scorer.better == "higher"
        and 0 < share <= 1 < high - low
        and share <= low + (high - low) / 5
    ):
        warnings.warn(
            f"threshold {share:g} of {scorer.key} is on its range, {low:g} to {high:g}; "
            f"for {share:.0%} of it write {low + share * (high - low):g}",
            stacklevel=2,
        )


def _shown(value: Any) -> str:
    name = getattr(value, "__name__", None)
    return f"the function {name}" if name and callable(value) else f"{type(value).__name__} {value!r}"[:120]


def _hint(value: Any) -> str:
    module = getattr(value, "__module__", "") or ""
    if callable(value) and module.startswith("proctor.checks"):
        return f"; call it: checks.{value.__name__}(...)"
    if not callable(value) or isinstance(value, type):
        return ""
    name = getattr(value, "__name__", "it")
    return f"; put @scorer over it, or call it if it makes a scorer: {name}(...)"
