"""How much of input and answer stands in both, in the same order; despite its name, more is more alike."""

from __future__ import annotations

from collections import Counter

from proctor.data.shown import plural
from proctor.scorers.texts import answered, asked, beside_input
from proctor.scoring.build import Findings, build_check
from proctor.scoring.scorer import Scorer
from proctor.scoring.steps import StepContext
from proctor.stats.alignment import in_common

__all__ = ["textual_difference"]

_found = Findings.of("ratio", "changes", "length_diff", "confidence", "pieces")


def textual_difference() -> Scorer:
    """Twice the longest common subsequence of characters over the characters of input and answer, 0 to 1.

    Symmetric; case and white space count. Beside it: *changes*, the words of the longer side that the other lacks;
    *length_diff*, the difference in length over the longer one; *confidence*, 1 less that. Over 60,000 characters
    each, the subsequence is found piece by piece, and the score is the least it can be.

    >>> textual_difference().run_sync(input="hello", output="hallo").score
    0.8
    """

    def compare(ctx: StepContext) -> Findings:
        return _compared(ctx.run.once(asked) or "", ctx.run.once(answered))

    def reason(ctx: StepContext) -> str:
        found = ctx.preprocess
        least = "at least " if found["pieces"] > 1 else ""
        changes = f"{plural(found['changes'], 'word')} changed"
        return f"{least}{found['ratio']:.3f} in common, {changes}, lengths differ by {found['length_diff']:.0%}"

    return build_check(
        id="textual-difference-scorer",
        name="Textual Difference Scorer",
        description="Input and answer have the same characters in the same order",
        arguments={},
        defaults={},
        look=beside_input(compare),
        score=lambda ctx: ctx.preprocess["ratio"],
        reason=reason,
        kind="graded",
    )


def _compared(question: str, answer: str) -> Findings:
    longer = max(len(question), len(answer))
    common = in_common(question, answer)
    length_diff = abs(len(question) - len(answer)) / longer if longer else 0.0
    ratio = 2.0 * common.found / (len(question) + len(answer)) if longer else 1.0
    return _found(ratio, _changes(question, answer), length_diff, 1.0 - length_diff, common.pieces)


def _changes(question: str, answer: str) -> int:
    """Words of the side with more of them that the other has not; at least 1 when only white space differs."""
    left, right = question.split(), answer.split()
    unmatched = dict(Counter(left))  # plain: a Counter is slower to change
    for word in filter(unmatched.get, right):
        unmatched[word] -= 1
    return sum(unmatched.values()) + max(len(right) - len(left), 0) or int(question != answer)
