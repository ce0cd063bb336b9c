"""Edit distance: how few characters would have to change to make the answer the expected text."""

from __future__ import annotations

from collections.abc import Sequence

from proctor.data.shown import plural
from proctor.data.value import MISSING, Missing
from proctor.scorers.closeness import build_closeness
from proctor.scoring.build import Findings, bool_option
from proctor.scoring.run import ScorerRun
from proctor.scoring.scorer import Scorer
from proctor.stats.alignment import edits
from proctor.stats.words import folded

__all__ = ["edit_distance"]


def edit_distance(expected: str | Sequence[str] | Missing = MISSING, *, ignore_case: bool = True) -> Scorer:
    """1 less the edits over the characters of the longer text, 0 to 1 (Levenshtein 1966): more is more alike.

    *expected*: a text or several, of which the nearest counts; without it the item's ground truth. An edit inserts,
    deletes or replaces one character (code point); white space counts. Symmetric for one text. Over 60,000 characters
    each, edits are counted piece by piece, and the score is the least it can be.

    >>> edit_distance("kitten").run_sync(output="mitten").reason
    '1 edit in 6 characters'
    """
    fold = bool_option(ignore_case, name="ignore_case", check="edit_distance")
    return build_closeness(
        function="edit_distance",
        id="edit-distance-scorer",
        name="Edit Distance Scorer",
        description="Few characters of the answer differ from the expected text",
        expected=expected,
        options={"ignore_case": ignore_case},
        defaults={"ignore_case": True},
        answer=_said_folded if fold else _said,
        read=folded if fold else str,
        compare=_compared,
        say=_told,
    )


def _compared(answer: str, wanted: str) -> Findings:
    distance = edits(answer, wanted)
    longer = max(len(answer), len(wanted))
    return Findings(
        score=1.0 - distance.found / longer if longer else 1.0,
        edits=distance.found,
        characters=longer,
        pieces=distance.pieces,
    )


def _told(found: Findings) -> str:
    most = "at most " if found["pieces"] > 1 else ""
    return f"{most}{plural(found['edits'], 'edit')} in {found['characters']} characters"


def _said(run: ScorerRun) -> str:
    return run.text


def _said_folded(run: ScorerRun) -> str:
    return folded(run.text)
