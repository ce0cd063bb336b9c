"""Which texts a scorer compares: what was asked, what was answered, and the texts that were expected.

Only assistant messages are the answer. The documents' scorers join messages by ", ", which keeps their words apart.
What was never given is not taken for empty.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from proctor.data.shown import count_of
from proctor.data.value import MISSING, shown
from proctor.errors import UsageError
from proctor.scorers.values import NO_TRUTH
from proctor.scoring.build import Findings, quote
from proctor.scoring.run import ScorerRun
from proctor.scoring.steps import Declined, Hop, StepContext, not_scorable

__all__ = [
    "SHOWN_WORDS",
    "answered",
    "asked",
    "beside_input",
    "expected_texts",
    "is_long",
    "share_told",
    "texts_option",
]

SHOWN_WORDS: Final = 6
"""How many words a reason names."""

_NO_INPUT: Final = not_scorable("there is no input to compare the answer with")
_LONG = 20_000  # characters; more are compared away from the event loop


def asked(run: ScorerRun) -> str | None:
    """Everything the user said, in the input and later; None when there is no input at all. A view for `run.once`."""
    said = [message.text for message in run.messages if message.role == "user"]
    if not said and run.input is MISSING:
        return None
    return ", ".join([text for text in said if text])


def answered(run: ScorerRun) -> str:
    """Everything the assistant said in the output. A view for `run.once`."""
    return ", ".join(run.texts)


def is_long(*texts: str) -> bool:
    """Whether comparing these texts would hold an event loop for more than a few milliseconds."""
    return sum(map(len, texts)) > _LONG


def beside_input(
    compare: Callable[[StepContext], Findings],
) -> Callable[[StepContext], Findings | Declined | Hop]:
    """The look of a scorer that compares input and answer: it declines without an input; long texts hold no loop."""

    def look(ctx: StepContext) -> Findings | Declined | Hop:
        question = ctx.run.once(asked)
        if question is None:
            return _NO_INPUT
        return Hop(compare, ctx) if is_long(question, ctx.run.once(answered)) else compare(ctx)

    return look


def share_told(found: int, total: int, *, what: str, done: str, missing: Sequence[str]) -> str:
    """A reason: `2 of 3 words of the input are repeated; not: "dog"`. *missing*: the first words that are not."""
    named = ", ".join([quote(word) for word in missing])
    more = ", ..." if total - found > len(missing) else ""
    told = f"{count_of(found, total, what=what)} of the input {'is' if total == 1 else 'are'} {done}"
    return f"{told}; not: {named}{more}" if missing else told


def texts_option(expected: Any, *, scorer: str) -> tuple[str, ...] | None:
    """*expected* as the texts it allows, or None when the ground truth is to be used. Raises `UsageError`."""
    if expected is MISSING:
        return None
    texts = _texts(expected)
    if not texts:
        what = "text, or a list of texts of which the nearest counts"
        raise UsageError(f"{scorer}: expected must be {what}, not {shown(expected)}")
    return texts


def expected_texts(run: ScorerRun, given: tuple[str, ...] | None) -> tuple[str, ...] | Declined:
    """The texts an answer may be like: those *given*, else the item's ground truth."""
    if given is not None:
        return given
    truth = run.ground_truth
    if truth is MISSING:
        return NO_TRUTH
    texts = _texts(truth)
    return texts or not_scorable(f"the ground truth is no text: {shown(truth)}")


def _texts(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, Sequence) and all(isinstance(text, str) for text in value):
        return tuple(value)
    return ()
