"""Checks made of other scorers: all of them, any of them, not this one.

A part passes at the top of its range and fails at the bottom; a score between is neither, and an error. All parts are
run, also when one has already decided, and those that must wait wait at the same time. What the parts come to:

    a part ends in an error         the whole is an error that names it: nothing is decided on half the facts
    a part fails                    decides `all_of`
    a part passes                   decides `any_of`
    undecided, and a part declined  the whole is not scorable: a part that could not tell is neither a pass nor a fail
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from proctor.checks.calls import passed
from proctor.data.threshold import TOLERANCE, least_at
from proctor.data.value import shown
from proctor.errors import UsageError, cut
from proctor.scoring.build import Findings, build_check
from proctor.scoring.parts import EndedPart, PartFailed, ended_parts
from proctor.scoring.scorer import Scorer
from proctor.scoring.steps import Declined, StepContext, not_scorable

__all__ = ["all_of", "any_of", "not_"]

_SHOWN_PARTS = 3
_REASON = 80


def all_of(*scorers: Scorer) -> Scorer:
    """1 when every one of these passes, 0 when one fails. An error of one is an error; else a decline is a decline.

    >>> from proctor.checks.text import excludes, includes
    >>> all_of(includes("Bern"), excludes("Paris")).run_sync(output="Bern, not Paris").reason
    '1 of 2 failed: check-excludes[Paris]: found "Paris" in "Bern, not Paris"'
    """
    parts = _parts(scorers, "all_of")

    def decide(results: Sequence[_Result]) -> Findings | Declined:
        failed = [result for result in results if result.passed is False]
        declined = [result for result in results if result.passed is None]
        if declined and not failed:
            return _declined(declined)
        return _findings(results, whole=not failed, decided_by=failed or results)

    def reason(ctx: StepContext) -> str:
        found = ctx.preprocess
        told = f"all of {len(parts)} passed" if found["passed"] else f"{_decisive(found)} of {len(parts)} failed"
        return f"{told}: {_reasons(found)}"

    return _combined("all-of", "Every part passes", parts, decide=decide, reason=reason)


def any_of(*scorers: Scorer) -> Scorer:
    """1 when one of these passes, 0 when every one fails. An error of one is an error; else a decline is a decline.

    >>> from proctor.checks.text import includes
    >>> any_of(includes("Bern"), includes("Berne")).run_sync(output="It is Bern.").reason
    '1 of 2 passed: check-includes[Bern]: found "Bern" in "It is Bern."'
    """
    parts = _parts(scorers, "any_of")

    def decide(results: Sequence[_Result]) -> Findings | Declined:
        succeeded = [result for result in results if result.passed]
        declined = [result for result in results if result.passed is None]
        if declined and not succeeded:
            return _declined(declined)
        return _findings(results, whole=bool(succeeded), decided_by=succeeded or results)

    def reason(ctx: StepContext) -> str:
        found = ctx.preprocess
        told = f"{_decisive(found)} of {len(parts)} passed" if found["passed"] else f"none of {len(parts)} passed"
        return f"{told}: {_reasons(found)}"

    return _combined("any-of", "One of the parts passes", parts, decide=decide, reason=reason)


def not_(scorer: Scorer) -> Scorer:
    """1 when the scorer fails, 0 when it passes. Its error is an error, and when it declines so does this.

    >>> from proctor.checks.called import called_tool
    >>> not_(called_tool("pay", args={"amount": 0})).run_sync(output="Done.").score
    1.0
    """
    parts = _parts((scorer,), "not_")

    def decide(results: Sequence[_Result]) -> Findings | Declined:
        only = results[0]
        return _declined(results) if only.passed is None else _findings(results, whole=not only.passed)

    def reason(ctx: StepContext) -> str:
        told = "it failed, as it should" if ctx.preprocess["passed"] else "it passed, and should not"
        return f"{told}: {_reasons(ctx.preprocess)}"

    return _combined("not", "The part fails", parts, decide=decide, reason=reason)


# ── the parts at work ──────────────────────────────────────────────────────────────────────────────────────────────


class _Result:
    """What one part came to. *passed*: None when it declined."""

    __slots__ = ("key", "passed", "reason")

    def __init__(self, key: str, *, passed: bool | None, reason: str | None) -> None:
        self.key = key
        self.passed = passed
        self.reason = reason or ""


Decide: TypeAlias = Callable[[Sequence[_Result]], Findings | Declined]


def _combined(
    name: str, description: str, parts: Sequence[Scorer], *, decide: Decide, reason: Callable[[StepContext], str]
) -> Scorer:
    def look(ctx: StepContext) -> Any:
        return ended_parts(ctx, parts, then=lambda ended: decide([_result(part) for part in ended]))

    return build_check(
        id=f"check-{name}",
        name=f"{name.replace('-', ' ').title()} Check",
        description=description,
        arguments={"scorers": tuple(parts)},
        defaults={},
        look=look,
        score=passed,
        reason=reason,
        type="trajectory" if parts[0].type == "trajectory" else "agent",
        parts=tuple(parts),
    )


def _result(part: EndedPart) -> _Result:
    scorer, outcome = part.scorer, part.outcome
    if outcome.error is not None:
        raise part.failure from part.raised
    low, high = scorer.range
    score = outcome.score
    if score is None:
        return _Result(scorer.key, passed=None, reason=outcome.reason)
    if low + TOLERANCE < score < least_at(high):
        message = f"{scorer.key} scored {score:g}, neither a pass ({high:g}) nor a fail ({low:g})"
        raise PartFailed(message, code="PART_NOT_BINARY")
    return _Result(scorer.key, passed=score >= least_at(high), reason=outcome.reason)


# ── what is found and said ─────────────────────────────────────────────────────────────────────────────────────────


def _findings(results: Sequence[_Result], *, whole: bool, decided_by: Sequence[_Result] | None = None) -> Findings:
    told = tuple(
        {"key": result.key, "passed": result.passed, "reason": result.reason and cut(result.reason, _REASON)}
        for result in results
    )
    decisive = tuple(results.index(result) for result in decided_by or results)
    return Findings(passed=whole, parts=told, decided_by=decisive)


def _declined(declined: Sequence[_Result]) -> Declined:
    first = declined[0]
    return not_scorable(f"{first.key} declined{f': {first.reason}' if first.reason else ''}")


def _decisive(found: Findings) -> int:
    return len(found["decided_by"])


def _reasons(found: Findings) -> str:
    """What the parts that decided say, the first few."""
    deciding = [found["parts"][place] for place in found["decided_by"]]
    told = [
        f"{cut(part['key'], 50)}: {part['reason']}" if part["reason"] else cut(part["key"], 50)
        for part in deciding[:_SHOWN_PARTS]
    ]
    return cut("; ".join(told), 260) + ("; ..." if len(deciding) > _SHOWN_PARTS else "")


# ── options ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _parts(scorers: Sequence[Any], check: str) -> tuple[Scorer, ...]:
    if not scorers:
        raise UsageError(f"{check}: give the scorers it is made of")
    for part in scorers:
        if not isinstance(part, Scorer):
            hint = f"; without the list: {check}(a, b)" if isinstance(part, list | tuple) else ""
            raise UsageError(f"{check}: takes scorers, not {shown(part)}{hint}")
        part.require_runnable()
        if part.better == "lower":
            raise UsageError(f"{check}: for {part.key} lower is better, so that its top is no pass")
        if part.kind == "graded" and part.builtin:
            raise UsageError(f"{check}: {part.key} gives more than pass and fail; give it a threshold= if it takes one")
    if len({part.type == "trajectory" for part in scorers}) > 1:
        raise UsageError(f"{check}: scorers of trajectories and of answers cannot be mixed")
    return tuple(scorers)
