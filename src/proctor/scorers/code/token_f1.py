"""Token F1: how many words answer and expected text share, in any order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from proctor.data.value import MISSING, Missing
from proctor.scorers.closeness import build_closeness
from proctor.scoring.build import Findings
from proctor.scoring.run import ScorerRun
from proctor.scoring.scorer import Scorer
from proctor.stats.words import words

__all__ = ["token_f1"]


def token_f1(expected: str | Sequence[str] | Missing = MISSING) -> Scorer:
    """The harmonic mean of precision and recall over shared words, 0 to 1 (as for SQuAD, Rajpurkar et al. 2016).

    *expected*: a text or several, of which the nearest counts; without it the item's ground truth. A word counts as
    often as it stands in both. Symmetric for one text. Capitals and punctuation do not count, articles do; in scripts
    without spaces each letter is a word. Two texts without words are alike only when both have none.

    >>> token_f1("in Paris, France").run_sync(output="Paris").score
    0.5
    """
    return build_closeness(
        function="token_f1",
        id="token-f1-scorer",
        name="Token F1 Scorer",
        description="The answer has the words of the expected text",
        expected=expected,
        options={},
        defaults={},
        answer=_said,
        read=_counted,
        compare=_compared,
        say=_told,
    )


def _compared(answer: Counter[str], wanted: Counter[str]) -> Findings:
    fewer, more = (answer, wanted) if len(answer) <= len(wanted) else (wanted, answer)
    shared = sum([min(count, more[word]) for word, count in fewer.items() if word in more])
    said, asked = answer.total(), wanted.total()
    return Findings(
        score=2.0 * shared / (said + asked) if said + asked else 1.0,
        precision=shared / said if said else 0.0,
        recall=shared / asked if asked else 0.0,
        shared=shared,
        answer_words=said,
        expected_words=asked,
    )


def _told(found: Findings) -> str:
    of = f"of {found['answer_words']} in the answer and {found['expected_words']} expected"
    return f"{found['shared']} words shared, {of}"


def _counted(text: str) -> Counter[str]:
    return Counter(words(text))


def _said(run: ScorerRun) -> Counter[str]:
    return _counted(run.text)
