"""JSON as a reply must hold it: no NaN, no number beyond floats, no key twice in one object, not nested endlessly."""

from __future__ import annotations

import json
import math
import re
from typing import Any

__all__ = ["DEEPEST", "JsonRefused", "decode_at", "parse"]

DEEPEST = 100
"""How deep an answer may be nested."""

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class JsonRefused(ValueError):
    """JSON by its brackets, but not to be read: the message says why. No mending makes it better."""


def parse(text: str, /) -> Any:
    """The value that is all of *text*. Raises `JsonRefused`, or another `ValueError` where it is no JSON at all."""
    value, end = decode_at(text, len(text) - len(text.lstrip(" \t\n\r")))
    if text[end:].strip(" \t\n\r"):
        raise ValueError("more stands after the JSON")
    return value


def decode_at(text: str, start: int, /) -> tuple[Any, int]:
    """The value that begins at *start*, and where it ends. Halves of a character pair in texts become U+FFFD.

    Raises `JsonRefused`, or another `ValueError` where no JSON begins.
    """
    try:
        value, end = _DECODER.raw_decode(text, start)
        source = text[start:end]
        if source.count("[") + source.count("{") > DEEPEST and _depth(value) > DEEPEST:
            raise JsonRefused("the JSON is nested too deeply")
        return _whole_characters(value, source), end
    except RecursionError:
        raise JsonRefused("the JSON is nested too deeply") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]  # None
        raise JsonRefused(f"the key {twice[:40]!r} stands twice in one object")
    return made


def _constant(word: str) -> Any:
    raise JsonRefused(f"{word} is no number in JSON")


def _float(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise JsonRefused(f"the number {digits[:40]} is too large")
    return number


def _int(digits: str) -> int:
    if len(digits) > 400:  # beyond what a float holds, and far below what Python takes long to read
        raise JsonRefused(f"the number {digits[:40]}... is too large")
    return int(digits)


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant, parse_float=_float, parse_int=_int)


def _depth(value: Any) -> int:
    depth, level = 0, [value]
    while level:
        depth += 1
        inner = [list(node.values()) if isinstance(node, dict) else node for node in level]
        level = [child for nodes in inner for child in nodes if isinstance(child, (dict, list))]
    return depth


def _whole_characters(value: Any, source: str) -> Any:
    """Lone surrogates cannot be sent, stored or printed."""
    if "\\u" not in source and not _LONE_SURROGATE.search(source):
        return value
    text = json.dumps(value, ensure_ascii=False)
    return json.loads(_LONE_SURROGATE.sub("\ufffd", text)) if _LONE_SURROGATE.search(text) else value
