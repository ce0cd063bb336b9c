"""Several judges over one answer: their votes, and what they come to.

    a judge that scored            has a vote
    one that declined, or failed   has none; it is kept beside the votes, with why
    `majority`                     the score that more than half of the votes are for
    `mean`                         the mean of the votes
                                   both: nothing is decided when half of the judges, or more, have no vote
    `unanimous`                    the score that all judges give; where they differ, the worst vote. It needs all
                                   votes, unless one is the worst there is

Nothing decided is not scorable when judges declined or disagree, and an error when a judge that failed could have
decided it: an outage is no disagreement. The votes are kept whatever comes of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import fsum
from typing import Any, Final, Literal, TypeAlias, get_args

from proctor.data.shown import count_of, plural
from proctor.data.threshold import TOLERANCE
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
    label and reason; `agreement` is the share of the votes that are for the score, None where that is their mean. A
    judge that sits on it several times is asked as often.

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
        return ended_parts(ctx, parts, then=lambda ended: _found(_votes(keys, ended), rule, parts[0]))

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


def _score(ctx: StepContext) -> Score | Declined:
    found = ctx.analyze
    if found["score"] is None:
        if found["outage"]:
            raise PanelFailed(found["undecided"])
        return not_scorable(found["undecided"])
    agreeing = None if found["rule"] == "mean" else f"{found['agreeing']} of {found['voted']}"
    return Score(found["score"], label=agreeing)


def _reason(ctx: StepContext) -> str:
    found = ctx.analyze
    votes = [vote for vote in found["votes"] if vote["status"] == "scored"]
    against = [vote for vote in votes if not _same(vote["score"], found["score"])]
    told = f"{count_of(found['agreeing'], found['voted'], what='vote')} for {found['score']:g}"
    if found["rule"] == "mean":
        told = f"the mean of {plural(found['voted'], 'vote')} is {found['score']:g}"
    elif found["rule"] == "unanimous" and against:
        told += ", the worst: they differ"
    absent = [vote for vote in found["votes"] if vote["status"] != "scored"]
    pieces = [told, *[_told(vote) for vote in votes]]
    return "\n".join([*pieces, *[f"{_named(vote)}: no vote{_because(vote)}" for vote in absent]])


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


def _found(votes: list[dict[str, Any]], rule: Rule, first: Scorer) -> Findings:
    """The votes and what they come to: `score`, or None and why it is `undecided`; `outage`: since judges failed."""
    scores = [vote["score"] for vote in votes if vote["status"] == "scored"]
    failed = sum(vote["status"] == "error" for vote in votes)
    undecided = _undecided(scores, of=len(votes), rule=rule, first=first)
    outage = bool(undecided and failed) and _could_decide(scores, failed, of=len(votes), rule=rule)
    if outage:
        undecided += f", and {plural(failed, 'judge')} failed: {_first_failure(votes)}"
    elif undecided and (reason := _usual_reason(votes)):
        undecided += f": {cut(reason, _REASON)}"
    score = None if undecided else _outcome(scores, rule=rule, first=first)
    agreeing = 0 if score is None else sum(_same(vote, score) for vote in scores)
    return Findings(
        rule=rule,
        score=score,
        votes=tuple(votes),
        judges=len(votes),
        voted=len(scores),
        agreeing=agreeing,
        agreement=None if score is None or rule == "mean" else agreeing / len(scores),
        undecided=undecided or None,
        outage=outage,
    )


def _undecided(scores: Sequence[float], *, of: int, rule: Rule, first: Scorer) -> str:
    """Why nothing is decided; empty when something is."""
    said = f"{count_of(len(scores), of, what='judge')} voted"
    if rule == "unanimous":
        worst = first.range[0 if first.better == "higher" else 1]
        return "" if len(scores) == of or any(_same(score, worst) for score in scores) else f"{said}, which is not all"
    if 2 * len(scores) <= of:
        return f"{said}, which is not more than half"
    tally = _tally(scores)
    if rule == "majority" and 2 * max(tally.values()) <= len(scores):
        told = ", ".join(f"{times} for {score:g}" for score, times in sorted(tally.items(), reverse=True))
        return f"there is no majority: {told}"
    return ""


def _could_decide(scores: Sequence[float], failed: int, *, of: int, rule: Rule) -> bool:
    """Whether the judges that failed could have decided, had they voted."""
    voted = len(scores) + failed
    if rule == "unanimous":
        return True  # with the worst vote
    if 2 * voted <= of:
        return False
    return rule == "mean" or 2 * (max(_tally(scores).values(), default=0) + failed) > voted


def _outcome(scores: Sequence[float], *, rule: Rule, first: Scorer) -> float:
    if rule == "mean":
        return fsum(scores) / len(scores)
    if rule == "unanimous":
        return min(scores) if first.better == "higher" else max(scores)
    return _tally(scores).most_common(1)[0][0]


def _tally(scores: Sequence[float]) -> Counter[float]:
    """How many votes there are for each score; those that differ by less than scores can are for the same."""
    tally: Counter[float] = Counter()
    for score in scores:
        tally[next((one for one in tally if _same(one, score)), score)] += 1
    return tally


def _same(one: float, other: float) -> bool:
    return abs(one - other) <= TOLERANCE


def _first_failure(votes: Sequence[dict[str, Any]]) -> str:
    vote = next(vote for vote in votes if vote["status"] == "error")
    return f"{vote['judge']}{_because(vote, ': ')}"


def _usual_reason(votes: Sequence[dict[str, Any]]) -> str:
    """Why most of those have no vote that have none."""
    reasons = Counter(vote["reason"] for vote in votes if vote["status"] != "scored" and vote["reason"])
    return min(reasons, key=lambda reason: (-reasons[reason], reason), default="")


def _because(vote: Mapping[str, Any], before: str = ", ") -> str:
    return f"{before}{cut(vote['reason'], _REASON)}" if vote["reason"] else ""


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
