"""What is refused of a scorer when it is written, before anything runs."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from proctor.data.value import shown
from proctor.errors import UnknownName, UsageError
from proctor.judging.judge import refuse_no_judge
from proctor.scoring.callables import takes_one
from proctor.scoring.schema import check_schemas
from proctor.scoring.steps import STEP_NAMES, Prompt

if TYPE_CHECKING:
    from proctor.scoring.scorer import Scorer

__all__ = ["refuse_misbuilt"]

_NARROWEST = 1e-6  # scores are compared with a tolerance of 1e-9


def refuse_misbuilt(scorer: Scorer) -> None:
    """Raise a `UsageError` for the first thing that cannot be right: id, steps, range, options, type."""
    if not isinstance(scorer.id, str) or not scorer.id.strip():
        message = "a scorer needs an id, a text that is not empty: create_scorer(id='refund-policy', ...)"
        raise UsageError(message, code="SCORER_FAILED_TO_CREATE_MISSING_ID")
    refuse_no_judge(scorer.judge, said=f"{scorer.id}: ")
    for name, step in scorer.steps.items():
        if name not in STEP_NAMES:
            raise UnknownName("step", name, STEP_NAMES)
        if not isinstance(step, Prompt) and not (callable(step) and takes_one(step)):
            raise UsageError(f"{scorer.id}: {name} must be a function of one argument (ctx) or a Prompt, not {step!r}")
    low, high = _bounds(scorer)
    if not (isfinite(low) and isfinite(high) and high - low >= _NARROWEST):
        raise UsageError(f"{scorer.id}: range must be (low, high), at least {_NARROWEST:g} wide, not {scorer.range!r}")
    if scorer.better not in ("higher", "lower"):
        raise UsageError(f"{scorer.id}: better is 'higher' or 'lower', not {scorer.better!r}")
    if scorer.kind not in ("binary", "graded"):
        raise UsageError(f"{scorer.id}: kind is 'binary' or 'graded', not {scorer.kind!r}")
    _check_type(scorer)


def _bounds(scorer: Scorer) -> tuple[float, float]:
    try:
        low, high = scorer.range
        if isinstance(low, int | float) and isinstance(high, int | float):
            return float(low), float(high)
    except (TypeError, ValueError, OverflowError):
        pass
    raise UsageError(f"{scorer.id}: range must be two numbers (low, high), not {shown(scorer.range)}")


def _check_type(scorer: Scorer) -> None:
    kind = scorer.type
    if kind is None or kind in ("agent", "trajectory"):
        return
    if isinstance(kind, tuple) and len(kind) == 2:
        check_schemas(kind, scorer.id)
        return
    raise UsageError(f"{scorer.id}: type is 'agent', 'trajectory' or a pair of schemas (input, output), not {kind!r}")
