"""JSON schemas of answers: checked when they are given, sent as an object, and compared with what comes back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from proctor.data.subschemas import DATA_KEYWORDS, subschemas
from proctor.data.value import Value
from proctor.errors import UsageError, cut

__all__ = ["JsonSchema", "hoisted", "is_known", "rooted"]

_DEFINITIONS = ("$defs", "definitions")
_KINDS = {
    "array": "a list", "boolean": "true or false", "integer": "a whole number", "null": "null", "number": "a number",
    "object": "an object", "string": "text",
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class JsonSchema(Value):
    """A JSON schema that is one, and what finds the problems of data."""

    schema: dict[str, Any]
    _errors: Callable[[Any], Iterator[Any]]

    @classmethod
    def of(cls, given: Mapping[str, Any], /) -> JsonSchema:
        """Draft 2020-12, unless its `$schema` says otherwise. Raises `UsageError` for what is no schema."""
        from jsonschema import Draft202012Validator
        from jsonschema.exceptions import SchemaError
        from jsonschema.validators import validator_for
        from referencing import Registry

        try:
            schema = json.loads(json.dumps(given, default=_mapping, allow_nan=False))
        except (TypeError, ValueError, RecursionError) as problem:
            raise UsageError(f"this is no JSON schema: {problem}") from None
        kind = validator_for(schema, default=Draft202012Validator)
        try:
            kind.check_schema(schema)
        except SchemaError as problem:
            raise UsageError(f"this is no JSON schema: {problem.json_path}: {cut(problem.message, 200)}") from None
        for node in subschemas(schema):
            _check_reference(node.get("$ref"), schema)
        validator: Any = kind(schema, registry=Registry())
        return cls(schema, validator.iter_errors)

    def problems(self, data: Any, /, *, most: int) -> list[tuple[tuple[Any, ...], str]]:
        """The first *most* places where *data* does not fit, each with what is wrong, in few words."""
        from jsonschema.exceptions import best_match

        found = [best_match([error]) for error in islice(self._errors(data), most)]
        told = [one for error in found if error is not None for one in _problems(error)]
        return list(dict.fromkeys(told))[:most]


def _mapping(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


def _check_reference(reference: Any, schema: dict[str, Any]) -> None:
    if not isinstance(reference, str):
        return
    if not reference.startswith("#"):
        raise UsageError(f"this schema refers to {reference!r}, and nothing is fetched: put it into $defs")
    if reference.startswith("#/") and _at(schema, reference) is None:
        raise UsageError(f"this schema refers to {reference!r}, which is not in it")


def _problems(error: Any) -> list[tuple[tuple[Any, ...], str]]:
    path = tuple(error.absolute_path)
    if error.validator == "required":
        return [((*path, key), "is missing") for key in error.validator_value if key not in error.instance]
    return [(path, _said(error))]


def _said(error: Any) -> str:
    """What is wrong, by the schema's words and never the reply's."""
    keyword, wanted = error.validator, error.validator_value
    if keyword == "type":
        kinds = [wanted] if isinstance(wanted, str) else wanted
        return f"must be {' or '.join(_KINDS.get(kind, kind) for kind in kinds)}"
    if keyword == "enum":
        return f"must be one of {cut(json.dumps(wanted, ensure_ascii=False)[1:-1], 90)}"
    if keyword == "additionalProperties":
        return "has a key that is not allowed"
    return f"breaks {keyword} {cut(json.dumps(wanted, ensure_ascii=False), 80)}"


# ── what is sent ───────────────────────────────────────────────────────────────────────────────────────────────────


def rooted(schema: dict[str, Any], /) -> dict[str, Any] | None:
    """*schema* with `type: object` at its root; None when its values need be no objects."""
    root, seen = schema, set()
    while "type" not in root and isinstance(reference := root.get("$ref"), str) and reference not in seen:
        seen.add(reference)
        target = _at(schema, reference)
        if not isinstance(target, Mapping):
            return None
        root = {**target, **{key: schema[key] for key in _DEFINITIONS if key in schema}}
    if root.get("type", "object") != "object" or ("type" not in root and "properties" not in root):
        return None
    return {**root, "type": "object"}


def hoisted(schema: dict[str, Any], /, *, key: str = "answer") -> dict[str, Any]:
    """An object that holds such a value under *key*; definitions move to its root."""
    inner = _moved({name: node for name, node in schema.items() if name not in (*_DEFINITIONS, "$schema")}, key)
    definitions = {name: _moved(schema[name], key) for name in _DEFINITIONS if name in schema}
    return {
        "type": "object",
        "properties": {key: inner},
        "required": [key],
        "additionalProperties": False,
        **definitions,
    }


def _moved(node: Any, key: str) -> Any:
    """The schema with references to its root led to where the root is now."""
    if isinstance(node, list):
        return [_moved(inner, key) for inner in node]
    if not isinstance(node, dict):
        return node
    made = {name: inner if name in DATA_KEYWORDS else _moved(inner, key) for name, inner in node.items()}
    reference = made.get("$ref")
    inside = tuple(f"#/{name}/" for name in _DEFINITIONS)
    if isinstance(reference, str) and (reference + "/").startswith("#/") and not reference.startswith(inside):
        made["$ref"] = f"#/properties/{key}{reference[1:]}"
    return made


# ── what comes back ────────────────────────────────────────────────────────────────────────────────────────────────


def is_known(data: Any, schema: Mapping[str, Any], /) -> bool:
    """Whether every key in *data* is named where it stands, or any key is allowed there in so many words."""
    return _is_known(data, schema, schema)


def _is_known(data: Any, node: Any, schema: Mapping[str, Any]) -> bool:
    nodes = list(_alternatives(node, schema, frozenset()))
    if isinstance(data, dict):
        return all(_is_known_key(key, inner, nodes, schema) for key, inner in data.items())
    if isinstance(data, list):
        items = [items for at in nodes for items in _items(at)]
        return all(any(_is_known(inner, at, schema) for at in items) if items else True for inner in data)
    return True


def _is_known_key(key: str, inner: Any, nodes: list[Mapping[str, Any]], schema: Mapping[str, Any]) -> bool:
    for node in nodes:
        named, more = node.get("properties", {}), node.get("additionalProperties")
        if key in named:
            if _is_known(inner, named[key], schema):
                return True
        elif more is True or "patternProperties" in node:
            return True
        elif isinstance(more, Mapping):
            if _is_known(inner, more, schema):
                return True
        elif not named and more is None and node.get("type", "object") == "object" and not _combines(node):
            return True  # any object
    return False


def _items(node: Mapping[str, Any]) -> Iterator[Any]:
    if isinstance(node.get("items"), Mapping):
        yield node["items"]
    yield from node.get("prefixItems", ())


def _alternatives(node: Any, schema: Mapping[str, Any], seen: frozenset[str]) -> Iterator[Mapping[str, Any]]:
    """The schemas that may speak of a value: this one, what it refers to, and what it combines."""
    if not isinstance(node, Mapping):
        return
    yield node
    reference = node.get("$ref")
    if isinstance(reference, str) and reference not in seen:
        yield from _alternatives(_at(schema, reference), schema, seen | {reference})
    for keyword in ("anyOf", "oneOf", "allOf"):
        for inner in node.get(keyword, ()):
            yield from _alternatives(inner, schema, seen)


def _combines(node: Mapping[str, Any]) -> bool:
    return any(keyword in node for keyword in ("$ref", "anyOf", "oneOf", "allOf"))


def _at(schema: Mapping[str, Any], reference: str) -> Any:
    """What a reference within the schema leads to, None for nothing."""
    node: Any = schema
    for step in reference.removeprefix("#").split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(node, Mapping):
            node = node.get(name)
        elif isinstance(node, list) and name.isdecimal() and int(name) < len(node):
            node = node[int(name)]
        else:
            return None
    return node
