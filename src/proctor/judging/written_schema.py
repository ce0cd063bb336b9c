"""A JSON schema as people write one: refused where it says nothing, and completed where it leaves out what is meant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proctor.errors import UsageError, cut

__all__ = ["completed", "refuse_saying_nothing"]

_SAYING = frozenset({
    "$dynamicRef", "$recursiveRef", "$ref", "additionalProperties", "allOf", "anyOf", "const", "enum", "items", "not",
    "oneOf", "patternProperties", "prefixItems", "properties", "required", "type",
})  # fmt: skip
_OTHERS = frozenset({
    "$anchor", "$comment", "$defs", "$id", "$schema", "contains", "contentEncoding", "contentMediaType", "default",
    "definitions", "dependencies", "dependentRequired", "dependentSchemas", "deprecated", "description", "else",
    "examples", "exclusiveMaximum", "exclusiveMinimum", "format", "if", "maxContains", "maxItems", "maxLength",
    "maxProperties", "maximum", "minContains", "minItems", "minLength", "minProperties", "minimum", "multipleOf",
    "pattern", "propertyNames", "readOnly", "then", "title", "unevaluatedItems", "unevaluatedProperties",
    "uniqueItems", "writeOnly",
})  # fmt: skip
_DATA = frozenset({"const", "default", "enum", "examples"})
_MAPS = frozenset({"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"})
_CONDITIONS = frozenset({"if", "not"})  # what is added there would turn the meaning round
_PARTS = frozenset({"allOf", "anyOf", "else", "oneOf", "then"})  # what is said beside them may be meant for them, too


def refuse_saying_nothing(given: Mapping[str, Any], /) -> None:
    """Raise a `UsageError` for a schema that says nothing of an answer, such as an example of one."""
    if _SAYING & given.keys():
        return
    unknown = [cut(repr(key), 40) for key in given if key not in _OTHERS]
    no_words = f"{', '.join(unknown[:4])} {'are no words' if len(unknown) > 1 else 'is no word'} of JSON Schema"
    raise UsageError(
        f"output= allows any answer{': ' + no_words if unknown else ''}. For an object write {{'type': 'object', "
        "'properties': {...}, 'required': [...]}, or give a pydantic model"
    )


def completed(schema: dict[str, Any], /) -> dict[str, Any]:
    """*schema* with `properties` read as an object's, and all of them required where there is no `required`.

    Those with a default are not. Whoever means that each may be missing writes `'required': []`.

    >>> completed({"properties": {"verdict": {"enum": ["pass", "fail"]}}})["required"]
    ['verdict']
    """
    made: dict[str, Any] = _completed(schema, alone=True)
    return made


def _completed(node: Any, *, alone: bool) -> Any:
    if isinstance(node, list):
        return [_completed(inner, alone=alone) for inner in node]
    if not isinstance(node, dict):
        return node
    made = {key: _inner(key, inner) for key, inner in node.items()}
    named = made.get("properties")
    if not isinstance(named, dict):
        return made
    if alone and "type" not in made:
        made["type"] = "object"
    kinds = made.get("type")
    if "required" not in made and (kinds == "object" or (isinstance(kinds, list) and "object" in kinds)):
        needed = [key for key, inner in named.items() if not (isinstance(inner, dict) and "default" in inner)]
        made |= {"required": needed} if needed else {}
    return made


def _inner(key: str, inner: Any) -> Any:
    if key in _DATA or key in _CONDITIONS:
        return inner
    if key in _MAPS and isinstance(inner, dict):
        return {name: _completed(schema, alone=True) for name, schema in inner.items()}
    return _completed(inner, alone=key not in _PARTS)
