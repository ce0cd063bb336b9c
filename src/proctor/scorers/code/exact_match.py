"""Whether the answer is the expected value: one of a class, a number, a whole object."""

from __future__ import annotations

from typing import Any

from proctor.data.compare import differences
from proctor.data.plain import plain
from proctor.data.value import MISSING, shown
from proctor.scorers.values import answer_value, expected_value
from proctor.scoring.build import Findings, build_check
from proctor.scoring.scorer import Scorer
from proctor.scoring.steps import Declined, StepContext

__all__ = ["exact_match"]


def exact_match(expected: Any = MISSING) -> Scorer:
    """1 when the answer is *expected*, or without it the item's ground truth, else 0. Nothing is read into text.

    1 and 1.0 are the same; True is no number, "5" is not 5, bytes are no text, and None is a value. Keys stand in any
    order, lists in theirs. Text is compared by its code points; an answer of messages is all their text.

    >>> exact_match({"city": "Paris"}).run_sync(output={"city": "Rome"}).reason
    "the answer differs at city: expected 'Paris', not 'Rome'"
    """
    given = expected if expected is MISSING else plain(expected)

    def look(ctx: StepContext) -> Findings | Declined:
        wanted = expected_value(ctx.run, given)
        if isinstance(wanted, Declined):
            return wanted
        found = differences(wanted, ctx.run.once(answer_value))
        return Findings(matched=not found, differences=len(found), first=found[0].path if found else None)

    def reason(ctx: StepContext) -> str:
        wanted, answer = expected_value(ctx.run, given), ctx.run.once(answer_value)
        if ctx.preprocess["matched"]:
            return f"the answer is {shown(wanted)}"
        first = differences(wanted, answer)[0]
        place = f" at {first.path}" if first.path else ""
        instead = "nothing there" if first.actual is MISSING else f"not {shown(first.actual)}"
        wish = "expected nothing" if first.expected is MISSING else f"expected {shown(first.expected)}"
        return f"the answer differs{place}: {wish}, {instead}"

    return build_check(
        id="exact-match-scorer",
        name="Exact Match Scorer",
        description="The answer is the expected value",
        arguments={"expected": given},
        defaults={"expected": MISSING},
        positional="expected",
        look=look,
        score=lambda ctx: ctx.preprocess["matched"],
        reason=reason,
    )
