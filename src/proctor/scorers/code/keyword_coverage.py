"""How many of the words that the input is about come back in the answer."""

from __future__ import annotations

from proctor.scorers.function_words import FUNCTION_WORDS
from proctor.scorers.texts import SHOWN_WORDS, answered, asked, beside_input, share_told
from proctor.scoring.build import Findings, build_check, quote
from proctor.scoring.run import ScorerRun
from proctor.scoring.scorer import Scorer
from proctor.scoring.steps import StepContext
from proctor.stats.words import words

__all__ = ["keyword_coverage"]


def keyword_coverage() -> Scorer:
    """The share of the input's keywords that the answer has too, 0 to 1. Each counts once; forms of a word differ.

    A keyword is a word with a letter that is no function word of English (`proctor.scorers.function_words`); in scripts
    without spaces, a pair of neighbouring letters. An input without keywords asks for nothing and is covered by any
    answer but none at all.

    >>> keyword_coverage().run_sync(input="JavaScript frameworks React Vue", output="React is a framework").score
    0.25
    """

    def compare(ctx: StepContext) -> Findings:
        run = ctx.run
        keywords, answer = run.once(_keywords_asked), run.once(_keywords_answered)
        missing = [word for word in keywords if word not in answer]
        matched = len(keywords) - len(missing)
        if keywords:
            coverage = matched / len(keywords)
        else:
            coverage = float(bool(run.once(answered).strip()) or not (run.once(asked) or "").strip())
        return Findings(
            coverage=coverage,
            total_keywords=len(keywords),
            matched_keywords=matched,
            missing=tuple(missing[:SHOWN_WORDS]),
        )

    def reason(ctx: StepContext) -> str:
        found = ctx.preprocess
        total = found["total_keywords"]
        if not total:
            return f"the input has no keywords: {quote(ctx.run.once(asked) or '')}"
        return share_told(
            found["matched_keywords"], total, what="keyword", done="in the answer", missing=found["missing"]
        )

    return build_check(
        id="keyword-coverage-scorer",
        name="Keyword Coverage Scorer",
        description="The answer has the keywords of the input",
        arguments={},
        defaults={},
        look=beside_input(compare),
        score=lambda ctx: ctx.preprocess["coverage"],
        reason=reason,
        kind="graded",
    )


def _keywords_asked(run: ScorerRun) -> dict[str, None]:
    return _keywords(run.once(asked) or "")


def _keywords_answered(run: ScorerRun) -> dict[str, None]:
    return _keywords(run.once(answered))


def _keywords(text: str) -> dict[str, None]:
    """The keywords of *text*, each once, in order."""
    every = dict.fromkeys(words(text, pairs=True))
    return {word: None for word in every if word not in FUNCTION_WORDS and not word.isnumeric()}
