"""What a run of a plan would ask, without anything being asked.

Of an item that carries its output, judged scorers do run, as they do in a run, up to the first answer that only a judge
can give: so its prompt is known, and so is who declines before. Of all else the prompts are assumed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from proctor.data.column import Column
from proctor.data.item import Item, item_content
from proctor.data.plain import canonical_json
from proctor.data.reply import ItemResult
from proctor.data.shown import count_of
from proctor.errors import EncodingError, ProctorError, UsageError
from proctor.judging.budget import as_budget
from proctor.judging.cache import CacheNotes
from proctor.judging.call_cache import CallCache
from proctor.judging.dry_calls import DryCalls
from proctor.judging.tokens import estimated_tokens
from proctor.running.calls import calls_of
from proctor.running.columns import Cell
from proctor.running.estimated import PlanEstimate, StepEstimate
from proctor.running.item import RowRunner
from proctor.running.plan import Plan
from proctor.running.record import Known
from proctor.running.recording import Recording
from proctor.running.rows import Row
from proctor.running.step_estimate import REPLY_TOKENS, WORDS_TOKENS, CountedStep
from proctor.running.workers import at_once, in_own_task

__all__ = ["estimate_plan"]


async def estimate_plan(plan: Plan) -> PlanEstimate:
    """What a run of the plan would ask of its target and judges, and about what the judges would cost.

    No model and no target is asked, and nothing is written. Steps that are functions do run, for items that carry their
    output. Raises `UsageError` for a judge that cannot be asked, or a store that cannot be read.
    """
    counted = _Counted()
    if plan.stream is not None:
        for cell in (*plan.maker.gates, *plan.maker.scorers):
            counted.assume(cell, tokens=2 * REPLY_TOKENS)
        return _estimate(plan, counted, items=None, target_calls=int(plan.target is not None))
    for cell in plan.maker.columns.in_order():
        counted.add(cell)
    await _walk(plan, counted)
    asked = [row for row in plan.rows if row.reply is None]
    for row in asked:
        tokens = _tokens_of(row.item) + REPLY_TOKENS * max(1, len(row.turns))
        for cell in row.cells:
            counted.assume(cell, tokens=tokens, times=plan.evaluation.repeats)
    calls = sum(max(1, len(row.turns)) for row in asked) * plan.evaluation.repeats
    return _estimate(plan, counted, items=len(plan.rows), target_calls=calls)


async def _walk(plan: Plan, counted: _Counted) -> None:
    """Run what needs no judge, of the rows that have their replies."""
    evaluation = plan.evaluation
    cache = _cache_of(plan)
    try:
        await cache.get("none")  # a store that cannot be read is told here, once
    except ProctorError as problem:
        raise UsageError(str(problem), code=problem.code) from problem
    rows = iter(_saved_rows(plan))
    runner = RowRunner(None, evaluation, Recording(None), calls=DryCalls(cache))

    async def work() -> None:
        for row in rows:
            counted.take(row, await in_own_task(runner.run(row)))

    await at_once(work, min(evaluation.concurrency, max(1, len(plan.rows))))


def _saved_rows(plan: Plan) -> Iterator[Row]:
    """Those with a judge to be asked, repeats and all: a cache has the answers of each by themselves.

    Scorers without a judge are left out, but for gates that may save the scorers behind them.
    """
    skips = plan.evaluation.skip_scorers_after_gate_failure
    for row in plan.rows:
        gates, scorers = _judged(row.gates), _judged(row.scorers)
        if row.reply is not None and (gates or scorers):
            gates = row.gates if skips and scorers else gates
            for repeat in range(plan.evaluation.repeats):
                yield replace(row, id=(row.id[0], repeat), gates=gates, scorers=scorers)


def _judged(cells: Sequence[Cell]) -> tuple[Cell, ...]:
    return tuple(cell for cell in cells if cell.scorer.questions)


def _cache_of(plan: Plan) -> CallCache:
    """The cache that a run of the plan would have."""
    known = Known(calls=getattr(plan.evaluation.recorder, "kept_calls", None))
    return calls_of(plan.evaluation, known, notes=CacheNotes(), on_stop=lambda reason: None).cache


class _Counted:
    """The judged steps of a plan, in the order of its columns."""

    def __init__(self) -> None:
        self.steps: dict[tuple[Column, str], CountedStep] = {}

    def add(self, cell: Cell) -> list[CountedStep]:
        """The judged steps of a cell, in their order."""
        found = []
        for name in cell.scorer.questions:
            key = (cell.column, name)
            if key not in self.steps:
                self.steps[key] = CountedStep(cell.scorer.questions[name], column=cell.column, name=name)
            found.append(self.steps[key])
        return found

    def assume(self, cell: Cell, *, tokens: int, times: int = 1) -> None:
        """Count a cell of which no prompt is known. *tokens*: of what it would be shown."""
        for before, step in enumerate(self.add(cell)):
            for _ in range(times):
                step.assume(tokens + WORDS_TOKENS + before * REPLY_TOKENS)

    def take(self, row: Row, result: ItemResult) -> None:
        """Count a row of which all has run that needs no judge."""
        outcomes = {outcome.column: outcome for outcome in result.outcomes}
        tokens: int | None = None
        for cell in row.cells:
            if not cell.scorer.questions:
                continue
            is_asked = False
            judge, failed = outcomes[cell.column].judge, outcomes[cell.column].error
            for before, (name, step) in enumerate(zip(cell.scorer.questions, self.add(cell), strict=True)):
                record = judge.get(name)
                if record is not None and record.executions[-1].cached:
                    step.cached += 1
                elif record is not None:
                    step.ask(record.executions[-1].prompt)
                    is_asked = True
                elif is_asked:
                    tokens = _tokens_of(row.item) if tokens is None else tokens
                    step.assume(tokens + WORDS_TOKENS + before * REPLY_TOKENS)
                elif failed is not None:
                    step.break_off(str(failed))
                else:
                    step.spared += 1


def _tokens_of(item: Item) -> int:
    """Of all its texts."""
    content: dict[str, Any] = item_content(item)
    if item.expected_trajectory is not None:
        content["expected_trajectory"] = item.expected_trajectory
    try:
        return estimated_tokens(canonical_json(content))
    except EncodingError:
        return estimated_tokens(repr(content))


def _estimate(plan: Plan, counted: _Counted, *, items: int | None, target_calls: int) -> PlanEstimate:
    budget = as_budget(plan.evaluation.budget)
    steps = tuple(step.estimate for step in counted.steps.values())
    return PlanEstimate(
        name=plan.evaluation.name,
        items=items,
        repeats=plan.evaluation.repeats,
        target_calls=target_calls,
        saved=sum(row.reply is not None for row in plan.rows),
        steps=steps,
        budget=None if budget is None else str(budget),
        assumptions=tuple(_assumptions(plan, steps)),
    )


def _assumptions(plan: Plan, steps: Sequence[StepEstimate]) -> Iterator[str]:
    if plan.stream is not None:
        yield "items arrive one by one: all counts are for one of them, run once"
    if plan.target is not None and plan.evaluation.retries != 0:
        yield "further tries of the target are not counted"
    calls, assumed = sum(step.once.calls for step in steps), sum(step.assumed for step in steps)
    if not calls:
        return
    yield "tokens are estimated by the length of the texts, rather too many than too few; files are not counted"
    yield f"an answer is taken to have max_tokens, or {REPLY_TOKENS:,} tokens"
    if assumed:
        yield (
            f"{count_of(assumed, calls, what='prompt')} cannot be known before: each is taken to be as "
            "long as the longest known one of its step, else to have the texts of its item, "
            f"{WORDS_TOKENS:,} tokens of its own, and {REPLY_TOKENS:,} for each reply that is not there yet"
        )
    yield "at most: when each answer must be asked for a second time; calls that fail in passing are made again besides"
