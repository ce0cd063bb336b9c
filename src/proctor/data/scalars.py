"""The single values of plain data: which kinds they are, and moments in a fixed zone.

What needs `datetime` or `decimal` loads it when it is first asked: importing Proctor costs neither.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from proctor.data.value import Missing

if TYPE_CHECKING:
    from datetime import date, time, timedelta

__all__ = ["BUILT_IN", "clock_kinds", "has_fixed_zone", "in_fixed_zone", "is_scalar", "moment_kinds", "simple_kinds"]

BUILT_IN: frozenset[type] = frozenset({str, int, float, bool, type(None), bytes, Missing})
"""What nearly every value is: it stays as it is."""


@cache
def simple_kinds() -> frozenset[type]:
    """The other kinds that stay as they are."""
    from datetime import date, timedelta
    from decimal import Decimal

    return frozenset({date, timedelta, Decimal})


@cache
def moment_kinds() -> frozenset[type]:
    """The kinds that stay as they are in a fixed zone, or without one."""
    from datetime import datetime, time

    return frozenset({datetime, time})


@cache
def clock_kinds() -> tuple[type[date], type[time], type[timedelta]]:
    """What `in_fixed_zone` takes, and all that is derived from it."""
    from datetime import date, time, timedelta

    return (date, time, timedelta)


def is_scalar(kind: type) -> bool:
    """Whether this is exactly a kind of single value, and none that was derived from it."""
    return kind in BUILT_IN or kind in simple_kinds() or kind in moment_kinds()


def has_fixed_zone(moment: Any) -> bool:
    """Whether a datetime or time has a fixed offset, or none."""
    if moment.tzinfo is None:
        return True
    from datetime import timezone

    return type(moment.tzinfo) is timezone


def in_fixed_zone(value: date | time | timedelta) -> date | time | timedelta:
    """The same in exactly the standard type (pandas has its own), with a fixed offset in place of a named zone."""
    from datetime import date, datetime, time, timedelta

    if isinstance(value, datetime):
        return datetime.combine(date(value.year, value.month, value.day), _clock(value.timetz(), value.utcoffset()))
    if isinstance(value, date):
        return date(value.year, value.month, value.day)
    if isinstance(value, time):
        return _clock(value, value.utcoffset())
    return timedelta(value.days, value.seconds, value.microseconds)


def _clock(value: time, offset: timedelta | None) -> time:
    from datetime import time, timezone

    zone = None if offset is None else timezone(offset)
    return time(value.hour, value.minute, value.second, value.microsecond, zone)
