"""A store's database from wherever it is asked: in any event loop, and whether or not somebody has opened the store.

Where a run or a `Store` is open, its pool of connections is used; elsewhere there is a connection for each transaction,
so that nobody need close anything.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from threading import Lock
from typing import TypeVar

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from proctor.storage.address import Address
from proctor.storage.engine import DATABASE_ERRORS, is_passing, make_engine, reading, store_error, writing
from proctor.storage.migrations import migrate

__all__ = ["Database"]

R = TypeVar("R")

_READERS = 3
_PATIENCE_S = 10.0
_RETRY_S = (0.1, 0.5, 2.0, 5.0)


class Database:
    """Reads and writes in transactions. One that fails in passing is done again, for some seconds."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._places: dict[asyncio.AbstractEventLoop, _Place] = {}
        self._lock = Lock()

    def share(self, engine: AsyncEngine) -> None:
        """In the loop that runs now, use this engine until `unshare`; its schema has been seen to."""
        with self._lock:
            self._places[asyncio.get_running_loop()] = _Place(engine, is_migrated=True)

    def unshare(self) -> None:
        """Use the engine no more: it is about to be closed."""
        with self._lock:
            self._places.pop(asyncio.get_running_loop(), None)

    async def read(self, look: Callable[[AsyncConnection], Awaitable[R]]) -> R:
        """What *look* gives in a transaction that reads. Raises `ProctorError` when the database fails."""
        place = self._place()
        async with place.readers:
            return await self._done(place, reading, look, doing="be read")

    async def write(self, change: Callable[[AsyncConnection], Awaitable[R]]) -> R:
        """What *change* gives in a transaction that writes: all of it, or nothing. In one loop one after another."""
        place = self._place()
        async with place.writer:  # in SQLite all who wait would look again and again, and the last ones for long
            return await self._done(place, writing, change, doing="be written")

    def _place(self) -> _Place:
        loop = asyncio.get_running_loop()
        with self._lock:
            place = self._places.get(loop)
            if place is None:
                self._places = {each: place for each, place in self._places.items() if not each.is_closed()}
                place = self._places[loop] = _Place(make_engine(self.address, pooled=False), is_migrated=False)
            return place

    async def _done(
        self,
        place: _Place,
        transaction: Callable[[AsyncEngine], AbstractAsyncContextManager[AsyncConnection]],
        work: Callable[[AsyncConnection], Awaitable[R]],
        *,
        doing: str,
    ) -> R:
        loop = asyncio.get_running_loop()
        began = loop.time()
        for wait in (*_RETRY_S, None):
            try:
                if not place.is_migrated:
                    await migrate(place.engine, where=self.address.shown)
                    place.is_migrated = True
                async with transaction(place.engine) as connection:
                    return await work(connection)
            except DATABASE_ERRORS as error:
                if wait is None or not is_passing(error) or loop.time() - began > _PATIENCE_S:
                    raise store_error(self.address, error, doing=doing) from error
            await asyncio.sleep(wait)
        raise AssertionError("unreachable")


class _Place:
    """A loop's engine, and who waits for it."""

    __slots__ = ("engine", "is_migrated", "readers", "writer")

    def __init__(self, engine: AsyncEngine, *, is_migrated: bool) -> None:
        self.engine = engine
        self.is_migrated = is_migrated
        self.readers = asyncio.Semaphore(_READERS)
        self.writer = asyncio.Lock()
