"""The recorder over a store: every reply, outcome and row of a run goes into its tables as it comes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy.ext.asyncio import AsyncEngine

from proctor.data.column import Column
from proctor.data.outcome import Outcome
from proctor.data.reply import ItemResult, Reply
from proctor.data.result import EvalResult
from proctor.errors import ProctorError
from proctor.running.columns import Cell
from proctor.running.kept import Beginning
from proctor.running.plan import Plan
from proctor.running.record import Event, Known, RowId
from proctor.storage.address import Address
from proctor.storage.engine import DATABASE_ERRORS, make_engine, store_error
from proctor.storage.found import Found
from proctor.storage.items import StoredItems
from proctor.storage.migrations import migrate
from proctor.storage.open_row import OpenRow
from proctor.storage.rows import counts, execution_rows, outcome_body
from proctor.storage.schema import EVAL_COLUMN, ITEM, JUDGE_EXECUTION, OUTCOME, REPLY
from proctor.storage.sittings import Sitting, begin_sitting
from proctor.storage.texts import Pen, written_text
from proctor.storage.writer import Writer

__all__ = ["StoreRecorder"]

_WAITS_FROM_MS = 1.0
_SHARE = 20_000.0  # milliseconds of a call to seconds of waiting: a twentieth


class StoreRecorder:
    """Keeps one run in a store. *beginning*: which run it is, and what may have changed since."""

    def __init__(self, address: Address, beginning: Beginning, *, pen: Pen) -> None:
        self._address = address
        self._beginning = beginning
        self._pen = pen
        self._engine: AsyncEngine | None = None
        self._writer: Writer | None = None
        self._sitting: Sitting | None = None
        self._found: Found | None = None
        self._cells: Mapping[Column, Cell] = {}
        self._columns: dict[Column, int] = {}
        self._described: set[Column] = set()
        self._open: dict[RowId, OpenRow] = {}
        self._numbers: dict[RowId, int] = {}
        self._next = 0

    def __repr__(self) -> str:
        return f"StoreRecorder({self._address.shown!r})"

    # ── the protocol ───────────────────────────────────────────────────────────────────────────────────────────────

    async def start(self, plan: Plan) -> Known:
        """Open the store, and begin the run in it, or go on with it.

        Raises `UsageError` when the store cannot be opened or read, or the run is another than it was.
        """
        self._cells = plan.maker.columns.cells
        engine = self._engine = make_engine(self._address)
        try:
            await migrate(engine, where=self._address.shown)
            sitting = self._sitting = await begin_sitting(engine, self._beginning, plan=plan, pen=self._pen)
            found = self._found = await Found.of(engine, self._beginning, sitting=sitting)
        except DATABASE_ERRORS as error:
            await self._close()
            raise store_error(self._address, error, usage=True) from error
        except BaseException:
            await self._close()
            raise
        self._numbers, self._next = found.numbers, found.next_number
        self._columns = dict(found.columns)
        self._writer = Writer(engine, self._address, sitting.pulse)
        if self._beginning.announce is not None:
            self._beginning.announce(sitting.name)
        return Known(
            found.finished,
            found.begun,
            sitting.notes,
            started_at=sitting.started_at,
            spent_ms=sitting.spent_ms,
            eval_id=sitting.eval_id,
            run=sitting.name,
            rows=StoredItems(self._address, sitting.run),
            paid_before=self._beginning.parent is not None,
            redacted=self._pen.redacted,
        )

    async def find(self, row: RowId) -> ItemResult | None:
        """What the store has of a row; of those that ended the next ones are read along."""
        if self._found is None:
            raise self._not_begun()
        try:
            return await self._found.find(row)
        except DATABASE_ERRORS as error:
            raise store_error(self._address, error, doing="be read") from error

    async def put(self, event: Event) -> None:
        """Write an event. What took a millisecond or more is committed when this returns."""
        writer, value = self._writer, event.value
        if writer is None:
            raise self._not_begun()
        if type(value) is Outcome:
            self._put_outcome(writer, event.row, value)
        elif isinstance(value, Reply):
            self._put_reply(writer, event, value)
        elif isinstance(value, ItemResult):
            self._put_end(writer, value)
            if writer.is_full:
                await writer.written()
            return
        took = value.duration_ms
        if took is not None and took >= _WAITS_FROM_MS:
            await writer.written(within=took / _SHARE)
        elif writer.is_full:
            await writer.written()

    async def end(self, result: EvalResult) -> None:
        """Write how the run ended."""
        if self._writer is None or self._sitting is None:
            raise self._not_begun()
        await self._writer.written()
        self._sitting.ends_with(result, self._pen)
        await self._writer.written()

    async def flush(self) -> None:
        """Commit what is left, and let go of the store."""
        writer, self._writer = self._writer, None
        try:
            if writer is not None:
                await writer.close()
        finally:
            await self._close()

    async def _close(self) -> None:
        engine, self._engine = self._engine, None
        if engine is not None:
            await engine.dispose()

    def _not_begun(self) -> ProctorError:
        return ProctorError(f"store {self._address.shown}: no run has begun: call start() first", code="STORE_FAILED")

    # ── events ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _put_reply(self, writer: Writer, event: Event, reply: Reply) -> None:
        row = event.row
        opened = self._opened(row)
        if event.begins and opened.was_there:
            writer.forget(self._run, opened.no)
            opened.was_there = False
        if event.item is not None and not opened.body:
            opened.body = self._pen.write(event.item)
            writer.put(ITEM, self._item_row(row, opened, place=event.index, status="begun"))
        self._write_reply(writer, opened.no, reply, turn=-1 if event.turn is None else event.turn)

    def _put_outcome(self, writer: Writer, row: RowId, outcome: Outcome) -> None:
        opened = self._opened(row)
        self._write_outcome(writer, opened.no, outcome)
        opened.columns.add(outcome.column)

    def _put_end(self, writer: Writer, result: ItemResult) -> None:
        row = (result.item_id, result.repeat)
        opened = self._opened(row)
        del self._open[row]
        opened.body = opened.body or self._pen.write(result.item)
        if opened.was_there:  # what of it is no longer asked for goes
            writer.forget(self._run, opened.no)
            for turn, reply in enumerate(result.replies):
                self._write_reply(writer, opened.no, reply, turn=turn if result.turns else -1)
            opened.columns.clear()
        outcomes = result.outcomes
        if len(outcomes) > len(opened.columns):
            for outcome in outcomes:
                if outcome.column not in opened.columns:
                    self._write_outcome(writer, opened.no, outcome)
        written = self._item_row(row, opened, place=result.index, status=result.status)
        written["failed"], written["errors"], written["worst"] = counts(outcomes, self._cells)
        written["broke"] = 0 if written["failed"] or written["errors"] or result.status == "error" else 1
        written["error"] = None if result.error is None else self._pen.write(result.error)
        writer.put(ITEM, written)

    def _opened(self, row: RowId) -> OpenRow:
        """The state of a row that is being worked at; of one that an earlier sitting left, what it is to become."""
        opened = self._open.get(row)
        if opened is None:
            no = self._numbers.get(row)
            was_there = no is not None
            if no is None:
                no, self._next = self._next, self._next + 1
                self._numbers[row] = no
            opened = self._open[row] = OpenRow(no, was_there=was_there)
        return opened

    def _write_reply(self, writer: Writer, no: int, reply: Reply, *, turn: int) -> None:
        row = {
            "eval": self._run,
            "no": no,
            "turn": turn,
            "sitting": self._sitting_number,
            "duration_ms": reply.duration_ms,
            "body": self._pen.write(reply),
        }
        writer.put(REPLY, row)

    def _write_outcome(self, writer: Writer, no: int, outcome: Outcome) -> None:
        col = self._columns.get(outcome.column)
        if col is None or outcome.column not in self._described:
            col = self._describe(writer, outcome.column)
        writer.put(
            OUTCOME,
            {
                "eval": self._run,
                "no": no,
                "col": col,
                "sitting": self._sitting_number,
                "status": outcome.status,
                "score": outcome.score,
                "duration_ms": outcome.duration_ms,
                "body": outcome_body(outcome, self._pen),
            },
        )
        if outcome.evidence is not None and outcome.evidence.judge:
            for execution in execution_rows(outcome, self._pen):
                writer.put(JUDGE_EXECUTION, {"eval": self._run, "no": no, "col": col, **execution})

    def _describe(self, writer: Writer, column: Column) -> int:
        """The number of a column, which is written when it first comes."""
        col = self._columns.setdefault(column, len(self._columns))
        self._described.add(column)
        cell = self._cells.get(column)
        low, high = (0.0, 1.0) if cell is None else cell.scorer.range
        threshold = None if cell is None else cell.threshold
        writer.put(
            EVAL_COLUMN,
            {
                "eval": self._run,
                "col": col,
                "position": column.position,
                "turn": column.turn,
                "key": written_text(column.key),
                "scorer_id": written_text(column.scorer_id),
                "low": low,
                "high": high,
                "better": "higher" if cell is None else cell.scorer.better,
                "threshold": None if threshold is None else self._pen.write(threshold),
            },
        )
        return col

    def _item_row(self, row: RowId, opened: OpenRow, *, place: int, status: str) -> dict[str, Any]:
        return {
            "eval": self._run,
            "no": opened.no,
            "item_id": written_text(row[0]),
            "repeat": row[1],
            "place": place,
            "status": status,
            "failed": 0,
            "errors": 0,
            "broke": 1,
            "worst": None,
            "body": opened.body,
            "error": None,
        }

    @property
    def _run(self) -> int:
        return self._sitting.run  # type: ignore[union-attr]  # there is one once a run has begun

    @property
    def _sitting_number(self) -> int:
        return self._sitting.number  # type: ignore[union-attr]  # as above
