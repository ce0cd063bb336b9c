"""One item from beginning to end: the reply, the gates, the scorers, and one outcome for each of its columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from proctor.data.column import Column
from proctor.data.outcome import Failure, NotRun, Outcome, Outcomes
from proctor.data.reply import ItemResult, Reply
from proctor.errors import TargetError
from proctor.running.plan import Cell, Plan, Row
from proctor.running.record import Event, Recorder, RowId
from proctor.scoring.failure import failure_from
from proctor.scoring.pipeline import drive, start, walk
from proctor.scoring.run import ScorerRun

__all__ = ["run_item"]

_STRIKES = 3  # after so many timeouts a scorer is not started again


async def run_item(row: Row, *, plan: Plan, recorder: Recorder, strikes: dict[Column, int]) -> ItemResult:
    """The row's result. Replies and outcomes go to *recorder* as they come. *strikes*: timeouts so far, by column."""
    row_id = (row.item_id, 0)
    reply = row.reply or await _reply(row, plan)
    await recorder.put(Event(row_id, reply))
    if reply.error is not None:
        result = _target_failed(row, reply)
    else:
        run = _scorer_run(row, reply)
        gates = await _score(row.gates, run, reply, strikes)
        await _record(gates, row_id, recorder)
        scorers = await _score(row.scorers, run, reply, strikes)
        await _record(scorers, row_id, recorder)
        result = ItemResult(item=row.item, item_id=row.item_id, replies=(reply,), gates=gates, scorers=scorers)
    await recorder.put(Event(row_id, result))
    return result


async def _reply(row: Row, plan: Plan) -> Reply:
    if plan.target is None:
        raise AssertionError("unreachable")  # the plan refuses an item that has no output and no target
    try:
        return await plan.target.reply(row.given)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a target of the user's own that raises, though none should
        return Reply(error=failure_from(error, code=TargetError.code))


def _target_failed(row: Row, reply: Reply) -> ItemResult:
    """No reply, so nothing to score: every column says that it was not run, and why."""

    def not_run(cells: Sequence[Cell]) -> Outcomes:
        return Outcomes(Outcome(cell.column, "not_run", cause=NotRun("target_failed")) for cell in cells)

    return ItemResult(
        item=row.item,
        item_id=row.item_id,
        status="error",
        replies=(reply,),
        gates=not_run(row.gates),
        scorers=not_run(row.scorers),
        error=reply.error,
    )


def _scorer_run(row: Row, reply: Reply) -> ScorerRun:
    item = row.item
    return ScorerRun(
        output=reply.output,
        input=item.input,
        ground_truth=item.ground_truth,
        context=item.context,
        expected_trajectory=item.expected_trajectory,
        request_context=item.request_context,
        usage=reply.usage,
        cost=reply.cost,
        duration_ms=reply.duration_ms,
        extra={"metadata": item.metadata} if item.metadata else None,
    )


async def _score(cells: Sequence[Cell], run: ScorerRun, reply: Reply, strikes: dict[Column, int]) -> Outcomes:
    """The outcomes of these cells, in order. Those that must wait for something wait at the same time."""
    outcomes: list[Any] = []
    waiting = []
    for place, cell in enumerate(cells):
        if strikes and strikes.get(cell.column, 0) >= _STRIKES:
            outcomes.append(_struck_out(cell.column))
            continue
        walking = walk(cell.scorer, run, column=cell.column, origin=reply.origin)
        now = start(walking)
        outcomes.append(now)
        if type(now) is not Outcome:
            waiting.append((place, drive(walking, now, whole=cell.scorer.whole)))
    if len(waiting) == 1:
        outcomes[waiting[0][0]] = await waiting[0][1]
    elif waiting:
        for (place, _), outcome in zip(waiting, await _together([work for _, work in waiting]), strict=True):
            outcomes[place] = outcome
    for outcome in outcomes:
        if outcome.error is not None and outcome.error.code == "TIMEOUT" and outcome.duration_ms is not None:
            strikes[outcome.column] = strikes.get(outcome.column, 0) + 1
    return Outcomes(outcomes)


async def _together(work: Sequence[Any]) -> Sequence[Outcome]:
    import asyncio

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one) for one in work]
    return [task.result() for task in tasks]


def _struck_out(column: Column) -> Outcome:
    message = f"not started: it ran out of time on {_STRIKES} items before this one"
    return Outcome(column, "error", cause=Failure(type="TimeoutError", message=message, code="TIMEOUT"))


async def _record(outcomes: Outcomes, row_id: RowId, recorder: Recorder) -> None:
    for outcome in outcomes:
        await recorder.put(Event(row_id, outcome))
