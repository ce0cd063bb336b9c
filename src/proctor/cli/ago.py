"""Times as people say them: how long ago, and how long."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from proctor.errors import UsageError

__all__ = ["ago", "read_age"]

_UNITS = (("y", 365 * 86400), ("mo", 30 * 86400), ("d", 86400), ("h", 3600), ("min", 60))
_AGE = re.compile(r"(\d{1,6}(?:\.\d+)?)\s*(min|h|d|w)")
_SECONDS = {"min": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


def ago(written: str, *, now: datetime | None = None) -> str:
    """How long ago a time of the store was.

    >>> ago("2026-11-30T10:00:00+00:00", now=datetime(2026, 11, 30, 12, 30, tzinfo=UTC))
    '2 h ago'
    """
    seconds = ((now or datetime.now(UTC)) - datetime.fromisoformat(written)).total_seconds()
    for unit, size in _UNITS:
        if seconds >= size:
            return f"{int(seconds // size)} {unit} ago"
    return "just now"


def read_age(text: str) -> timedelta:
    """An age as options say it. Raises `UsageError` for what is none.

    >>> read_age("2w")
    datetime.timedelta(days=14)
    """
    found = _AGE.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"an age is a number and min, h, d or w, as in 30d or 12h; not {text!r}")
    return timedelta(seconds=float(found[1]) * _SECONDS[found[2]])
