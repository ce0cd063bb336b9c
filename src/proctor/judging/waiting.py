"""Time that is spent waiting for a turn is not the scorer's: its own limit stands still meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asyncio import Timeout

__all__ = ["limited_by", "not_counted"]

_LIMIT: ContextVar[Timeout | None] = ContextVar("proctor_scorer_limit", default=None)


@contextmanager
def limited_by(limit: Timeout) -> Iterator[None]:
    """What is done within is held to *limit*, an `asyncio.timeout` that was entered."""
    token = _LIMIT.set(limit)
    try:
        yield
    finally:
        _LIMIT.reset(token)


@contextmanager
def not_counted() -> Iterator[None]:
    """The limit that holds here stands still within, and goes on with what was left of it."""
    limit = _LIMIT.get()
    when = None if limit is None else limit.when()
    if limit is None or when is None:
        yield
        return
    import asyncio

    now = asyncio.get_running_loop().time
    left = when - now()
    stopped = _moved(limit, None)
    try:
        yield
    finally:
        if stopped:
            _moved(limit, now() + left)


def _moved(limit: Timeout, when: float | None) -> bool:
    """Whether the limit could be moved: it may have run out, or be over, while a call that others wait for goes on."""
    try:
        limit.reschedule(when)
    except RuntimeError:
        return False
    return True
