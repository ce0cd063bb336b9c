"""Pages of a run's rows, each found by an index: in the order of the input, failures first, worst first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from sqlalchemy import select, tuple_
from sqlalchemy.ext.asyncio import AsyncConnection

from proctor.data.stored import Page, RowInfo
from proctor.errors import UnknownName, UsageError
from proctor.storage.read import columns_of
from proctor.storage.schema import ITEM, OUTCOME
from proctor.storage.texts import plain_text

__all__ = ["page_of"]

_SHOWN = (ITEM.c.item_id, ITEM.c.repeat, ITEM.c.place, ITEM.c.status, ITEM.c.failed, ITEM.c.errors, ITEM.c.worst)
_ORDERS: dict[str, tuple[Any, ...]] = {
    "input": (ITEM.c.place, ITEM.c.repeat),
    "failures": (ITEM.c.broke, ITEM.c.place, ITEM.c.repeat),
    "worst": (ITEM.c.worst, ITEM.c.place, ITEM.c.repeat),
}


async def page_of(
    connection: AsyncConnection,
    run: int,
    *,
    status: str | None = None,
    failed: bool = False,
    below: float | None = None,
    column: str | None = None,
    order: Literal["input", "failures", "worst"] = "input",
    limit: int = 50,
    after: Sequence[float] | None = None,
) -> Page:
    """See `Store.rows`."""
    if order not in _ORDERS:
        raise UnknownName("order of rows", order, list(_ORDERS))
    if limit < 1:
        raise UsageError(f"limit is 1 or more, not {limit}")
    if column is not None and below is None:
        raise UsageError("column says which score is to be below=...: give both")
    keys = _ORDERS[order]
    query = select(*_SHOWN, *keys).where(ITEM.c.eval == run).order_by(*keys).limit(limit + 1)
    if order == "worst" or (below is not None and column is None):
        query = query.where(ITEM.c.worst.is_not(None))
    if status is not None:
        query = query.where(ITEM.c.status == status)
    if failed:
        query = query.where(ITEM.c.broke == 0)
    if below is not None:
        query = (
            query.where(ITEM.c.worst < below)
            if column is None
            else await _low_in(connection, run, column, below, query)
        )
    if after is not None:
        query = query.where(tuple_(*keys) > tuple(after))
    rows = (await connection.execute(query)).all()
    shown = [
        RowInfo(
            item_id=plain_text(row[0]),
            repeat=row[1],
            index=row[2],
            status=row[3],
            failed=row[4],
            errors=row[5],
            worst=row[6],
        )
        for row in rows[:limit]
    ]
    more = len(rows) > limit
    return Page(rows=tuple(shown), after=tuple(rows[limit - 1][len(_SHOWN) :]) if more else None)


async def _low_in(connection: AsyncConnection, run: int, label: str, below: float, query: Any) -> Any:
    """Only rows with a low score in one column."""
    columns = {column.label: number for number, column in (await columns_of(connection, run)).items()}
    if label not in columns:
        raise UnknownName("column", label, list(columns))
    low = select(OUTCOME.c.no).where(OUTCOME.c.eval == run, OUTCOME.c.col == columns[label], OUTCOME.c.score < below)
    return query.where(ITEM.c.no.in_(low))
