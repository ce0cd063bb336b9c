"""A run under way: its rows, what has been counted so far, and how it ends."""

from __future__ import annotations

import warnings
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import suppress
from dataclasses import replace
from time import perf_counter
from typing import Any, TypeVar
from uuid import uuid4

from proctor.bridge import cancel_requests, recordable
from proctor.data.item import Item
from proctor.data.reply import ItemResult
from proctor.data.result import EvalResult, RunStatus, Summary
from proctor.errors import ProctorError, TargetError
from proctor.running.fold import Fold
from proctor.running.item import RowRunner, raise_first_error, stopped_row
from proctor.running.listen import Listener
from proctor.running.plan import Plan, warn_of_forgetting
from proctor.running.record import Known, NoRecorder, Recorder
from proctor.running.rows import Row
from proctor.running.score import not_run
from proctor.running.stream import arriving
from proctor.running.verdict import column_mean, decide
from proctor.scoring.failure import failure_from

__all__ = ["Progress", "Run"]

R = TypeVar("R")


class Progress:
    """How far a run is, while it goes on.

    *total*: rows in all, None for a stream. *done*, *failed* (a gate or threshold fell short), *errors* (the target or
    a scorer failed): rows. *not_scorable*: outcomes. *in_flight*: what is being worked at, since when (`perf_counter`).
    """

    __slots__ = ("done", "errors", "failed", "in_flight", "not_scorable", "total")

    def __init__(self, total: int | None) -> None:
        self.total = total
        self.done = self.failed = self.errors = self.not_scorable = 0
        self.in_flight: dict[str, float] = {}


