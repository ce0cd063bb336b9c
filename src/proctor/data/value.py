"""What all values share: the sentinel for "nothing was given", and a repr that shows only what was."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import MISSING as NO_DEFAULT
from dataclasses import field, fields, make_dataclass
from typing import Any, Final, TypeVar, final

from proctor.errors import cut

__all__ = ["MISSING", "Missing", "Value", "freeze", "quick_maker", "shown"]


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
        for at in fields(self):  # type: ignore[arg-type]  # every subclass is a dataclass
            value = getattr(self, at.name)
            if not _is_default(value, at.default, at.default_factory):
                parts.append(f"{at.name}={shown(value)}")
        return f"{type(self).__name__}({', '.join(parts)})"


V = TypeVar("V", bound=Value)


def quick_maker(cls: type[V]) -> Callable[..., V]:
    """A positional constructor of a frozen value class at a quarter of the cost, for values made by the million.

    A frozen dataclass sets each field through `object.__setattr__`. This fills an unfrozen twin with the same slots and
    then turns it into the real thing, which Python allows for classes of equal layout.
    """
    twin: Any = None

    def make(*values: Any) -> V:
        """The value of these fields, in order."""
        nonlocal twin
        twin = twin or _twin_of(cls)  # made when first needed: it costs half a millisecond
        made = twin(*values)
        made.__class__ = cls
        return made  # type: ignore[no-any-return]

    return make


def _twin_of(cls: Any) -> Any:
    names = [(f.name, Any, field(default=f.default)) for f in fields(cls)]
    return make_dataclass(cls.__name__, names, bases=(Value,), slots=True, repr=False, eq=False)


def shown(value: Any, limit: int = 80) -> str:
    """The repr of any object, cut at *limit* characters; also of one whose `__repr__` raises."""
    try:
        return cut(repr(value), limit)
    except Exception as broken:  # noqa: BLE001 - a user's __repr__ may raise anything
        return f"<{type(value).__name__} whose repr raises {type(broken).__name__}>"


def freeze(value: Value, names: Sequence[str]) -> None:
    """Turn lists and iterators in these fields into tuples: the value cannot change under a run, nor be used up."""
    for name in names:
        given = getattr(value, name)
        if type(given) is list or isinstance(given, Iterator):
            object.__setattr__(value, name, tuple(given))


def _is_default(value: Any, default: Any, factory: Any) -> bool:
    if default is not NO_DEFAULT:
        return value is default or (type(value) is type(default) and bool(value == default))
    return factory is not NO_DEFAULT and value == factory()
