"""A pydantic-ai model for each event loop: connections belong to the loop that opened them.

A process has several loops: one for each `asyncio.run`, and the background loop of the `_sync` doors. Within a loop a
model is made once and its connections are reused; when the loop ends they are closed, with nothing to call.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from typing import TYPE_CHECKING
from weakref import WeakSet

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Lock

    from pydantic_ai.models import Model

__all__ = ["PerLoop"]


_SECONDS_TO_CLOSE = 1.0

_all: WeakSet[PerLoop] = WeakSet()


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
        if not _all:
            atexit.register(_close_all)
        _all.add(self)

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

    def close(self) -> None:
        """Close what loops of other threads have, which end with the process."""
        import asyncio

        for loop, held in list(self._held.items()):
            if held.generator is not None and loop.is_running():
                closed = asyncio.run_coroutine_threadsafe(_closed(held.generator), loop)
                with suppress(Exception):  # the process ends: there is nobody to tell
                    closed.result(_SECONDS_TO_CLOSE)


async def _closed(generator: AsyncGenerator[Model]) -> None:
    await generator.aclose()


def _close_all() -> None:
    for one in list(_all):
        one.close()
