"""A JSON schema as people write one: refused where it lets answers through that nobody means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proctor.errors import UsageError, cut

__all__ = ["refuse_too_wide"]

_SAYING = frozenset({
    "$dynamicRef", "$recursiveRef", "$ref", "additionalProperties", "allOf", "anyOf", "const", "enum", "if", "items",
    "not", "oneOf", "patternProperties", "prefixItems", "properties", "required", "type",
})  # fmt: skip
_OTHERS = frozenset({
    "$anchor", "$comment", "$defs", "$id", "$schema", "contains", "contentEncoding", "contentMediaType", "default",
    "definitions", "dependencies", "dependentRequired", "dependentSchemas", "deprecated", "description", "else",
    "examples", "exclusiveMaximum", "exclusiveMinimum", "format", "maxContains", "maxItems", "maxLength",
    "maxProperties", "maximum", "minContains", "minItems", "minLength", "minProperties", "minimum", "multipleOf",
    "pattern", "propertyNames", "readOnly", "then", "title", "unevaluatedItems", "unevaluatedProperties",
    "uniqueItems", "writeOnly",
})  # fmt: skip


def refuse_too_wide(given: Mapping[str, Any], /) -> None:
    """Raise a `UsageError` for a schema that any answer fits, such as an example of one, or that {} fits unsaid."""
    if not _SAYING & given.keys():
        unknown = [cut(repr(key), 40) for key in given if key not in _OTHERS]
        no_words = f"{', '.join(unknown[:4])} {'are no words' if len(unknown) > 1 else 'is no word'} of JSON Schema"
        raise UsageError(f"output= allows any answer{': ' + no_words if unknown else ''}. {_HOW}")
    missing = [word for word in ("type", "required") if word not in given] if given.get("properties") else []
    if missing:
        raise UsageError(
            f"output= has properties and no {' and no '.join(map(repr, missing))}, so that answers without them fit. "
            f"{_HOW}; 'required': [] says that none must be there"
        )


_HOW = "For an object write {'type': 'object', 'properties': {...}, 'required': [...]}, or give a pydantic model"
