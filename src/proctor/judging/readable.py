"""Any value as the text that a model reads: text as it is, what holds values as JSON, nothing escaped needlessly."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from proctor.data.message import Message
from proctor.data.opaque import Opaque, describe
from proctor.data.plain import DEEPEST, plain
from proctor.data.scalars import moment_kinds
from proctor.data.value import MISSING, Value
from proctor.errors import EncodingError, UsageError
from proctor.judging.turns import turn_parts

__all__ = ["is_opaque", "readable"]

_LINE = 80  # what is longer is easier to read with a line for each value
_OPAQUE = "<no plain form, "
_HUGE_BITS = 10_000  # beyond this, Python refuses to write an int in decimals
_PLAIN_CONTROLS = frozenset("\t\n\r\f")
_BEGINNINGS = (
    (b"\x89PNG", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"OggS", "audio/ogg"),
    (b"ID3", "audio/mpeg"),
)


def readable(value: Any, *, name: str = "the value") -> str:
    """*value* as text for a model. *name*: what the error calls it.

    Text stays as it is, but for lone surrogates, which no request can hold: they become escapes. Bytes are their text
    if they are UTF-8, else a description. Messages are `role: text`. Everything else is JSON by its plain form: on one
    line when that is short, and with keys and characters as they are. Objects without a plain form are their repr,
    marked as such. Raises `UsageError` for MISSING: nothing is not the same as empty text.

    >>> readable({"city": "Kraków", "paid": True})
    '{"city": "Kraków", "paid": true}'
    """
    if value is MISSING:
        raise UsageError(f"nothing was given for {name}: there is no text to show a model")
    messages = _messages(value)
    if messages:
        return _encodable("\n".join(_transcript(messages)))
    try:
        made = _form(value)
        return _encodable(made if isinstance(made, str) else _json(made))
    except RecursionError:
        raise EncodingError("", f"is nested deeper than {DEEPEST} levels, or refers to itself") from None


def is_opaque(value: Any) -> bool:
    """Whether nothing of a value can be shown but its repr.

    >>> is_opaque(print), is_opaque({"print": print})
    (True, False)
    """
    made = plain(value)
    return not isinstance(made, str | bytes | Message) and str(_form(made)).startswith(_OPAQUE)


def _encodable(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def _messages(value: Any) -> list[Message]:
    if isinstance(value, Message):
        return [value]
    if isinstance(value, list | tuple) and all(isinstance(item, Message) for item in value):
        return list(value)
    return []


def _transcript(messages: list[Message]) -> list[str]:
    return [
        f"{message.role}{part.label and ', ' + part.label}: {part.text}"
        for message in messages
        for part in turn_parts(message, show=readable)
    ]


def _json(made: Any) -> str:
    import json

    line = json.dumps(made, ensure_ascii=False)
    inner = made.values() if isinstance(made, dict) else made if isinstance(made, list) else ()
    if len(line) <= _LINE and not any(isinstance(item, dict | list) and item for item in inner):
        return line
    return json.dumps(made, ensure_ascii=False, indent=2)


def _form(value: Any) -> Any:
    """What `json.dumps` writes as a person would: dates, decimals and bytes as text, no names of kinds."""
    made = plain(value)
    return _value(made) if isinstance(made, Value) else _written(made)


def _written(value: Any) -> Any:
    kind = type(value)
    if kind is dict:
        return _mapping(value)
    if kind is list or kind is tuple:
        return [_written(item) for item in value]
    if kind is bytes:
        return _bytes(value)
    if kind is int and value.bit_length() >= _HUGE_BITS:
        return hex(value)
    if value is None or kind in {str, bool, int, float}:
        return value
    if value is MISSING:
        return "<nothing was given>"
    return _other(value)


def _other(value: Any) -> Any:
    from datetime import date, timedelta
    from decimal import Decimal

    if isinstance(value, Value):
        return _value(value)
    if isinstance(value, date) or type(value) in moment_kinds():
        return value.isoformat()
    if isinstance(value, timedelta | Decimal):
        return str(value)
    return _value(describe(value))


def _value(value: Value) -> Any:
    """A value of ours by its fields, without those that were not given."""
    if isinstance(value, Opaque):
        return f"{_OPAQUE}{value.type}: {value.shown}>"
    every = {at.name: getattr(value, at.name) for at in fields(value)}  # type: ignore[arg-type]  # a dataclass
    return {name: _form(item) for name, item in every.items() if item is not MISSING}


def _mapping(value: dict[Any, Any]) -> Any:
    made = {_key(key): _written(item) for key, item in value.items() if item is not MISSING}
    given = [key for key, item in value.items() if item is not MISSING]
    if len(made) == len(given):
        return made
    return [[_written(key), _written(value[key])] for key in given]  # keys such as 1 and "1", which are one in JSON


def _key(key: Any) -> str:
    made = _written(key)
    return made if isinstance(made, str) else _json(made)


def _bytes(value: bytes) -> str:
    try:
        text = value.decode()
    except UnicodeDecodeError:
        text = "\0"
    if not any(char < " " and char not in _PLAIN_CONTROLS for char in text):
        return text
    media = next((f", {media}" for begin, media in _BEGINNINGS if value.startswith(begin)), "")
    return f"<bytes: {len(value):,}{media}, begins with {value[:8].hex(' ')}>"
