"""The connections to a store's database, set up so that many processes may write and read at once."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

import aiosqlite
from sqlalchemy import event
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import NullPool

from proctor.errors import ProctorError, UsageError, safe_message
from proctor.storage.address import Address

__all__ = ["DATABASE_ERRORS", "close", "is_passing", "make_engine", "reading", "store_error", "why", "writing"]

_BUSY_MS = 30_000
_CONNECT_SECONDS = 10
_FAREWELL_S = 2.0
_THREADS: WeakKeyDictionary[AsyncEngine, list[Thread]] = WeakKeyDictionary()
_OPENED: WeakKeyDictionary[AsyncEngine, WeakSet[_Connection]] = WeakKeyDictionary()
_LOST = ("08", "57P", "53300")  # SQLSTATEs: connection exceptions, the server shuts down, too many connections


def make_engine(address: Address, *, pooled: bool = True) -> AsyncEngine:
    """An engine for one event loop. Nothing is opened, but the folder of a file is made.

    *pooled*: connections stay open until it is disposed of; else each is closed after its transaction.
    """
    pool: dict[str, Any] = {"pool_size": 4} if pooled else {"poolclass": NullPool}
    if address.path is None:
        how = {
            "timeout": _CONNECT_SECONDS,
            "server_settings": {"application_name": "proctor"},
            "async_creator_fn": _connect_whole,
        }
        return create_async_engine(address.url, connect_args=how, **pool)
    try:
        address.path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise store_error(address, error, usage=True) from error
    threads: list[Thread] = []
    opened: WeakSet[_Connection] = WeakSet()
    engine = create_async_engine(address.url, async_creator=partial(_connect, address.path, threads, opened), **pool)
    _THREADS[engine], _OPENED[engine] = threads, opened
    event.listen(engine.sync_engine, "connect", _set_up)
    event.listen(engine.sync_engine, "begin", _begin)
    return engine


def _of_file(path: Path) -> tuple[str, bool]:
    """The file as SQLite is asked for it, and whether that is a URI.

    One in a folder that may not be written can be read all the same: taken to stay as it is, with nothing beside. With
    a log beside it somebody writes it from elsewhere: that is SQLite's to say.
    """
    if not path.exists() or os.access(path.parent, os.W_OK) or path.with_name(f"{path.name}-wal").exists():
        return str(path), False
    return f"{path.absolute().as_uri()}?immutable=1", True


class _Connection(sqlite3.Connection):
    def close(self) -> None:
        """SQLite keeps what is closed, and its lock, while one of its statements is left in the frames of an error."""
        with suppress(sqlite3.Error):
            self.rollback()
        super().close()


async def close(engine: AsyncEngine) -> None:
    """Close its connections, and wait for their threads: one that outlives its loop may keep the file locked.

    A connection is left to its thread when whoever opens it or waits for it is cancelled.
    """
    try:
        await engine.dispose()
    finally:
        threads = _THREADS.get(engine, [])
        until = asyncio.get_running_loop().time() + _FAREWELL_S
        cancelled: asyncio.CancelledError | None = None
        while any(thread.is_alive() for thread in threads) and asyncio.get_running_loop().time() < until:
            try:
                await asyncio.sleep(0.002)
            except asyncio.CancelledError as error:
                cancelled = error
        if not any(thread.is_alive() for thread in threads):
            for left in list(_OPENED.get(engine, ())):  # of a cancelled statement; it would keep its lock until gc
                with suppress(sqlite3.Error):
                    left.close()
        if cancelled is not None:
            raise cancelled


async def _connect_whole(*given: Any, **options: Any) -> Any:
    """A connection to PostgreSQL. A cancelled one is waited for, and closed: half of one leaves an error to nobody."""
    import asyncpg

    connecting = asyncio.ensure_future(asyncpg.connect(*given, **options))
    try:
        return await asyncio.shield(connecting)
    except asyncio.CancelledError:
        with suppress(Exception):
            (await connecting).terminate()
        raise


async def _connect(path: Path, threads: list[Thread], opened: WeakSet[_Connection]) -> aiosqlite.Connection:
    place, is_uri = _of_file(path)

    def open_it(*given: Any, **options: Any) -> _Connection:
        made = _Connection(*given, **options)
        opened.add(made)
        return made

    connection = aiosqlite.connect(place, uri=is_uri, factory=open_it, check_same_thread=False)
    thread = connection._thread  # noqa: SLF001 - as SQLAlchemy does: it must not keep the process from ending
    thread.daemon = True
    threads[:] = [*(each for each in threads if each.is_alive()), thread]
    return await connection


def _set_up(connection: Any, _: Any) -> None:
    """WAL lets readers go on while one writes; others that want to write wait instead of failing."""
    connection.isolation_level = None  # transactions begin where `_begin` says, not where the driver thinks
    cursor = connection.cursor()
    for pragma in (f"busy_timeout={_BUSY_MS}", "journal_mode=WAL", "synchronous=NORMAL", "temp_store=MEMORY"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin(connection: Any) -> None:
    """Whoever will write says so at once: two that read first and then both want to write would block for ever."""
    writes = connection.get_execution_options().get("writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


@asynccontextmanager
async def writing(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """A transaction that writes: all of it, or nothing."""
    async with engine.connect() as connection:
        await connection.execution_options(writes=True)
        async with connection.begin():
            yield connection


@asynccontextmanager
async def reading(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """A transaction that reads: everything in it is of one moment, whoever writes meanwhile."""
    async with engine.connect() as connection:
        if engine.dialect.name == "postgresql":
            await connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        async with connection.begin():
            yield connection


def is_passing(error: BaseException) -> bool:
    """Whether the same may well succeed a little later: the server is away, or somebody else holds the file."""
    if isinstance(error, ConnectionError | TimeoutError):
        return True
    if not isinstance(error, DBAPIError):
        return isinstance(error, OSError) and error.errno is not None and "connect" in str(error).lower()
    state = getattr(error.orig, "sqlstate", None) or ""
    if error.connection_invalidated or str(state).startswith(_LOST):
        return True
    text = str(error.orig).lower()
    return "database is locked" in text or "connection" in text


def why(error: BaseException) -> str:
    """What a database says, in one line and without our statement and its values."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    text = getattr(cause, "strerror", None) or safe_message(cause) or type(cause).__name__
    return str(text).splitlines()[0].removeprefix("<class '").strip() if text else type(cause).__name__


def store_error(
    address: Address, error: BaseException, *, usage: bool = False, doing: str = "be opened"
) -> ProctorError:
    """The error to raise for one of a database's."""
    if isinstance(error, ProctorError):
        return error
    message = f"the store {address.shown} cannot {doing}: {why(error)}"
    return UsageError(message, code="STORE_UNUSABLE") if usage else ProctorError(message, code="STORE_FAILED")


DATABASE_ERRORS = (SQLAlchemyError, OSError, TimeoutError)
"""What a database raises: its own through SQLAlchemy, and those of the way to it."""
