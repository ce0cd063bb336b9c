"""Checks of what a reply took: time, tokens, money. What nobody measured is not scorable, never a pass.

They look at what the target's reply says of itself. A saved reply that says nothing is declined.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from proctor.checks.calls import passed
from proctor.data.threshold import TOLERANCE
from proctor.errors import UsageError
from proctor.scoring.build import Findings, build_check, count_option
from proctor.scoring.run import ScorerRun
from proctor.scoring.scorer import Scorer
from proctor.scoring.steps import Declined, StepContext, not_scorable

__all__ = ["max_cost", "max_duration", "max_tokens"]


def max_duration(seconds: float) -> Scorer:
    """1 when the reply took at most so many seconds, else 0; not scorable when its time is not known.

    >>> max_duration(2).run_sync(output="Hello.", duration_ms=2500.0).reason
    'took 2.5 s, at most 2 s allowed'
    """
    most = _amount(seconds, name="seconds", check="max_duration")

    def measure(run: ScorerRun) -> float | Declined:
        if run.duration_ms is None:
            return not_scorable("the duration of the reply is not known")
        return run.duration_ms / 1000

    return _limit("duration", {"seconds": seconds}, most=most, measure=measure, unit=" s", verb="took")


def max_tokens(n: int) -> Scorer:
    """1 when the reply used at most so many tokens, in and out together, else 0; not scorable when that is not known.

    >>> max_tokens(100).run_sync(output="Hello.").status
    'not_scorable'
    """
    count_option(n, name="n", check="max_tokens", least=0)

    def measure(run: ScorerRun) -> float | Declined:
        usage = run.usage
        if usage is None or usage.total is None:
            return not_scorable("the tokens of the reply are not known")
        in_part = usage.total_tokens is None and (usage.input_tokens is None or usage.output_tokens is None)
        if in_part and usage.total <= n:
            return not_scorable(f"only a part of the tokens is known: {usage.total}")
        return usage.total

    return _limit("tokens", {"n": n}, most=n, measure=measure, unit=" tokens", verb="used")


def max_cost(usd: float) -> Scorer:
    """1 when the reply cost at most so many US dollars, else 0; not scorable when its cost is not known in dollars.

    >>> max_cost(0.01).run_sync(output="Hello.").reason
    'the cost of the reply is not known'
    """
    most = _amount(usd, name="usd", check="max_cost")

    def measure(run: ScorerRun) -> float | Declined:
        if run.cost is None:
            return not_scorable("the cost of the reply is not known")
        if run.cost.unit != "USD":
            return not_scorable(f"the cost of the reply is known in {run.cost.unit}, not in USD")
        return run.cost.amount

    return _limit("cost", {"usd": usd}, most=most, measure=measure, unit=" USD", verb="cost")


def _limit(
    what: str,
    argument: dict[str, Any],
    *,
    most: float,
    measure: Callable[[ScorerRun], float | Declined],
    unit: str,
    verb: str,
) -> Scorer:
    def look(ctx: StepContext) -> Findings | Declined:
        value = measure(ctx.run)
        if isinstance(value, Declined):
            return value
        return Findings(value=value, max=most, passed=value <= most + TOLERANCE)

    def reason(ctx: StepContext) -> str:
        return f"{verb} {_number(ctx.preprocess['value'], most)}{unit}, at most {_number(most, most)}{unit} allowed"

    return build_check(
        id=f"check-max-{what}",
        name=f"Max {what.title()} Check",
        description=f"The reply did not take too much {'time' if what == 'duration' else what}",
        arguments=argument,
        defaults={},
        look=look,
        score=passed,
        reason=reason,
    )


def _number(value: float, most: float) -> str:
    """The number in few digits, in all of them where few would put it on the other side of the bound."""
    few = f"{value:.6g}" if isinstance(value, float) else str(value)
    return few if (float(few) <= most + TOLERANCE) == (value <= most + TOLERANCE) else repr(value)


def _amount(value: Any, *, name: str, check: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < inf:
        raise UsageError(f"{check}: {name} must be a finite number, 0 or more, not {value!r}")
    return value
