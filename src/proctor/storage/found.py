"""What a store has of a run that is gone on with, or whose replies are scored again."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Set
from dataclasses import replace
from typing import Any

from sqlalchemy import bindparam, select, update
from sqlalchemy.ext.asyncio import AsyncEngine

from proctor.data.column import Column
from proctor.data.outcome import NotRun, Outcome
from proctor.data.reply import ItemResult
from proctor.errors import ProctorError
from proctor.running.kept import Beginning
from proctor.running.record import RowId
from proctor.storage.engine import reading, writing
from proctor.storage.read import columns_of, parts_of
from proctor.storage.rows import item_result
from proctor.storage.schema import ENDED, EVAL, ITEM
from proctor.storage.sittings import Sitting
from proctor.storage.texts import plain_text

__all__ = ["Found"]

_AHEAD = 200


class Found:
    """The rows of earlier sittings, or of a parent. *numbers*: of every row that is ours; *finished*, *begun*: as in
    `Known`.
    """

    def __init__(self, engine: AsyncEngine, run: int) -> None:
        self.numbers: dict[RowId, int] = {}
        self.finished: Set[RowId] = frozenset()
        self.begun: Set[RowId] = frozenset()
        self.columns: dict[Column, int] = {}
        self.next_number = 0
        self._engine = engine
        self._run = run  # whose rows they are
        self._theirs: dict[RowId, int] = {}  # the number that each has there
        self._order: list[RowId] = []
        self._at: dict[RowId, int] = {}
        self._ahead: dict[RowId, ItemResult] = {}
        self._expected, self._step = 0, _AHEAD  # which row comes next if they come in order; how many are read along
        self._lock = asyncio.Lock()
        self._places: dict[RowId, int] = {}
        self._by_number: dict[int, Column] = {}
        self._stale: dict[int, frozenset[Column]] = {}
        self._with_outcomes = True
        self._drops_errors = False

    @classmethod
    async def of(cls, engine: AsyncEngine, beginning: Beginning, *, sitting: Sitting) -> Found:
        """What is there at the beginning of a sitting."""
        if beginning.resume is not None:
            return await cls._of_run(engine, beginning, sitting=sitting)
        if beginning.parent is not None:
            return await cls._of_parent(engine, beginning.parent, times=beginning.times)
        return cls(engine, sitting.run)

    @classmethod
    async def _of_run(cls, engine: AsyncEngine, beginning: Beginning, *, sitting: Sitting) -> Found:
        found = cls(engine, sitting.run)
        async with reading(engine) as connection:
            found._by_number = await columns_of(connection, sitting.run)
            query = select(ITEM.c.no, ITEM.c.item_id, ITEM.c.repeat, ITEM.c.status, ITEM.c.errors, ITEM.c.place)
            query = query.where(ITEM.c.eval == sitting.run).order_by(ITEM.c.place, ITEM.c.repeat)
            rows = (await connection.execute(query)).all()
        found.columns = {column: number for number, column in found._by_number.items()}
        found._stale = _stale_columns(sitting)
        found._drops_errors = beginning.anew == "errors"
        begun: list[RowId] = []
        ended: list[RowId] = []
        for no, written, repeat, status, errors, place in rows:
            row = (plain_text(written), int(repeat))
            found.numbers[row] = int(no)
            if beginning.allow_changes:
                found._places[row] = int(place)
            broke = found._drops_errors and (status == "error" or errors)
            (ended if status in ENDED and not broke else begun).append(row)
        found._theirs = found.numbers
        found._asked_for([*begun, *ended])
        found.finished, found.begun = frozenset(ended), frozenset(begun)
        found.next_number = max(found.numbers.values(), default=-1) + 1
        return found

    @classmethod
    async def _of_parent(cls, engine: AsyncEngine, parent: str, *, times: int) -> Found:
        """The replies of another run, each *times* times; what it made of them is not asked for."""
        async with reading(engine) as connection:
            query = select(EVAL.c.eval).where(EVAL.c.eval_id == parent)
            found = cls(engine, int((await connection.execute(query)).scalar_one()))
            query = select(ITEM.c.no, ITEM.c.item_id, ITEM.c.repeat).where(ITEM.c.eval == found._run)
            rows = (await connection.execute(query.order_by(ITEM.c.place, ITEM.c.repeat))).all()
        found._with_outcomes = False
        found._theirs = {
            (plain_text(written), repeat * times + again): int(no)
            for no, written, repeat in rows
            for again in range(times)
        }
        found._asked_for(list(found._theirs))
        found.begun = found._at.keys()
        return found

    def _asked_for(self, order: list[RowId]) -> None:
        """In which order a run asks for rows: first those that it has work with."""
        self._order = order
        self._at = {row: at for at, row in enumerate(order)}

    async def move(self, places: Mapping[str, int]) -> None:
        """Give the rows the places of their items in the data as it is now.

        Those of no item are put aside, where no reader looks; they come back when their items do.
        """
        aside = {row: old if old < 0 else -1 - old for row, old in self._places.items()}
        where = {row: places.get(row[0], aside[row]) for row in self._places}
        moves = [{"row": self.numbers[row], "to": to} for row, to in where.items() if to != self._places[row]]
        if not moves:
            return
        statement = update(ITEM).where(ITEM.c.eval == self._run, ITEM.c.no == bindparam("row"))
        async with writing(self._engine) as connection:
            await connection.execute(statement.values(place=bindparam("to")), moves)

    async def find(self, row: RowId) -> ItemResult | None:
        """The row: as it ended, or what there is of it as `not_run`, without what other scorers made of it."""
        if row not in self._at:
            return None
        if row not in self._ahead:
            async with self._lock:  # many ask at once, and one reading serves them all
                if row not in self._ahead:
                    await self._read_ahead(row)
        return self._ahead.pop(row)

    async def _read_ahead(self, row: RowId) -> None:
        at = self._at[row]
        self._step = min(self._step * 4, _AHEAD) if at == self._expected else 1
        rows = self._order[at : at + self._step]
        self._expected = at + len(rows)
        kept = list(self._ahead.items())[-_AHEAD:]  # whoever waited for the lock has not taken theirs yet
        self._ahead = dict(kept) | dict(zip(rows, await self._read(rows), strict=True))

    async def _read(self, rows: list[RowId]) -> list[ItemResult]:
        numbers = [self._theirs[row] for row in rows]
        async with reading(self._engine) as connection:
            items, replies, outcomes = await parts_of(
                connection, self._run, numbers=numbers, columns=self._by_number, with_outcomes=self._with_outcomes
            )
        if not items.keys() >= set(numbers):
            raise ProctorError("the run that is gone on from was deleted from the store", code="STORE_FAILED")
        return [
            self._result(row, items[no], replies.get(no, []), outcomes.get(no, []))
            for row, no in zip(rows, numbers, strict=True)
        ]

    def _result(self, row: RowId, item: Any, replies: list[Any], outcomes: list[tuple[int, Outcome]]) -> ItemResult:
        kept = [self._left(outcome) for sitting, outcome in outcomes if not self._is_stale(sitting, outcome)]
        whole = row in self.finished and len(kept) == len(outcomes)
        result = item_result(item, replies, outcomes=kept, ended=whole)
        if self._drops_errors and any(reply.error is not None for reply in result.replies):
            return item_result(item, [], outcomes=[], ended=False)
        return result

    def _is_stale(self, sitting: int, outcome: Outcome) -> bool:
        if self._drops_errors and outcome.status == "error" and not outcome.judge:
            return True
        return outcome.column in self._stale.get(sitting, ())

    def _left(self, outcome: Outcome) -> Outcome:
        """An error that is to be run again is not run yet; the judges that it asked were paid for."""
        if self._drops_errors and outcome.status == "error":
            return replace(outcome, status="not_run", cause=NotRun("stopped"), reason=None, label=None)
        return outcome


def _stale_columns(sitting: Sitting) -> dict[int, frozenset[Column]]:
    """By sitting, the columns whose scorer was another one then."""
    now = sitting.sessions[sitting.number]
    return {number: then.others(now) for number, then in sitting.sessions.items()}
