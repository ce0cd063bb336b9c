"""The threads of agents, kept in a store: they outlive the process."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import uuid4

from sqlalchemy import func, insert, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from proctor.data.message import Message
from proctor.data.value import shown
from proctor.errors import ProctorError
from proctor.running.record import utc_now
from proctor.storage.database import Database
from proctor.storage.schema import MESSAGE, THREAD
from proctor.storage.texts import Pen, from_json, written_text

__all__ = ["StoredThreads"]

_AT_ONCE = 500


class StoredThreads:
    """Threads in a store. Several processes may add to one: what each appends stays together, and nothing is lost."""

    durable = True

    def __init__(self, database: Database, *, pen: Pen) -> None:
        self._database = database
        self._pen = pen

    def __repr__(self) -> str:
        return f"StoredThreads({self._database.address.shown!r})"

    async def load(self, thread_id: str, *, resource_id: str | None = None) -> list[Message]:
        """What was said. Raises `ProctorError` for a message that is damaged or of a newer Proctor."""
        query = select(MESSAGE.c.body).where(MESSAGE.c.thread_id == written_text(thread_id)).order_by(MESSAGE.c.number)

        async def look(connection: AsyncConnection) -> list[str]:
            return list((await connection.execute(query)).scalars())

        return [self._message(thread_id, body) for body in await self._database.read(look)]

    def _message(self, thread_id: str, body: str) -> Message:
        where = f"the store {self._database.address.shown} holds a message in the thread {thread_id!r}"
        try:
            message = from_json(body)
        except (ProctorError, ValueError, TypeError) as error:
            raise ProctorError(f"{where} that cannot be read: {error}", code="UNREADABLE_DATA") from error
        if not isinstance(message, Message):
            raise ProctorError(f"{where} that is none: {shown(message)}", code="UNREADABLE_DATA")
        return message

    async def append(self, thread_id: str, messages: Sequence[Message], *, resource_id: str | None = None) -> None:
        """Add what was said and is not there, after all that is there by then."""
        if not messages:
            return
        thread = written_text(thread_id)
        rows = [(_id_of(message), self._pen.write(message)) for message in messages]

        async def change(connection: AsyncConnection) -> None:
            await _touch(connection, thread, resource_id)
            known = await _known(connection, thread, {message_id for message_id, _ in rows})
            number = func.coalesce(func.max(MESSAGE.c.number), -1) + 1
            first = (await connection.execute(select(number).where(MESSAGE.c.thread_id == thread))).scalar_one()
            new = [
                {"thread_id": thread, "number": number, "message_id": message_id, "body": body}
                for number, (message_id, body) in enumerate(_unknown(rows, known), start=first)
            ]
            if new:
                await connection.execute(insert(MESSAGE), new)

        await self._database.write(change)

    async def clear(self, thread_id: str) -> None:
        """Forget a thread."""
        thread = written_text(thread_id)

        async def change(connection: AsyncConnection) -> None:
            for table in (THREAD, MESSAGE):  # the thread first: that is what an append waits for
                await connection.execute(table.delete().where(table.c.thread_id == thread))

        await self._database.write(change)


async def _touch(connection: AsyncConnection, thread: str, resource_id: str | None) -> None:
    """Say that something is said in the thread. Whoever else wants to, waits from here until this is committed."""
    make = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    whose = None if resource_id is None else written_text(resource_id)
    row = make(THREAD).values(thread_id=thread, resource_id=whose, said_at=utc_now())
    changes = {
        "said_at": row.excluded.said_at,
        "resource_id": func.coalesce(row.excluded.resource_id, THREAD.c.resource_id),
    }
    await connection.execute(row.on_conflict_do_update(index_elements=["thread_id"], set_=changes))


async def _known(connection: AsyncConnection, thread: str, ids: set[str]) -> set[str]:
    """Which of these ids messages of the thread have."""
    found: set[str] = set()
    ordered = sorted(ids)
    for start in range(0, len(ordered), _AT_ONCE):
        some = MESSAGE.c.message_id.in_(ordered[start : start + _AT_ONCE])
        query = select(MESSAGE.c.message_id).where(MESSAGE.c.thread_id == thread, some)
        found.update((await connection.execute(query)).scalars())
    return found


def _id_of(message: Message) -> str:
    """Its own; else one for this append, which is tried again when nobody can tell whether the commit was done."""
    return f"appended {uuid4()}" if message.id is None else written_text(message.id)


def _unknown(rows: Iterable[tuple[str, str]], known: set[str]) -> list[tuple[str, str]]:
    """The rows whose id is not known; of several with one id the first."""
    new: dict[str, str] = {}
    for message_id, body in rows:
        if message_id not in known:
            new.setdefault(message_id, body)
    return list(new.items())
