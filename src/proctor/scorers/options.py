"""The options that several scorers have: each is what it should be, or a `UsageError` that says what to write.

*scorer* is the name of the function that is called, by which every message begins.
"""

from __future__ import annotations

from math import isfinite
from typing import Any, Final

from proctor.data.value import shown
from proctor.errors import UsageError

__all__ = ["PROVIDERS", "as_number", "margin_option", "refuse_model", "scale_option", "share_option", "text_of"]

PROVIDERS: Final = frozenset({
    "alibaba", "anthropic", "azure", "azure-responses", "bedrock", "cerebras", "cohere", "deepseek",
    "fireworks", "google", "google-cloud", "google-gla", "google-vertex", "groq", "huggingface", "litellm",
    "local", "mistral", "moonshotai", "nebius", "ollama", "openai", "openai-chat", "openai-responses",
    "openrouter", "ovhcloud", "sambanova", "together", "vercel", "vllm", "xai", "zai",
})  # fmt: skip
"""What the name of a model begins with, so that one is known where a text is wanted."""


def as_number(value: Any) -> float | None:
    """*value* when it is a finite number; None for True, False, text and what is too large for a float."""
    from decimal import Decimal

    if not isinstance(value, int | float | Decimal) or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (OverflowError, ValueError):
        return None
    return number if isfinite(number) else None


def margin_option(value: Any, *, name: str, scorer: str) -> float:
    """*value* as a float when it is a finite number, 0 or more."""
    number = as_number(value)
    if number is None or number < 0:
        raise UsageError(f"{scorer}: {name} must be a number, 0 or more, not {shown(value)}")
    return number


def share_option(value: Any, *, name: str, scorer: str, of: str = "all") -> float:
    """*value* as a float when it is a number from 0 to 1. *of*: what 1 stands for."""
    number = margin_option(value, name=name, scorer=scorer)
    if number > 1:
        raise UsageError(f"{scorer}: {name} is at most 1, {of}, not {number:g}")
    return number


def scale_option(scale: Any, *, scorer: str) -> float:
    """*scale* as a float when it is a finite number above 0."""
    number = as_number(scale)
    if number is None or number <= 0:
        raise UsageError(f"{scorer}: scale is a number above 0, not {shown(scale)}")
    return number


def text_of(value: Any, *, name: str, scorer: str, such_as: str) -> str:
    """*value* without white space around it when it is a text that says something, and no name of a model."""
    if not isinstance(value, str) or not value.strip():
        raise UsageError(f"{scorer}: {name} is a text that is not empty, such as {such_as!r}, not {shown(value)}")
    refuse_model(value, name=name, scorer=scorer)
    return value.strip()


def refuse_model(value: Any, *, name: str, scorer: str) -> None:
    """Raise a `UsageError` for a text that is nothing but `provider:model`: it was meant for `model=`."""
    text = value.strip() if isinstance(value, str) else ""
    provider, colon, model = text.partition(":")
    if provider in PROVIDERS and colon and model and not any(char.isspace() for char in model):
        raise UsageError(f"{scorer}: {name} is {text!r}, which names a model. Did you mean model={text!r}?")
