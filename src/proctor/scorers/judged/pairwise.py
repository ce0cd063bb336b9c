"""Whether the answer is better than another one, asked in both orders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from proctor.data.outcome import Outcome
from proctor.data.value import Value, shown
from proctor.errors import UsageError
from proctor.scorers.build_judged import Asked, build_judged, judged, object_of
from proctor.scorers.material import NO_ANSWER, answer_of, question_shown, truth_of
from proctor.scorers.options import scale_option, text_of
from proctor.scorers.sources import TextSource
from proctor.scoring.build import bool_option
from proctor.scoring.run import ScorerRun
from proctor.scoring.scorer import Scorer
from proctor.scoring.steps import Declined, StepContext, StepFunction, StepName, not_scorable

__all__ = ["PairwiseCounts", "formula", "pairwise", "pairwise_counts"]

_NO_BASELINE: Final = not_scorable("there is no baseline: no baseline= and no ground truth")
_SAME: Final = not_scorable("the answer and the baseline are the same text: there is nothing to compare")
_TIE: Final = "- tie: neither is better, or what is better in one is worth as much as what is better in the other."
_NO_TIE: Final = "There is no tie: when they are close, name the one that you would rather be given."
_ORDERS: Final = ("answer_first", "answer_second")
_PICKED: Final[Mapping[tuple[str, str], str]] = {
    ("answer_first", "first"): "answer",
    ("answer_first", "second"): "baseline",
    ("answer_second", "first"): "baseline",
    ("answer_second", "second"): "answer",
    ("answer_first", "tie"): "tie",
    ("answer_second", "tie"): "tie",
}
_WORTH: Final = {"answer": 1.0, "tie": 0.5, "baseline": 0.0}
_TOLD: Final = {"answer": "the answer", "tie": "a tie", "baseline": "the baseline"}
_ENDED: Final = {"answer": "wins", "tie": "ties", "baseline": "losses", None: "inconsistent"}


@judged
def pairwise(
    criterion: str,
    *,
    model: Any = None,
    baseline: str | Callable[[ScorerRun], Any] | None = None,
    ties: bool = True,
    half: Literal["inconsistent", "win"] = "inconsistent",
    scale: float = 1.0,
    language: str | None = None,
    prompts: Mapping[str, str] | None = None,
) -> Scorer:
    """Whether the answer meets *criterion* better than a baseline: *scale* for a win, half of it for a tie, else 0.

    The judge is asked twice: in `preprocess` the answer is shown first, in `analyze` second. Only what it says in both
    orders counts; what changes with the order is not scorable, with a reason that begins with "inconsistent".
    *baseline*: a text, or a def of the run that gives one; else the item's ground truth. *ties*: whether the judge may
    say so. *half*: what a tie in one order and a winner in the other is; "win" gives it to that winner. Also not
    scorable without an answer or a baseline, and when both are the same text, which no one is asked about.

    >>> from proctor.testing import ScriptedModel
    >>> judge = ScriptedModel(
    ...     [{"reason": "It names the hour.", "winner": "first"}, {"reason": "It names the hour.", "winner": "second"}]
    ... )
    >>> scorer = pairwise("Which answer says more exactly when?", baseline="In the morning.", model=judge)
    >>> scorer.run_sync(input="When do you open?", output="At nine.").score
    1.0
    """
    criterion = text_of(criterion, name="criterion", scorer="pairwise", such_as="Which answer says more exactly when?")
    if half not in ("inconsistent", "win"):
        raise UsageError(f"pairwise: half is 'inconsistent' or 'win', not {shown(half)}")
    ties = bool_option(ties, name="ties", check="pairwise")
    scale = scale_option(scale, scorer="pairwise")
    source = TextSource(baseline, name="baseline", scorer="pairwise", missing=_NO_BASELINE, otherwise=truth_of)
    return build_judged(
        __file__,
        id="pairwise-scorer",
        name="Pairwise Scorer",
        description="The answer is better than the baseline, in both orders",
        model=model,
        language=language,
        prompts=prompts,
        scale=scale,
        kind="graded" if ties else "binary",
        steps=_steps(criterion, source, ties=ties, options={"half": half, "scale": scale}),
        arguments={"criterion": criterion, "baseline": baseline, "ties": ties, "half": half},
        defaults={"baseline": None, "ties": True, "half": "inconsistent"},
        positional="criterion",
    )


def _steps(
    criterion: str, baseline: TextSource, *, ties: bool, options: Mapping[str, Any]
) -> Mapping[StepName, Asked | StepFunction]:
    def both(ctx: StepContext) -> tuple[str, str] | Declined:
        answer, other = ctx.run.once(answer_of), ctx.run.once(baseline)
        if not answer or isinstance(other, Declined):
            return other if isinstance(other, Declined) else NO_ANSWER
        return _SAME if answer == other else (answer, other)

    def shown_as(ctx: StepContext, *, first: str, second: str) -> Mapping[str, str]:
        return {
            "criterion": criterion,
            "choice": _TIE if ties else _NO_TIE,
            "question": question_shown(ctx),
            "first": ctx.fence(first, "first"),
            "second": ctx.fence(second, "second"),
        }

    def answer_first(ctx: StepContext) -> Mapping[str, str] | Declined:
        found = both(ctx)
        return found if isinstance(found, Declined) else shown_as(ctx, first=found[0], second=found[1])

    def answer_second(ctx: StepContext) -> Mapping[str, str] | Declined:
        found = both(ctx)
        return found if isinstance(found, Declined) else shown_as(ctx, first=found[1], second=found[0])

    winners = ["first", "second", "tie"] if ties else ["first", "second"]

    def order(description: str, material: Callable[[StepContext], Mapping[str, str] | Declined]) -> Asked:
        return Asked(
            description,
            material=material,
            places=("criterion", "choice", "question", "first", "second"),
            needed=("criterion", "first", "second"),
            output=object_of(reason="string", winner={"enum": winners}),
            is_slow=baseline.is_slow,
        )

    return {
        "preprocess": order("Compares, with the answer shown first", answer_first),
        "analyze": order("Compares, with the answer shown second", answer_second),
        "generate_score": lambda ctx: formula(_merged(ctx), options),
        "generate_reason": _reason,
    }


def formula(analysis: Mapping[str, Any], options: Mapping[str, Any]) -> float | Declined:
    """*scale* when the answer won in both orders, half of it for two ties, 0 when the baseline won in both.

    *analysis*: what the judge said with the answer shown first (`answer_first`) and second (`answer_second`), each with
    a `winner`: `first`, `second` or `tie`. What differs is declined as inconsistent, and so is any other word; with
    `half="win"` a tie gives way to a winner.

    >>> formula({"answer_first": {"winner": "first"}, "answer_second": {"winner": "second"}}, {"scale": 5})
    5.0
    >>> formula({"answer_first": {"winner": "first"}, "answer_second": {"winner": "first"}}, {})
    not_scorable('inconsistent: the judge picked the one that was shown first in both orders')
    """
    said = [_word(analysis[order]) for order in _ORDERS]
    picked = [_PICKED.get(one) for one in zip(_ORDERS, said, strict=True)]
    side = _side(picked, half=options.get("half") == "win")
    if side is not None:
        return _WORTH[side] * float(options.get("scale", 1.0))
    if None in picked:
        return not_scorable(f"inconsistent: {said[0]!r} and {said[1]!r} are no two verdicts")
    if said[0] == said[1]:
        return not_scorable(f"inconsistent: the judge picked the one that was shown {said[0]} in both orders")
    one, other = (_TOLD[str(pick)] for pick in picked)
    return not_scorable(f"inconsistent: {one} with the answer shown first, {other} with the answer shown second")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PairwiseCounts(Value):
    """How the comparisons of a `pairwise` scorer ended.

    *inconsistent*: another verdict in the other order. *other*: not asked in both orders, for whatever reason.
    *first_picked*: of the *picks*, the single verdicts that named a winner, those that named the one shown first.
    *halves*: of the wins and losses, those that were a tie in one order, which `half="win"` let count.
    """

    wins: int = 0
    losses: int = 0
    ties: int = 0
    inconsistent: int = 0
    other: int = 0
    first_picked: int = 0
    picks: int = 0
    halves: int = 0

    @property
    def consistency(self) -> float | None:
        """The share of those asked in both orders that had the same verdict in both; None when none was asked."""
        return (self._settled - self.halves) / self._asked if self._asked else None

    @property
    def position_bias(self) -> float | None:
        """The share of the picks that named the one shown first: 0.5 is none, 1 is always. None without picks.

        Both orders of the same pairs are counted, so that which one is better does not matter.
        """
        return self.first_picked / self.picks if self.picks else None

    @property
    def _settled(self) -> int:
        return self.wins + self.losses + self.ties

    @property
    def _asked(self) -> int:
        return self._settled + self.inconsistent

    def __str__(self) -> str:
        """Each number with what it is out of."""
        agreed = _share(self._settled - self.halves, self._asked)
        ended = f"{self.wins} won, {self.losses} lost, {self.ties} tied, {self.inconsistent} inconsistent"
        return (
            f"{ended} of {self._asked} compared, {self.other} not compared; the same verdict in both orders: {agreed}; "
            f"the first one picked: {_share(self.first_picked, self.picks)}"
        )


def pairwise_counts(outcomes: Iterable[Outcome], /) -> PairwiseCounts:
    """How many were won, lost, tied and inconsistent among the outcomes of one `pairwise` scorer.

    >>> from proctor.testing import ScriptedModel
    >>> always_first = ScriptedModel([{"reason": "It is the first.", "winner": "first"}])
    >>> scorer = pairwise("Which answer is kinder?", baseline="No.", model=always_first)
    >>> counts = pairwise_counts([scorer.run_sync(output="Yes, gladly.")])
    >>> counts.inconsistent, counts.consistency, counts.position_bias
    (1, 0.0, 1.0)
    """
    ended: Counter[str] = Counter()
    for outcome in outcomes:
        said = _said(outcome)
        if said is None:
            ended["other"] += 1
            continue
        ended["picks"] += sum(word != "tie" for word in said)
        ended["first_picked"] += said.count("first")
        picked = [_PICKED.get(one) for one in zip(_ORDERS, said, strict=True)]
        side = _side(picked, half=True) if outcome.status == "scored" else None
        ended[_ENDED[side]] += 1
        ended["halves"] += side is not None and picked[0] != picked[1]
    return PairwiseCounts(**ended)


def _said(outcome: Outcome) -> list[str] | None:
    """The two verdicts of an outcome, the answer first and then second; None when there are not two."""
    if outcome.status not in ("scored", "not_scorable") or outcome.evidence is None:
        return None
    steps = (outcome.evidence.preprocess_step_result, outcome.evidence.analyze_step_result)
    if not all(isinstance(step, Mapping) and "winner" in step for step in steps):
        return None
    return [_word(step) for step in steps]


def _side(picked: Sequence[str | None], *, half: bool) -> str | None:
    """What both orders say: answer, baseline or tie; None when they say different things. *half*: a tie gives way."""
    sides = set(picked)
    if half and len(sides) > 1:
        sides -= {"tie"}
    return sides.pop() if len(sides) == 1 else None


def _merged(ctx: StepContext) -> Mapping[str, Any]:
    return {"answer_first": ctx.preprocess, "answer_second": ctx.analyze}


def _reason(ctx: StepContext) -> str:
    """Which one is better, and the judge's reason in each order: its words "first" and "second" are of that order."""
    picked = [_PICKED.get((order, _word(said))) for order, said in _merged(ctx).items()]
    better = {"answer": "the answer is better", "baseline": "the baseline is better"}
    told = better.get(str(_side(picked, half=True)), "neither is better")
    return f"{told}. Answer shown first: {ctx.preprocess['reason']} Answer shown second: {ctx.analyze['reason']}"


def _word(said: Mapping[str, Any]) -> str:
    return str(said["winner"]).strip().lower()


def _share(count: int, of: int) -> str:
    return f"{count} of {of} ({count / of:.0%})" if of else "0 of 0"
