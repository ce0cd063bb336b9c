"""Reading rows of a run out of the tables, many at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from sqlalchemy import RowMapping, select
from sqlalchemy.ext.asyncio import AsyncConnection

from proctor.data.column import Column
from proctor.data.outcome import Outcome
from proctor.data.reply import ItemResult
from proctor.storage.rows import item_result, read_outcome
from proctor.storage.schema import EVAL_COLUMN, ITEM, JUDGE_EXECUTION, OUTCOME, REPLY
from proctor.storage.texts import plain_text

__all__ = ["columns_of", "parts_of", "results_of"]

Record: TypeAlias = RowMapping
Parts: TypeAlias = tuple[dict[int, Record], dict[int, list[Record]], dict[int, list[tuple[int, Outcome]]]]

_AT_ONCE = 500


async def columns_of(connection: AsyncConnection, run: int) -> dict[int, Column]:
    """The columns of a run by their number."""
    query = select(EVAL_COLUMN).where(EVAL_COLUMN.c.eval == run).order_by(EVAL_COLUMN.c.col)
    return {
        int(row["col"]): Column(row["position"], row["turn"], plain_text(row["key"]), plain_text(row["scorer_id"]))
        for row in (await connection.execute(query)).mappings()
    }


async def parts_of(
    connection: AsyncConnection,
    run: int,
    *,
    numbers: Sequence[int],
    columns: Mapping[int, Column],
    with_outcomes: bool = True,
) -> Parts:
    """By an item's number: its row, those of its replies in order, its outcomes in order, each with its sitting."""
    items: dict[int, Record] = {}
    replies: dict[int, list[Record]] = {}
    outcomes: dict[int, list[tuple[int, Outcome]]] = {}
    for start in range(0, len(numbers), _AT_ONCE):
        some = numbers[start : start + _AT_ONCE]
        query = select(ITEM).where(ITEM.c.eval == run, ITEM.c.no.in_(some))
        items |= {int(row["no"]): row for row in (await connection.execute(query)).mappings()}
        query = select(REPLY).where(REPLY.c.eval == run, REPLY.c.no.in_(some)).order_by(REPLY.c.no, REPLY.c.turn)
        for row in (await connection.execute(query)).mappings():
            replies.setdefault(int(row["no"]), []).append(row)
        if with_outcomes:
            await _outcomes(connection, run, some, columns, into=outcomes)
    return items, replies, outcomes


async def _outcomes(
    connection: AsyncConnection,
    run: int,
    numbers: Sequence[int],
    columns: Mapping[int, Column],
    *,
    into: dict[int, list[tuple[int, Outcome]]],
) -> None:
    asked: dict[tuple[int, int], list[Record]] = {}
    where = (JUDGE_EXECUTION.c.eval == run, JUDGE_EXECUTION.c.no.in_(numbers))
    order = (JUDGE_EXECUTION.c.no, JUDGE_EXECUTION.c.col, JUDGE_EXECUTION.c.step, JUDGE_EXECUTION.c.number)
    for row in (await connection.execute(select(JUDGE_EXECUTION).where(*where).order_by(*order))).mappings():
        asked.setdefault((int(row["no"]), int(row["col"])), []).append(row)
    query = (
        select(OUTCOME).where(OUTCOME.c.eval == run, OUTCOME.c.no.in_(numbers)).order_by(OUTCOME.c.no, OUTCOME.c.col)
    )
    for row in (await connection.execute(query)).mappings():
        no, col = int(row["no"]), int(row["col"])
        if col in columns:
            outcome = read_outcome(row, columns[col], executions=asked.get((no, col), ()))
            into.setdefault(no, []).append((int(row["sitting"]), outcome))


async def results_of(
    connection: AsyncConnection, run: int, *, numbers: Sequence[int], columns: Mapping[int, Column]
) -> list[ItemResult]:
    """These rows of a run, in the order of *numbers*; one that is being worked at is `not_run` so far."""
    items, replies, outcomes = await parts_of(connection, run, numbers=numbers, columns=columns)
    return [
        item_result(
            items[no],
            replies.get(no, []),
            outcomes=[outcome for _, outcome in outcomes.get(no, [])],
            ended=items[no]["status"] != "begun",
        )
        for no in numbers
        if no in items
    ]
