"""How far two sequences follow each other: the longest common subsequence, and the fewest edits between them.

Both cost the product of the lengths. Sequences are compared whole while that takes a second at most (60,000 characters
against as many). Of longer ones, what both begin and end with is taken off first, which changes nothing; what is left
is compared piece by piece when it is still too long, each piece with the one at the same share of the other side. Then
the common part is *at least* the one found, and the edits are *at most* those found. Equal sequences stay equal, and
which side comes first never matters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

__all__ = ["Aligned", "cost", "edits", "in_common"]

AT_ONCE = 4 * 10**9
"""Cells that are compared whole: a tenth of a second for plain letters, eight for thousands of different ones."""

Units: TypeAlias = str | Sequence[str]


class Aligned(NamedTuple):
    """What was counted, and in how many pieces: 1 when it is exact."""

    found: int
    pieces: int


def in_common(left: Units, right: Units) -> Aligned:
    """The length of the longest common subsequence, or what it is at least. By bit vectors, after Hyyrö 2004.

    >>> in_common("kitten", "sitting").found
    4
    """
    from rapidfuzz.distance import LCSseq

    ends, left, right = _apart(left, right)
    found, pieces = _summed(LCSseq.similarity, left, right)
    return Aligned(found + ends, pieces)


def edits(left: Units, right: Units) -> Aligned:
    """The fewest insertions, deletions and substitutions, or what they are at most. Levenshtein 1966, Hyyrö 2003.

    >>> edits("kitten", "sitting").found
    3
    """
    from rapidfuzz.distance import Levenshtein

    _, left, right = _apart(left, right)
    found, pieces = _summed(Levenshtein.distance, left, right)
    return Aligned(min(found, max(len(left), len(right))), pieces)  # pieces may part where letters do not


def cost(left: Units, right: Units) -> int:
    """How many cells the comparison has at most; what is quick can be done on an event loop."""
    return min(len(left) * len(right), AT_ONCE)


def _summed(count: Callable[[Any, Any], int], left: Units, right: Units) -> Aligned:
    pieces = -(-len(left) * len(right) // AT_ONCE) or 1
    if pieces == 1:
        return Aligned(count(left, right), 1)
    return Aligned(sum(count(a, b) for a, b in zip(_cut(left, pieces), _cut(right, pieces), strict=True)), pieces)


def _cut(units: Units, pieces: int) -> Iterator[Units]:
    for piece in range(pieces):
        yield units[len(units) * piece // pieces : len(units) * (piece + 1) // pieces]


def _apart(left: Units, right: Units) -> tuple[int, Units, Units]:
    """How much both begin and end with, and what is left of each. By halving, since slices compare fast.

    What is short anyway stays as it is.
    """
    if len(left) * len(right) <= AT_ONCE:
        return 0, left, right
    if type(left) is not type(right):
        left, right = list(left), list(right)
    shorter = min(len(left), len(right))
    start = _agreeing(shorter, lambda a, b: left[a:b] == right[a:b])
    left, right, shorter = left[start:], right[start:], shorter - start
    m, n = len(left), len(right)
    end = _agreeing(shorter, lambda a, b: left[m - b : m - a] == right[n - b : n - a])
    return start + end, left[: m - end], right[: n - end]


def _agreeing(length: int, agree: Callable[[int, int], bool]) -> int:
    """How many of the first *length* units agree."""
    low, high = 0, length
    while low < high:
        middle = (low + high + 1) // 2
        if agree(low, middle):
            low = middle
        else:
            high = middle - 1
    return low
