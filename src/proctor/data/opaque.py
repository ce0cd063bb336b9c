"""Objects that have no plain form: what is kept of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from proctor.data.value import Value, shown

__all__ = ["Opaque", "describe", "name_of"]


@dataclass(frozen=True, slots=True, repr=False)
class Opaque(Value):
    """Stands for an object that has no plain form, when it is loaded back: what it was, and how it showed itself."""

    type: str
    shown: str


def describe(value: Any) -> Opaque:
    """What is left of an object that has no plain form: its type, and its repr without the address in memory."""
    return Opaque(name_of(value), re.sub(r" at 0x[0-9a-fA-F]+", "", shown(value, 1000)))


def name_of(value: Any) -> str:
    """The full name of its type."""
    return f"{type(value).__module__}.{type(value).__qualname__}"
