"""Where two values of plain data part: one walk for a call's arguments, files and whoever else compares.

Keys stand in any order, lists in theirs. Text is compared by its code points. True is no number, and "1" is none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from proctor.data.value import MISSING, Value

__all__ = ["Difference", "Rule", "differences", "item_at"]

Rule: TypeAlias = Literal["value", "exact", "subset", "superset"]


@dataclass(frozen=True, slots=True, repr=False)
class Difference(Value):
    """One place where two values part. *path*: as in `user.tags[2]`; a side that has nothing there is MISSING."""

    path: str
    expected: Any
    actual: Any


def differences(expected: Any, actual: Any, *, rule: Rule = "value") -> list[Difference]:
    """Every place where *actual* is not as *expected*; none when it fits.

    `value`: equal as values, 1 and 1.0 are the same. `exact`: numbers of one type too. `subset`: *expected* is a part
    of *actual*, which may have more keys; a key `a.b` that is not there is looked for as `b` inside `a`. `superset`:
    *actual* is a part of *expected*, and has no key that *expected* lacks. Mappings inside follow the same rule; lists
    have equal lengths under every rule.

    >>> [found.path for found in differences({"a": 1, "b": {"c": "x"}}, {"a": 1.0, "b": {"c": "y", "d": 0}})]
    ['b.c', 'b.d']
    >>> differences({"a": 1}, {"a": 1, "b": 2}, rule="subset")
    []
    """
    return list(_walk(expected, actual, rule, ""))


def _walk(expected: Any, actual: Any, rule: Rule, path: str) -> Iterator[Difference]:
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        yield from _mappings(expected, actual, rule, path)
    elif isinstance(expected, list | tuple) and isinstance(actual, list | tuple):
        for index in range(max(len(expected), len(actual))):
            here = f"{path}[{index}]"
            if index < min(len(expected), len(actual)):
                yield from _walk(expected[index], actual[index], rule, here)
            else:
                yield Difference(here, item_at(expected, index), item_at(actual, index))
    elif not _same(expected, actual, exact=rule == "exact"):
        yield Difference(path, expected, actual)


def _mappings(expected: Mapping[Any, Any], actual: Mapping[Any, Any], rule: Rule, path: str) -> Iterator[Difference]:
    for key, wanted in expected.items():
        here = _step(path, key)
        if key in actual:
            yield from _walk(wanted, actual[key], rule, here)
        elif rule == "subset" and (given := _inside(actual, key)) is not MISSING:
            yield from _walk(wanted, given, rule, here)
        elif rule != "superset":
            yield Difference(here, wanted, MISSING)
    if rule != "subset":
        for key, given in actual.items():
            if key not in expected:
                yield Difference(_step(path, key), MISSING, given)


def _step(path: str, key: Any) -> str:
    return f"{path}.{key}" if path else str(key)


def _inside(value: Any, key: Any) -> Any:
    """What a dotted key leads to, through mappings and by number through lists; MISSING when it leads nowhere."""
    if not isinstance(key, str) or "." not in key:
        return MISSING
    for step in key.split("."):
        if isinstance(value, Mapping):
            value = value.get(step, MISSING)
        elif isinstance(value, list | tuple) and step.isascii() and step.isdigit():
            value = item_at(value, int(step))
        else:
            return MISSING
    return value


def item_at(items: list[Any] | tuple[Any, ...], index: int) -> Any:
    """What stands at a place; MISSING behind the end."""
    return items[index] if index < len(items) else MISSING


def _same(left: Any, right: Any, *, exact: bool) -> bool:
    if left is right:
        return True
    numbers = _is_number(left) and _is_number(right)
    if type(left) is not type(right) and (exact or not numbers):
        return False
    if numbers and (_is_nan(left) or _is_nan(right)):
        return _is_nan(left) and _is_nan(right)
    return bool(left == right)


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) or hasattr(value, "is_nan")


def _is_nan(value: Any) -> bool:
    return bool(value.is_nan()) if hasattr(value, "is_nan") else value != value  # noqa: PLR0124 - NaN differs from itself
