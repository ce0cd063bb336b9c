"""The one task that writes a run: rows are gathered for a moment and committed together.

Whoever has something that cost time waits until it is committed, a twentieth of that time at most, so that a process
that is killed loses nothing it had paid for; what cost nothing does not wait. A commit that fails because the database
is away is tried again for a while. After any other failure everything that is written raises.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeAlias

from sqlalchemy import Dialect, Table, bindparam
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from proctor.errors import ProctorError
from proctor.storage.address import Address
from proctor.storage.engine import is_passing, why, writing
from proctor.storage.schema import EVAL_COLUMN, ITEM, JUDGE_EXECUTION, OUTCOME, REPLY
from proctor.storage.sittings import PULSE_S

__all__ = ["Writer", "upsert"]

Row: TypeAlias = tuple[Any, ...]
"""The values of a row in the order of its table's columns; those of the key come first."""
Pulse: TypeAlias = Callable[[AsyncConnection], Awaitable[None]]

_DELAY_S = 0.01
_MOST_DELAY_S = 0.2
_COMMITS_SHARE = 5.0  # what nobody waits for: the next commit comes after so many times the duration of the last one
_MOST_ROWS = 2_000
_MOST_CHARACTERS = 32_000_000
_PATIENCE_S = 60.0
_FAREWELL_S = 5.0
_RETRY_S = (0.1, 0.2, 0.5, 1.0, 2.0)


class Writer:
    """Writes rows of one run. *pulse*: what each commit does besides, in its transaction."""

    def __init__(self, engine: AsyncEngine, address: Address, pulse: Pulse) -> None:
        self._engine = engine
        self._address = address
        self._pulse = pulse
        self._file = _identity(address)
        self._rows: dict[Table, dict[Row, Row]] = {table: {} for table in _KEYS}
        self._anew: dict[int, int] = {}  # the numbers of items whose earlier rows go, and the run's
        self._count = self._characters = 0
        self._waiters: list[asyncio.Future[None]] = []
        self._sooner = asyncio.Event()
        self._delay = _DELAY_S
        self._due: float | None = None  # when the next commit is due, in the loop's time
        self._failure: ProctorError | None = None
        self._leaves_at: float | None = None  # once cancelled: when to end though nobody has closed it
        self._task = asyncio.get_running_loop().create_task(self._work())
        self._closing = False

    def put(self, table: Table, row: Row, *, characters: int = 0) -> None:
        """Write a row with the next commit; a row of the same key takes its place. Raises what the writer ended in.

        *characters*: about how long its texts are.
        """
        if self._failure is not None:
            raise self._failure.with_traceback(None)
        key = row[: _KEYS[table]]
        rows = self._rows[table]
        if key not in rows:
            self._count += 1
        rows[key] = row
        self._characters += characters
        if self._due is None:
            self._due_within(self._delay)

    def forget(self, run: int, item: int) -> None:
        """Delete the replies and outcomes of an item with the next commit, before it writes anything."""
        self._anew[item] = run
        for table in _OF_AN_ITEM:
            rows = self._rows[table]
            for key in [key for key in rows if key[1] == item]:
                del rows[key]
                self._count -= 1
        self._due_within(self._delay)

    @property
    def is_full(self) -> bool:
        """Whether whoever puts should wait for a commit."""
        return self._count >= _MOST_ROWS or self._characters >= _MOST_CHARACTERS

    async def written(self, *, within: float = 0.0) -> None:
        """Return when everything put so far is committed. *within*: how many seconds that may be put off."""
        if self._failure is not None:
            raise self._failure.with_traceback(None)
        if self._task.done():
            return
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        self._due_within(min(within, _DELAY_S))
        await waiter

    def beat(self) -> None:
        """Have a commit soon, although nothing was put: its pulse has something to say."""
        self._due_within(0.0)

    async def close(self) -> None:
        """Commit what is left, and end. Raises what the writer ended in."""
        self._closing = True
        self._sooner.set()
        await asyncio.shield(self._task)
        if self._failure is not None:
            raise self._failure.with_traceback(None)

    # ── the task ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _due_within(self, seconds: float) -> None:
        due = asyncio.get_running_loop().time() + seconds
        if self._due is None or due < self._due:
            self._due = due
            self._sooner.set()

    async def _work(self) -> None:
        while not (self._closing and self._due is None):
            try:
                await self._until_due()
            except asyncio.CancelledError as error:
                self._stay(error)
                continue
            self._due = None
            waiters, self._waiters = self._waiters, []
            try:
                await self._commit()
            except BaseException as error:  # noqa: BLE001 - whoever puts or waits is told
                self._fail(error, waiters)
                return
            for waiter in waiters:
                if not waiter.done():
                    waiter.set_result(None)

    async def _until_due(self) -> None:
        """Return when it is time for a commit, be it only a sign of life."""
        loop = asyncio.get_running_loop()
        while not self._closing and not self.is_full:
            left = PULSE_S if self._due is None else self._due - loop.time()
            if left <= 0:
                return
            if self._leaves_at is not None:
                left = min(left, self._leaves_at - loop.time())
                if left <= 0:
                    raise asyncio.CancelledError
            self._sooner.clear()
            try:
                async with asyncio.timeout(left):
                    await self._sooner.wait()
            except TimeoutError:
                if self._leaves_at is None:
                    return

    def _stay(self, error: asyncio.CancelledError) -> None:
        """A loop that is being closed cancels every task, and this one too: the run has yet to say how it ended."""
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        if task is None or not task.cancelling() or (self._leaves_at is not None and loop.time() > self._leaves_at):
            self._fail(error, [])
            self._closing = True
            raise error
        task.uncancel()
        self._leaves_at = self._leaves_at or loop.time() + _FAREWELL_S

    def _fail(self, error: BaseException, waiters: list[asyncio.Future[None]]) -> None:
        if isinstance(error, ProctorError):
            self._failure = error
        else:
            message = (
                f"the store {self._address.shown} cannot be written: {why(error)}. "
                "What was committed before is safe in it; resume the run when it can be written"
            )
            self._failure = ProctorError(message, code="STORE_FAILED")
            self._failure.__cause__ = error
        for waiter in (*waiters, *self._waiters):
            if not waiter.done():
                waiter.set_exception(self._failure)
                waiter.exception()  # whoever was cancelled while waiting does not ask
        self._waiters = []

    async def _commit(self) -> None:
        rows, self._rows = self._rows, {table: {} for table in _KEYS}
        anew, self._anew = self._anew, {}
        self._count = self._characters = 0
        began = asyncio.get_running_loop().time()
        self._check_file()
        wait = 0.0
        for attempt in range(1_000_000):
            try:
                if attempt:
                    with suppress(Exception):
                        await self._engine.dispose()
                    await asyncio.sleep(wait)
                async with writing(self._engine) as connection:
                    await self._write(connection, rows, anew)
                spent = asyncio.get_running_loop().time() - began
                self._delay = min(max(_DELAY_S, spent * _COMMITS_SHARE), _MOST_DELAY_S)
                return
            except asyncio.CancelledError as error:
                self._stay(error)
                wait = 0.0
            except Exception as error:
                spent = asyncio.get_running_loop().time() - began
                if not is_passing(error) or spent > _PATIENCE_S:
                    raise
                wait = _RETRY_S[min(attempt, len(_RETRY_S) - 1)]

    def _check_file(self) -> None:
        """A deleted file can still be written by whoever has it open, and nobody would ever read it."""
        if self._file != _identity(self._address):
            message = f"the store {self._address.shown} was deleted or replaced while a run was written to it"
            raise ProctorError(message, code="STORE_FAILED")

    async def _write(
        self, connection: AsyncConnection, rows: dict[Table, dict[Row, Row]], anew: dict[int, int]
    ) -> None:
        await self._pulse(connection)  # first: it is what whoever deletes the run waits for, or has taken away
        if anew:
            them = [{"run": run, "item": item} for item, run in anew.items()]
            for table in _OF_AN_ITEM:
                delete = table.delete().where(table.c.eval == bindparam("run"), table.c.no == bindparam("item"))
                await connection.execute(delete, them)
        for table, written in rows.items():
            if written:
                await _write_rows(connection, upsert(table, connection.dialect), list(written.values()))


