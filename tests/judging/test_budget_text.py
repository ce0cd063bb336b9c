"""A budget as it is written on a command line."""

import pytest

from proctor.errors import UsageError
from proctor.judging.budget import Budget, as_budget
from proctor.judging.budget_text import budget_from


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("5", Budget(usd=5)),
        ("0.50", Budget(usd=0.5)),
        ("5usd", Budget(usd=5)),
        ("5 USD", Budget(usd=5)),
        ("200000tokens", Budget(tokens=200_000)),
        ("200000 tokens", Budget(tokens=200_000)),
        ("5usd,200000tokens", Budget(usd=5, tokens=200_000)),
        ("200000tokens, 0.1", Budget(usd=0.1, tokens=200_000)),
    ],
)
def test_it_is_written_as(text, meant):
    assert budget_from(text) == meant
    assert as_budget(meant.to_json()) == meant


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "'' is no amount"),
        ("five", "'five' is no amount"),
        ("-5", "'-5' is no amount"),
        ("$5", "is no amount"),
        ("200k tokens", "is no amount"),
        ("5eur", "is no amount"),
        ("1e3", "is no amount"),
        ("nan", "is no amount"),
        ("5,", "'' is no amount"),
        ("5,000", "dollars are there twice"),
        ("1tokens,2tokens", "tokens are there twice"),
        ("1.5tokens", "a whole number"),
        ("0", "above 0"),
        ("0tokens", "above 0"),
    ],
)
def test_what_cannot_be_meant_is_told(text, why):
    with pytest.raises(UsageError, match=r"write 5 or 0\.50") as told:
        budget_from(text)
    assert why in str(told.value)
