"""How alike two texts are, by the pairs of neighbouring characters they share."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

__all__ = ["dice"]


def dice(left: str, right: str) -> float:
    """The Sørensen–Dice coefficient over character bigrams, 0 to 1; white space is left out, case counts.

    Twice the shared bigrams (with multiplicity) over all bigrams of both. Equal texts are 1, also empty ones; else a
    text of fewer than 2 characters shares nothing. Symmetric; linear in the lengths. After Dice 1945, Sørensen 1948.

    >>> dice("healed", "sealed"), dice("abc", "xyz"), dice("", "")
    (0.8, 0.0, 1.0)
    """
    left, right = "".join(left.split()), "".join(right.split())
    if left == right:
        return 1.0
    if len(left) < 2 or len(right) < 2:
        return 0.0
    pairs = Counter(pairwise(left))
    unmatched = pairs.get
    shared = 0
    for pair in pairwise(right):
        count = unmatched(pair)
        if count:
            pairs[pair] = count - 1
            shared += 1
    return 2.0 * shared / (len(left) + len(right) - 2)
