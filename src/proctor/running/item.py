"""One row from beginning to end: the reply, the gates, the scorers, and one outcome for each of its columns."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import replace
from typing import Any

from proctor.bridge import recordable
from proctor.data.column import Column
from proctor.data.outcome import NotRun, Outcome, Outcomes
from proctor.data.plain import plain
from proctor.data.reply import ItemResult, Reply
from proctor.data.value import MISSING
from proctor.errors import ScorerRunError, TargetError
from proctor.running.limits import Strikes
from proctor.running.plan import Cell, Row
from proctor.running.record import Event, Recorder
from proctor.running.target import Call, Target
from proctor.scoring.failure import failure_from
from proctor.scoring.pipeline import Request, Wait, Walk
from proctor.scoring.run import ScorerRun

__all__ = ["RowRunner", "raise_first_error"]


class RowRunner:
    """What the rows of a run share: the target, the recorder, and who may no longer be started."""

    def __init__(self, target: Target | None, recorder: Recorder) -> None:
        self.target = target
        self.recorder = recorder
        self.strikes = Strikes()

    async def run(self, row: Row, found: ItemResult | None = None) -> ItemResult:
        """The row's result. Replies and outcomes go to the recorder as they come.

        *found*: what an earlier run left of the row; only what is missing is done.
        """
        if found is not None and _is_whole(found, row):
            return found
        reply = found.replies[0] if found is not None and found.replies else await self._new_reply(row)
        have = {outcome.column: outcome for outcome in found.outcomes} if found is not None else {}
        if reply.error is not None:
            result = _without_reply(row, reply)
        else:
            run = _scorer_run(row, reply)
            gates = await self._score(row.gates, run, row=row, reply=reply, have=have)
            scorers = await self._score(row.scorers, run, row=row, reply=reply, have=have)
            result = ItemResult(item=row.item, item_id=row.id[0], replies=(reply,), gates=gates, scorers=scorers)
        await self.recorder.put(Event(row.id, result))
        return result

    async def _new_reply(self, row: Row) -> Reply:
        reply = row.reply or await self._ask(row)
        await self.recorder.put(Event(row.id, reply))
        return reply

    async def _ask(self, row: Row) -> Reply:
        if self.target is None:
            raise AssertionError("the plan refuses an item that has no output when there is no target")
        try:
            return _in_plain_data(await self.target.reply(Call(input=row.given.input, item=row.given)))
        except BaseException as error:
            if not recordable(error):
                raise
            return Reply(error=failure_from(error, code=TargetError.code))

    async def _score(
        self, cells: Sequence[Cell], run: ScorerRun, *, row: Row, reply: Reply, have: Mapping[Column, Outcome]
    ) -> Outcomes:
        """The outcomes of these cells, in order. Those that must wait for something wait at the same time."""
        outcomes: list[Any] = [None] * len(cells)
        waiting: dict[int, tuple[Walk, Request]] = {}
        try:
            for place, cell in enumerate(cells):
                known = have.get(cell.column) or self.strikes.refuse(cell)
                if known is not None:
                    outcomes[place] = known
                    continue
                walk = Walk(cell.scorer, run, column=cell.column, origin=reply.origin)
                now = walk.start()
                if isinstance(now, Outcome):
                    outcomes[place] = now
                    await self._keep(row, now)
                else:
                    waiting[place] = walk, now
        except BaseException:
            for _, request in waiting.values():
                _drop(request)
            raise
        ended = await _together([self._finish(row, walk, now=now) for walk, now in waiting.values()])
        for place, outcome in zip(waiting, ended, strict=True):
            outcomes[place] = outcome
        return Outcomes(outcomes)

    async def _finish(self, row: Row, walk: Walk, *, now: Request) -> Outcome:
        outcome = await walk.drive(now)
        await self._keep(row, outcome)
        return outcome

    async def _keep(self, row: Row, outcome: Outcome) -> None:
        self.strikes.note(outcome)
        await self.recorder.put(Event(row.id, outcome))


def _in_plain_data(reply: Reply) -> Reply:
    """What a target gave becomes plain data once, here: scorers see the same now and when it is scored again."""
    if type(reply.output) is str and reply.structured is MISSING:
        return reply
    return replace(reply, output=plain(reply.output), structured=plain(reply.structured))


def _is_whole(found: ItemResult, row: Row) -> bool:
    """Whether nothing of the row is missing, and nothing is there that it does not ask for."""
    asked = {cell.column for cell in (*row.gates, *row.scorers)}
    return found.status in {"done", "error"} and {outcome.column for outcome in found.outcomes} == asked


def _without_reply(row: Row, reply: Reply) -> ItemResult:
    """No reply, so nothing to score: every column says that it was not run, and why."""

    def not_run(cells: Sequence[Cell]) -> Outcomes:
        return Outcomes(Outcome(cell.column, "not_run", cause=NotRun("target_failed")) for cell in cells)

    return ItemResult(
        item=row.item,
        item_id=row.id[0],
        repeat=row.id[1],
        status="error",
        replies=(reply,),
        gates=not_run(row.gates),
        scorers=not_run(row.scorers),
        error=reply.error,
    )


def raise_first_error(result: ItemResult) -> None:
    """Raise what failed in a row, if anything did: for a run that should end at the first failure."""
    if result.error is not None:
        raise TargetError(f"item {result.item_id}: the target failed: {result.error.type}: {result.error.message}")
    for outcome in result.outcomes:
        failure = outcome.error
        if failure is not None:
            raise ScorerRunError(
                f"item {result.item_id}: {outcome.column.label} failed: {failure.type}: {failure.message}",
                failed_step=failure.step,
                completed_steps=failure.completed_steps,
                result=outcome.evidence,
                code="RUN_EXPERIMENT_SCORER_FAILED_TO_SCORE_RESULT",
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


def _drop(request: Request) -> None:
    """Close a coroutine that nobody will await: Python would warn of it."""
    if isinstance(request, Wait) and isinstance(request.awaitable, Coroutine):
        request.awaitable.close()


async def _together(work: Sequence[Coroutine[Any, Any, Outcome]]) -> Sequence[Outcome]:
    if len(work) <= 1:
        return [await one for one in work]
    import asyncio

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one) for one in work]
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None  # as it would be with one
    return [task.result() for task in tasks]
