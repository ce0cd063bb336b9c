"""What judges read of a run: what was asked, what was answered, and what the answer may rest on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from proctor.data.value import MISSING, shown
from proctor.errors import UsageError
from proctor.judging.readable import readable
from proctor.scorer_utils import get_user_message_from_run_input
from proctor.scoring.callables import is_async, takes_one
from proctor.scoring.run import ScorerRun
from proctor.scoring.steps import Declined, not_scorable

__all__ = [
    "NO_ANSWER",
    "NO_CLAIMS",
    "NO_CONTEXT",
    "NO_QUESTION",
    "ContextSource",
    "answer_of",
    "question_of",
    "tool_results",
]

NO_ANSWER: Final = not_scorable("there is no answer: the assistant said nothing")
NO_QUESTION: Final = not_scorable("there is no question: the user said nothing")
NO_CONTEXT: Final = not_scorable("there is no context")
NO_CLAIMS: Final = not_scorable("the answer makes no claims")


def answer_of(run: ScorerRun) -> str:
    """The last thing that the assistant said in the output; empty when it said nothing. A view for `run.once`."""
    return run.texts[-1].strip() if run.texts else ""


def question_of(run: ScorerRun) -> str:
    """What that was the answer to: the first of the user's messages that stand together before it.

    In a conversation these are the last turn's. Empty when there is none. A view for `run.once`.
    """
    if isinstance(run.input, Mapping) and not run.turns:
        said = get_user_message_from_run_input(run.input)
        if said:
            return said.strip()
    found = ""
    answered = asked = False
    for message in reversed(run.messages):
        if message.role == "user":
            asked = answered
            found = message.text.strip() or found if answered else found
        elif message.role == "assistant":
            if asked:
                break
            answered = answered or bool(message.text)
    return found


def tool_results(run: ScorerRun) -> list[str]:
    """What the tools gave back in the output, in order, as readable text; calls that failed gave nothing.

    It is the `context_extractor=` for answers that must rest on what the tools said.
    """
    return [readable(call.result) for call in run.tool_calls if call.result is not MISSING and call.error is None]


class ContextSource:
    """Where a scorer has its context from: an extractor, else the item's own `context`, else the one it was built with.

    It is a view for `run.once`: texts that are not empty, or a decline when there are none. *otherwise*: what is
    looked at in the end.
    """

    __slots__ = ("extractor", "given", "otherwise")

    def __init__(
        self,
        context: Any,
        extractor: Any,
        *,
        scorer: str,
        otherwise: Callable[[ScorerRun], Sequence[str]] | None = None,
    ) -> None:
        if extractor is not None:
            if not callable(extractor) or not takes_one(extractor) or is_async(extractor):
                raise UsageError(
                    f"{scorer}: context_extractor is a def of one argument, the run, that gives texts, "
                    f"not {shown(extractor)}"
                )
            if context is not None:
                raise UsageError(f"{scorer}: give context= or context_extractor=, not both")
        if context is not None and (not isinstance(context, str | Sequence) or not _pieces(context)):
            raise UsageError(f"{scorer}: context is a text, or a list of texts that is not empty, not {shown(context)}")
        self.given = None if context is None else tuple(_pieces(context))
        self.extractor = extractor
        self.otherwise = otherwise

    @property
    def is_slow(self) -> bool:
        """Whether it calls what others wrote."""
        return self.extractor is not None and self.extractor is not tool_results

    def __call__(self, run: ScorerRun) -> tuple[str, ...] | Declined:
        """The pieces of context of a run."""
        if self.extractor is not None:
            found = self.extractor(run)
            if isinstance(found, Declined):
                return found
        elif run.context is not None and run.context is not MISSING:
            found = run.context
        else:
            found = self.given or (self.otherwise(run) if self.otherwise else ())
        return tuple(_pieces(found)) or NO_CONTEXT


def _pieces(value: Any) -> list[str]:
    if value is None:
        return []
    pieces = list(value) if isinstance(value, Sequence) and not isinstance(value, str | bytes) else [value]
    return [text for piece in pieces if (text := readable(piece)).strip()]
