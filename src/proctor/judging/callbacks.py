"""Functions of the user's that look on while a judge is asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from proctor.errors import safe_message
from proctor.judging.run_calls import RunCalls

__all__ = ["tell"]


async def tell(callback: Callable[[Any], Any] | None, value: Any, *, whose: str, calls: RunCalls) -> None:
    """Call it, def or async def. What it raises is noted in the *calls* of the run, and changes nothing."""
    if callback is None or calls.is_dry:
        return
    try:
        given = callback(value)
        if hasattr(type(given), "__await__"):
            await given
    except (Exception, SystemExit) as error:  # noqa: BLE001 - it is the user's, and only looks on
        note = f"{whose}: a callback of the judge raised {type(error).__name__}: {safe_message(error)}"
        calls.notes.add(note, kind=(whose, type(error).__name__))
