"""A scorer at work: the walk through its steps, and the two drivers that take it.

The walk is a generator. It calls what may be called at once, and yields what it cannot do itself: `Hop`, a user's `def`
that must not hold the event loop, and `Wait`, something to await. `drive` answers on the loop; a scorer whose steps are
all `def` goes to a thread whole, in one hop. Whatever happens, the walk ends in one `Outcome`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeAlias

from proctor.bridge import in_thread
from proctor.data.column import Column
from proctor.data.outcome import Failure, NotScorable, Origin, Outcome, RunSnapshot
from proctor.data.value import MISSING, quick_maker
from proctor.errors import UsageError, cut
from proctor.scoring.failure import failure_from
from proctor.scoring.number import as_score
from proctor.scoring.run import ScorerRun
from proctor.scoring.schema import validated
from proctor.scoring.steps import Declined, Score, StepContext

if TYPE_CHECKING:
    from proctor.scoring.scorer import Scorer

__all__ = ["Hop", "Wait", "Walk", "drive", "start", "walk"]


_make_outcome = quick_maker(Outcome)
_make_snapshot = quick_maker(RunSnapshot)


class Hop:
    """Please call this away from the event loop."""

    __slots__ = ("argument", "function")

    def __init__(self, function: Callable[[Any], Any], argument: Any) -> None:
        self.function = function
        self.argument = argument


class Wait:
    """Please await this."""

    __slots__ = ("awaitable",)

    def __init__(self, awaitable: Awaitable[Any]) -> None:
        self.awaitable = awaitable


Request: TypeAlias = Hop | Wait
Walk: TypeAlias = Generator[Request, Any, Outcome]


# ── the walk ───────────────────────────────────────────────────────────────────────────────────────────────────────


def walk(
    scorer: Scorer,
    run: ScorerRun,
    *,
    column: Column,
    origin: Origin | None = None,
    run_id: str | None = None,
    raised: list[BaseException] | None = None,
) -> Walk:
    """The steps of *scorer* on *run*. *raised* collects the exception behind an error outcome."""
    began = perf_counter()
    ctx = StepContext(run)
    at = -1
    label = reason = None
    cause: NotScorable | Failure | None = None
    score: float | None = None
    try:
        if scorer.shapes_run:
            ctx.run = yield from _shaped(scorer, run)
        for at, (name, function, away) in enumerate(scorer.plan):  # noqa: B007 - `at` says where it stopped
            if away is None:
                value = function(ctx)
            else:
                value = (yield Hop(function, ctx)) if away else function(ctx)
                if hasattr(value, "__await__"):
                    value = yield Wait(value)
            if type(value) is Declined:
                if name != "generate_reason":
                    cause = NotScorable(name, value.reason)
                    break
            elif name == "generate_score":
                if type(value) is Score:
                    label, reason, value = value.label, value.reason, value.value
                ctx.score = score = as_score(value, scorer.range, scorer_id=scorer.id)
            elif name == "generate_reason":
                reason = _as_reason(value, scorer.id) or reason
            elif name == "preprocess":
                ctx.preprocess = value
            else:
                ctx.analyze = value
    except (Exception, SystemExit) as error:  # noqa: BLE001 - what a step raises is an outcome
        if raised is not None:
            raised.append(error)
        cause = _failure(error, scorer, at)
    spent = (perf_counter() - began) * 1000.0
    if cause is None:
        evidence = None
        if ctx.preprocess is not MISSING or ctx.analyze is not MISSING:
            evidence = _make_snapshot(score, reason, ctx.preprocess, ctx.analyze)
        return _make_outcome(column, "scored", score, label, reason, None, evidence, spent, origin, run_id)
    return _unscored(
        cause,
        ctx,
        reason=reason,
        outcome=Outcome(column, "error", None, None, None, cause, None, spent, origin, run_id),
    )


def _unscored(cause: NotScorable | Failure, ctx: StepContext, *, reason: str | None, outcome: Outcome) -> Outcome:
    finished = (ctx.preprocess, ctx.analyze, ctx.score)
    evidence = None
    if any(value is not MISSING for value in finished):
        score = None if ctx.score is MISSING else ctx.score
        evidence = RunSnapshot(
            score=score, reason=reason, preprocess_step_result=ctx.preprocess, analyze_step_result=ctx.analyze
        )
    if isinstance(cause, Failure):
        return replace(outcome, evidence=evidence)
    return replace(outcome, status="not_scorable", reason=cause.reason, evidence=evidence)


def _shaped(scorer: Scorer, run: ScorerRun) -> Generator[Request, Any, ScorerRun]:
    """The run as this scorer asked to see it: cut by its `prepare_run`, read into its `type`."""
    if scorer.prepare_run is not None:
        made = (yield Hop(scorer.prepare_run, run)) if scorer.prepares_away else scorer.prepare_run(run)
        if hasattr(made, "__await__"):
            made = yield Wait(made)
        run = ScorerRun.of(made)
    if isinstance(scorer.type, tuple):
        run = validated(run, scorer.type, scorer_id=scorer.id)
    return run


def _as_reason(value: Any, scorer_id: str) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise UsageError(
        f"{scorer_id}: generate_reason gave {cut(repr(value))}: a reason is text or None", code="INVALID_REASON"
    )


def _failure(error: BaseException, scorer: Scorer, at: int) -> Failure:
    """*at*: the place of the step that failed, -1 before the first."""
    names = [name for name, _, _ in scorer.plan]
    return failure_from(error, step=names[at] if at >= 0 else None, completed_steps=names[: max(at, 0)])


# ── the drivers ────────────────────────────────────────────────────────────────────────────────────────────────────


def start(walking: Walk) -> Outcome | Request:
    """The first request of a walk, or its outcome when it never needs one, as built-in checks never do."""
    try:
        return next(walking)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


async def drive(walking: Walk, first: Outcome | Request, *, whole: bool) -> Outcome:
    """The outcome of a walk begun with `start`. *whole*: every step may go to the thread of the first."""
    now = first
    while type(now) is not Outcome:
        if type(now) is Hop:
            now = await in_thread(_on_thread, walking, now) if whole else await _hop(walking, now)
        else:
            now = await _wait(walking, now)  # type: ignore[arg-type]
    return now


def _on_thread(walking: Walk, now: Outcome | Request) -> Outcome | Request:
    while type(now) is Hop:
        try:
            value = now.function(now.argument)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - goes back into the walk, which makes an outcome of it
            now = _throw(walking, error)
        else:
            now = _send(walking, value)
    return now


async def _hop(walking: Walk, hop: Hop) -> Outcome | Request:
    try:
        value = await in_thread(hop.function, hop.argument)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - as above
        return _throw(walking, error)
    return _send(walking, value)


async def _wait(walking: Walk, wait: Wait) -> Outcome | Request:
    try:
        value = await wait.awaitable
    except (Exception, SystemExit) as error:  # noqa: BLE001 - as above
        return _throw(walking, error)
    return _send(walking, value)


def _send(walking: Walk, value: Any) -> Outcome | Request:
    try:
        return walking.send(value)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


def _throw(walking: Walk, error: BaseException) -> Outcome | Request:
    try:
        return walking.throw(error)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
