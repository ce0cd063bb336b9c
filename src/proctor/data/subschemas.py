"""The schemas within a JSON schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

__all__ = ["DATA_KEYWORDS", "subschemas"]

DATA_KEYWORDS: Final = frozenset({"const", "default", "enum", "examples"})
"""The keywords that hold data, not schemas."""


def subschemas(node: Any, /) -> Iterator[Mapping[str, Any]]:
    """Every mapping of the schema that may be one itself; what is data in it is left out."""
    if isinstance(node, Mapping):
        yield node
        for key, inner in node.items():
            if key not in DATA_KEYWORDS:
                yield from subschemas(inner)
    elif isinstance(node, list):
        for inner in node:
            yield from subschemas(inner)
