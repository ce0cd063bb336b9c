"""How numbers are shown: with enough digits that the reader sees the side they were decided on, and of what."""

from __future__ import annotations

from dataclasses import replace

from proctor.data.threshold import Threshold

__all__ = ["count_of", "plural", "shown_interval", "shown_score"]


def shown_score(score: float | None, threshold: Threshold | None = None, *, digits: int = 2) -> str:
    """A score in as few digits as are true: at least *digits*, more until rounding does not change the decision.

    >>> shown_score(0.69996, Threshold(0.7))
    '0.69996'
    >>> shown_score(2 / 3, Threshold(0.67)), shown_score(2 / 3, Threshold(2 / 3))
    ('0.667', '0.67')
    >>> shown_score(None)
    '-'
    """
    if score is None:
        return "-"
    if threshold is None:
        return f"{score:.{digits}f}"
    decided = threshold.admits(score)
    as_shown = replace(threshold, min=_six_digits(threshold.min), max=_six_digits(threshold.max))
    for more in range(digits, 17):
        text = f"{score:.{more}f}"
        if as_shown.admits(float(text)) == decided:
            return text
    return repr(score)


def _six_digits(bound: float | None) -> float | None:
    """A bound as `Threshold` shows it."""
    return None if bound is None else float(f"{bound:g}")


def shown_interval(bounds: tuple[float, float] | None, *, digits: int = 2) -> str:
    """Two bounds, in digits enough to tell them apart; empty when there are none.

    >>> shown_interval((0.7123, 0.98)), shown_interval((-0.2, 0.5)), shown_interval((0.50001, 0.50002))
    ('0.71-0.98', '-0.20 to 0.50', '0.50001-0.50002')
    """
    if bounds is None:
        return ""
    between = " to " if bounds[0] < 0 else "-"
    for more in range(digits, 17):
        low, high = (f"{bound:.{more}f}" for bound in bounds)
        if low != high:
            return f"{low}{between}{high}"
    return between.join(map(repr, bounds))


def count_of(n: int, of: int, *, what: str = "") -> str:
    """`3 of 4 items`: never a number without its whole.

    >>> count_of(3, 4, what="item")
    '3 of 4 items'
    """
    return f"{n} of {plural(of, what)}" if what else f"{n} of {of}"


def plural(n: int, what: str) -> str:
    """`1 row`, `2 rows`.

    >>> plural(1, "row"), plural(0, "row")
    ('1 row', '0 rows')
    """
    return f"{n} {what}{'' if n == 1 else 's'}"
