"""How much of what the input speaks of is in the answer; as keyword coverage, but forgiving about word forms."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache

from proctor.scorers.function_words import FUNCTION_WORDS
from proctor.scorers.texts import SHOWN_WORDS, answered, asked, beside_input, share_told
from proctor.scoring.build import Findings, build_check
from proctor.scoring.scorer import Scorer
from proctor.scoring.steps import StepContext
from proctor.stats.words import words

__all__ = ["completeness", "covered"]

_SHORT = 3  # a word up to this long is found only as itself
_SHARE = 0.6  # of the longer word, that the shorter must make up
_LONGEST = 24  # a longer one too, and all of more different words than follow: that bounds the work
_MANY = 200_000


def completeness() -> Scorer:
    """The share of the input's elements that the answer covers, 0 to 1. Numbers count; capitals and accents do not.

    An element is a word that is no function word of English (all words, when there are no others); in scripts without
    spaces, a pair of neighbouring letters. It is covered by the same word, and one of more than 3 letters by a word
    that contains it, or is contained in it, when the shorter makes up over 0.6 of the longer. With no elements in the
    input, an answer with none is complete and any other is not.

    >>> completeness().run_sync(input="Photosynthesis and chlorophyll?", output="Chlorophylls absorb light.").score
    0.5
    """

    def compare(ctx: StepContext) -> Findings:
        wanted, given = _elements(ctx.run.once(asked) or ""), _elements(ctx.run.once(answered))
        found = covered(wanted, given)
        missing = [word for word in wanted if word not in found]
        return Findings(
            coverage=len(found) / len(wanted) if wanted else float(not given),
            input_elements=len(wanted),
            output_elements=len(given),
            covered=len(found),
            missing=tuple(missing[:SHOWN_WORDS]),
        )

    def reason(ctx: StepContext) -> str:
        found = ctx.preprocess
        total = found["input_elements"]
        if not total:
            return f"the input has no words, the answer {found['output_elements'] or 'none'}"
        return share_told(found["covered"], total, what="element", done="covered", missing=found["missing"])

    return build_check(
        id="completeness-scorer",
        name="Completeness Scorer",
        description="The answer covers what the input speaks of",
        arguments={},
        defaults={},
        look=beside_input(compare),
        score=lambda ctx: ctx.preprocess["coverage"],
        reason=reason,
        kind="graded",
    )


def covered(wanted: Collection[str], given: Collection[str]) -> set[str]:
    """Those of *wanted* that *given* covers. Linear: each word is cut into the parts long enough to count.

    >>> sorted(covered(["jumps", "fox", "dog"], ["jump", "foxes", "dog"]))
    ['dog', 'jumps']
    """
    words_wanted, words_given = set(wanted), set(given)
    found = words_wanted & words_given
    if len(words_wanted) + len(words_given) > _MANY:
        return found
    words_wanted = {word for word in words_wanted - found if len(word) > _SHORT}
    for word in words_wanted:
        for start, end in _cuts(len(word)):
            if word[start:end] in words_given:
                found.add(word)
                break
    words_wanted -= found
    if words_wanted:
        for word in words_given:
            for start, end in _cuts(len(word)):
                if word[start:end] in words_wanted:
                    found.add(word[start:end])
    return found


@cache
def _cuts(length: int) -> tuple[tuple[int, int], ...]:
    """Where the pieces of a word of *length* letters begin and end that make up more than the share that counts."""
    if not _SHORT < length <= _LONGEST:
        return ()
    sizes = [size for size in range(length - 1, 0, -1) if size / length > _SHARE]
    return tuple((start, start + size) for size in sizes for start in range(length - size + 1))


def _elements(text: str) -> dict[str, None]:
    every = dict.fromkeys(words(_without_accents(text), pairs=True))
    return {word: None for word in every if word not in FUNCTION_WORDS} or every


def _without_accents(text: str) -> str:
    """Without the accents of European letters; in other scripts marks are letters of their own."""
    if text.isascii():
        return text
    import re
    from unicodedata import normalize

    return normalize("NFC", re.sub("[\u0300-\u036f]", "", normalize("NFD", text)))
