"""Answers as models write them: `Yes` where the JSON schema lists yes, 2.0 where it wants a whole number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["as_listed"]


def as_listed(data: Any, schema: Any) -> Any:
    """*data* with the words of an `enum` as the schema has them, where capitals or white space around differ.

    Only where one word can be meant. A whole number is an int, however it was written. References are not followed:
    what stands there is compared as it is.

    >>> as_listed({"verdict": " Yes"}, {"properties": {"verdict": {"enum": ["yes", "no"]}}})
    {'verdict': 'yes'}
    """
    if not isinstance(schema, Mapping):
        return data
    if isinstance(data, float) and schema.get("type") == "integer" and data.is_integer():
        return int(data)
    if isinstance(data, str):
        return _listed(data, schema.get("enum"))
    if isinstance(data, dict):
        inner = schema.get("properties")
        return {key: as_listed(item, inner.get(key)) for key, item in data.items()} if inner else data
    if isinstance(data, list):
        each = schema.get("items")
        return [as_listed(item, each) for item in data] if each else data
    return data


def _listed(text: str, words: Any) -> str:
    if not isinstance(words, list) or text in words:
        return text
    folded = text.strip().casefold()
    meant = [word for word in words if isinstance(word, str) and word.casefold() == folded]
    return meant[0] if len(meant) == 1 else text
