"""How much the answer repeats the question, by shared pairs of neighbouring characters; see `proctor.stats.dice`."""

from __future__ import annotations

from proctor.scorers.texts import answered, asked, beside_input
from proctor.scoring.build import Findings, bool_option, build_check, quote
from proctor.scoring.run import ScorerRun
from proctor.scoring.scorer import Scorer
from proctor.scoring.steps import StepContext
from proctor.stats.dice import dice
from proctor.stats.words import folded

__all__ = ["content_similarity"]


def content_similarity(*, ignore_case: bool = True, ignore_whitespace: bool = True) -> Scorer:
    """How alike input and answer are, 0 to 1, by shared pairs of characters (Dice 1945). Symmetric.

    *ignore_whitespace* makes no difference to the score: pairs are formed without white space.

    >>> content_similarity().run_sync(input="healed", output="Sealed").score
    0.8
    """
    fold = bool_option(ignore_case, name="ignore_case", check="content_similarity")
    bool_option(ignore_whitespace, name="ignore_whitespace", check="content_similarity")

    def compare(ctx: StepContext) -> Findings:
        run = ctx.run
        if fold:
            return Findings(similarity=dice(run.once(_asked_folded), run.once(_answered_folded)))
        return Findings(similarity=dice(run.once(asked) or "", run.once(answered)))

    def reason(ctx: StepContext) -> str:
        question, answer = quote(ctx.run.once(asked) or ""), quote(ctx.run.once(answered))
        return f"{ctx.preprocess['similarity']:.3f} alike: {question} and {answer}"

    return build_check(
        id="content-similarity-scorer",
        name="Content Similarity Scorer",
        description="The answer is like the input, character by character",
        arguments={"ignore_case": ignore_case, "ignore_whitespace": ignore_whitespace},
        defaults={"ignore_case": True, "ignore_whitespace": True},
        look=beside_input(compare),
        score=lambda ctx: ctx.preprocess["similarity"],
        reason=reason,
        kind="graded",
    )


def _asked_folded(run: ScorerRun) -> str:
    return folded(run.once(asked) or "")


def _answered_folded(run: ScorerRun) -> str:
    return folded(run.once(answered))
