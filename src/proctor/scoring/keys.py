"""A scorer's key: which one it is, from its own arguments alone, so that adding a scorer renames nothing.

`id` when built with no arguments, else `id[args]`: the arguments that differ from their defaults, the first positional
one bare, others as name=value. Text that could be mistaken for something else goes in quotes. More than 40 characters
are cut, with `~` and 6 hex digits of the SHA-256 of the arguments' canonical JSON. Control characters become spaces.
A function is shown by its name, a scorer by its key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from proctor.data.plain import canonical_json, plain

__all__ = ["key_of", "numbered"]

_LIMIT = 40


def key_of(scorer_id: str, arguments: Mapping[str, Any], *, positional: str | None = None) -> str:
    """The key of a scorer built with these arguments (only those that differ from their defaults).

    >>> key_of("check-called-tool", {"name": "get_weather", "times": 2}, positional="name")
    'check-called-tool[get_weather,times=2]'
    >>> key_of("check-tool-order", {"names": ["a", "b"]}, positional="names")
    'check-tool-order[a,b]'
    """
    if not arguments:
        return scorer_id
    arguments = {name: _named(value) for name, value in arguments.items()}
    shown = [
        _show(value, top=True) if name == positional else f"{name}={_show(value)}" for name, value in arguments.items()
    ]
    text = _no_controls(",".join(shown))
    if len(text) > _LIMIT:
        from hashlib import sha256

        digest = sha256(canonical_json(arguments).encode("utf-8", "surrogatepass")).hexdigest()[:6]
        text = f"{text[: _LIMIT - 7]}~{digest}"
    return f"{scorer_id}[{text}]"


def numbered(keys: Sequence[str]) -> list[str]:
    """The keys with `#2`, `#3` after those that stand before them in the list.

    >>> numbered(["a", "b", "a"])
    ['a', 'b', 'a#2']
    """
    names: list[str] = []
    for key in keys:
        name, number = key, 1
        while name in names:
            number += 1
            name = f"{key}#{number}"
        names.append(name)
    return names


def _named(value: Any) -> Any:
    """An argument as plain data, with the names of what has none: never its source text, which changes with a comma."""
    if isinstance(value, list | tuple):
        return [_named(item) for item in value]
    if hasattr(type(value), "to_ref"):
        return value.key
    made = plain(value)
    return getattr(value, "__name__", type(value).__name__) if made is value and callable(value) else made


def _show(value: Any, *, top: bool = False) -> str:
    import json

    if isinstance(value, str):
        return value if (_is_plain_text if top else _is_word)(value) else json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        inner = ",".join(_show(item) for item in value)
        return inner if top and value else f"[{inner}]"
    return canonical_json(value)


def _is_plain_text(text: str) -> bool:
    """Whether a first argument can stand bare: not taken for quotes, nor for a text followed by `name=value`."""
    return bool(text.strip()) and text == text.strip() and text[0] != '"' and not ("," in text and "=" in text)


def _is_word(text: str) -> bool:
    return _is_plain_text(text) and not set(',=[]"') & set(text)


def _no_controls(text: str) -> str:
    return "".join(char if char.isprintable() or char == " " else " " for char in text)
