"""What the price list of the installed package knows."""

import pytest
from pydantic_ai.usage import RequestUsage

from proctor.models.prices import cost_of, like, price_of, window_of

OPENAI = {"provider": "openai", "url": None}


def test_a_known_model_has_a_window_a_price_and_costs():
    assert window_of("gpt-5-mini", **OPENAI) == 400_000
    price = price_of("gpt-5-mini", **OPENAI)
    used = RequestUsage(input_tokens=1000, output_tokens=100)
    cost = cost_of(used, "gpt-5-mini-2025-08-07", **OPENAI)
    assert cost.amount == pytest.approx(1000 * price.input_token + 100 * price.output_token)
    assert (cost.unit, cost.source) == ("USD", price.source)
    assert price.source.startswith("genai-prices 0.")


def test_a_misspelt_model_is_like_one_of_the_list():
    assert like("gpt-5-mnii", provider="openai") == " Did you mean 'gpt-5-mini'?"
    assert like("gpt-5-mini", provider="openai") == ""
    assert like("xyz", provider="openai") == ""
    assert like("gpt-5-mnii", provider="nobody") == ""
    assert like("gpt-5-mnii", provider=None) == ""


def test_what_was_read_from_a_cache_costs_less():
    used = RequestUsage(input_tokens=1000, cache_read_tokens=900, output_tokens=100)
    whole = RequestUsage(input_tokens=1000, output_tokens=100)
    assert cost_of(used, "gpt-5-mini", **OPENAI).amount < cost_of(whole, "gpt-5-mini", **OPENAI).amount


def test_a_price_in_tiers_is_the_highest_of_them():
    price = price_of("gemini-2.5-pro", provider="google", url=None)
    least = cost_of(RequestUsage(input_tokens=1000, output_tokens=0), "gemini-2.5-pro", provider="google", url=None)
    assert price.input_token * 1000 > least.amount


@pytest.mark.parametrize(
    ("model", "where"),
    [
        ("no-such-model", OPENAI),
        ("gpt-5-mini", {"provider": None, "url": "http://127.0.0.1:9/v1"}),
        ("gpt-5-mini", {"provider": "function", "url": None}),
        ("gpt-5-mini", {"provider": None, "url": None}),
    ],
)
def test_what_is_not_known_is_none(model, where):
    assert window_of(model, **where) is None
    assert price_of(model, **where) is None
    assert cost_of(RequestUsage(input_tokens=1, output_tokens=1), model, **where) is None


def test_an_address_says_more_than_a_name():
    assert window_of("gpt-5-mini", provider=None, url="https://api.openai.com/v1/") == 400_000


def test_a_usage_that_cannot_be_has_no_cost():
    used = RequestUsage(input_tokens=1, cache_read_tokens=100, output_tokens=1)
    assert cost_of(used, "gpt-5-mini", **OPENAI) is None
