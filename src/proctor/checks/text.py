"""Checks of what the assistant said. No model; every assistant message of the output counts, nothing else does.

Messages are joined by one space for `includes`, `excludes` and `similarity`, by nothing for `equals` and `matches`.
"""

from __future__ import annotations

from typing import Any

from proctor.checks.pattern import PatternTimeout, compile_pattern
from proctor.data.threshold import least_at
from proctor.errors import UsageError
from proctor.scoring.build import Findings, bool_option, build_check, quote, text_option
from proctor.scoring.run import ScorerRun
from proctor.scoring.scorer import Scorer
from proctor.scoring.steps import Hop, StepContext
from proctor.stats.dice import dice
from proctor.stats.words import folded

__all__ = ["equals", "excludes", "includes", "matches", "similarity"]


def includes(expected: str, *, ignore_case: bool = True) -> Scorer:
    """1 when *expected* is somewhere in the answer, else 0. Taken literally; to look for a pattern use `matches`.

    >>> includes("Brooklyn").run_sync(output="It is sunny in brooklyn.").score
    1.0
    """
    text_option(expected, name="expected", check="includes")
    fold = bool_option(ignore_case, name="ignore_case", check="includes")
    target, answer = (folded(expected), _folded) if fold else (expected, _said)

    shown = quote(expected)
    yes, no = Findings(target=target, found=True), Findings(target=target, found=False)

    def look(ctx: StepContext) -> Findings:
        return yes if target in ctx.run.once(answer) else no

    def reason(ctx: StepContext) -> str:
        if not ctx.preprocess["found"]:
            return f"{shown} is not in the answer {ctx.run.once(_opening)}"
        at = ctx.run.once(answer).find(target)  # folding case can change lengths, so the place is only near
        return f"found {shown} in {quote(ctx.run.text, around=at)}"

    return build_check(
        id="check-includes",
        name="Includes Check",
        description="The answer contains a text",
        arguments={"expected": expected, "ignore_case": ignore_case},
        defaults={"ignore_case": True},
        look=look,
        score=lambda ctx: ctx.preprocess["found"],
        reason=reason,
    )


def excludes(unwanted: str, *, ignore_case: bool = True) -> Scorer:
    """1 when *unwanted* is nowhere in the answer, else 0; an empty answer passes.

    >>> excludes("password").run_sync(output="The password is 1234.").reason
    'found "password" in "The password is 1234."'
    """
    text_option(unwanted, name="unwanted", check="excludes")
    fold = bool_option(ignore_case, name="ignore_case", check="excludes")
    target, answer = (folded(unwanted), _folded) if fold else (unwanted, _said)

    shown = quote(unwanted)
    yes, no = Findings(target=target, excluded=True), Findings(target=target, excluded=False)

    def look(ctx: StepContext) -> Findings:
        return no if target in ctx.run.once(answer) else yes

    def reason(ctx: StepContext) -> str:
        if ctx.preprocess["excluded"]:
            return f"{shown} is not in the answer {ctx.run.once(_opening)}"
        at = ctx.run.once(answer).find(target)  # folding case can change lengths, so the place is only near
        return f"found {shown} in {quote(ctx.run.text, around=at)}"

    return build_check(
        id="check-excludes",
        name="Excludes Check",
        description="The answer does not contain a text",
        arguments={"unwanted": unwanted, "ignore_case": ignore_case},
        defaults={"ignore_case": True},
        look=look,
        score=lambda ctx: ctx.preprocess["excluded"],
        reason=reason,
    )


def equals(expected: str, *, ignore_case: bool = True) -> Scorer:
    """1 when the answer is exactly *expected*, else 0. White space counts; an empty *expected* expects silence.

    >>> equals("Paris").run_sync(output="paris").score
    1.0
    """
    if not isinstance(expected, str):
        raise UsageError(f"equals: expected must be text, not {expected!r}")
    fold = bool_option(ignore_case, name="ignore_case", check="equals")
    target = folded(expected) if fold else expected
    shown = quote(expected)
    yes, no = Findings(target=target, is_equal=True), Findings(target=target, is_equal=False)

    def look(ctx: StepContext) -> Findings:
        return yes if ctx.run.once(_joined_folded if fold else _joined) == target else no

    def reason(ctx: StepContext) -> str:
        if ctx.preprocess["is_equal"]:
            return f"the answer is {shown}, as expected"
        text = ctx.run.once(_joined)
        at = _first_difference(text.lower() if fold else text, target)
        return f"the answer is {ctx.run.once(_opening)}, not {shown}: they part at character {at}"

    return build_check(
        id="check-equals",
        name="Equals Check",
        description="The answer is exactly a text",
        arguments={"expected": expected, "ignore_case": ignore_case},
        defaults={"ignore_case": True},
        look=look,
        score=lambda ctx: ctx.preprocess["is_equal"],
        reason=reason,
    )


