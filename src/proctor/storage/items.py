"""The rows of a stored run as a sequence that is read when it is looked at: a million of them take no memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

from sqlalchemy import ColumnElement, func, select, tuple_
from sqlalchemy.ext.asyncio import AsyncConnection

from proctor.bridge import run_sync
from proctor.data.column import Column
from proctor.data.mean import Mean
from proctor.data.reply import ItemResult
from proctor.storage.address import Address
from proctor.storage.engine import DATABASE_ERRORS, close, make_engine, reading, store_error
from proctor.storage.failing import count_shown, declines_of, first_shown
from proctor.storage.read import columns_of, results_of
from proctor.storage.schema import ITEM, of_run

__all__ = ["StoredItems"]

_PAGE = 500


class StoredItems(Sequence[ItemResult]):
    """The rows of one run in the order of the input, out of its store. Equal to any sequence of equal rows."""

    __slots__ = ("_address", "_run")

    def __init__(self, address: Address, run: int) -> None:
        self._address = address
        self._run = run

    def __len__(self) -> int:
        return int(self._read(self._count))

    @overload
    def __getitem__(self, at: int) -> ItemResult: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[ItemResult, ...]: ...
    def __getitem__(self, at: int | slice) -> ItemResult | tuple[ItemResult, ...]:
        if isinstance(at, slice):
            places = range(len(self))[at]
            if not places:
                return ()
            low, high = min(places), max(places)
            rows = self._read(lambda connection: self._some(connection, low, high - low + 1))
            return tuple(rows[place - low] for place in places)
        place = at if at >= 0 else at + len(self)
        found = self._read(lambda connection: self._some(connection, place, 1)) if place >= 0 else ()
        if not found:
            raise IndexError(f"row {at} of a run with {len(self)}")
        row: ItemResult = found[0]
        return row

    def __iter__(self) -> Iterator[ItemResult]:
        return self._each()

    def failing(self, means: Sequence[Mean]) -> Iterator[ItemResult]:
        """The rows that can have failed under these means, in the order of the input; others are not read."""
        return self._each() if declines_of(means) else self._each(ITEM.c.broke == 0)

    def first_failing(self, means: Sequence[Mean], count: int) -> tuple[list[ItemResult], int]:
        """The rows that the first *count* lines of what failed are of, and how many lines there are in all."""

        async def look(connection: AsyncConnection) -> tuple[list[ItemResult], int]:
            columns = await columns_of(connection, self._run)
            numbers = await first_shown(connection, self._run, means=means, columns=columns, limit=count)
            rows = await results_of(connection, self._run, numbers=numbers, columns=columns)
            return rows, await count_shown(connection, self._run, means=means, columns=columns)

        found: tuple[list[ItemResult], int] = self._read(look)
        return found

    def _each(self, *where: ColumnElement[bool]) -> Iterator[ItemResult]:
        after: tuple[int, int] | None = None
        columns: dict[int, Column] = {}
        while True:
            here = after
            rows = self._read(lambda connection: self._page(connection, here, columns, where))  # noqa: B023 - called at once
            yield from rows
            if len(rows) < _PAGE:
                return
            after = (rows[-1].index, rows[-1].repeat)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, StoredItems) and (other._address, other._run) == (self._address, self._run):
            return True
        if isinstance(other, str | bytes) or not isinstance(other, Sequence) or len(other) != len(self):
            return NotImplemented
        return all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]  # like the list it stands for

    def __repr__(self) -> str:
        return f"StoredItems({self._address.shown!r}, run {self._run})"

    # ── reading ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _read(self, query: Any) -> Any:
        async def look() -> Any:
            engine = make_engine(self._address)
            try:
                async with reading(engine) as connection:
                    return await query(connection)
            except DATABASE_ERRORS as error:
                raise store_error(self._address, error, doing="be read") from error
            finally:
                await close(engine)

        return run_sync(look())

    async def _count(self, connection: AsyncConnection) -> int:
        query = select(func.count()).select_from(ITEM).where(*of_run(self._run))
        return int((await connection.execute(query)).scalar_one())

    async def _some(self, connection: AsyncConnection, start: int, count: int) -> list[ItemResult]:
        query = select(ITEM.c.no).where(*of_run(self._run)).order_by(ITEM.c.place, ITEM.c.repeat)
        numbers = (await connection.execute(query.offset(start).limit(count))).scalars().all()
        columns = await columns_of(connection, self._run)
        return await results_of(connection, self._run, numbers=numbers, columns=columns)

    async def _page(
        self,
        connection: AsyncConnection,
        after: tuple[int, int] | None,
        columns: dict[int, Column],
        where: Sequence[ColumnElement[bool]],
    ) -> list[ItemResult]:
        if not columns:
            columns |= await columns_of(connection, self._run)
        query = select(ITEM.c.no).where(*of_run(self._run), *where)
        query = query.order_by(ITEM.c.place, ITEM.c.repeat).limit(_PAGE)
        if after is not None:
            query = query.where(tuple_(ITEM.c.place, ITEM.c.repeat) > after)
        numbers = (await connection.execute(query)).scalars().all()
        return await results_of(connection, self._run, numbers=numbers, columns=columns)
