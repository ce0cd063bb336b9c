"""The process exit code of a run: the same rule for the command line, pytest and scripts.

    130  cancelled
      1  a gate missed on a measured score
      4  something could not be measured: a gate or threshold decided by errors or declines, an error that no
         `max_errors` allows, nothing ran, or the run stopped early or still runs
      3  a threshold missed on its measured mean
      0  else

When several apply the first in this list wins. `fail_on` names what counts: `failed` (gates), `scored` (thresholds),
`error`, `not-scorable` (any declined outcome), or `none`. 2 (usage), 5 (not enough evidence) and 6 (a judge that may
not be believed) are given by those who find them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from proctor.data.mean import Mean
from proctor.data.threshold import TOLERANCE
from proctor.errors import UnknownName

__all__ = ["CANCELLED", "DEFAULT_FAIL_ON", "FAIL_ON", "exit_code", "first_of"]

FAIL_ON = ("failed", "scored", "error", "not-scorable", "none")
DEFAULT_FAIL_ON = ("failed", "scored", "error")
GATE_MISSED, THRESHOLD_MISSED, NOT_MEASURED, CANCELLED = 1, 3, 4, 130
_ORDER = (CANCELLED, GATE_MISSED, NOT_MEASURED, 5, 6, THRESHOLD_MISSED, 0)


def exit_code(
    means: Sequence[Mean],
    *,
    status: str = "complete",
    items: int = 1,
    fail_on: Collection[str] | str = DEFAULT_FAIL_ON,
) -> int:
    """The code for these means; see the head of this file. *items*: how many rows ran."""
    fail_on = (fail_on,) if isinstance(fail_on, str) else fail_on
    for word in fail_on:
        if word not in FAIL_ON:
            raise UnknownName("fail_on word", word, FAIL_ON)
    if status == "cancelled":
        return CANCELLED
    if "none" in fail_on:
        return 0
    missed = [mean for mean in means if mean.passed is False and _counts(mean, fail_on)]
    if any(_is_gate(mean) and mean.decided_by == "scores" for mean in missed):
        return GATE_MISSED
    if items == 0 or status in {"stopped", "running"} or any(mean.decided_by != "scores" for mean in missed):
        return NOT_MEASURED
    if "error" in fail_on and any(_errors_not_allowed(mean) for mean in means):
        return NOT_MEASURED
    if "not-scorable" in fail_on and any(mean.not_scorable for mean in means):
        return NOT_MEASURED
    return THRESHOLD_MISSED if missed else 0


def first_of(codes: Iterable[int]) -> int:
    """The one code of several runs: the first that applies in the order 130, 1, 4, 5, 6, 3.

    >>> first_of([0, 3, 4]), first_of([])
    (4, 0)
    """
    return min(codes, key=_ORDER.index, default=0)


def _is_gate(mean: Mean) -> bool:
    return mean.column.position == "gate"


def _counts(mean: Mean, fail_on: Collection[str]) -> bool:
    return ("failed" if _is_gate(mean) else "scored") in fail_on


def _errors_not_allowed(mean: Mean) -> bool:
    """Whether the column has errors (its own, or failed targets) beyond what its threshold allows."""
    bad = mean.errors + mean.no_reply
    allowed = mean.threshold.max_errors if mean.threshold else 0.0
    return bad > 0 and bad / mean.of > allowed + TOLERANCE
