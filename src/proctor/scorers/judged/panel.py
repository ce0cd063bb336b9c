"""Several judges over one answer: their votes, and what they come to.

    a judge that scored               has a vote
    one that declined, or failed      has none; it is kept beside the votes, with why
    half of the judges have no vote   nothing is decided
    `majority`                        the score that more than half of the votes are for; else nothing is decided
    `unanimous`                       the score that all judges give; where they differ, the worst vote
    `mean`                            the mean of the votes

Nothing decided is not scorable when judges declined or disagree, and an error when a judge that failed could have
decided it: an outage is no disagreement.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import fsum
from typing import Any, Final, Literal, TypeAlias, get_args

from proctor.data.shown import count_of, plural
from proctor.data.value import shown
from proctor.errors import ProctorError, UnknownName, UsageError, cut
from proctor.scoring.build import Findings
from proctor.scoring.keys import numbered
from proctor.scoring.parts import EndedPart, ended_parts
from proctor.scoring.scorer import Scorer
from proctor.scoring.steps import Declined, Score, StepContext, not_scorable

__all__ = ["PanelFailed", "Rule", "panel"]

Rule: TypeAlias = Literal["majority", "unanimous", "mean"]

_FEWEST: Final = 2
_REASON: Final = 120


class PanelFailed(ProctorError):
    """A panel could not decide, and the votes of judges that failed could have decided it."""

    code = "PANEL_FAILED"


def panel(judges: Sequence[Scorer], /, *, rule: Rule = "majority", id: str = "panel-scorer", name: str = "") -> Scorer:
    """What several scorers of one range say together. All are run at the same time, on the same answer.

    *rule*: `majority`, `unanimous` (the worst vote, unless all agree) or `mean`. A tie, and a panel of which half
    declined, are not scorable. Every vote is in the analyze step's result, `votes`, with its judge's model, score,
    label and reason; `agreement` is the share of the votes that are for the score.

    >>> from proctor.scorers.judged.multi_turn_judge import multi_turn_judge
    >>> from proctor.testing import ScriptedModel
    >>> def judge(name, satisfied):
    ...     said = {"reasoning": f"{name} says so", "satisfied": satisfied}
    ...     return multi_turn_judge("Is kind", model=ScriptedModel([said], name=name))
    >>> jury = panel([judge("a", True), judge("b", True), judge("c", False)])
    >>> jury.run_sync(output="You are welcome.").score
    1.0
    """
    parts = _parts(judges)
    if rule not in get_args(Rule):
        raise UnknownName("rule of a panel", str(rule), get_args(Rule))
    keys = numbered([part.key for part in parts])

    def look(ctx: StepContext) -> Any:
        return ended_parts(ctx, parts, then=lambda ended: _decided(_votes(keys, ended), rule, parts[0]))

    return Scorer(
        id=id,
        name=name or "Panel of judges",
        description=f"What {len(parts)} judges say together ({rule})",
        type="trajectory" if parts[0].type == "trajectory" else "agent",
        range=parts[0].range,
        better=parts[0].better,
        kind="binary" if rule != "mean" and all(part.kind == "binary" for part in parts) else "graded",
        steps={"analyze": look, "generate_score": _score, "generate_reason": _reason},
        arguments={"judges": parts, **({} if rule == "majority" else {"rule": rule})},
        positional="judges",
        builtin=True,
        parts=parts,
    )


def _score(ctx: StepContext) -> Score:
    found = ctx.analyze
    agreeing = None if found["rule"] == "mean" else f"{found['agreeing']} of {found['voted']}"
    return Score(found["score"], label=agreeing)


def _reason(ctx: StepContext) -> str:
    found = ctx.analyze
    votes = [vote for vote in found["votes"] if vote["status"] == "scored"]
    against = [vote for vote in votes if vote["score"] != found["score"]]
    told = f"{count_of(found['agreeing'], found['voted'], what='vote')} for {found['score']:g}"
    if found["rule"] == "mean":
        told = f"the mean of {plural(found['voted'], 'vote')} is {found['score']:g}"
    elif found["rule"] == "unanimous" and against:
        told += ", the worst: they differ"
    absent = [vote for vote in found["votes"] if vote["status"] != "scored"]
    pieces = [told, *[_told(vote) for vote in votes]]
    return "\n".join([*pieces, *[f"{_named(vote)}: no vote, {cut(vote['reason'], _REASON)}" for vote in absent]])


def _told(vote: dict[str, Any]) -> str:
    reason = f": {cut(' '.join(vote['reason'].split()), _REASON)}" if vote["reason"] else ""
    return f"{_named(vote)}: {vote['score']:g}{reason}"


def _named(vote: dict[str, Any]) -> str:
    return f"{vote['judge']} ({vote['model']})" if vote["model"] else str(vote["judge"])


# ── votes, and what they come to ───────────────────────────────────────────────────────────────────────────────────


def _votes(keys: Sequence[str], ended: Sequence[EndedPart]) -> list[dict[str, Any]]:
    return [_vote(key, part) for key, part in zip(keys, ended, strict=True)]


def _vote(key: str, part: EndedPart) -> dict[str, Any]:
    outcome = part.outcome
    executions = [execution for record in outcome.judge.values() for execution in record.executions]
    reason = outcome.reason if outcome.error is None else str(outcome.error)
    return {
        "judge": key,
        "model": executions[0].judge_model_id if executions else None,
        "status": outcome.status,
        "score": outcome.score,
        "label": outcome.label,
        "reason": reason or "",
    }


def _decided(votes: list[dict[str, Any]], rule: Rule, first: Scorer) -> Findings | Declined:
    scores = [vote["score"] for vote in votes if vote["status"] == "scored"]
    failed = sum(vote["status"] == "error" for vote in votes)
    open_because = _open(scores, of=len(votes), rule=rule, first=first)
    if open_because:
        if failed and _could_decide(scores, failed, of=len(votes), rule=rule):
            raise PanelFailed(f"{open_because}, and {plural(failed, 'judge')} failed: {_first_failure(votes)}")
        return not_scorable(open_because)
    score = _outcome(scores, rule=rule, first=first)
    return Findings(
        rule=rule,
        score=score,
        votes=tuple(votes),
        judges=len(votes),
        voted=len(scores),
        agreeing=scores.count(score),
        agreement=scores.count(score) / len(scores),
        mean=fsum(scores) / len(scores),
    )


def _open(scores: Sequence[float], *, of: int, rule: Rule, first: Scorer) -> str:
    """Why nothing is decided; empty when something is."""
    said = f"{count_of(len(scores), of, what='judge')} voted"
    if rule == "unanimous":
        worst_is_out = bool(scores) and _worst(scores, first) == first.range[0 if first.better == "higher" else 1]
        return "" if worst_is_out or len(scores) == of else f"{said}, which is not all"
    if 2 * len(scores) <= of:
        return f"{said}, which is not more than half"
    if rule == "majority" and 2 * max(Counter(scores).values()) <= len(scores):
        tally = ", ".join(f"{times} for {score:g}" for score, times in sorted(Counter(scores).items(), reverse=True))
        return f"there is no majority: {tally}"
    return ""


def _could_decide(scores: Sequence[float], failed: int, *, of: int, rule: Rule) -> bool:
    """Whether the judges that failed could have decided, had they voted."""
    voted = len(scores) + failed
    if rule == "unanimous":
        return voted == of
    if 2 * voted <= of:
        return False
    return rule == "mean" or 2 * (max(Counter(scores).values(), default=0) + failed) > voted


def _outcome(scores: Sequence[float], *, rule: Rule, first: Scorer) -> float:
    if rule == "mean":
        return fsum(scores) / len(scores)
    return _worst(scores, first) if rule == "unanimous" else Counter(scores).most_common(1)[0][0]


def _worst(scores: Sequence[float], first: Scorer) -> float:
    return min(scores) if first.better == "higher" else max(scores)


def _first_failure(votes: Sequence[dict[str, Any]]) -> str:
    vote = next(vote for vote in votes if vote["status"] == "error")
    return f"{vote['judge']}: {cut(vote['reason'], _REASON)}"


# ── options ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _parts(judges: Any) -> tuple[Scorer, ...]:
    if isinstance(judges, Scorer | str) or not isinstance(judges, Sequence):
        raise UsageError(f"panel takes a list of scorers, not {shown(judges)}")
    for judge in judges:
        if not isinstance(judge, Scorer):
            raise UsageError(f"panel: judges are scorers, not {shown(judge)}")
        judge.require_runnable()
    if len(judges) < _FEWEST:
        raise UsageError(f"panel: give {_FEWEST} judges or more, not {len(judges)}")
    first = judges[0]
    for judge in judges[1:]:
        if (judge.range, judge.better) != (first.range, first.better):
            raise UsageError(
                f"panel: {judge.key} scores {_range(judge)}, and {first.key} {_range(first)}; votes must be comparable"
            )
        if (judge.type == "trajectory") != (first.type == "trajectory"):
            raise UsageError("panel: scorers of trajectories and of answers cannot be mixed")
    return tuple(judges)


def _range(judge: Scorer) -> str:
    return f"from {judge.range[0]:g} to {judge.range[1]:g}, {judge.better} is better"
