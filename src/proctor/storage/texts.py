"""Texts that any database takes: what a column or JSON cannot hold is written otherwise, and comes back.

PostgreSQL takes no NUL in a text, and neither database takes lone surrogates. JSON is written in ASCII, where both are
escapes. A bare text (an id, a name) that holds one is written as JSON behind an escape character.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from proctor.data.codec import decode, encode

__all__ = ["Pen", "from_json", "plain_text", "written_text"]

_MARK = "\x1b"
_json = json.JSONEncoder(check_circular=False, allow_nan=False, separators=(",", ":")).encode
_UNFIT = re.compile("[\x00\ud800-\udfff]")


def written_text(text: str) -> str:
    r"""*text* as a column holds it.

    >>> plain_text(written_text("a\x00b")) == "a\x00b"
    True
    """
    if text.isascii() and "\x00" not in text and not text.startswith(_MARK):
        return text
    return _MARK + json.dumps(text) if text.startswith(_MARK) or _UNFIT.search(text) else text


def plain_text(written: str) -> str:
    """What `written_text` was given."""
    return str(json.loads(written[1:])) if written.startswith(_MARK) else written


class Pen:
    """Writes values as JSON text in ASCII, which every database can hold. *redact*: called with every text first."""

    __slots__ = ("_redact",)

    def __init__(self, redact: Callable[[str], str] | None = None) -> None:
        self._redact = redact

    def write(self, value: Any) -> str:
        """A value as the text of a `body`. Raises `EncodingError` for what is nested too deeply."""
        return _json(encode(value))


def from_json(written: str) -> Any:
    """The value that a `Pen` was given, in plain data."""
    return decode(json.loads(written))
