"""Pages of a run's rows, each found by an index: in the order of the input, failures first, worst first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

from sqlalchemy import func, select, tuple_
from sqlalchemy.ext.asyncio import AsyncConnection

from proctor.data.stored import Page, RowInfo
from proctor.errors import UnknownName, UsageError
from proctor.storage.read import columns_of
from proctor.storage.schema import ITEM, MOST, OUTCOME, of_run
from proctor.storage.texts import plain_text

__all__ = ["page_of"]

_FEW = 5_000
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
    keys = _ORDERS["input" if failed and order == "failures" else order]
    filters = _filters(status=status, failed=failed, below=below if column is None else None)
    low = None if column is None else await _low_in(connection, run, column, below)
    query = await _rows_of(connection, run, order, keys, filters=filters, low=low, after=after)
    rows = (await connection.execute(query.limit(min(limit, MOST) + 1))).all()
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


class _Filter(NamedTuple):
    """Which rows are wanted. *leads*: in which order (of an index) they stand together; *test*: of the column."""

    leads: str
    column: Any
    test: Callable[[Any], Any]


def _filters(*, status: str | None, failed: bool, below: float | None) -> list[_Filter]:
    found = []
    if failed:
        found.append(_Filter("failures", ITEM.c.broke, lambda broke: broke == 0))
    if status is not None:
        found.append(_Filter("status", ITEM.c.status, lambda written: written == status))
    if below is not None:
        found.append(_Filter("worst", ITEM.c.worst, lambda worst: worst < below))
    return found


async def _rows_of(
    connection: AsyncConnection,
    run: int,
    order: str,
    keys: tuple[Any, ...],
    *,
    filters: list[_Filter],
    low: Any,
    after: Sequence[float] | None,
) -> Any:
    """The query for the rows: along the index of their order; or, when a filter leaves few, all of those, sorted.

    Where many pass all filters, the next ones come soon.
    """
    given = {each.leads for each in filters}
    leads = order if order != "input" else next((each for each in ("failures", "status") if each in given), order)
    few: Any = None
    for each in filters:
        if each.leads != leads and await _is_few(connection, _all_of(run).where(each.test(each.column))):
            few, leads = each, each.leads
            break
    if few is None and low is not None and await _is_few(connection, low):
        few, leads = low, ""
    query = select(*_SHOWN, *keys).where(*of_run(run))
    if order == "worst":
        query = query.where((ITEM.c.worst if few is None else _by_the_way(ITEM.c.worst)).is_not(None))
    for each in filters:
        query = query.where(each.test(each.column if each.leads == leads else _by_the_way(each.column)))
    if low is not None:
        among = ITEM.c.no.in_(low) if few is low else low.where(OUTCOME.c.no == ITEM.c.no).correlate(ITEM).exists()
        query = query.where(among)
    sorted_by = keys if few is None else tuple(map(_by_the_way, keys))
    if after is not None:
        query = query.where(tuple_(*sorted_by) > tuple(min(each, MOST) for each in after))
    return query.order_by(*sorted_by)


def _by_the_way(column: Any) -> Any:
    """A column in a form that no database looks up in an index: it would take that one instead of ours."""
    return column + "" if column is ITEM.c.status else column + 0


def _all_of(run: int) -> Any:
    return select(ITEM.c.eval).where(ITEM.c.eval == run)


async def _is_few(connection: AsyncConnection, query: Any) -> bool:
    counted = select(func.count()).select_from(query.limit(_FEW + 1).subquery())
    return int((await connection.execute(counted)).scalar_one()) <= _FEW


async def _low_in(connection: AsyncConnection, run: int, label: str, below: float | None) -> Any:
    """The numbers of the rows with a low score in one column."""
    columns = {column.label: number for number, column in (await columns_of(connection, run)).items()}
    if label not in columns:
        raise UnknownName("column", label, list(columns))
    return select(OUTCOME.c.no).where(OUTCOME.c.eval == run, OUTCOME.c.col == columns[label], OUTCOME.c.score < below)
