"""The recorder over a store: every reply, outcome and row of a run goes into its tables as it comes."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from sqlalchemy.ext.asyncio import AsyncEngine

from proctor.data.column import Column
from proctor.data.outcome import Outcome
from proctor.data.reply import ItemResult, Reply
from proctor.data.result import EvalResult
from proctor.errors import ProctorError, UsageError
from proctor.judging.call_cache import NO_CACHE, CallCache
from proctor.running.columns import Cell
from proctor.running.kept import Beginning
from proctor.running.plan import Plan
from proctor.running.record import Event, Known, RowId
from proctor.storage.address import Address
from proctor.storage.cache import StoredCalls
from proctor.storage.database import Database
from proctor.storage.engine import DATABASE_ERRORS, close, make_engine, store_error
from proctor.storage.found import Found
from proctor.storage.items import StoredItems
from proctor.storage.migrations import migrate
from proctor.storage.open_row import OpenRow
from proctor.storage.rows import column_row, counts, execution_rows, outcome_body
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
        self._database = Database(address)
        self._engine: AsyncEngine | None = None
        self._writer: Writer | None = None
        self._sitting: Sitting | None = None
        self._found: Found | None = None
        self._cells: Mapping[Column, Cell] = {}
        self._columns: dict[Column, int] = {}
        self._described: set[Column] = set()
        self._open: dict[RowId, OpenRow] = {}
        self._numbers: dict[RowId, int] = {}
        self._first = self._next = 0  # numbers: of the first row that is new, and of the next one

    def __repr__(self) -> str:
        return f"StoreRecorder({self._address.shown!r})"

    @property
    def kept_calls(self) -> CallCache:
        """The answers of model calls that the store has, without a run being begun; nothing where there is no store."""
        path = self._address.path
        if path is not None and not path.exists():
            return NO_CACHE
        return StoredCalls(self._database, pen=self._pen)

    # ── the protocol ───────────────────────────────────────────────────────────────────────────────────────────────

    async def start(self, plan: Plan) -> Known:
        """Open the store, and begin the run in it, or go on with it.

        Raises `UsageError` when the store cannot be opened or read, or the run is another than it was.
        """
        if self._engine is not None:
            message = f"store {self._address.shown}: a run that has not ended is written by this recorder; make another"
            raise UsageError(message, code="RECORDER_UNUSABLE")
        self._cells = plan.maker.columns.cells
        self._described, self._open = set(), {}
        engine = self._engine = make_engine(self._address)
        try:
            await migrate(engine, where=self._address.shown)
            sitting = self._sitting = await begin_sitting(engine, self._beginning, plan=plan, pen=self._pen)
            self._writer = Writer(engine, self._address, sitting.pulse)
            found = self._found = await Found.of(engine, self._beginning, sitting=sitting)
            if self._beginning.resume is not None and self._beginning.allow_changes and plan.stream is None:
                await found.move({row.id[0]: row.index for row in plan.rows})
            if self._beginning.announce is not None:
                self._beginning.announce(sitting.name)
        except BaseException as error:
            with suppress(Exception):
                await self.flush()  # if the run had begun, it says that it broke off
            if isinstance(error, DATABASE_ERRORS):
                raise store_error(self._address, error, usage=True) from error
            raise
        self._database.share(engine)
        self._numbers = found.numbers
        self._first = self._next = found.next_number
        self._columns = dict(found.columns)
        return Known(
            found.finished,
            found.begun,
            sitting.notes,
            started_at=sitting.started_at,
            spent_ms=sitting.spent_ms,
            eval_id=sitting.eval_id,
            run=sitting.name,
            rows=StoredItems(self._address, sitting.run),
            calls=StoredCalls(self._database, pen=self._pen),
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
            if writer is not None and self._sitting is not None:
                if self._sitting.breaks_off():
                    writer.beat()
                await writer.close()
        finally:
            await self._close()

    async def _close(self) -> None:
        engine, self._engine = self._engine, None
        self._database.unshare()
        if self._sitting is not None:
            self._sitting.is_over()
        if engine is not None:
            await close(engine)

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
            self._put_item(writer, row, opened, place=event.index, status="begun")
        self._write_reply(writer, opened.no, reply, turn=-1 if event.turn is None else event.turn)
        opened.replies += 1

    def _put_outcome(self, writer: Writer, row: RowId, outcome: Outcome) -> None:
        opened = self._opened(row)
        self._write_outcome(writer, opened.no, outcome)
        opened.columns.add(outcome.column)

    def _put_end(self, writer: Writer, result: ItemResult) -> None:
        row = (result.item_id, result.repeat)
        opened = self._opened(row)
        del self._open[row]
        if opened.no >= self._first:
            del self._numbers[row]  # nothing more comes of it, and there may be millions
        opened.body = opened.body or self._pen.write(result.item)
        if opened.was_there:  # what of it is no longer asked for goes
            writer.forget(self._run, opened.no)
            opened.columns.clear()
        if opened.was_there or len(result.replies) > opened.replies:
            for turn, reply in enumerate(result.replies):
                self._write_reply(writer, opened.no, reply, turn=turn if result.turns else -1)
        outcomes = result.outcomes
        if len(outcomes) > len(opened.columns):
            for outcome in outcomes:
                if outcome.column not in opened.columns:
                    self._write_outcome(writer, opened.no, outcome)
        self._put_item(writer, row, opened, place=result.index, status=result.status, result=result)

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

    def _write_outcome(self, writer: Writer, no: int, outcome: Outcome) -> None:
        col = self._columns.get(outcome.column)
        if col is None or outcome.column not in self._described:
            col = self._describe(writer, outcome.column)
        body = outcome_body(outcome, self._pen)
        row = (
            self._run,
            no,
            col,
            self._sitting_number,
            outcome.status,
            outcome.score,
            outcome.duration_ms,
            body,
        )
        writer.put(OUTCOME, row, characters=0 if body is None else len(body))
        if outcome.evidence is not None and outcome.evidence.judge:
            for step, number, *rest, written in execution_rows(outcome, self._pen):
                made = (self._run, no, col, step, number, *rest, written)
                writer.put(JUDGE_EXECUTION, made, characters=len(written))

    def _write_reply(self, writer: Writer, no: int, reply: Reply, *, turn: int) -> None:
        body = self._pen.write(reply)
        row = (self._run, no, turn, self._sitting_number, reply.duration_ms, body)
        writer.put(REPLY, row, characters=len(body))

    def _describe(self, writer: Writer, column: Column) -> int:
        """The number of a column. All that are known by now are written, so that they stand in their order."""
        for each in [*self._cells, column]:
            if each not in self._described:
                self._described.add(each)
                col = self._columns.setdefault(each, len(self._columns))
                described = column_row(each, self._cells.get(each), pen=self._pen)
                writer.put(EVAL_COLUMN, (self._run, col, *described))
        return self._columns[column]

    def _put_item(
        self, writer: Writer, row: RowId, opened: OpenRow, *, place: int, status: str, result: ItemResult | None = None
    ) -> None:
        """The item itself; with the *result* what it came to."""
        failed = errors = 0
        worst = error = None
        if result is not None:
            failed, errors, worst = counts(result.outcomes, self._cells)
            error = None if result.error is None else self._pen.write(result.error)
        broke = 0 if failed or errors or status == "error" else 1
        values = (
            self._run,
            opened.no,
            written_text(row[0]),
            row[1],
            place,
            status,
            failed,
            errors,
            broke,
            worst,
            opened.body,
            error,
        )
        writer.put(ITEM, values, characters=len(opened.body))

    @property
    def _run(self) -> int:
        return self._sitting.run  # type: ignore[union-attr]  # there is one once a run has begun

    @property
    def _sitting_number(self) -> int:
        return self._sitting.number  # type: ignore[union-attr]  # as above
