"""Workers at once: the first that fails ends them all, and none ends unseen."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from proctor.bridge import cancel_requests
from proctor.errors import ProctorError

__all__ = ["at_once", "in_own_task"]

R = TypeVar("R")
Worker = Callable[[], Coroutine[Any, Any, None]]


async def at_once(worker: Worker, count: int) -> None:
    """So many workers, until all have ended. Raises what the first that failed raised."""
    if count == 1:
        await _seen(worker)
        return
    import asyncio

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(count):
                group.create_task(_seen(worker))
    except BaseExceptionGroup as several:
        first = several.exceptions[0]
        raise first from first.__cause__  # as it would be with one worker


async def in_own_task(work: Coroutine[Any, Any, R]) -> R:
    """*work* in a task of its own: context variables that an item sets are its own, and so is a cancellation."""
    import asyncio

    return await asyncio.create_task(work)


async def _seen(worker: Worker) -> None:
    """A worker that nobody asked to stop must not end as if cancelled: a group takes that for a good end."""
    import asyncio

    before = cancel_requests()
    try:
        await worker()
    except asyncio.CancelledError as error:
        if cancel_requests() > before:
            raise
        message = "the recorder raised CancelledError, and nobody had stopped the run"
        raise ProctorError(message, code="RECORDER_FAILED") from error