def _identity(address: Address) -> tuple[int, int] | None:
    try:
        found = None if address.path is None else address.path.stat()
    except OSError:
        return None
    return None if found is None else (found.st_dev, found.st_ino)


_KEYS = {table: len(table.primary_key) for table in (EVAL_COLUMN, ITEM, REPLY, OUTCOME, JUDGE_EXECUTION)}
_OF_AN_ITEM = (REPLY, OUTCOME, JUDGE_EXECUTION)
_UPSERTS: dict[tuple[Table, str], str] = {}


async def _write_rows(connection: AsyncConnection, statement: str, rows: list[Row]) -> None:
    """With SQLite by its driver: one way to its thread and back, where SQLAlchemy's cursor goes three."""
    if connection.dialect.name != "sqlite":
        await connection.exec_driver_sql(statement, rows)
        return
    driver: Any = (await connection.get_raw_connection()).driver_connection
    await driver.executemany(statement, rows)


def upsert(table: Table, dialect: Dialect) -> str:
    """The statement that writes rows, each in the place of one of the same key, as the driver takes it.

    Compiled once: SQLAlchemy would look at each value of each row again.
    """
    found = _UPSERTS.get((table, dialect.name))
    if found is None:
        make = postgresql.insert if dialect.name == "postgresql" else sqlite.insert
        statement = make(table)
        rest = {column.name: statement.excluded[column.name] for column in table.c if not column.primary_key}
        whole = statement.on_conflict_do_update(index_elements=list(table.primary_key), set_=rest)
        compiled = whole.compile(dialect=dialect, column_keys=table.c.keys())
        found = _UPSERTS[table, dialect.name] = str(compiled)
    return found
