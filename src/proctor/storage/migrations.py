"""A store's schema, brought to the version that this Proctor speaks.

Each step is written so that doing it again does no harm, and has a row that says when it began and when it was done:
one that broke off is done again. Of processes that open a store at once, one does the steps and the others wait. A
store of a newer version is refused.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from sqlalchemy import insert, inspect, select, text, update
from sqlalchemy.engine import Connection
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from proctor.errors import ProctorError
from proctor.storage.engine import reading, writing
from proctor.storage.schema import METADATA, SCHEMA_VERSION

__all__ = ["VERSION", "migrate"]

_LOCK = 0x70726F63  # the key of PostgreSQL's advisory lock: the letters "proc"


async def _first(connection: AsyncConnection) -> None:
    """All the tables of version 1. Those that are there already stay as they are."""
    await connection.run_sync(METADATA.create_all)


_STEPS: dict[int, Callable[[AsyncConnection], Awaitable[None]]] = {1: _first}
VERSION = max(_STEPS)
"""The version of the schema that this Proctor reads and writes."""


async def migrate(engine: AsyncEngine, *, where: str) -> None:
    """Do the steps that are missing. Raises `ProctorError` (SCHEMA_TOO_NEW) when the store is of a newer Proctor."""
    async with reading(engine) as connection:
        if await connection.run_sync(_done) == VERSION:
            return
    async with writing(engine) as connection:
        if engine.dialect.name == "postgresql":
            await connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        done = await connection.run_sync(_done)
        if done > VERSION:
            message = (
                f"the store {where} is of schema {done}, made by a newer Proctor; this one knows up to {VERSION}: "
                "upgrade proctor, or give another store"
            )
            raise ProctorError(message, code="SCHEMA_TOO_NEW")
        await connection.run_sync(lambda sync: SCHEMA_VERSION.create(sync, checkfirst=True))
        for version in range(done + 1, VERSION + 1):
            await _step(connection, version)


async def _step(connection: AsyncConnection, version: int) -> None:
    begun = await connection.execute(select(SCHEMA_VERSION).where(SCHEMA_VERSION.c.version == version))
    if begun.first() is None:
        await connection.execute(insert(SCHEMA_VERSION).values(version=version, began_at=_now()))
    await _STEPS[version](connection)
    done = update(SCHEMA_VERSION).where(SCHEMA_VERSION.c.version == version).values(done_at=_now())
    await connection.execute(done)


def _done(connection: Connection) -> int:
    """The version up to which every step is done; 0 for a database without any."""
    if not inspect(connection).has_table(SCHEMA_VERSION.name):
        return 0
    rows = connection.execute(select(SCHEMA_VERSION.c.version, SCHEMA_VERSION.c.done_at)).all()
    newest = max((version for version, _ in rows), default=0)
    if newest > VERSION:
        return int(newest)
    broken = [version for version, done_at in rows if done_at is None]
    return int(min(broken) - 1 if broken else newest)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
