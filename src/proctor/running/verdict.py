"""From counts to a decision, with the sentence that says what decided it.

A gate passes when every item reached the top of the scorer's range: no score below, no error, no reply that never came,
and at least one score. A threshold is met when the exact mean is inside its bounds, and errors and failed targets stay
within `max_errors`. `failed`: a gate missed; else `scored`: a threshold missed; else `passed`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from proctor.data.mean import DecidedBy, Mean
from proctor.data.result import Verdict
from proctor.data.shown import count_of, plural, shown_score
from proctor.data.threshold import TOLERANCE, Threshold, least_at
from proctor.errors import cut
from proctor.running.fold import ColumnFold
from proctor.stats.rates import wilson_interval

__all__ = ["column_mean", "decide"]


def column_mean(fold: ColumnFold, *, allow_unscored_gates: bool = False, whole: bool = True) -> Mean:
    """What a column came to. *allow_unscored_gates*: a gate on which every item declined decides nothing.

    *whole*: whether all items are in; else only what no further item could change is decided: what a gate missed, and
    an error where a threshold allows none.
    """
    column, threshold = fold.cell.column, fold.cell.threshold
    passed: bool | None = None
    decided_by: DecidedBy | None = None
    sentence = ""
    if column.position == "gate":
        passed, decided_by, sentence = _gate(fold)
        if allow_unscored_gates and decided_by == "declines":
            passed, decided_by = None, None
            sentence = f"{column.label} decides nothing: every item declined"
    elif threshold is not None:
        passed, decided_by, sentence = _threshold(fold, threshold)
    if not whole and passed is not None and not _stands(fold, decided_by, passed=passed):
        passed, decided_by = None, None
        sentence = f"{column.label} is not decided: {fold.n} scored so far, and not every item was run"
    return Mean(
        column=column,
        mean=fold.mean,
        n=fold.n,
        of=fold.of,
        errors=fold.errors,
        not_scorable=fold.not_scorable,
        not_run=fold.not_run,
        no_reply=fold.no_reply,
        interval=_interval(fold),
        threshold=threshold,
        passed=passed,
        decided_by=decided_by,
        sentence=sentence,
        judge=None if fold.judge is None else fold.judge.totals,
        duration_ms=fold.duration_ms.value,
        range=fold.cell.scorer.range,
        better=fold.cell.scorer.better,
        declines=tuple(sorted(fold.declines.items(), key=lambda one: (-one[1], one[0]))),
    )


def _stands(fold: ColumnFold, decided_by: DecidedBy | None, *, passed: bool) -> bool:
    """Whether more items could not change it."""
    if passed or decided_by == "declines":
        return False
    threshold = fold.cell.threshold
    return threshold is None or (decided_by == "errors" and not threshold.max_errors)


def _interval(fold: ColumnFold) -> tuple[float, float] | None:
    """The 95% interval of the mean, in the scorer's own units. Repeats of an item are one case, not several."""
    mean = fold.mean
    if mean is None:
        return None
    low, high = fold.cell.scorer.range
    cases = max(fold.items, 1)
    share = min(max((mean - low) / (high - low), 0.0), 1.0)
    bounds = wilson_interval(share * cases, cases)
    least, most = (low + bound * (high - low) for bound in bounds)
    return min(max(least, low), mean), max(min(most, high), mean)


def decide(means: Sequence[Mean], *, stopped: str = "") -> tuple[Verdict | None, str]:
    """The verdict, and the sentence that decided it. *stopped*: what ended a run early: then only `failed` is decided.

    A threshold that is missed for good is no verdict yet: a gate might have missed on an item to come.
    """
    gates = [mean for mean in means if mean.column.position == "gate" and mean.passed is not None]
    thresholds = [mean for mean in means if mean.column.position != "gate" and mean.passed is not None]
    for verdict, what, decided in (("failed", "gate", gates), ("scored", "threshold", thresholds)):
        missed = [mean for mean in decided if not mean.passed]
        if missed and (verdict == "failed" or not stopped):
            more = f" ({count_of(len(missed), len(decided), what=what)} missed)" if len(decided) > 1 else ""
            return verdict, f"{missed[0].sentence}{more}"  # type: ignore[return-value]  # one of the three words
    if stopped:
        return None, f"not decided: the run ended early ({stopped})"
    if not gates and not thresholds:
        undecided = next((mean.sentence for mean in means if mean.sentence), "no gate and no threshold")
        return None, f"nothing to decide: {undecided}"
    parts = [plural(len(found), what) for found, what in ((gates, "gate"), (thresholds, "threshold")) if found]
    fewest = min(gates + thresholds, key=lambda mean: mean.n / max(mean.of, 1))
    part = f", {fewest.column.label} on {count_of(fewest.n, fewest.of)} alone" if fewest.n < fewest.of else ""
    return "passed", f"{' and '.join(parts)} met{part}"


