"""Scoring a reply: every cell's scorer on one run, at once where they must wait, within their time."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping, Sequence
from typing import Any

from proctor.data.column import Column
from proctor.data.outcome import NotRun, Origin, Outcome, Outcomes, Why
from proctor.data.threshold import least_at
from proctor.errors import ProctorError
from proctor.judging.waiting import limited_by
from proctor.running.columns import Cell
from proctor.running.limits import Strikes
from proctor.running.record import RowId
from proctor.running.recording import Recording
from proctor.scoring.pipeline import Request, Wait, Walk
from proctor.scoring.run import ScorerRun

__all__ = ["RowScorer", "any_failed", "not_run"]

_NONE = Outcomes()


class ScorerTimeout(ProctorError):
    """A scorer took longer than it may."""

    code = "TIMEOUT"


class RowScorer:
    """The scorers of a run. *timeout*: seconds for one of them on one reply."""

    def __init__(self, recording: Recording, timeout: float | None) -> None:
        self._recording = recording
        self._timeout = timeout
        self._strikes = Strikes()

    async def score(
        self,
        cells: Sequence[Cell],
        run: ScorerRun,
        *,
        row: RowId,
        origin: Origin | None,
        have: Mapping[Column, Outcome],
    ) -> Outcomes:
        """The outcomes of these cells, in order; those in *have* are taken as they are, but for what was not run."""
        if not cells:
            return _NONE
        outcomes: list[Any] = [None] * len(cells)
        waiting: dict[int, tuple[Walk, Request]] = {}
        try:
            for place, cell in enumerate(cells):
                known = have.get(cell.column) if have else None
                left = known if known is not None and known.status == "not_run" else None
                if left is not None or known is None:
                    known = self._strikes.refuse(cell)
                if known is not None:
                    outcomes[place] = known
                    continue
                walk = Walk(cell.scorer, run, column=cell.column, origin=origin, left=left)
                now = walk.start()
                if type(now) is Outcome:
                    outcomes[place] = now
                    await self._keep(row, now, walk)
                else:
                    waiting[place] = walk, now  # type: ignore[assignment]  # mypy does not narrow by `is`, this way round
        except BaseException:
            for _, request in waiting.values():
                _drop(request)
            raise
        if waiting:
            ended = await _together([self._finish(row, walk, now) for walk, now in waiting.values()])
            for place, outcome in zip(waiting, ended, strict=True):
                outcomes[place] = outcome
        return Outcomes(outcomes)

    async def _finish(self, row: RowId, walk: Walk, now: Request) -> Outcome:
        outcome = await walk.drive(now) if self._timeout is None else await self._in_time(walk, now, self._timeout)
        await self._keep(row, outcome, walk)
        return outcome

    async def _in_time(self, walk: Walk, now: Request, seconds: float) -> Outcome:
        import asyncio

        try:
            async with asyncio.timeout(seconds) as limit:
                with limited_by(limit):
                    outcome = await walk.drive(now)
        except TimeoutError:
            if not limit.expired():
                raise
        else:
            if outcome.status != "error" or not limit.expired():  # else an error that it made of being stopped
                return outcome
        return walk.ended_by(ScorerTimeout(f"took longer than the {seconds:g} s of scorer_timeout="))

    async def _keep(self, row: RowId, outcome: Outcome, walk: Walk) -> None:
        if outcome.status == "error":
            self._strikes.note(outcome)
            if walk.raised is not None:
                walk.raised.__traceback__ = None  # it would grow where one exception is raised again and again
        await self._recording.put(row, outcome)


def not_run(cells: Sequence[Cell], why: Why) -> Outcomes:
    """What is said of cells that were never started."""
    return Outcomes(Outcome(cell.column, "not_run", cause=NotRun(why)) for cell in cells)


def any_failed(cells: Sequence[Cell], outcomes: Outcomes) -> bool:
    """Whether a gate failed: scored below the top of its range, or broke. One that declined did not fail."""
    for cell, outcome in zip(cells, outcomes, strict=True):
        if outcome.status == "error":
            return True
        if outcome.score is not None and outcome.score < least_at(cell.scorer.range[1]):
            return True
    return False


def _drop(request: Request) -> None:
    """Close a coroutine that nobody will await: Python would warn of it."""
    if isinstance(request, Wait) and isinstance(request.awaitable, Coroutine):
        request.awaitable.close()


async def _together(work: Sequence[Coroutine[Any, Any, Outcome]]) -> Sequence[Outcome]:
    if len(work) == 1:
        return [await work[0]]
    import asyncio

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one) for one in work]
    except BaseExceptionGroup as several:
        first = several.exceptions[0]
        raise first from first.__cause__  # a recorder's error, as it is with one scorer
    return [task.result() for task in tasks]
