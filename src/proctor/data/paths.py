"""Where something stands in a value: `messages[2].args`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from proctor.data.foreign import unwrap
from proctor.data.scalars import is_scalar
from proctor.data.value import Value

__all__ = ["path_to"]


def path_to(wanted: Any, value: Any) -> str | None:
    """Where *wanted* stands in *value*: looked for only once something is wrong, so that writing costs no paths."""
    if value is wanted:
        return ""
    for step, part in _parts(value):
        rest = path_to(wanted, part)
        if rest is not None:
            return step + rest
    return None


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Value):
        yield from ((f".{field.name}", getattr(value, field.name)) for field in fields(value))  # type: ignore[arg-type]
    elif isinstance(value, dict):
        yield from ((f".{key}", item) for key, item in value.items())
    elif isinstance(value, list | tuple):
        yield from ((f"[{index}]", item) for index, item in enumerate(value))
    elif not is_scalar(type(value)) and (made := unwrap(value)) is not value:
        yield from _parts(made)