def _gate(fold: ColumnFold) -> tuple[bool | None, DecidedBy | None, str]:
    name = fold.cell.column.label
    if fold.short:
        _, item, outcome = fold.first["short"]
        why = f": {cut(outcome.reason, 160)}" if outcome.reason else ""
        more = f"; {count_of(fold.short, fold.of, what=fold.unit)} fell short" if fold.of > 1 else ""
        low, top = fold.cell.scorer.range
        needed = "" if (outcome.score, top) == (low, 1) else f", a gate needs {top:g}"
        scored = f"{shown_score(outcome.score, Threshold(top))}{needed}"
        return False, "scores", f"{name} missed: item {item} scored {scored}{why}{more}"
    if fold.errors or fold.no_reply:
        return False, "errors", f"{name} missed: {_errors(fold)}"
    if not fold.n and not fold.not_scorable:
        return None, None, f"{name} decides nothing: it was not run on any item"
    if not fold.n:
        _, item, outcome = fold.first["not_scorable"]
        why = f" ({outcome.reason})" if outcome.reason else ""
        return False, "declines", f"{name} missed: nothing to decide on, all {fold.of} {fold.unit}s declined{why}"
    return True, "scores", f"{name} met: {count_of(fold.n, fold.of, what=fold.unit)} reached the top"


def _threshold(fold: ColumnFold, threshold: Threshold) -> tuple[bool | None, DecidedBy | None, str]:
    name, mean = fold.cell.column.label, fold.mean
    counted = f"over {count_of(fold.n, fold.of, what=fold.unit)}"
    if mean is not None and not threshold.admits(mean):
        return False, "scores", f"{name} missed its threshold: mean {_compared(mean, threshold)} {counted}{_hint(fold)}"
    bad = fold.errors + fold.no_reply
    if fold.of and bad / fold.of > threshold.max_errors + TOLERANCE:
        allowed = f", {threshold.max_errors:g} of them allowed" if threshold.max_errors else ""
        return False, "errors", f"{name} missed its threshold: {_errors(fold)}{allowed}"
    if fold.n < threshold.min_scored:
        by: DecidedBy = "errors" if bad and not fold.not_scorable else "declines"
        scored = f"{plural(fold.n, fold.unit)} scored"
        return False, by, f"{name} missed its threshold: {scored}, at least {threshold.min_scored} needed"
    if mean is None:
        return None, None, f"{name} scored nothing and decides nothing (min_scored=0)"
    return True, "scores", f"{name} met: mean {shown_score(mean, threshold)} {counted}, needed {threshold}"


def _errors(fold: ColumnFold) -> str:
    parts = []
    if fold.errors:
        _, item, outcome = fold.first["error"]
        message = cut(str(outcome.error), 160)
        parts.append(f"{count_of(fold.errors, fold.of, what=fold.unit)} ended in an error, first {item}: {message}")
    if fold.no_reply:
        _, item, _ = fold.first["not_run"]
        parts.append(f"{count_of(fold.no_reply, fold.of, what=fold.unit)} had no reply, first {item}")
    return "; ".join(parts)


def _compared(mean: float, threshold: Threshold) -> str:
    """`0.667 < 0.67`: the mean, and the bound it is beyond."""
    shown = shown_score(mean, threshold)
    if threshold.min is not None and mean < least_at(threshold.min):
        return f"{shown} < {threshold.min:g}"
    return f"{shown} > {threshold.max:g}"


def _hint(fold: ColumnFold) -> str:
    """For a bound that was meant as a fraction: 2 of 3 does not reach 0.67, but it reaches 2/3."""
    mean, threshold = fold.mean, fold.cell.threshold
    if mean is None or threshold is None or threshold.min is None or not 0 < threshold.min - mean < 0.005:
        return ""
    exact = Fraction(mean).limit_denominator(100)
    if abs(float(exact) - mean) > TOLERANCE or exact.denominator == 1:
        return ""
    return f" (the mean is {exact}; use {exact} as the threshold if that is enough)"
