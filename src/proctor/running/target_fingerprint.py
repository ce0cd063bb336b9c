"""What a target is, in 12 hex digits, as far as it can be known.

Of what a target closes over only texts, floats, bools and None are in its fingerprint, and nothing of what it is bound
to: a counter in it does not make it another target.
"""

from __future__ import annotations

import sys
from functools import partial
from types import FunctionType, MethodType
from typing import Any

from proctor.data.plain import canonical_json, plain
from proctor.data.secrets import redact
from proctor.errors import EncodingError
from proctor.plugins import import_object
from proctor.running.target import is_address
from proctor.scoring.fingerprint import UNKNOWN, function_content

__all__ = ["NO_TARGET", "digest_of", "is_whole", "target_fingerprint"]

NO_TARGET = "none"
_IN_PART = "~"
_SETTINGS = (str, float, bool, type(None))


def target_fingerprint(target: Any) -> str:
    """The fingerprint of what was given as a target: `none` without one, `unknown` for what has no source text.

    Of an object it is of its class's functions as the user wrote them, behind a `~`: what the object holds is not in
    it, so that it can be known to be another, and not to be the same.
    """
    if target is None:
        return NO_TARGET
    if is_address(target):
        return digest_of(["address", target])
    thing = import_object(target) if isinstance(target, str) else target
    try:
        return digest_of(_content(thing))
    except (EncodingError, RecursionError):
        return _of_class(type(thing))


def is_whole(fingerprint: str) -> bool:
    """Whether two equal ones are of the same target."""
    return fingerprint != UNKNOWN and not fingerprint.startswith(_IN_PART)


def _of_class(kind: type) -> str:
    """Of the functions of a user's class; a framework's say nothing of what is done with it."""
    home = getattr(sys.modules.get(kind.__module__), "__file__", None) or ""
    if kind.__module__.startswith("proctor.") or "site-packages" in home or "dist-packages" in home:
        return UNKNOWN
    functions = {name: getattr(value, "__func__", value) for name, value in vars(kind).items()}
    try:
        told = {name: _content(value) for name, value in functions.items() if isinstance(value, FunctionType)}
    except (EncodingError, RecursionError):
        return UNKNOWN
    digest = digest_of(told)
    return UNKNOWN if digest == UNKNOWN or not told else _IN_PART + digest


def _content(thing: Any) -> Any:
    """The source of a function, its defaults, and the settings that it closes over."""
    if isinstance(thing, MethodType):
        return _content(thing.__func__)
    if isinstance(thing, partial):
        return [_content(thing.func), plain(list(thing.args)), plain(thing.keywords)]
    if not isinstance(thing, FunctionType):
        raise EncodingError("", f"a {type(thing).__name__} has no source text")
    bare = FunctionType(thing.__code__, thing.__globals__, thing.__name__, thing.__defaults__, _empty(thing))
    bare.__kwdefaults__ = thing.__kwdefaults__
    bare.__dict__.update(thing.__dict__)  # a decorated function's source is that of the function inside
    settings = {
        name: cell.cell_contents
        for name, cell in zip(thing.__code__.co_freevars, thing.__closure__ or (), strict=True)
        if _is_setting(cell)
    }
    return [function_content(bare), settings]


def _empty(thing: FunctionType) -> Any:
    """A closure of the right size with nothing in it."""
    from types import CellType

    return tuple(CellType() for _ in thing.__code__.co_freevars)


def _is_setting(cell: Any) -> bool:
    try:
        return type(cell.cell_contents) in _SETTINGS
    except ValueError:
        return False  # a name that is not bound yet


def digest_of(content: Any) -> str:
    """12 hex digits of plain data without its secrets; `unknown` for what has no plain form.

    A renewed key makes nothing another.
    """
    try:
        text = canonical_json(redact(plain(content)))
    except (EncodingError, RecursionError):
        return UNKNOWN
    from hashlib import sha256

    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
