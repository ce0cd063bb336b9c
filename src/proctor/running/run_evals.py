"""The story of a run: plan, answer, score, record, fold, decide."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Coroutine
from contextlib import suppress
from time import perf_counter
from typing import Any, TypeVar
from uuid import uuid4

from proctor.bridge import cancel_requests, sync_twin
from proctor.data.reply import ItemResult
from proctor.data.result import EvalResult, Summary
from proctor.running.eval import Eval, door
from proctor.running.fold import Fold
from proctor.running.item import RowRunner, raise_first_error
from proctor.running.listen import Listener
from proctor.running.plan import Plan, make_plan
from proctor.running.record import NoRecorder, Recorder
from proctor.running.verdict import column_mean, decide

__all__ = ["execute", "run_evals", "run_evals_sync", "run_plan"]


R = TypeVar("R")


async def execute(evaluation: Eval) -> EvalResult:
    """Run an evaluation: every item through the target, every scorer over every reply, and a verdict.

    Takes the arguments of `Eval`. Raises `UsageError` before anything runs when something cannot be right. After that
    nothing that goes wrong with an item or a scorer is raised: it is an outcome of that item, and the run goes on.
    """
    return await run_plan(make_plan(evaluation))


run_evals = door(Eval, execute, name="run_evals")
run_evals_sync = sync_twin(run_evals)


async def run_plan(plan: Plan) -> EvalResult:
    """Run what was planned. The means are folded as the rows end; the verdict reads only them."""
    began = perf_counter()
    evaluation = plan.evaluation
    recorder: Recorder = evaluation.recorder or NoRecorder()
    listener = Listener(evaluation.on_item_complete)
    fold = Fold(plan.cells)

    results = await _run_rows(plan, recorder, fold=fold, listener=listener)

    allow = evaluation.allow_unscored_gates
    means = tuple(column_mean(column, allow_unscored_gates=allow) for column in fold.columns.values())
    verdict, sentence = decide(means)
    return EvalResult(
        eval_id=str(uuid4()),
        name=evaluation.name,
        items=results,
        means=means,
        verdict=verdict,
        sentence=sentence,
        summary=_summary(fold, [*plan.notes, *fold.notes], listener, spent_ms=(perf_counter() - began) * 1000.0),
    )


async def _run_rows(plan: Plan, recorder: Recorder, *, fold: Fold, listener: Listener) -> tuple[ItemResult, ...]:
    """Every row once, `concurrency` at a time; the results in the order of the input."""
    results: list[ItemResult | None] = [None] * len(plan.rows)
    runner = RowRunner(plan.target, recorder)
    known = await recorder.start(plan.evaluation)
    rows = iter(plan.rows)

    async def worker() -> None:
        before = cancel_requests()
        for row in rows:
            found = await recorder.find(row.id) if row.id in known.finished or row.id in known.begun else None
            result = await _in_own_task(runner.run(row, found))
            results[row.index] = result
            fold.add(result, index=row.index)
            await listener.tell(result)
            if plan.evaluation.on_error == "raise":
                raise_first_error(result)
            if cancel_requests() > before:
                import asyncio

                raise asyncio.CancelledError  # a target or a step caught it and went on

    try:
        await _at_once(worker, min(plan.evaluation.concurrency, len(plan.rows)))
    finally:
        await recorder.flush()
    done = tuple(result for result in results if result is not None)
    if len(done) != len(plan.rows):
        raise AssertionError(f"{len(plan.rows) - len(done)} rows were lost")
    return done


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


def _summary(fold: Fold, notes: list[str], listener: Listener, *, spent_ms: float) -> Summary:
    if listener.note is not None:
        with suppress(RuntimeWarning):  # where warnings are errors the note must do: the run is paid for
            warnings.warn(listener.note, RuntimeWarning, stacklevel=2)
        notes.append(listener.note)
    return Summary(
        items=fold.items,
        errors=fold.item_errors,
        outcome_errors=sum(column.errors for column in fold.columns.values()),
        not_scorable=fold.not_scorable(),
        usage=fold.usage,
        cost=fold.cost,
        duration_ms=spent_ms,
        notes=tuple(notes),
    )
