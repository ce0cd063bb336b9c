"""What the writers share: rows that a text format can hold without loss, or a clear error for the first that it cannot.

JSON, CSV and YAML hold None, True, False, finite numbers, text, lists, and mappings with text as keys.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from math import isfinite
from typing import Any

from proctor.data.plain import plain
from proctor.data.value import shown
from proctor.errors import EncodingError, UsageError

__all__ = ["checked_rows", "json_text", "json_texts"]


def checked_rows(rows: Iterable[Any], *, format: str, surrogates: bool = False) -> Iterator[tuple[int, Any]]:
    """Each row in plain data with its number, from 1. Raises `UsageError` that names row, path and value.

    *surrogates*: whether the format can hold halves of characters, which UTF-8 cannot.
    """
    for number, row in enumerate(rows, start=1):
        try:
            made = plain(row)
        except EncodingError as problem:
            raise UsageError(f"row {number}: {problem.message}") from problem
        _check(made, f"row {number}", "", format=format, surrogates=surrogates)
        yield number, made


def json_texts(rows: Iterable[Any], *, format: str = "JSON") -> Iterator[str]:
    """Each row as JSON on one line. Halves of characters are written as escapes, two that would join are refused."""
    for number, row in checked_rows(rows, format=format, surrogates=True):
        yield json_text(row, where=f"row {number}")


def json_text(value: Any, *, where: str) -> str:
    """A value as JSON on one line; it has no other kinds of data than JSON."""
    try:
        text = json.dumps(value, ensure_ascii=False)
        if _is_whole(text):
            return text
        text = json.dumps(value)
        if json.loads(text) == value:
            return text
    except ValueError as problem:  # an int of more digits than Python writes
        raise UsageError(f"{where}: {problem}") from None
    raise UsageError(f"{where}: JSON cannot hold two halves of a character side by side")


def _check(value: Any, row: str, path: str, *, format: str, surrogates: bool) -> None:
    where = f"{row}: {path}" if path else row
    if isinstance(value, str):
        if not surrogates and not _is_whole(value):
            raise UsageError(f"{where}: {format} cannot hold half a character, as in {shown(value)}")
    elif type(value) is float:
        if not isfinite(value):
            raise UsageError(f"{where}: {format} has no {value!r}; give None or text")
    elif type(value) is list:
        for index, item in enumerate(value):
            _check(item, row, f"{path}[{index}]", format=format, surrogates=surrogates)
    elif type(value) is dict:
        for key, item in value.items():
            if not isinstance(key, str):
                raise UsageError(f"{where}: a key must be text in {format}, not {shown(key)}")
            inner = f"{path}.{key}" if path else key
            _check(key, row, f"the key {shown(key)}", format=format, surrogates=surrogates)
            _check(item, row, inner, format=format, surrogates=surrogates)
    elif value is not None and type(value) not in (bool, int):
        raise UsageError(f"{where}: {format} has no {type(value).__name__}; give it as text, not {shown(value)}")


def _is_whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
