"""ROUGE-L: how many words stand in answer and expected text in the same order."""

from __future__ import annotations

from collections.abc import Sequence

from proctor.data.value import MISSING, Missing
from proctor.scorers.closeness import build_closeness
from proctor.scoring.build import Findings
from proctor.scoring.run import ScorerRun
from proctor.scoring.scorer import Scorer
from proctor.stats.alignment import in_common
from proctor.stats.words import words

__all__ = ["rouge_l"]


def rouge_l(expected: str | Sequence[str] | Missing = MISSING) -> Scorer:
    """The F-measure of the longest common subsequence of words, 0 to 1 (Lin 2004, with precision and recall alike).

    *expected*: a text or several, of which the nearest counts; without it the item's ground truth. Symmetric for one
    text. Capitals and punctuation do not count; in scripts without spaces each letter is a word; there is no stemming.
    Two texts without words are alike only when both have none.

    >>> rouge_l("police killed the gunman").run_sync(output="Police kill the gunman.").score
    0.75
    """
    return build_closeness(
        function="rouge_l",
        id="rouge-l-scorer",
        name="ROUGE-L Scorer",
        description="The answer has the words of the expected text in the same order",
        expected=expected,
        options={},
        defaults={},
        answer=_said,
        read=words,
        compare=_compared,
        say=_told,
    )


def _compared(answer: Sequence[str], wanted: Sequence[str]) -> Findings:
    common = in_common(answer, wanted)
    total = len(answer) + len(wanted)
    return Findings(
        score=2.0 * common.found / total if total else 1.0,
        precision=common.found / len(answer) if answer else 0.0,
        recall=common.found / len(wanted) if wanted else 0.0,
        in_order=common.found,
        answer_words=len(answer),
        expected_words=len(wanted),
        pieces=common.pieces,
    )


def _told(found: Findings) -> str:
    least = "at least " if found["pieces"] > 1 else ""
    return (
        f"{least}{found['in_order']} words in the same order, of {found['answer_words']} in the answer and "
        f"{found['expected_words']} expected"
    )


def _said(run: ScorerRun) -> list[str]:
    return words(run.text)
