"""Mending of JSON with small faults of syntax: comments, trailing commas, line ends in texts, quotes of other kinds.

A mend that loses a word, adds one or guesses a number would make up a verdict. So what comes out is compared with what
went in: the same numbers, words and texts, in the same order, or there is no mend.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from proctor.data.value import MISSING
from proctor.judging.pieces import TOKEN
from proctor.judging.strict_json import parse

__all__ = ["mended"]

_LONGEST = 20_000
_DEEPEST = 20
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_MARKS = re.compile("[\\s\"'\u2018\u2019\u201c\u201d,:{}\\[\\]\\\\\ufeff\u200b\u200c\u200d\u2060]+")
_LITERALS = {"true": "true", "false": "false", "null": "null", "none": "null"}
_ZERO_WIDTH = re.compile("[\ufeff\u200b\u200c\u200d\u2060]")


def mended(source: str, /) -> Any:
    """The value of what has the brackets of JSON and does not read as it; MISSING where none is certain."""
    if len(source) > _LONGEST or _deepest(source) > _DEEPEST:
        return MISSING  # what mends takes long over these
    tokens = _tokens(source)
    if tokens is None:
        return MISSING
    from json_repair import loads

    try:
        value = loads(source, skip_json_loads=True)
        value = parse(json.dumps(value))  # refuses what no JSON can hold
    except (ValueError, RecursionError):
        return MISSING
    numbers, said = tokens
    if numbers != sorted(_numbers(value)) or said != _letters("".join(_words(value))):
        return MISSING
    return value


def _deepest(source: str) -> int:
    depth = most = 0
    for char in source:
        if char in "{[":
            depth += 1
            most = max(most, depth)
        elif char in "}]":
            depth -= 1
    return most


def _tokens(source: str) -> tuple[list[float], str] | None:
    """The numbers outside of texts, and all that is said, without marks. None: something there is not JSON's."""
    numbers: list[float] = []
    said: list[str] = []
    listed = list(TOKEN.finditer(source))
    for at, token in enumerate(listed):
        kind, text = token.lastgroup, token[0]
        if kind == "text":
            said.append(_unescaped(text[1:-1]))
        elif kind == "word":
            word = _ZERO_WIDTH.sub("", text)
            if _is_key(listed, at) or not word:
                said.append(word)
            elif _NUMBER.fullmatch(word) and _stands_alone(listed, at):
                number = json.loads(word)
                numbers.append(number)
                said.append(repr(number))
            elif any(char.isdigit() for char in word) or not any(char.isalpha() for char in word):
                return None  # `1/2`, `80%`, `8O`, `-`
            else:
                said.append(_LITERALS.get(word.lower(), word))
        elif kind == "other" and text not in "\"'":
            return None
    return sorted(numbers), _letters("".join(said))


def _is_key(tokens: list[re.Match[str]], at: int) -> bool:
    return _first(tokens[at + 1 :]) == ":"


def _first(tokens: Iterable[re.Match[str]]) -> str:
    """The first token that says anything."""
    return next((token[0] for token in tokens if token.lastgroup not in ("space", "comment")), "")


def _stands_alone(tokens: list[re.Match[str]], at: int) -> bool:
    """Whether no quote touches a number, nothing closes before it and nothing opens after it: it may have been part of
    something else.
    """
    if any(token.lastgroup in ("text", "other") for token in tokens[max(at - 1, 0) : at + 2]):
        return False
    return _first(reversed(tokens[:at])) not in ("}", "]") and _first(tokens[at + 1 :]) not in ("{", "[")


def _unescaped(text: str) -> str:
    made = _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else _plain_escape(found[2]), text)
    return made.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # two halves make a character


def _plain_escape(char: str) -> str:
    return "" if char in "nrtbf" else char


def _letters(text: str) -> str:
    return _MARKS.sub("", text).casefold()


def _numbers(value: Any) -> Iterator[float]:
    for leaf in _leaves(value):
        if isinstance(leaf, (int, float)) and not isinstance(leaf, bool):
            yield leaf


def _words(value: Any) -> Iterator[str]:
    for leaf in _leaves(value):
        yield leaf if isinstance(leaf, str) else json.dumps(leaf)


def _leaves(value: Any) -> Iterator[Any]:
    """Keys and values in the order in which they are written."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner)
    else:
        yield value
