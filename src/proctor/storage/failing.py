"""The rows of a stored run that a result's table shows as failed: found by what they hold, without reading the rest.

What is shown is what `proctor.data.table` shows of rows in memory: the target's and scorers' errors, the scores that
fell short where a gate or threshold was missed, and what declined where that is why it was missed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, and_, false, func, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from proctor.data.column import Column
from proctor.data.mean import Mean
from proctor.data.threshold import TOLERANCE
from proctor.storage.schema import ITEM, OUTCOME, of_run

__all__ = ["count_shown", "declines_of", "first_shown"]

Clauses = list[ColumnElement[bool]]


async def first_shown(
    connection: AsyncConnection, run: int, *, means: Sequence[Mean], columns: Mapping[int, Column], limit: int
) -> list[int]:
    """The numbers of the first rows with something hard (an error, a gate), and of those with something else."""
    hard, soft = _clauses(means, columns)
    found: dict[int, tuple[int, int]] = {}
    for clauses, of_target in ((hard, True), (soft, False)):
        if not clauses and not of_target:
            continue
        shown = ITEM.c.no.in_(select(OUTCOME.c.no).where(OUTCOME.c.eval == run, or_(false(), *clauses)))
        query = select(ITEM.c.no, ITEM.c.place, ITEM.c.repeat).where(*of_run(run))
        query = query.where(or_(ITEM.c.status == "error", shown) if of_target else shown)
        if not declines_of(means):
            query = query.where(ITEM.c.broke == 0)  # who only declined fell not short
        query = query.order_by(ITEM.c.place, ITEM.c.repeat).limit(limit)
        found |= {int(no): (place, repeat) for no, place, repeat in await connection.execute(query)}
    return sorted(found, key=lambda no: found[no])


async def count_shown(
    connection: AsyncConnection, run: int, *, means: Sequence[Mean], columns: Mapping[int, Column]
) -> int:
    """How many lines the whole list of what failed would have."""
    whole = *of_run(run), ITEM.c.status == "error"
    broken = int((await connection.execute(select(func.count()).select_from(ITEM).where(*whole))).scalar_one())
    hard, soft = _clauses(means, columns)
    if not hard and not soft:
        return broken
    query = select(func.count()).select_from(OUTCOME).where(OUTCOME.c.eval == run, or_(*hard, *soft))
    if broken:
        query = query.where(OUTCOME.c.no.not_in(select(ITEM.c.no).where(*whole)))
    return broken + int((await connection.execute(query)).scalar_one())


def declines_of(means: Sequence[Mean]) -> bool:
    """Whether a gate or threshold was missed for what declined: such rows count neither as short nor as broken."""
    return any(mean.decided_by == "declines" for mean in means)


def _clauses(means: Sequence[Mean], columns: Mapping[int, Column]) -> tuple[Clauses, Clauses]:
    """Which outcomes are shown: the hard ones, and the others. What the means say is not there is not looked for."""
    hard: Clauses = []
    soft: Clauses = []
    by_column = {mean.column: mean for mean in means}
    for number, column in columns.items():
        mean = by_column.get(column)
        if mean is None:
            continue
        at = OUTCOME.c.col == number
        if mean.errors:
            hard.append(and_(at, OUTCOME.c.status == "error"))
        own = hard if column.position == "gate" else soft
        if mean.decided_by == "declines":
            own.append(and_(at, OUTCOME.c.status == "not_scorable"))
        if mean.passed is False and (outside := _outside(mean)):
            own.append(and_(at, or_(*outside)))
    return hard, soft


def _outside(mean: Mean) -> list[Any]:
    needed = mean.needed
    low, high = (None, None) if needed is None else (needed.min, needed.max)
    return [
        *([] if low is None else [OUTCOME.c.score < low - TOLERANCE]),
        *([] if high is None else [OUTCOME.c.score > high + TOLERANCE]),
    ]
