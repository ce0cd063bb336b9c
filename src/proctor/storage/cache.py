"""Model calls that were paid for, kept in a store: for all its runs, in any process."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection

from proctor.data.cached_call import CachedCall
from proctor.errors import ProctorError
from proctor.running.record import utc_now
from proctor.storage.database import Database
from proctor.storage.schema import CACHED_CALL
from proctor.storage.texts import Pen, from_json, written_text
from proctor.storage.writer import upsert

__all__ = ["StoredCalls"]


class StoredCalls:
    """The cache of a store. An answer is committed when `put` returns; one that cannot be read is none."""

    def __init__(self, database: Database, *, pen: Pen) -> None:
        self._database = database
        self._pen = pen

    def __repr__(self) -> str:
        return f"StoredCalls({self._database.address.shown!r})"

    async def get(self, key: str, /) -> CachedCall | None:
        """What was kept under this key. None also for what is damaged, or was written by a newer Proctor."""
        query = select(CACHED_CALL.c.body).where(CACHED_CALL.c.key == written_text(key))

        async def look(connection: AsyncConnection) -> Any:
            try:
                return (await connection.execute(query)).scalar_one_or_none()
            except DBAPIError as error:
                if "decode" in str(error.orig).lower():  # a text that is no UTF-8
                    return None
                raise

        body = await self._database.read(look)
        try:
            call = from_json(body)
        except (ProctorError, ValueError, TypeError, RecursionError):
            return None
        return call if isinstance(call, CachedCall) else None

    async def put(self, key: str, call: CachedCall, /) -> None:
        """Keep it, in place of what was there."""
        model = None if call.answered_by is None else written_text(call.answered_by)
        row = (written_text(key), model, utc_now(), self._pen.write(call))

        async def change(connection: AsyncConnection) -> None:
            await connection.exec_driver_sql(upsert(CACHED_CALL, connection.dialect), row)

        await self._database.write(change)
