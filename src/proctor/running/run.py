"""A run under way: its rows, what has been counted so far, and how it ends."""

from __future__ import annotations

import warnings
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, suppress
from dataclasses import replace
from time import perf_counter
from uuid import uuid4

from proctor.bridge import cancel_requests, recordable
from proctor.data.reply import ItemResult
from proctor.data.result import EvalResult, RunStatus, Summary
from proctor.errors import ProctorError, TargetError, UsageError
from proctor.judging.cache import CacheNotes
from proctor.running.item import RowRunner, bad_row, broken_row, raise_first_error, stopped_row
from proctor.running.listen import Listener
from proctor.running.plan import Plan, warn_of_forgetting
from proctor.running.progress import Progress
from proctor.running.record import Known, utc_now
from proctor.running.recording import Recording
from proctor.running.rows import Row
from proctor.running.stream import Turns, arriving
from proctor.running.tally import Tally
from proctor.running.tool_recording import record_row
from proctor.running.verdict import decide
from proctor.running.workers import at_once, in_own_task
from proctor.scoring.failure import failure_from

__all__ = ["Run"]


class Run:
    """A plan being carried out. `go` once; `partial` at any time."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._eval = plan.evaluation
        self._recording = Recording(plan.evaluation.recorder)
        self._runner = RowRunner(plan.target, plan.evaluation, self._recording)
        self._listener = Listener(plan.evaluation.on_item_complete)
        self._tally = Tally(plan)
        self._known = Known()
        self._cache_notes = CacheNotes()
        self._status: RunStatus = "running"
        self._stopped_by: str | None = None
        self._rows_with_errors = 0
        self._id = str(uuid4())
        self._started_at: str | None = None
        self._began = perf_counter()
        self._ended_at: float | None = None
        self._planned = self._all_planned()
        self._streamed = Turns(self._all_streamed())

    @property
    def progress(self) -> Progress:
        """How far it is."""
        return self._tally.progress

    async def go(self) -> EvalResult:
        """Carry the plan out. Cancelled from outside, it records what is done and raises `CancelledError`."""
        self._began, self._started_at = perf_counter(), utc_now()
        self._known = known = await self._recording.start(self.plan)
        self._id = known.eval_id or self._id
        self._tally.begin(known)
        self._runner.begin(known, notes=self._cache_notes, on_stop=self._stop)
        try:
            await self._carry_out()
        finally:
            result = await self._recorded()
        self._warn()
        return result

    async def _carry_out(self) -> None:
        total = self.plan.total
        try:
            try:
                workers = self._eval.concurrency if total is None else min(self._eval.concurrency, total)
                await at_once(self._work, workers)
            finally:
                await self._streamed.close()
        except BaseException as error:
            self._status = "stopped" if recordable(error) else "cancelled"
            if recordable(error):
                self._stopped_by = self._stopped_by or type(error).__name__
            raise
        left = await self._take_what_is_left()
        for row in left:
            self._take(stopped_row(row))
        if not left and not self._tally.cut_short and (self.plan.stream is None or self._streamed.ended):
            self._stopped_by = None  # it was the last row that was one error too many
        self._status = "complete" if self._stopped_by is None else "stopped"

    async def _recorded(self) -> EvalResult:
        """The result of a run that ended, however it did, once the recorder has it."""
        try:
            if self._status == "cancelled":
                await self._take_what_is_left()
            self._ended_at = perf_counter()  # what was recorded is what a later sitting adds to
            result = self.partial()
            await self._recording.end(result)
        finally:
            await self._recording.flush()
        return result

    async def _take_what_is_left(self) -> list[Row]:
        """Count the rows that an earlier sitting had ended and this one did not come to; gives those that are left."""
        left = []
        for row in self._planned:
            found = await self._found(row) if row.id in self._known.finished else None
            if found is not None:
                found, whole = self._runner.look(found, row)
                if found is not None and whole:
                    self._take(replace(found, item=row.item, index=row.index), fresh=False)
                    continue
            left.append(row)
        return left

    def partial(self) -> EvalResult:
        """The result of what is done so far."""
        whole = self._status == "complete"
        means = self._tally.means(whole=whole)
        verdict, sentence = decide(means, stopped="" if whole else self._stopped_by or self._status)
        if self._status == "running" and verdict is None:
            sentence = "not decided yet: the run goes on"
        return EvalResult(
            eval_id=self._id,
            name=self._eval.name,
            status=self._status,
            stopped_by=self._stopped_by,
            run=self._known.run,
            items=self._tally.rows,
            means=means,
            tags=self._tally.tag_means(),
            keep=self._eval.keep,
            verdict=verdict,
            sentence=sentence,
            summary=self._summary(),
        )

    def cancelled(self) -> EvalResult:
        """The result of a run that somebody stopped."""
        self._status = "cancelled"
        return self.partial()

    # ── rows ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def _all_planned(self) -> Iterator[Row]:
        """What is to be done before what is done already: new work begins at once, however much there is of the old."""
        finished = self._known.finished
        for done in (False, True) if finished else (False,):
            for row in self.plan.rows:
                yield from (again for again in self._repeats(row) if (again.id in finished) is done)

    async def _all_streamed(self) -> AsyncGenerator[Row | ItemResult, None]:
        """Rows of the items that arrive; of a bad item, its result."""
        maker = self.plan.maker
        async with aclosing(arriving(self.plan.stream, unique_ids=maker.unique_ids)) as items:
            async for index, given, made_id in items:
                try:
                    if isinstance(given, ProctorError):
                        raise given
                    row = maker.make(given, index, made_id=made_id)
                    if not row.cells:
                        message = "nothing to score with: give scorers, gates, or both"
                        raise UsageError(message, code="NO_SCORERS_PROVIDED")
                except (ProctorError, Warning) as error:  # warnings may be errors: they must not end what is paid for
                    yield bad_row(self.plan.maker, index, given=given, error=error)
                    continue
                with suppress(UserWarning):  # where warnings are errors the note must do: earlier items are paid for
                    warn_of_forgetting(self.plan)
                self._planned = self._repeats(row)
                for again in self._planned:
                    yield again

    def _repeats(self, row: Row) -> Iterator[Row]:
        yield row
        for repeat in range(1, self._eval.repeats):
            yield replace(row, id=(row.id[0], repeat))

    async def _work(self) -> None:
        """One worker: row after row, until there are none or the run is to stop."""
        import asyncio

        before = cancel_requests()
        while self._stopped_by is None:
            row = next(self._planned, None) if self.plan.stream is None else await self._streamed.next()
            if row is None:
                return
            fresh = True
            if isinstance(row, Row):
                result, fresh = await self._ended(row, before)
            else:
                result = row
                await self._recording.put((row.item_id, row.repeat), row)
                await asyncio.sleep(0)  # bad items without end must not hold the loop
            self._take(result, fresh=fresh)
            await self._listener.tell(result)
            if fresh and self._eval.on_error == "raise":
                raise_first_error(result)
            if cancel_requests() > before:
                raise asyncio.CancelledError  # a target or a step caught it and went on

    async def _ended(self, row: Row, before: int) -> tuple[ItemResult, bool]:
        """The result of a row, and whether anything was done for it: not when an earlier run had ended it.

        *before*: how often this worker was asked to stop, until now.
        """
        import asyncio

        name = row.id[0] if row.id[1] == 0 else f"{row.id[0]} (repeat {row.id[1]})"
        self.progress.in_flight[name] = perf_counter()
        try:
            found = await self._found(row)
            if found is not None:
                found, whole = self._runner.look(found, row)
                if found is not None and whole:
                    await self._make_room()
                    return replace(found, item=row.item, index=row.index), False
            try:
                result = await in_own_task(self._runner.run(row, found))
            except asyncio.CancelledError as error:
                if cancel_requests() > before:
                    raise
                result = broken_row(row, failure_from(error, code=TargetError.code))  # the row cancelled its own task
            await self._recording.put(row.id, result)  # out here, so that a row has one end whatever its task does
            if self._eval.record_tools is not None and row.reply is None:
                record_row(self._eval.record_tools, result)
            return result, True
        finally:
            self.progress.in_flight.pop(name, None)

    async def _found(self, row: Row) -> ItemResult | None:
        """What an earlier run left of the row."""
        known = self._known
        return await self._recording.find(row.id) if row.id in known.finished or row.id in known.begun else None

    async def _make_room(self) -> None:
        """Let others have the event loop at times: a recorder may give row after row without ever waiting."""
        if self.progress.done % 64 == 0:
            import asyncio

            await asyncio.sleep(0)

    def _take(self, result: ItemResult, *, fresh: bool = True) -> None:
        """Count a row. The errors of an earlier run do not stop this one."""
        taken = self._tally.take(result)
        self._rows_with_errors += taken.broke and fresh
        limit = self._eval.stop_after_errors
        if limit is not None and self._rows_with_errors >= limit and self._stopped_by is None:
            self._stop(f"stop_after_errors={limit}")

    def _stop(self, reason: str) -> None:
        """Begin no more rows. The first reason stands."""
        if self._stopped_by is None:
            self._stopped_by = reason
            self._streamed.stop()

    # ── the end ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _warn(self) -> None:
        note = self._listener.note
        if note is not None:
            with suppress(RuntimeWarning):  # where warnings are errors the note must do: the run is paid for
                warnings.warn(note, RuntimeWarning, stacklevel=2)

    def _summary(self) -> Summary:
        notes = [*self.plan.notes, *self._known.notes, *self._cache_notes.notes]
        if changed := self._runner.changed:
            notes.append(f"{changed} of the recorded rows had another item then: what it changes was done anew")
        if self._listener.note is not None:
            notes.append(self._listener.note)
        return self._tally.summary(
            started_at=self._known.started_at or self._started_at,
            duration_ms=self._known.spent_ms + ((self._ended_at or perf_counter()) - self._began) * 1000.0,
            plan=self.plan,
            notes=notes,
        )
