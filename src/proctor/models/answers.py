"""What came back, from pydantic-ai's words: the text, what it took, and why it ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from proctor.data.usage import Cost, Usage

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.usage import RequestUsage

__all__ = ["refusal_of", "stated_cost", "text_of", "usage_of"]


def text_of(response: ModelResponse, *, tool: str) -> str:
    """The arguments with which *tool* was called, else the text; what the model thought aloud is no part of it."""
    from pydantic_ai.messages import TextPart, ToolCallPart

    calls = [part for part in response.parts if isinstance(part, ToolCallPart) and part.tool_name == tool]
    if calls:
        return calls[0].args_as_json_str() if calls[0].args else "{}"
    return "".join(part.content for part in response.parts if isinstance(part, TextPart))


def refusal_of(response: ModelResponse, text: str) -> str | None:
    """The model's own words, or that the provider's filter stopped it before there were any."""
    said = (response.provider_details or {}).get("refusal")
    if isinstance(said, str) and said:
        return said
    return (
        "the provider's content filter stopped it" if response.finish_reason == "content_filter" and not text else None
    )


def usage_of(usage: RequestUsage) -> Usage | None:
    """The tokens as reported, and their sum. A part that is 0 may be one that was not reported: it is left unknown."""
    if usage.unmeasured_requests or not (usage.input_tokens or usage.output_tokens):
        return None
    return Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        total_tokens=usage.input_tokens + usage.output_tokens,
        reasoning_tokens=usage.output_reasoning_tokens or usage.details.get("reasoning_tokens") or None,
        cached_input_tokens=usage.cache_read_tokens or None,
        cache_creation_input_tokens=usage.cache_write_tokens or None,
    )


def stated_cost(response: ModelResponse) -> Cost | None:
    """The cost that the reply itself states, as OpenRouter's and gateways' do."""
    stated = (response.provider_details or {}).get("cost")
    if stated is None:
        stated = response.usage.cost
    try:
        return None if stated is None else Cost(amount=float(stated), source="provider")
    except (TypeError, ValueError):  # no number, or none that is a cost
        return None
