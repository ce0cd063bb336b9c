"""How near the answered number is to the expected one."""

from __future__ import annotations

import re
from typing import Any, Literal, TypeAlias, get_args

from proctor.data.value import MISSING, Missing, shown
from proctor.errors import UnknownName, UsageError
from proctor.scorers.options import as_number, margin_option
from proctor.scorers.values import answer_value, expected_value, is_near
from proctor.scoring.build import Findings, build_check
from proctor.scoring.scorer import Scorer
from proctor.scoring.steps import Declined, StepContext, not_scorable

__all__ = ["Take", "numeric_closeness"]

Take: TypeAlias = Literal["whole", "first", "last"]

_DIGITS = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:[eE][+-]?\d+)?|\.\d+"
_NUMBER = re.compile(rf"[+\-−]?(?:{_DIGITS})")
_IN_TEXT = re.compile(rf"(?<![\w.,])[+\-−]?(?:{_DIGITS})")
_LONGEST = 400  # characters that a number can have; no float needs more


def numeric_closeness(
    expected: float | Missing = MISSING, *, tolerance: float = 0.0, relative: float = 0.0, take: Take = "whole"
) -> Scorer:
    """1 less the difference of the numbers over the sum of their sizes, 0 to 1 (Lance and Williams 1967). Symmetric.

    1 when they differ by *tolerance* at most, or by the share *relative* of the larger one; numbers of different signs
    are 0. *expected*: without it the item's ground truth. *take*: which number of the answer counts: the `whole` answer
    must be one, or the `first` or `last` that stands in it. An answer without a number is 0; so are "", "null", "NaN"
    and "inf", which are none.

    >>> numeric_closeness(100).run_sync(output="90").reason
    '90 and 100 differ by 10'
    >>> numeric_closeness(42, take="last").run_sync(output="6 times 7 makes 42.").score
    1.0
    """
    if expected is not MISSING and as_number(expected) is None:
        raise UsageError(f"numeric_closeness: expected must be a finite number, not {expected!r}")
    near = margin_option(tolerance, name="tolerance", scorer="numeric_closeness")
    share = margin_option(relative, name="relative", scorer="numeric_closeness")
    if take not in get_args(Take):
        raise UnknownName("take for numeric_closeness", str(take), get_args(Take))

    def look(ctx: StepContext) -> Findings | Declined:
        truth = expected_value(ctx.run, expected)
        if isinstance(truth, Declined):
            return truth
        wanted = _number(truth, take="whole")
        if wanted is None:
            return not_scorable(f"the ground truth is no finite number: {shown(truth)}")
        answer = _number(ctx.run.once(answer_value), take=take)
        if answer is None:
            return Findings(score=0.0, answer=None, expected=wanted)
        close = is_near(answer, wanted, tolerance=near, relative=share)
        return Findings(score=1.0 if close else _closeness(answer, wanted), answer=answer, expected=wanted)

    def reason(ctx: StepContext) -> str:
        answer, wanted = ctx.preprocess["answer"], ctx.preprocess["expected"]
        if answer is None:
            where = "is no number" if take == "whole" else "has no number"
            return f"the answer {where}: {shown(ctx.run.once(answer_value))}"
        return f"{answer:.12g} and {wanted:.12g} differ by {abs(answer - wanted):.6g}"

    return build_check(
        id="numeric-closeness-scorer",
        name="Numeric Closeness Scorer",
        description="The answered number is near the expected one",
        arguments={"expected": expected, "tolerance": near, "relative": share, "take": take},
        defaults={"expected": MISSING, "tolerance": 0.0, "relative": 0.0, "take": "whole"},
        positional="expected",
        look=look,
        score=lambda ctx: ctx.preprocess["score"],
        reason=reason,
        kind="graded",
    )


def _closeness(left: float, right: float) -> float:
    """1 - |a - b| / (|a| + |b|), each first divided by the larger one, so that nothing overflows."""
    largest = max(abs(left), abs(right))
    if largest == 0:
        return 1.0
    a, b = left / largest, right / largest
    return 1.0 - abs(a - b) / (abs(a) + abs(b))


def _number(value: Any, *, take: Take) -> float | None:
    if not isinstance(value, str):
        return as_number(value)
    if take == "whole":
        text = value.strip()
        return _read(text) if len(text) <= _LONGEST and _NUMBER.fullmatch(text) else None
    found = (number for match in _IN_TEXT.finditer(value) if (number := _read(match[0])) is not None)
    if take == "first":
        return next(found, None)
    last = None
    for last in found:  # noqa: B007 - its last value is what is looked for
        pass
    return last


def _read(text: str) -> float | None:
    if len(text) > _LONGEST:
        return None
    return as_number(float(text.replace(",", "").replace("−", "-")))