class Run:
    """A plan being carried out. `go` once; `partial` at any time."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.progress = Progress(plan.total)
        self._eval = plan.evaluation
        self._recorder: Recorder = plan.evaluation.recorder or NoRecorder()
        self._runner = RowRunner(plan.target, plan.evaluation, self._recorder)
        self._listener = Listener(plan.evaluation.on_item_complete)
        self._fold = Fold(plan.maker.columns, repeats=plan.evaluation.repeats)
        self._kept: dict[tuple[int, int], ItemResult] = {}
        self._known = Known()
        self._status: RunStatus = "complete"
        self._stopped_by: str | None = None
        self._rows_with_errors = 0
        self._id = str(uuid4())
        self._began = perf_counter()
        self._planned = self._all_planned()
        self._streamed = self._all_streamed()
        self._lock: Any = None

    async def go(self) -> EvalResult:
        """Carry the plan out. Cancelled from outside, it records what is done and raises `CancelledError`."""
        self._began = perf_counter()
        self._known = await self._recorder.start(self._eval)
        total = self.plan.total
        try:
            await _at_once(self._work, self._eval.concurrency if total is None else min(self._eval.concurrency, total))
        except BaseException as error:
            if not recordable(error):
                self._status = "cancelled"
            raise
        finally:
            await self._recorder.flush()
        if self._stopped_by is not None:
            self._status = "stopped"
            for row in self._planned:
                self._take(row, stopped_row(row))
        self._warn()
        return self.partial()

    def partial(self) -> EvalResult:
        """The result of what is done so far."""
        fold = self._fold
        allow = self._eval.allow_unscored_gates
        means = tuple(column_mean(column, allow_unscored_gates=allow) for column in fold.in_order())
        whole = self._status == "complete"
        verdict, sentence = decide(means, stopped="" if whole else self._stopped_by or self._status)
        return EvalResult(
            eval_id=self._id,
            name=self._eval.name,
            status=self._status,
            stopped_by=self._stopped_by,
            items=tuple(result for _, result in sorted(self._kept.items())),
            means=means,
            verdict=verdict,
            sentence=sentence,
            summary=self._summary(),
        )

    def cancelled(self) -> EvalResult:
        """The result of a run that somebody stopped."""
        self._status = "cancelled"
        return self.partial()

    # ── rows ───────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _next(self) -> Row | None:
        """The next row, None at the end. Workers take turns at a stream: it is asked for one item at a time."""
        if self.plan.stream is None:
            return next(self._planned, None)
        if self._lock is None:
            import asyncio

            self._lock = asyncio.Lock()
        async with self._lock:
            return await anext(self._streamed, None)

    def _all_planned(self) -> Iterator[Row]:
        for row in self.plan.rows:
            yield from self._repeats(row)

    async def _all_streamed(self) -> AsyncIterator[Row]:
        """Rows of the items that arrive. Bad items are results at once, not rows."""
        async for index, given in arriving(self.plan.stream):
            try:
                if isinstance(given, ProctorError):
                    raise given
                row = self.plan.maker.make(given, index)
            except ProctorError as error:
                self._take_bad(index, given, error)
                continue
            warn_of_forgetting(self.plan)
            for again in self._repeats(row):
                yield again

    def _repeats(self, row: Row) -> Iterator[Row]:
        yield row
        for repeat in range(1, self._eval.repeats):
            yield replace(row, id=(row.id[0], repeat))

    async def _work(self) -> None:
        """One worker: row after row, until there are none or the run is to stop."""
        before = cancel_requests()
        while self._stopped_by is None:
            row = await self._next()
            if row is None:
                return
            name = row.id[0] if row.id[1] == 0 else f"{row.id[0]} (repeat {row.id[1]})"
            self.progress.in_flight[name] = perf_counter()
            try:
                known = self._known
                found = await self._recorder.find(row.id) if row.id in known.finished or row.id in known.begun else None
                result = await _in_own_task(self._runner.run(row, found))
            finally:
                self.progress.in_flight.pop(name, None)
            self._take(row, result)
            await self._listener.tell(result)
            if self._eval.on_error == "raise":
                raise_first_error(result)
            if cancel_requests() > before:
                import asyncio

                raise asyncio.CancelledError  # a target or a step caught it and went on

    def _take(self, row: Row, result: ItemResult) -> None:
        """Count a row, and keep it if rows like it are kept."""
        failed = self._fold.add(result)
        broke = result.status == "error" or any(outcome.status == "error" for outcome in result.outcomes)
        progress = self.progress
        progress.done += result.status != "not_run"
        progress.failed += failed
        progress.errors += broke
        progress.not_scorable += sum(outcome.status == "not_scorable" for outcome in result.outcomes)
        if self._eval.keep == "all" or (self._eval.keep == "failures" and (failed or broke)):
            self._kept[result.index, result.repeat] = result
        self._rows_with_errors += broke
        limit = self._eval.stop_after_errors
        if limit is not None and self._rows_with_errors >= limit and self._stopped_by is None:
            self._stopped_by = f"stop_after_errors={limit}"

    def _take_bad(self, index: int, given: Any, error: ProctorError) -> None:
        """An item of a stream that cannot be run: an error of its own, and the run goes on."""
        maker = self.plan.maker
        item = given if isinstance(given, Item) else Item(id=f"item {index}")
        result = ItemResult(
            item=item,
            item_id=item.id or f"item {index}",
            index=index,
            status="error",
            gates=not_run(maker.gates, "target_failed"),
            scorers=not_run(maker.scorers, "target_failed"),
            error=failure_from(error, code=TargetError.code),
        )
        self._take(Row(index, (result.item_id, 0), item, item, maker.gates, maker.scorers), result)

    # ── the end ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _warn(self) -> None:
        note = self._listener.note
        if note is not None:
            with suppress(RuntimeWarning):  # where warnings are errors the note must do: the run is paid for
                warnings.warn(note, RuntimeWarning, stacklevel=2)

    def _summary(self) -> Summary:
        fold = self._fold
        notes = [*self.plan.notes, *self._known.notes, *fold.notes]
        if changed := self._runner.changed:
            notes.append(f"{changed} of the recorded rows had another item then: what it changes was done anew")
        if self._listener.note is not None:
            notes.append(self._listener.note)
        return Summary(
            items=fold.items,
            errors=fold.item_errors,
            outcome_errors=sum(column.errors for column in fold.columns.values()),
            not_scorable=fold.not_scorable(),
            usage=fold.usage,
            cost=fold.cost,
            duration_ms=(perf_counter() - self._began) * 1000.0,
            notes=tuple(notes),
        )


async def _in_own_task(work: Coroutine[Any, Any, R]) -> R:
    """*work* in a task of its own: context variables that an item sets are its own, and so is a cancellation."""
    import asyncio

    return await asyncio.create_task(work)


async def _at_once(worker: Callable[[], Coroutine[Any, Any, None]], count: int) -> None:
    if count == 1:
        await worker()
        return
    import asyncio

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(count):
                group.create_task(worker())
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None  # as it would be with one worker
