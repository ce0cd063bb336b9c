"""Plain data: what every value inside Proctor is made of, and its JSON form.

Plain data is None, bool, int, float (NaN and the infinities too), str (lone surrogates too), bytes, date, time,
datetime, timedelta, Decimal, MISSING, and lists and dicts of them. `plain` turns foreign objects into it once, when an
item or a reply enters a run, so that scorers see the same thing live, resumed and re-scored.

In JSON, what JSON cannot say is an object with the key "$", which names the kind: {"$": "bytes", "base64": "..."}.
Values of this floor are written the same way, under the name of their class; `codec` reads those back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING as NO_DEFAULT
from dataclasses import fields
from functools import cache
from operator import attrgetter
from typing import Any

from proctor.data.foreign import unwrap
from proctor.data.opaque import Opaque, describe, name_of
from proctor.data.paths import path_to
from proctor.data.scalars import BUILT_IN, has_fixed_zone, is_scalar, moment_kinds, simple_kinds
from proctor.data.value import Missing, Value
from proctor.errors import EncodingError

__all__ = [
    "DEEPEST",
    "TAG",
    "canonical_json",
    "copied",
    "hashable",
    "is_plain",
    "plain",
    "to_json",
]

DEEPEST = 200
"""How deep data may be nested. Stated, so that data which enters a run can be written after it: Python's own limit
depends on how deep the caller stands.
"""

TAG = "$"
_HUGE_BITS = 10_000  # beyond this, Python refuses to read an int back from decimal text


# ── foreign objects to plain data ──────────────────────────────────────────────────────────────────────────────────


def plain(value: Any) -> Any:
    """*value* as plain data: a copy that shares nothing mutable with it.

    Dataclasses, pydantic and attrs models, named tuples and mappings become dicts; tuples, sets (sorted) and other
    sequences become lists; enums their value; numpy scalars and arrays Python numbers and lists; paths and UUIDs text.
    Proctor's own values, and objects that have no plain form, stay as they are.

    >>> plain({"when": (1, 2), "tags": {"b", "a"}})
    {'when': [1, 2], 'tags': ['a', 'b']}
    """
    try:
        return _plain(value, 0)
    except RecursionError:
        raise _too_deep() from None


def is_plain(value: Any) -> bool:
    """Whether something that went through `plain` has a plain form; what it holds is not looked at."""
    return isinstance(value, dict | list | tuple) or is_scalar(type(value))


def copied(value: Any) -> Any:
    """Lists and dicts anew, all the way down; everything else as it is."""
    if type(value) is list:
        return [copied(item) for item in value]
    return {key: copied(item) for key, item in value.items()} if type(value) is dict else value


def _plain(value: Any, depth: int) -> Any:
    kind = type(value)
    if kind in BUILT_IN:
        return value
    if depth > DEEPEST and kind not in simple_kinds():
        raise _too_deep()
    if kind is dict:
        return {
            (key if type(key) is str else _plain_key(key, depth)): (
                item if type(item) in BUILT_IN else _plain(item, depth + 1)
            )
            for key, item in value.items()
        }
    if kind is list or kind is tuple:
        return [item if type(item) in BUILT_IN else _plain(item, depth + 1) for item in value]
    if kind is set or kind is frozenset:
        return sorted((_plain(item, depth + 1) for item in value), key=_sort_key)
    if kind in simple_kinds():
        return value
    made = unwrap(value)
    return made if made is value or type(made) in moment_kinds() else _plain(made, depth + 1)


def _plain_key(key: Any, depth: int) -> Any:
    return hashable(_plain(key, depth + 1))


def hashable(key: Any) -> Any:
    """A key as something that can be one: lists as tuples, dicts as tuples of pairs, objects as their description."""
    if isinstance(key, list | tuple):
        return tuple([hashable(item) for item in key])
    if isinstance(key, dict):
        return tuple([(name, hashable(item)) for name, item in key.items()])
    return key if isinstance(key, Value) or is_scalar(type(key)) else describe(key)


def _sort_key(value: Any) -> tuple[int, Any]:
    """Numbers by size, then texts, then the rest by their JSON."""
    if isinstance(value, int | float) and value == value:  # noqa: PLR0124 - NaN has no place among numbers
        return (0, value)
    if isinstance(value, str):
        return (1, value)
    return (2, _canonical(to_json(value, other=lambda it: to_json(describe(it)))))


# ── to JSON ────────────────────────────────────────────────────────────────────────────────────────────────────────


class _NoPlainForm(Exception):
    def __init__(self, value: Any) -> None:
        self.value = value


def to_json(value: Any, *, path: str = "", other: Callable[[Any], Any] | None = None) -> Any:
    """*value* as something `json.dumps` can write, without loss for plain data and values over it.

    *other* writes what has no plain form. Without it such an object is an `EncodingError` that names the *path* to it.
    """
    try:
        return _to_json(value, other or _refuse, 0)
    except _NoPlainForm as refused:
        message = f"a {name_of(refused.value)} has no plain form; give a dict, a dataclass or a pydantic model"
        raise EncodingError((path + (path_to(refused.value, value) or "")).lstrip("."), message) from None
    except RecursionError:
        raise _too_deep(path) from None


def _to_json(value: Any, other: Callable[[Any], Any], depth: int) -> Any:
    kind = type(value)
    if kind is str:
        return value if value.isascii() else _text(value)
    if value is None or kind is bool:
        return value
    if kind is int:
        return value if value.bit_length() < _HUGE_BITS else {TAG: "int", "hex": hex(value)}
    if kind is float:
        return value if value - value == 0 else {TAG: "float", "value": repr(value)}
    if kind is list or kind is tuple or kind is dict:
        if depth > DEEPEST:
            raise _too_deep()
        if kind is dict:
            return _dict_to_json(value, other, depth)
        return [_to_json(item, other, depth + 1) for item in value]
    return _special(value, other, depth)


def _text(value: str) -> Any:
    """Text as it is when UTF-8 can hold it; text with lone surrogates goes by its code points."""
    try:
        value.encode()
    except UnicodeEncodeError:
        # UTF-32, since in UTF-8 and UTF-16 two surrogates side by side would melt into one character.
        return {TAG: "text", "utf32": value.encode("utf-32-be", "surrogatepass").hex()}
    return value


def _dict_to_json(value: dict[Any, Any], other: Callable[[Any], Any], depth: int) -> Any:
    made: dict[str, Any] = {}
    for key, item in value.items():
        if type(key) is not str or key == TAG or not (key.isascii() or _text(key) is key):
            return _pairs_to_json(value, other, depth)
        kind = type(item)
        same = kind is bool or item is None or (kind is str and item.isascii())
        made[key] = item if same else _to_json(item, other, depth + 1)
    return made


def _pairs_to_json(value: dict[Any, Any], other: Callable[[Any], Any], depth: int) -> Any:
    """A dict with keys that JSON does not have."""
    if not all(type(key) is str for key in value):
        # Made plain first: keys that are one and the same in plain form must not be written twice.
        value = {_plain_key(key, depth): item for key, item in value.items()}
    if all(type(key) is str and key != TAG and (key.isascii() or _text(key) is key) for key in value):
        return {key: _to_json(item, other, depth + 1) for key, item in value.items()}
    pairs = [[_to_json(key, other, depth + 1), _to_json(item, other, depth + 1)] for key, item in value.items()]
    return {TAG: "map", "items": pairs}


def _special(value: Any, other: Callable[[Any], Any], depth: int) -> Any:
    kind = type(value)
    if _is_our_mapping(kind):  # type: ignore[arg-type]  # a type is hashable
        return _dict_to_json({key: value[key] for key in value}, other, depth)
    write = _writers().get(kind)
    if write is not None and (kind not in moment_kinds() or has_fixed_zone(value)):
        return write(value)
    if hasattr(kind, "to_ref"):
        return other(value)  # code does not travel in data: a scorer is written as its reference
    if isinstance(value, Value):
        ours = type(value).__module__.startswith("proctor.data.")
        return _value_to_json(value, other) if ours else other(value)
    made = _plain(value, depth)
    return other(value) if made is value else _to_json(made, other, depth)


@cache
def _is_our_mapping(kind: Any) -> bool:  # what scorers found: there are millions
    return kind.__module__.startswith("proctor.") and issubclass(kind, Mapping) and not issubclass(kind, Value)


@cache
def _writers() -> dict[type, Callable[[Any], Any]]:
    """What writes each kind of plain data that JSON does not have."""
    from binascii import b2a_base64
    from datetime import date, datetime, time, timedelta
    from decimal import Decimal

    return {
        Missing: lambda value: {TAG: "missing"},
        bytes: lambda value: {TAG: "bytes", "base64": b2a_base64(value, newline=False).decode()},
        datetime: lambda value: {TAG: "datetime", "iso": value.isoformat()},
        date: lambda value: {TAG: "date", "iso": value.isoformat()},
        time: lambda value: {TAG: "time", "iso": value.isoformat()},
        timedelta: lambda value: {
            TAG: "timedelta",
            "days": value.days,
            "seconds": value.seconds,
            "microseconds": value.microseconds,
        },
        Decimal: lambda value: {TAG: "decimal", "value": str(value)},
        Opaque: lambda value: {TAG: "opaque", "type": _text(value.type), "shown": _text(value.shown)},
    }


def _value_to_json(value: Value, other: Callable[[Any], Any]) -> dict[str, Any]:
    """The name of its class, and the fields that differ from their defaults as they are written."""
    kind: Any = type(value)
    record: dict[str, Any] = {TAG: kind.__name__}
    names, defaults, written_defaults, read = _fields_of(kind)
    for name, given, default, default_json in zip(names, read(value), defaults, written_defaults, strict=True):
        if given is default:
            continue
        written = _to_json(given, other, 0)
        if type(written) is not type(default_json) or written != default_json:
            record[name] = written
    return record


@cache
def _fields_of(kind: Any) -> tuple[tuple[str, ...], tuple[Any, ...], tuple[Any, ...], Callable[[Any], tuple[Any, ...]]]:
    """The names of the fields, their defaults, those in JSON (NO_DEFAULT where there is none), and what reads all."""
    every = fields(kind)
    names = tuple(field.name for field in every)
    defaults = tuple(f.default if f.default_factory is NO_DEFAULT else f.default_factory() for f in every)
    written = tuple(default if default is NO_DEFAULT else to_json(default) for default in defaults)
    read = attrgetter(*names)
    return names, defaults, written, read if len(names) > 1 else lambda value: (read(value),)


def _refuse(value: Any) -> Any:
    raise _NoPlainForm(value)


def _too_deep(path: str = "") -> EncodingError:
    return EncodingError(path, f"is nested deeper than {DEEPEST} levels, or refers to itself")


def canonical_json(value: Any, *, other: Callable[[Any], Any] | None = None) -> str:
    """The one JSON text of plain data: sorted keys, no spaces, so that equal data has equal text.

    Raises `EncodingError` for what has no plain form, unless *other* writes it.

    >>> canonical_json({"b": [1, 2.5], "a": None})
    '{"a":null,"b":[1,2.5]}'
    """
    made = to_json(value, other=other)
    text = _canonical(made)
    return _canonical(_sorted_maps(made)) if '"$":"map"' in text else text


def _canonical(made: Any) -> str:
    import json

    return json.dumps(made, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _sorted_maps(made: Any) -> Any:
    """The same with the pairs of each map in the order of their text: dicts are equal in any order."""
    if isinstance(made, list):
        return [_sorted_maps(item) for item in made]
    if not isinstance(made, dict):
        return made
    inner = {key: _sorted_maps(item) for key, item in made.items()}
    return {**inner, "items": sorted(inner["items"], key=_canonical)} if inner.get(TAG) == "map" else inner