def matches(pattern: Any, *, exact: bool = False) -> Scorer:
    r"""1 when a regular expression finds something in the answer (*exact*: matches all of it), else 0.

    *pattern*: text or a compiled `re` pattern, whose flags are kept. Searching stops after one second with an error.

    >>> matches(r"\d+ degrees").run_sync(output="It is 21 degrees.").reason
    '\\d+ degrees matches "21 degrees"'
    """
    whole = bool_option(exact, name="exact", check="matches")
    compiled = compile_pattern(pattern)
    found = Findings.of("pattern", "matched", "span")
    no = found(compiled.shown, False, None)

    def look(ctx: StepContext) -> Findings | Hop:
        try:
            span = compiled.find(ctx.run.once(_joined), whole=whole, quickly=True)
        except PatternTimeout:
            return Hop(look_longer, ctx)
        return no if span is None else found(compiled.shown, True, span)

    def look_longer(ctx: StepContext) -> Findings:
        span = compiled.find(ctx.run.once(_joined), whole=whole)
        return found(compiled.shown, span is not None, span)

    def reason(ctx: StepContext) -> str:
        text, span = ctx.run.once(_joined), ctx.preprocess["span"]
        if span is None:
            return f"{compiled.shown} does not match {'all of ' if whole else ''}{quote(text)}"
        return f"{compiled.shown} matches {quote(text[span[0] : span[1]])}"

    return build_check(
        id="check-matches",
        name="Matches Check",
        description="The answer matches a regular expression",
        arguments={"pattern": compiled.pattern, "flags": compiled.flag_letters, "exact": exact},
        defaults={"flags": "", "exact": False},
        look=look,
        score=lambda ctx: ctx.preprocess["matched"],
        reason=reason,
    )


def similarity(expected: str, *, ignore_case: bool = True, threshold: float | None = None) -> Scorer:
    """How alike the answer and *expected* are, 0 to 1, by shared pairs of characters; see `proctor.stats.dice`.

    *threshold*: score 1 when it is reached and 0 when not, instead of the value itself.

    >>> similarity("healed").run_sync(output="sealed").score
    0.8
    """
    if not isinstance(expected, str):
        raise UsageError(f"similarity: expected must be text, not {expected!r}")
    fold = bool_option(ignore_case, name="ignore_case", check="similarity")
    if threshold is not None and (
        isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 <= threshold <= 1
    ):
        raise UsageError(f"similarity: threshold must be a number from 0 to 1, not {threshold!r}")
    target, answer = (folded(expected), _folded) if fold else (expected, _said)
    shown, found = quote(expected), Findings.of("target", "score", "threshold")
    alike, least = ("alike", None) if threshold is None else (f"alike (needed: {threshold:g})", least_at(threshold))

    def look(ctx: StepContext) -> Findings:
        return found(target, dice(ctx.run.once(answer), target), threshold)

    def reason(ctx: StepContext) -> str:
        value = ctx.score if threshold is None else ctx.preprocess["score"]
        return f"{value:.3f} {alike}: {ctx.run.once(_opening)} and {shown}"

    return build_check(
        id="check-similarity",
        name="Similarity Check",
        description="The answer is like a text",
        arguments={"expected": expected, "ignore_case": ignore_case, "threshold": threshold},
        defaults={"ignore_case": True, "threshold": None},
        look=look,
        score=lambda ctx: ctx.preprocess["score"] if least is None else ctx.preprocess["score"] >= least,
        reason=reason,
        kind="graded" if threshold is None else "binary",
    )


# ── views that all checks of a run share ───────────────────────────────────────────────────────────────────────────


def _said(run: ScorerRun) -> str:
    return run.text


def _folded(run: ScorerRun) -> str:
    return folded(run.text)


def _joined(run: ScorerRun) -> str:
    return "".join(run.texts)


def _joined_folded(run: ScorerRun) -> str:
    return folded(run.once(_joined))


def _opening(run: ScorerRun) -> str:
    return quote(run.text)


def _first_difference(left: str, right: str) -> int:
    """The number, from 1, of the first character that differs; by halving, since slices compare fast."""
    low, high = 0, min(len(left), len(right))
    if left[:high] == right[:high]:
        return high + 1
    while low < high:
        middle = (low + high) // 2
        if left[low : middle + 1] == right[low : middle + 1]:
            low = middle + 1
        else:
            high = middle
    return low + 1
