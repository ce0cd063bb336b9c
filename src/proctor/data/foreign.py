"""What other people's objects come down to: one level of plain data, whose items may be foreign again.

Recognised by what they have, never by importing what they come from.
"""

from __future__ import annotations

from collections import UserString
from collections.abc import Mapping, MappingView, Sequence, Set
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from proctor.data.scalars import clock_kinds, in_fixed_zone
from proctor.data.value import Value

if TYPE_CHECKING:
    from decimal import Decimal

__all__ = ["unwrap"]


def unwrap(value: Any) -> Any:
    """*value* as a built-in container, a scalar, or what it wraps; *value* itself when it has no plain form.

    Proctor's own values, and what stands for itself by a `to_ref` method, stay as they are. So does an object whose own
    code raises: a broken model in an output must not end a run that was paid for.
    """
    kind = type(value)
    if isinstance(value, Value | type) or hasattr(kind, "to_ref"):
        return value
    try:
        return _unwrap(value, kind)
    except (RecursionError, MemoryError):
        raise
    except Exception:  # noqa: BLE001 - whatever a property or a `model_dump` raises
        return value


def _unwrap(value: Any, kind: type) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, clock_kinds()):
        return in_fixed_zone(value)
    if hasattr(kind, "_fields") and hasattr(value, "_asdict"):
        return value._asdict()
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if hasattr(kind, "model_dump"):
        return value.model_dump()
    if hasattr(kind, "__attrs_attrs__"):
        return {attribute.name: getattr(value, attribute.name) for attribute in kind.__attrs_attrs__}
    if kind.__module__.partition(".")[0] == "numpy" and hasattr(value, "tolist"):
        made = value.tolist()
        return made if type(made) is not kind else float(value)  # numpy's long double gives itself
    return _container(value, kind)


def _container(value: Any, kind: type) -> Any:
    from numbers import Number

    if isinstance(value, str | UserString):
        return str.__str__(value) if isinstance(value, str) else str(value)
    if isinstance(value, Mapping):
        return dict(value.items())
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    if isinstance(value, Set) and not isinstance(value, MappingView):
        return frozenset(value)
    if isinstance(value, Sequence | MappingView):
        return list(value)  # type: ignore[arg-type]  # every view iterates
    if isinstance(value, Number) and not isinstance(value, complex):
        return _number(value)
    if hasattr(kind, "__fspath__"):
        return value.__fspath__()
    return str(value) if kind.__module__ == "uuid" else value


def _number(value: Any) -> int | float | Decimal:
    from decimal import Decimal
    from numbers import Integral

    if isinstance(value, Decimal):
        return Decimal(value)
    return int(value) if isinstance(value, Integral) else float(value)
