"""What is known of a model without asking it: its window and its price, from the list that `genai-prices` ships.

Nothing is fetched: the list is as old as the installed package, and its version stands in every source.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from proctor.data.usage import Cost
from proctor.errors import did_you_mean
from proctor.judging.model import Price

if TYPE_CHECKING:
    from genai_prices.types import AbstractUsage, ModelInfo

__all__ = ["cost_of", "like", "price_of", "window_of"]


def window_of(model: str, *, provider: str | None, url: str | None) -> int | None:
    """The tokens that the model reads and writes in all; None when the list does not know it."""
    found = _find(model, provider=provider, url=url)
    return found.context_window if found else None


def price_of(model: str, *, provider: str | None, url: str | None) -> Price | None:
    """The most that a token costs today, so that an estimate is no promise too low; None when it is not known."""
    found = _find(model, provider=provider, url=url)
    if found is None:
        return None
    prices = _prices(found)
    read, written = (_dearest(getattr(prices, name, None)) for name in ("input_mtok", "output_mtok"))
    if read is None or written is None:
        return None
    return Price(input_token=read / 1e6, output_token=written / 1e6, source=_source())


def cost_of(usage: AbstractUsage, model: str, *, provider: str | None, url: str | None) -> Cost | None:
    """What these tokens cost; None when the price is not known."""
    found = _find(model, provider=provider, url=url)
    if found is None or _dearest(getattr(_prices(found), "output_mtok", None)) is None:
        return None
    try:
        total = _prices(found).calc_price(usage)["total_price"]
    except ValueError:  # a usage that says that more was cached than was read
        return None
    return Cost(amount=float(total), source=_source())


def like(model: str, *, provider: str | None) -> str:
    """The sentence ` Did you mean 'x'?` for a model of the provider's that is not in the list, or an empty text."""
    from genai_prices.data_snapshot import get_snapshot

    if _find(model, provider=provider, url=None) is not None:
        return ""
    try:
        known = get_snapshot().find_provider(None, provider, None).models
    except LookupError:
        return ""
    return did_you_mean(model, [each.id for each in known])


def _find(model: str, *, provider: str | None, url: str | None) -> ModelInfo | None:
    """By the address first: others serve models of the same names."""
    from genai_prices.data_snapshot import get_snapshot

    for where in ({"provider_id": None, "provider_api_url": url}, {"provider_id": provider, "provider_api_url": None}):
        if not any(where.values()):
            continue
        try:
            return get_snapshot().find_provider_model(model, None, **where)[1]
        except LookupError:
            continue
    return None


def _prices(model: ModelInfo) -> Any:
    from datetime import UTC, datetime

    return model.get_prices(datetime.now(UTC)) if model.prices else None


def _dearest(price: Any) -> float | None:
    """Of a price in tiers, the highest."""
    if price is None:
        return None
    tiers = [tier.price for tier in getattr(price, "tiers", ())]
    return float(max([getattr(price, "base", price), *tiers]))


def _source() -> str:
    import genai_prices

    return f"genai-prices {genai_prices.__version__}"
