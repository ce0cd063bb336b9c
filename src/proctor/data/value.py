"""What all values share: the sentinel for "nothing was given", and a repr that shows only what was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import MISSING as NO_DEFAULT
from dataclasses import fields
from typing import Any, Final, final

from proctor.errors import cut

__all__ = ["MISSING", "Missing", "Value", "freeze", "shown"]


@final
class Missing:
    """The type of `MISSING`. There is one instance; it is false, and equal only to itself."""

    __slots__ = ()
    _only: Missing | None = None

    def __new__(cls) -> Missing:
        if cls._only is None:
            cls._only = super().__new__(cls)
        return cls._only

    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False

    def __reduce__(self) -> str:
        return "MISSING"  # copies and pickles are the same object


MISSING: Final = Missing()
"""Nothing was given. Unlike None, 0, False and "", which are values like any other."""


class Value:
    """Base of the frozen dataclasses of this floor. The repr shows fields that differ from their defaults.

    Each is cut at 80 characters.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        parts = []
        for field in fields(self):  # type: ignore[arg-type]  # every subclass is a dataclass
            value = getattr(self, field.name)
            if not _is_default(value, field.default, field.default_factory):
                parts.append(f"{field.name}={shown(value)}")
        return f"{type(self).__name__}({', '.join(parts)})"


def shown(value: Any, limit: int = 80) -> str:
    """The repr of any object, cut at *limit* characters; also of one whose `__repr__` raises."""
    try:
        return cut(repr(value), limit)
    except Exception as broken:  # noqa: BLE001 - a user's __repr__ may raise anything
        return f"<{type(value).__name__} whose repr raises {type(broken).__name__}>"


def freeze(value: Value, names: Sequence[str]) -> None:
    """Turn the lists in these fields into tuples: the value cannot change under a run, and loads back equal."""
    for name in names:
        given = getattr(value, name)
        if type(given) is list:
            object.__setattr__(value, name, tuple(given))


def _is_default(value: Any, default: Any, factory: Any) -> bool:
    if default is not NO_DEFAULT:
        return value is default or (type(value) is type(default) and bool(value == default))
    return factory is not NO_DEFAULT and value == factory()
