import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.stats import alignment
from proctor.stats.alignment import cost, edits, in_common

FEW = st.text("abc", max_size=12)


def longest_common(left, right):
    """The textbook table."""
    row = [0] * (len(right) + 1)
    for a in left:
        before = 0
        for j, b in enumerate(right, 1):
            before, row[j] = row[j], before + 1 if a == b else max(row[j], row[j - 1])
    return row[-1]


def fewest_edits(left, right):
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        before, row[0] = row[0], i
        for j, b in enumerate(right, 1):
            before, row[j] = row[j], min(before + (a != b), row[j] + 1, row[j - 1] + 1)
    return row[-1]


@given(FEW, FEW)
def test_it_is_what_the_textbook_table_gives(left, right):
    assert in_common(left, right) == (longest_common(left, right), 1)
    assert edits(left, right) == (fewest_edits(left, right), 1)


@given(FEW, FEW)
def test_lists_are_like_texts(left, right):
    assert in_common(list(left), list(right)) == in_common(left, right)
    assert edits(list(left), list(right)) == edits(left, right)


@given(FEW, FEW)
def test_in_pieces_it_is_a_bound_on_the_safe_side(left, right):
    exact = longest_common(left, right), fewest_edits(left, right)
    at_once, alignment.AT_ONCE = alignment.AT_ONCE, 9
    try:
        common, apart = in_common(left, right), edits(left, right)
        assert common == in_common(right, left)
        assert apart == edits(right, left)
        assert in_common(left, left).found == len(left)
        assert edits(left, left).found == 0
    finally:
        alignment.AT_ONCE = at_once
    assert 0 <= common.found <= exact[0]
    assert exact[1] <= apart.found <= max(len(left), len(right))
    assert max(common.pieces, apart.pieces) > 1 or (common.found, apart.found) == exact


@pytest.mark.slow
@pytest.mark.parametrize("alphabet", ["ab", "".join(map(chr, range(0x4E00, 0x9000)))], ids=["two letters", "han"])
def test_d05_five_million_characters_take_seconds(alphabet):
    size = 5_000_000 if alphabet.isascii() else 1_700_000
    left, right = ("".join(random.Random(seed).choices(alphabet, k=size)) for seed in (1, 2))
    began = time.process_time()
    common, apart = in_common(left, right), edits(left, right)
    assert time.process_time() - began < 10
    assert common.pieces == apart.pieces > 1
    assert 0 < common.found < size
    assert 0 < apart.found < size


def test_a_change_in_a_long_text_is_counted_exactly():
    text = "".join(random.Random(1).choices("abcdefgh ", k=2_000_000))
    changed = f"{text[:900_000]}_{text[900_000:950_000]}{text[950_001:]}"
    assert edits(text, changed) == (2, 1)
    assert in_common(text, changed) == (1_999_999, 1)


def test_what_is_long_is_known_before_it_is_compared():
    assert cost("ab", "abc") == 6
    assert cost("a" * 10**6, "b" * 10**6) == alignment.AT_ONCE
