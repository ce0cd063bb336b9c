"""Estimates of tokens: one too high, one too low."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.judging.tokens import estimated_tokens, least_tokens


@given(st.text(st.characters(codec=None)))
def test_the_least_is_never_more_than_the_estimate(text):
    assert 0 <= least_tokens(text) <= estimated_tokens(text)


@pytest.mark.parametrize(
    ("text", "least", "estimated"),
    [("", 0, 0), ("a", 0, 1), ("Was the refund fair?", 2, 7), (" " * 128, 1, 43), ("日本語", 0, 3), ("\ud800", 0, 1)],
    ids=["empty", "letter", "question", "spaces", "three bytes each", "surrogate"],
)
def test_what_is_counted(text, least, estimated):
    assert (least_tokens(text), estimated_tokens(text)) == (least, estimated)


def test_long_runs_of_one_character_may_be_single_tokens():
    assert least_tokens("=" * 1000 + "\n" * 1000) == 2
