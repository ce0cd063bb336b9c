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
from proctor.data.secrets import default_secrets, redactor

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
    """Writes values as JSON text in ASCII, which every database can hold, without secrets.

    *redact*: is given every text besides, and gives what is written; for personal data.
    """

    __slots__ = ("_secrets", "redacted")

    def __init__(self, redact: Callable[[str], str] | None = None) -> None:
        self._secrets = default_secrets() if redact is None else redactor(redact)
        self.redacted = None if redact is None else self._secrets.value

    def write(self, value: Any) -> str:
        """A value as the text of a `body`. Raises `EncodingError` for what is nested too deeply."""
        encoded = encode(value)
        text = _json(encoded)
        if not self._secrets.suspicious(text):
            return text
        made = self._secrets.value(encoded)
        return text if made is encoded else _json(made)

    def text(self, text: str) -> str:
        """A bare text as a column holds it."""
        return written_text(self._secrets.text(text))


def from_json(written: str) -> Any:
    """The value that a `Pen` was given, in plain data."""
    return decode(json.loads(written))
