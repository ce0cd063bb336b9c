"""How steady the feeling of an answer is, or how near to the feeling of a reference, by VADER's word list.

A sentence's feeling is VADER's *compound*, -1 to 1: the ratings of its words, with negation, emphasis and emoji (Hutto
and Gilbert 2014). A text's is the mean of its sentences'. English only: a text most of whose letters are of another
script is not scorable, and in other languages that are written with Latin letters every sentence is neutral.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from math import fsum
from typing import Any

from proctor.data.shown import plural
from proctor.errors import UsageError, cut
from proctor.scorers.texts import is_long
from proctor.scoring.build import Findings, build_check
from proctor.scoring.scorer import Scorer
from proctor.scoring.steps import Declined, Hop, StepContext, not_scorable

__all__ = ["tone"]

_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+")
_WORDS = 60  # of a longer sentence so many are read at a time
_CHARACTERS = 60  # of a longer word so many are read
_SENTENCES = 2_000  # of a longer text so many are read, evenly spread
_LATIN_SHARE = 0.5


def tone(*, reference_tone: str | None = None) -> Scorer:
    """How steady the tone is, 0 to 1: 1 less the variance of the feeling of the answer's sentences.

    *reference_tone*: a text to sound like; then it is 1 less the difference between the feelings of both, 0 at least.
    An answer that says nothing is steady. Of more than 2,000 sentences as many are read, evenly spread.
    Needs `pip install "proctor[tone]"`.

    >>> tone().run_sync(output="The parcel left on Monday. It arrives on Friday.").score
    1.0
    """
    if reference_tone is not None and not isinstance(reference_tone, str):
        raise UsageError(f"tone: reference_tone must be text, not {reference_tone!r}")
    reference = reference_tone or None
    if reference is not None and _foreign(reference):
        raise UsageError(f"tone: reference_tone must be English, not {cut(reference)!r}")
    analyzer = _analyzer()
    aim = None if reference is None else _mean(_feelings([reference], analyzer))

    def look(ctx: StepContext) -> Findings | Declined | Hop:
        return Hop(listen, ctx) if is_long(*ctx.run.texts) else listen(ctx)

    def listen(ctx: StepContext) -> Findings | Declined:
        if _foreign(ctx.run.text):
            return not_scorable("the word list of feelings is English, and most letters of the answer are not")
        feelings = _feelings(ctx.run.texts, analyzer)
        feeling = _mean(feelings)
        if aim is None:
            variance = _mean([(each - feeling) ** 2 for each in feelings])
            return Findings(score=max(0.0, 1.0 - variance), feeling=feeling, variance=variance, sentences=len(feelings))
        difference = abs(aim - feeling)
        return Findings(
            score=max(0.0, 1.0 - difference),
            feeling=feeling,
            reference_feeling=aim,
            difference=difference,
            sentences=len(feelings),
        )

    def reason(ctx: StepContext) -> str:
        found = ctx.preprocess
        sentences = plural(found["sentences"], "sentence")
        if aim is None:
            return f"feeling {found['feeling']:+.2f} over {sentences}, variance {found['variance']:.2f}"
        return f"feeling {found['feeling']:+.2f} over {sentences}, {found['reference_feeling']:+.2f} in the reference"

    return build_check(
        id="tone-scorer",
        name="Tone Scorer",
        description="The tone is steady" if aim is None else "The tone is that of a reference",
        arguments={"reference_tone": reference},
        defaults={"reference_tone": None},
        look=look,
        score=lambda ctx: ctx.preprocess["score"],
        reason=reason,
        kind="graded",
    )


def _feelings(texts: Sequence[str], analyzer: Any) -> list[float]:
    """The feeling of each sentence, -1 to 1."""
    sentences = [sentence for text in texts for sentence in _sentences(text)]
    if len(sentences) > _SENTENCES:
        sentences = [sentences[len(sentences) * place // _SENTENCES] for place in range(_SENTENCES)]
    return [analyzer.polarity_scores(sentence)["compound"] for sentence in sentences]


def _sentences(text: str) -> Iterator[str]:
    """The sentences that are more than punctuation, long ones in parts."""
    for sentence in _SENTENCE_END.split(text):
        words = [word[:_CHARACTERS] for word in sentence.split()]
        for start in range(0, len(words), _WORDS):
            piece = " ".join(words[start : start + _WORDS])
            if piece.strip(".!?… "):
                yield piece


def _mean(numbers: Sequence[float]) -> float:
    return fsum(numbers) / len(numbers) if numbers else 0.0


def _foreign(text: str) -> bool:
    """Whether fewer than half of the letters are Latin; a text without letters is not foreign."""
    if text.isascii():
        return False
    import regex

    letters = len(regex.sub(r"\P{L}+", "", text))
    latin = len(regex.sub(r"\P{Latin}+", "", text))
    return latin < letters * _LATIN_SHARE


@cache
def _analyzer() -> Any:
    try:
        from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer  # type: ignore[import-untyped]
    except ImportError as problem:
        message = 'tone needs the word list of vaderSentiment: pip install "proctor[tone]"'
        raise UsageError(message, code="MISSING_DEPENDENCY") from problem
    return SentimentIntensityAnalyzer()
