"""Scorers that are made of others: their parts run on the same run, and those that must wait wait at the same time.

What the judges of parts were asked is kept in the record of the whole, under `1.analyze` for the first part's step.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator, Sequence
from typing import Any, Final, TypeAlias

from proctor.data.column import Column
from proctor.data.outcome import Outcome
from proctor.errors import ProctorError
from proctor.scoring.failure import failure_from
from proctor.scoring.pipeline import Request, Wait, Walk
from proctor.scoring.run import ScorerRun
from proctor.scoring.scorer import Scorer
from proctor.scoring.steps import StepContext

__all__ = ["EndedPart", "PartFailed", "ended_parts"]


class PartFailed(ProctorError):
    """A part of a combined scorer could not be scored, so neither can the whole. The code is the part's own."""

    code = "PART_FAILED"


class EndedPart:
    """A part and how it ended. *raised*: the exception behind an error."""

    __slots__ = ("outcome", "raised", "scorer")

    def __init__(self, scorer: Scorer, outcome: Outcome, *, raised: BaseException | None) -> None:
        self.scorer = scorer
        self.outcome = outcome
        self.raised = raised

    @property
    def failure(self) -> PartFailed:
        """Its error, as what ends the whole."""
        error = self.outcome.error
        return PartFailed(f"{self.scorer.key}: {error}", code=None if error is None else error.code)


_APART: Final = 1_000_000  # more than there are repeats of an item
Then: TypeAlias = Callable[[Sequence[EndedPart]], Any]


def ended_parts(ctx: StepContext, parts: Sequence[Scorer], /, *, then: Then) -> Any | Wait:
    """What *then* makes of the parts, once all have ended; for a step of a built-in scorer.

    It is done at once when no part has to wait. A part that was not run, since the run stopped, ends the whole so.
    Equal parts that ask a judge are asked once each, as in another repeat: no answer counts twice.
    """
    columns = [Column("scorer", None, part.key, part.id) for part in parts]
    runs = [_run_of(ctx, part, before=parts[:at]) for at, part in enumerate(parts)]
    walks = [Walk(part, run, column=column) for part, run, column in zip(parts, runs, columns, strict=True)]
    if isinstance(ctx, Walk):
        ctx.parts = walks
    begun = [walk.start() for walk in walks]
    if all(isinstance(now, Outcome) for now in begun):
        return then(_ended(walks, begun))
    return Wait(_Rest(walks, begun, then))


def _run_of(ctx: StepContext, part: Scorer, *, before: Sequence[Scorer]) -> ScorerRun:
    equal = sum(part.asks_as(other) for other in before) if part.questions else 0
    return ctx.run.replace(repeat=ctx.run.repeat + equal * _APART) if equal else ctx.run


class _Rest:
    """Awaits the parts that are not done yet. It begins when awaited: of a walk that nobody drives nothing is left."""

    __slots__ = ("begun", "then", "walks")

    def __init__(self, walks: Sequence[Walk], begun: Sequence[Outcome | Request], then: Then) -> None:
        self.walks = walks
        self.begun = begun
        self.then = then

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._all().__await__()

    async def _all(self) -> Any:
        every = zip(self.walks, self.begun, strict=True)
        waiting = [(walk, walk.drive(now)) for walk, now in every if not isinstance(now, Outcome)]
        rest = iter([await waiting[0][1]] if len(waiting) == 1 else await _together(waiting))
        return self.then(_ended(self.walks, [now if isinstance(now, Outcome) else next(rest) for now in self.begun]))


async def _together(waiting: Sequence[tuple[Walk, Coroutine[Any, Any, Outcome]]]) -> Sequence[Outcome]:
    from asyncio import TaskGroup

    try:
        async with TaskGroup() as group:
            tasks = [group.create_task(work) for _, work in waiting]
    except BaseExceptionGroup as several:  # what no walk makes an outcome of, as a GeneratorExit
        first = several.exceptions[0]
        raised = [None if task.cancelled() else task.exception() for task in tasks]
        walk, _ = waiting[raised.index(first)]
        raise PartFailed(f"{walk.scorer.key}: {failure_from(first)}") from first
    return [task.result() for task in tasks]


def _ended(walks: Sequence[Walk], outcomes: Sequence[Any]) -> list[EndedPart]:
    for walk, outcome in zip(walks, outcomes, strict=True):
        if outcome.status == "not_run" and walk.raised is not None:
            raise walk.raised
    return [EndedPart(walk.scorer, outcome, raised=walk.raised) for walk, outcome in zip(walks, outcomes, strict=True)]
