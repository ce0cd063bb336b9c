"""A client for each event loop: connections belong to the loop that opened them.

A process has several loops: one for each `asyncio.run`, and the background loop of the `_sync` doors. Within a loop a
client is made once and its connections are reused; when the loop ends they are closed, with nothing to call.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, suppress
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from weakref import WeakSet

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Lock

__all__ = ["PerLoop"]


_SECONDS_TO_CLOSE = 1.0

C = TypeVar("C", bound=AbstractAsyncContextManager[Any])

_all: WeakSet[PerLoop[Any]] = WeakSet()


class _Held(Generic[C]):
    """What one loop has. *generator*: open for as long as the loop is, see `_hold`."""

    __slots__ = ("client", "generator", "lock")

    def __init__(self, lock: Lock) -> None:
        self.lock = lock
        self.client: C | None = None
        self.generator: AsyncGenerator[C] | None = None


class PerLoop(Generic[C]):
    """*make*: makes the client that a loop uses, such as a model; called once a loop, never twice at once."""

    def __init__(self, make: Callable[[], C]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._held: dict[AbstractEventLoop, _Held[C]] = {}
        if not _all:
            atexit.register(_close_all)
        _all.add(self)

    async def get(self) -> C:
        """The client of the running loop."""
        import asyncio

        loop = asyncio.get_running_loop()
        held = self._held.get(loop)
        if held is not None and held.client is not None:
            return held.client
        held = self._begin(loop)
        async with held.lock:
            if held.client is None:
                held.generator = self._hold(loop)
                held.client = await anext(held.generator)
        return held.client

    def _begin(self, loop: AbstractEventLoop) -> _Held[C]:
        import asyncio

        with self._lock:
            for ended in [it for it in self._held if it.is_closed()]:  # closed by hand, without its generators
                del self._held[ended]
            return self._held.setdefault(loop, _Held(asyncio.Lock()))

    async def _hold(self, loop: AbstractEventLoop) -> AsyncGenerator[C]:
        """Advanced once, this stays open until the loop closes its generators, as `asyncio.run` makes it do."""
        with self._lock:
            client = self._make()
        try:
            async with client:
                yield client
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


async def _closed(generator: AsyncGenerator[Any]) -> None:
    await generator.aclose()


def _close_all() -> None:
    for one in list(_all):
        one.close()
