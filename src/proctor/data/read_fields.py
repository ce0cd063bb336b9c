"""The fields of foreign mappings, read with care: what is not as it should be is a `Problem` that says where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from proctor.data.value import MISSING
from proctor.errors import did_you_mean

__all__ = ["Problem", "find", "id_of", "is_list", "is_mapping", "list_of", "must_be", "refused", "text_of"]

_FEW = 12  # as many words as one wants to read in a message
_LISTS = (list, tuple)  # made once: `list | tuple` is made anew at each look


class Problem(Exception):
    """What cannot be read, and the path to it from where reading began.

    It becomes an `UnreadableMessages` at the door: only there the whole path is known, and until something is wrong
    nobody spends time on paths.
    """

    def __init__(self, path: str, text: str) -> None:
        super().__init__(path, text)
        self.path = path
        self.text = text

    def within(self, place: str) -> Problem:
        """The same problem, seen from one level up."""
        return Problem(place + self.path, self.text)


def must_be(path: str, expected: str, *, got: Any) -> Problem:
    """The problem of a value that is of the wrong kind.

    >>> must_be(".content", "text", got=5).text
    'must be text, got int'
    """
    return Problem(path, f"must be {expected}, got {'None' if got is None else type(got).__name__}")


def refused(path: str, what: str, *, name: str, known: Sequence[str]) -> Problem:
    """The problem of a word that is none of the known ones."""
    guess = did_you_mean(name, known) or (f" Known: {', '.join(known)}." if len(known) <= _FEW else "")
    return Problem(path, f"unknown {what} {name!r}.{guess}")


def is_mapping(value: Any) -> TypeGuard[Mapping[str, Any]]:
    """Whether the value is a mapping; quick for dicts."""
    return type(value) is dict or (value is not None and isinstance(value, Mapping))


def is_list(value: Any) -> TypeGuard[Sequence[Any]]:
    """Whether the value is a list or a tuple."""
    return isinstance(value, _LISTS)


def find(fields: Mapping[str, Any], *keys: str) -> Any:
    """The value of the first of *keys* that is there; None is a value. MISSING when none is."""
    for key in keys:
        if key in fields:
            return fields[key]
    return MISSING


def text_of(fields: Mapping[str, Any], *keys: str) -> str | None:
    """The text of the first of *keys* that holds something; None when none does."""
    for key in keys:
        value = fields.get(key)
        if value is not None:
            if not isinstance(value, str):
                raise must_be(f".{key}", "text", got=value)
            return value
    return None


def id_of(fields: Mapping[str, Any], *keys: str) -> str | None:
    """The id under the first of *keys* that holds one. Numbers become text; an empty id is none."""
    for key in keys:
        value = fields.get(key)
        if isinstance(value, str):
            if value:
                return value
        elif isinstance(value, int):
            return str(value)
        elif value is not None:
            raise must_be(f".{key}", "text", got=value)
    return None


def list_of(fields: Mapping[str, Any], key: str, *, expected: str = "a list") -> Sequence[Any]:
    """The list under *key*; empty when there is none."""
    value = fields.get(key)
    if value is None:
        return ()
    if not is_list(value):
        raise must_be(f".{key}", expected, got=value)
    return value
