"""Finding runs in a store: lists of them, and the one that a name means; and deleting one."""

from __future__ import annotations

import re
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from proctor.data.stored import RunInfo
from proctor.errors import UnknownName, UsageError
from proctor.storage.schema import ENDED, EVAL, ITEM, MOST, OF_A_RUN, SITTING, of_run
from proctor.storage.sittings import is_alive
from proctor.storage.texts import from_json, plain_text, written_text

__all__ = ["infos", "named", "number_of", "remove"]

_LATEST = re.compile(r"latest(?:~(\d+))?")
_SHORTEST_ID = 6


async def infos(connection: AsyncConnection, *where: Any, limit: int | None) -> list[RunInfo]:
    """The runs for which *where* holds, newest first."""
    query = select(EVAL).where(*where).order_by(EVAL.c.started_at.desc(), EVAL.c.eval.desc())
    rows = (await connection.execute(query if limit is None else query.limit(min(limit, MOST)))).mappings().all()
    runs = [int(row["eval"]) for row in rows]
    sittings: dict[int, list[Any]] = {run: [] for run in runs}
    for start in range(0, len(runs), 500):
        some = runs[start : start + 500]
        query = select(SITTING).where(SITTING.c.eval.in_(some)).order_by(SITTING.c.eval, SITTING.c.number)
        for sitting in (await connection.execute(query)).mappings():
            sittings[int(sitting["eval"])].append(sitting)
    parents = await _parents(connection, [row["parent"] for row in rows if row["parent"] is not None])
    counted = {int(row["eval"]): await _counted(connection, row) for row in rows}
    return [
        _info(row, sittings[int(row["eval"])], counted[int(row["eval"])], parents.get(row["parent"])) for row in rows
    ]


async def _counted(connection: AsyncConnection, row: Any) -> tuple[int, int]:
    """How many rows a run has, and how many of them ended: as it was when it ended, else counted."""
    if row["status"] != "running" and row["rows"] is not None:
        return int(row["rows"]), int(row["finished"])
    query = select(ITEM.c.status, func.count()).where(*of_run(row["eval"])).group_by(ITEM.c.status)
    found = {status: int(count) for status, count in await connection.execute(query)}
    return sum(found.values()), sum(found.get(status, 0) for status in ENDED)


async def _parents(connection: AsyncConnection, ids: list[str]) -> dict[str | None, str]:
    if not ids:
        return {}
    found = await connection.execute(select(EVAL.c.eval_id, EVAL.c.name).where(EVAL.c.eval_id.in_(ids)))
    return {row[0]: row[1] for row in found}


def _info(row: Any, sittings: list[Any], counted: tuple[int, int], parent: str | None) -> RunInfo:
    status = row["status"]
    if status == "running" and not (sittings and is_alive(row["eval_id"], sittings[-1])):
        status = "interrupted"
    name, source, sentence = row["eval_name"], row["source"], row["sentence"]
    return RunInfo(
        name=row["name"],
        eval_id=row["eval_id"],
        eval_name=None if name is None else plain_text(name),
        kind=row["kind"],
        parent=parent,
        source=None if source is None else plain_text(source),
        options=None if row["options"] is None else from_json(row["options"]),
        status=status,
        verdict=row["verdict"],
        sentence="" if sentence is None else from_json(sentence),
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        spent_ms=sum(sitting["elapsed_ms"] for sitting in sittings),
        sittings=len(sittings),
        rows=counted[0],
        finished=counted[1],
        errors=row["errors"],
        failures=row["failures"],
        repeats=row["repeats"],
    )


async def named(connection: AsyncConnection, name: str) -> RunInfo:
    """The run that *name* means. Raises `UnknownName`, or `UsageError` when it may mean several."""
    (found,) = await infos(connection, EVAL.c.eval == await number_of(connection, name), limit=1)
    return found


async def number_of(connection: AsyncConnection, name: str) -> int:
    """The number of the run that *name* means; see `named`."""
    if not isinstance(name, str) or not name:
        raise UsageError("a run is called by its name, such as calm-otter-42, or latest", code="NO_SUCH_RUN")
    query = select(EVAL.c.eval).limit(2)
    if (latest := _LATEST.fullmatch(name)) is not None:
        newest = query.order_by(EVAL.c.started_at.desc(), EVAL.c.eval.desc())
        found = await _numbers(connection, newest.offset(min(int(latest[1] or 0), MOST)).limit(1))
    else:
        found = await _numbers(connection, query.where(EVAL.c.name == written_text(name)))
        if not found and len(name) >= _SHORTEST_ID:
            found = await _numbers(
                connection, query.where(EVAL.c.eval_id.startswith(written_text(name), autoescape=True))
            )
    if len(found) > 1:
        raise UsageError(f"several runs have an id that begins with {name}: give more of it", code="NO_SUCH_RUN")
    if not found:
        names = (await connection.execute(select(EVAL.c.name).order_by(EVAL.c.started_at.desc()).limit(500))).scalars()
        raise UnknownName("run", name, list(names))
    return found[0]


async def _numbers(connection: AsyncConnection, query: Any) -> list[int]:
    return [int(number) for number in (await connection.execute(query)).scalars()]


async def remove(connection: AsyncConnection, name: str, *, force: bool = False) -> RunInfo:
    """Delete the run that *name* means; see `Store.delete`."""
    run = await number_of(connection, name)
    this = EVAL.c.eval == run
    await connection.execute(select(EVAL.c.eval).where(this).with_for_update())  # who would go on with it waits
    found = await infos(connection, this, limit=1)
    if not found:
        raise UnknownName("run", name, [])
    info = found[0]
    if info.status == "running" and not force:
        raise UsageError(f"{info.name} is being run: wait for its end, or stop it", code="RUN_UNDER_WAY")
    for table in OF_A_RUN:
        await connection.execute(table.delete().where(table.c.eval == run))
    return info
