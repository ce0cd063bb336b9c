"""Who is told of each item that ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from proctor.bridge import in_thread, recordable
from proctor.data.reply import ItemResult
from proctor.data.secrets import redact_text
from proctor.errors import safe_message
from proctor.scoring.callables import is_async

__all__ = ["Listener"]


class Listener:
    """`on_item_complete`, called with one result at a time. One that raises is noted, and the run goes on."""

    def __init__(self, function: Callable[[ItemResult], Any] | None) -> None:
        self._function = function
        self._async = is_async(function)
        self._lock: Any = None
        self._failures = 0
        self._first = ""

    async def tell(self, result: ItemResult) -> None:
        """Call it, when there is one."""
        if self._function is None:
            return
        if self._lock is None:
            import asyncio

            self._lock = asyncio.Lock()
        async with self._lock:
            try:
                told = self._function(result) if self._async else await in_thread(self._function, result)
                if hasattr(type(told), "__await__"):
                    await told
            except BaseException as error:
                if not recordable(error):
                    raise
                self._failures += 1
                self._first = (
                    self._first or f"{type(error).__name__}: {redact_text(safe_message(error))} (on {result.item_id})"
                )

    @property
    def note(self) -> str | None:
        """What went wrong, in one sentence; None when nothing did."""
        if not self._failures:
            return None
        times = "once" if self._failures == 1 else f"{self._failures} times"
        return f"on_item_complete raised {times}, first {self._first}"
