"""A store that is open: its runs listed, read, deleted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from os import PathLike
from types import TracebackType
from typing import Any, Literal, Self, TypeVar

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from proctor.data.item import Item
from proctor.data.reply import ItemResult
from proctor.data.result import EvalResult
from proctor.data.stored import Page, RunInfo
from proctor.data.value import shown
from proctor.errors import ProctorError, UnknownName, UsageError, visible
from proctor.running.kept import Beginning
from proctor.storage.address import DEFAULT_PATH, Address, address_of
from proctor.storage.cache import StoredCalls
from proctor.storage.database import Database
from proctor.storage.engine import DATABASE_ERRORS, close, make_engine, store_error
from proctor.storage.items import StoredItems
from proctor.storage.memory import StoredThreads
from proctor.storage.migrations import migrate
from proctor.storage.pages import page_of
from proctor.storage.read import columns_of, results_of
from proctor.storage.recorder import StoreRecorder
from proctor.storage.runs import infos, named, number_of, remove
from proctor.storage.schema import CACHED_CALL, EVAL, ITEM, MESSAGE, MOST, REPLY, THREAD, of_run
from proctor.storage.texts import Pen, from_json, plain_text, written_text

__all__ = ["Store"]

R = TypeVar("R")


class Store:
    """Runs that are kept, in a SQLite file or a PostgreSQL database. `async with Store(...) as store:` opens it.

    *where*: True for `.proctor/proctor.db`, the path of a file, or `postgresql://user@host/database`. *redact*: called
    with every text before it is written; gives what is written instead, for personal data.
    """

    def __init__(
        self, where: str | PathLike[str] | Literal[True] = DEFAULT_PATH, *, redact: Callable[[str], str] | None = None
    ) -> None:
        self.address: Address = address_of(where)
        self._pen = Pen(redact)
        self._engine: AsyncEngine | None = None
        self._database = Database(self.address)

    def __repr__(self) -> str:
        return f"Store({self.address.shown!r})"

    async def __aenter__(self) -> Self:
        """Open it. Raises `UsageError` for what cannot be opened, or is of a newer Proctor."""
        if self.address.path is not None and not self.address.path.exists():
            message = f"there is no store {self.address.shown} yet: `proctor run` makes it, or run_evals(store=...)"
            raise UsageError(message, code="STORE_UNUSABLE")
        engine = make_engine(self.address)
        try:
            await migrate(engine, where=self.address.shown)
        except DATABASE_ERRORS as error:
            await close(engine)
            raise store_error(self.address, error, usage=True) from error
        except BaseException:
            await close(engine)
            raise
        self._engine = engine
        self._database.share(engine)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, place: TracebackType | None
    ) -> None:
        engine, self._engine = self._engine, None
        self._database.unshare()
        if engine is not None:
            await close(engine)

    # ── what is in it beside runs; the store need not be open ──────────────────────────────────────────────────────

    def recorder(self, beginning: Beginning | None = None) -> StoreRecorder:
        """A recorder for one run, with a connection of its own."""
        return StoreRecorder(self.address, beginning or Beginning(), pen=self._pen)

    def cache(self) -> StoredCalls:
        """The answers of model calls that are kept, for all runs."""
        return StoredCalls(self._database, pen=self._pen)

    def threads(self) -> StoredThreads:
        """The threads of agents: a `ThreadMemory`, for an agent that is to remember them beyond this process."""
        return StoredThreads(self._database, pen=self._pen)

    # ── looking ────────────────────────────────────────────────────────────────────────────────────────────────────

    async def runs(
        self, *, limit: int | None = 50, eval_name: str | None = None, source: str | None = None
    ) -> list[RunInfo]:
        """The runs, newest first; of one Eval: by its name, or by where it stands, `/folder/FILE.py::variable`."""
        asked = ((EVAL.c.eval_name, eval_name), (EVAL.c.source, source))
        where = [column == written_text(text) for column, text in asked if text is not None]
        return await self._reading(lambda connection: infos(connection, *where, limit=limit))

    async def run(self, name: str) -> RunInfo:
        """The run of this name: its own, its `eval_id` or six or more characters of it, `latest`, `latest~1` ...

        Raises `UnknownName` that says which there are.
        """
        return await self._reading(lambda connection: named(connection, name))

    async def result(self, name: str) -> EvalResult:
        """The result of a run as it ended; its items are read when they are looked at.

        Raises `UsageError` for a run of which no sitting has ended yet.
        """

        async def look(connection: AsyncConnection) -> EvalResult:
            run = await number_of(connection, name)
            row = (await connection.execute(select(EVAL).where(EVAL.c.eval == run))).mappings().one()
            if row["result"] is None:
                info = await named(connection, name)
                message = (
                    f"{info.name} has no result yet: it is {info.status}; go on with it: proctor resume {info.name}"
                )
                raise UsageError(message, code="NO_RESULT_YET")
            return _with_items(from_json(row["result"]), StoredItems(self.address, run))

        return await self._reading(look)

    async def rows(
        self,
        name: str,
        *,
        status: str | None = None,
        failed: bool = False,
        below: float | None = None,
        column: str | None = None,
        order: Literal["input", "failures", "worst"] = "input",
        limit: int = 50,
        after: Sequence[float] | None = None,
    ) -> Page:
        """A page of a run's rows. *status*: only these; *failed*: only those that fell short or broke.

        *below*: only rows whose worst score is lower, on 0 to 1 with 1 as the good end; with *column* (a label) whose
        score there is lower, in the scorer's own range. *order*: that of the input, failures first, or worst first
        (rows without a score come in no such page). *after*: of the page before.
        """

        async def look(connection: AsyncConnection) -> Page:
            run = await number_of(connection, name)
            return await page_of(
                connection, run, status=status, failed=failed, below=below, column=column, order=order, limit=limit,
                after=after,
            )  # fmt: skip

        return await self._reading(look)

    async def row(self, name: str, item_id: str, *, repeat: int = 0) -> ItemResult:
        """One row of a run, whole. Raises `UnknownName` for an id that is not in it."""

        async def look(connection: AsyncConnection) -> ItemResult:
            run = await number_of(connection, name)
            query = select(ITEM.c.no).where(ITEM.c.eval == run, ITEM.c.item_id == written_text(item_id))
            no = (await connection.execute(query.where(ITEM.c.repeat == min(repeat, MOST)))).scalar_one_or_none()
            if no is None:
                raise await _no_row(connection, run, name, item_id, repeat)
            columns = await columns_of(connection, run)
            return (await results_of(connection, run, numbers=[no], columns=columns))[0]

        return await self._reading(look)

    async def items(self, name: str) -> tuple[list[Item], int]:
        """The items of a run of which there is a reply, in the order of the input; and how many there are without."""

        async def look(connection: AsyncConnection) -> tuple[list[Item], int]:
            run = await number_of(connection, name)
            replied = select(REPLY.c.no).where(REPLY.c.eval == run)
            query = select(ITEM.c.item_id, ITEM.c.body, ITEM.c.no.in_(replied)).where(*of_run(run))
            found: dict[str, Item] = {}
            without: set[str] = set()
            for item_id, body, has_reply in await connection.execute(query.order_by(ITEM.c.place, ITEM.c.repeat)):
                if has_reply and item_id not in found:
                    found[item_id] = from_json(body)
                elif not has_reply:
                    without.add(item_id)
            return list(found.values()), len(without - found.keys())

        return await self._reading(look)

    # ── deleting ───────────────────────────────────────────────────────────────────────────────────────────────────

    async def delete(self, name: str, *, force: bool = False) -> RunInfo:
        """Delete a run and all that is kept of it. Raises `UsageError` for one that is being run, but with *force*.

        Threads and the answers of model calls are of no single run: they stay, until `prune`.
        """
        return await self._writing(lambda connection: remove(connection, name, force=force))

    async def prune(self, *, older_than: timedelta, dry_run: bool = False) -> list[RunInfo]:
        """Delete the runs that began before so long; gives them. None that is being run. *dry_run*: only gives them.

        The answers of model calls that were put there before then go, too, and threads in which nothing was said since.
        """
        now = datetime.now(UTC)
        limit = (now - min(older_than, now - datetime.min.replace(tzinfo=UTC))).isoformat()
        found = await self._reading(lambda connection: infos(connection, EVAL.c.started_at < limit, limit=None))
        old = [info for info in found if info.status != "running"]
        if dry_run:
            return old
        gone = []
        for info in old:
            with suppress(UsageError):  # somebody else deleted it, or goes on with it by now
                gone.append(await self.delete(info.eval_id))
        await self._writing(lambda connection: _forget_before(connection, limit))
        return gone

    # ── connections ────────────────────────────────────────────────────────────────────────────────────────────────

    async def _reading(self, look: Callable[[AsyncConnection], Awaitable[R]]) -> R:
        return await self._opened().read(look)

    async def _writing(self, change: Callable[[AsyncConnection], Awaitable[R]]) -> R:
        return await self._opened().write(change)

    def _opened(self) -> Database:
        if self._engine is None:
            raise UsageError(f"{self!r} is not open: `async with Store(...) as store:`", code="STORE_UNUSABLE")
        return self._database


async def _no_row(connection: AsyncConnection, run: int, name: str, item_id: str, repeat: int) -> UnknownName:
    own = select(ITEM.c.repeat).where(ITEM.c.eval == run, ITEM.c.item_id == written_text(item_id)).limit(1000)
    repeats = [str(each) for each in (await connection.execute(own)).scalars()]
    if repeats:
        return UnknownName(f"repeat of {visible(item_id)} in {name}", str(repeat), repeats)
    ids = select(ITEM.c.item_id).where(ITEM.c.eval == run).distinct().limit(1000)
    known = [plain_text(each) for each in (await connection.execute(ids)).scalars()]
    return UnknownName(f"item of {name}", item_id, known)


async def _forget_before(connection: AsyncConnection, limit: str) -> None:
    """Delete the answers of models that were kept before, and the threads in which nothing was said since."""
    await connection.execute(CACHED_CALL.delete().where(CACHED_CALL.c.kept_at < limit))
    await connection.execute(THREAD.delete().where(THREAD.c.said_at < limit))
    await connection.execute(MESSAGE.delete().where(MESSAGE.c.thread_id.not_in(select(THREAD.c.thread_id))))


def _with_items(result: Any, items: StoredItems) -> EvalResult:
    if not isinstance(result, EvalResult):
        raise ProctorError(f"the store holds {shown(result)}, not a result", code="UNREADABLE_DATA")
    return replace(result, items=items, keep="all")  # whatever the run held in memory, the store has every row
