"""Mappings as the fields of a value: in snake_case or the documents' camelCase, one style at a time."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from proctor.errors import UnknownName, UsageError

__all__ = ["named_fields", "style_of"]


def named_fields(
    given: Mapping[str, Any],
    known: Collection[str],
    *,
    what: str,
    code: str | None = None,
    hints: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """*given* with its keys in snake_case. Raises `UsageError` for a key that is not *known*, and for mixed styles.
    *hints*: what to say of keys that people often use.

    >>> named_fields({"groundTruth": 4}, ["input", "ground_truth"], what="an item")
    {'ground_truth': 4}
    """
    hints = hints or {}
    camel = {_camel(name): name for name in known}
    named: dict[str, Any] = {}
    styles = set()
    for key, value in given.items():
        name = key if key in known else camel.get(key)
        if name is None and str(key) in hints:
            raise UsageError(f"no field of {what} {key!r}. {hints[key]}", code=code)
        if name is None:
            raise UnknownName(f"field of {what}", str(key), known, code=code)
        if name in named:
            raise UsageError(f"{what} has {name} twice, in both styles", code=code)
        if "_" in name:
            styles.add("snake_case" if key == name else "camelCase")
        named[name] = value
    if len(styles) > 1:
        raise UsageError(f"{what} mixes snake_case and camelCase keys: keep to one", code=code)
    return named


def style_of(given: Mapping[str, Any], known: Collection[str]) -> str | None:
    """`snake_case` or `camelCase`, when a key of the mapping tells; None when all are single words."""
    for name in known:
        if "_" in name:
            if name in given:
                return "snake_case"
            if _camel(name) in given:
                return "camelCase"
    return None


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)
