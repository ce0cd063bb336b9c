"""The story of a run: plan, answer, score, record, fold, decide."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Coroutine, Sequence
from time import perf_counter
from typing import Any
from uuid import uuid4

from proctor.bridge import in_thread, sync_twin
from proctor.data.column import Column
from proctor.data.reply import ItemResult
from proctor.data.result import EvalResult, Summary
from proctor.errors import safe_message
from proctor.running.eval import Eval, door
from proctor.running.fold import Fold
from proctor.running.item import run_item
from proctor.running.plan import Plan, make_plan
from proctor.running.record import MemoryRecorder, Recorder
from proctor.running.verdict import column_mean, decide
from proctor.scoring.callables import is_async

__all__ = ["execute", "run_evals", "run_evals_sync"]


async def execute(evaluation: Eval) -> EvalResult:
    """Run an evaluation: every item through the target, every scorer over every reply, and a verdict.

    Takes the arguments of `Eval`. Raises `UsageError` before anything runs when something cannot be right. After that
    nothing that goes wrong with an item or a scorer is raised: it is an outcome of that item, and the run goes on.
    """
    began = perf_counter()
    plan = make_plan(evaluation)
    recorder = evaluation.recorder or MemoryRecorder()
    notes: list[str] = []

    results = await _run_rows(plan, evaluation, recorder, notes)

    fold = Fold(plan.cells)
    for result in results:
        fold.add(result)
    means = tuple(column_mean(column) for column in fold.columns.values())
    verdict, sentence = decide(means)
    return EvalResult(
        eval_id=str(uuid4()),
        name=evaluation.name,
        items=results,
        means=means,
        verdict=verdict,
        sentence=sentence,
        summary=_summary(fold, spent_ms=(perf_counter() - began) * 1000.0, notes=notes),
    )


run_evals = door(Eval, execute, name="run_evals")
run_evals_sync = sync_twin(run_evals)


async def _run_rows(plan: Plan, evaluation: Eval, recorder: Recorder, notes: list[str]) -> tuple[ItemResult, ...]:
    """Every row once, `concurrency` at a time; the results in the order of the input."""
    results: list[ItemResult | None] = [None] * len(plan.rows)
    strikes: dict[Column, int] = {}
    finished = await recorder.start(evaluation)
    rows = iter(plan.rows)

    async def worker() -> None:
        for row in rows:
            found = await recorder.find((row.item_id, 0)) if (row.item_id, 0) in finished else None
            result = found or await run_item(row, plan=plan, recorder=recorder, strikes=strikes)
            results[row.index] = result
            if evaluation.on_item_complete is not None:
                await _tell(evaluation.on_item_complete, result, notes)

    await _at_once(worker, min(evaluation.concurrency, len(plan.rows)))
    await recorder.flush()
    return tuple(result for result in results if result is not None)


async def _at_once(worker: Callable[[], Coroutine[Any, Any, None]], count: int) -> None:
    import asyncio

    if count == 1:
        await worker()
        return
    async with asyncio.TaskGroup() as group:
        for _ in range(count):
            group.create_task(worker())


async def _tell(listener: Callable[[ItemResult], Any], result: ItemResult, notes: list[str]) -> None:
    """Call `on_item_complete`. One that raises is noted, warned of once, and the run goes on."""
    try:
        told = listener(result) if is_async(listener) else await in_thread(listener, result)
        if hasattr(told, "__await__"):
            await told
    except Exception as error:  # noqa: BLE001 - a listener must not cost the run
        note = f"on_item_complete raised on {result.item_id}: {type(error).__name__}: {safe_message(error)}"
        if not any(earlier.startswith("on_item_complete") for earlier in notes):
            warnings.warn(note, RuntimeWarning, stacklevel=2)
        notes.append(note)


def _summary(fold: Fold, *, spent_ms: float, notes: Sequence[str]) -> Summary:
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
