"""A pydantic-ai model for each event loop: connections belong to the loop that opened them.

A process has several loops: one for each `asyncio.run`, and the background loop of the `_sync` doors. Within a loop a
model is made once and its connections are reused; when the loop ends they are closed, with nothing to call.
"""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator, Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Lock

    from pydantic_ai.models import Model

__all__ = ["PerLoop"]


class _Held:
    """What one loop has. *generator*: open for as long as the loop is, see `_hold`."""

    __slots__ = ("generator", "lock", "model")

    def __init__(self, lock: Lock) -> None:
        self.lock = lock
        self.model: Model | None = None
        self.generator: AsyncGenerator[Model] | None = None


class PerLoop:
    """*make*: makes the model that a loop uses; called once a loop, never twice at once."""

    def __init__(self, make: Callable[[], Model]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._held: dict[AbstractEventLoop, _Held] = {}

    async def get(self) -> Model:
        """The model of the running loop."""
        import asyncio

        loop = asyncio.get_running_loop()
        held = self._held.get(loop)
        if held is not None and held.model is not None:
            return held.model
        held = self._begin(loop)
        async with held.lock:
            if held.model is None:
                held.generator = self._hold(loop)
                held.model = await anext(held.generator)
        return held.model

    def _begin(self, loop: AbstractEventLoop) -> _Held:
        import asyncio

        with self._lock:
            for ended in [it for it in self._held if it.is_closed()]:  # closed by hand, without its generators
                del self._held[ended]
            return self._held.setdefault(loop, _Held(asyncio.Lock()))

    async def _hold(self, loop: AbstractEventLoop) -> AsyncGenerator[Model]:
        """Advanced once, this stays open until the loop closes its generators, as `asyncio.run` makes it do."""
        with self._lock:
            model = self._make()
        try:
            async with model:
                yield model
        finally:
            self._held.pop(loop, None)
