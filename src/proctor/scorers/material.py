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
from proctor.scoring.steps import Declined, StepContext, not_scorable

__all__ = [
    "NO_ANSWER",
    "NO_CLAIMS",
    "NO_CONTEXT",
    "NO_QUESTION",
    "ContextSource",
    "TextSource",
    "answer_of",
    "exchange_shown",
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
    if isinstance(run.input, Mapping) and "messages" not in run.input and not run.turns:
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


def exchange_shown(ctx: StepContext) -> dict[str, str]:
    """The places {question} and {answer} of a prompt that asks for the reason."""
    question = ctx.run.once(question_of)
    return {
        "question": ctx.fence(question, "question") if question else "It was not recorded.",
        "answer": ctx.fence(ctx.run.once(answer_of), "answer"),
    }


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


class TextSource:
    """Where a scorer has a text from: a text that it was built with, or a def of the run that gives one.

    It is a view for `run.once`: text that is not empty, or a decline. *otherwise*: gives it where there is neither;
    *missing*: what is said when nothing is found.
    """

    __slots__ = ("given", "missing", "otherwise")

    def __init__(
        self,
        given: Any,
        *,
        name: str,
        scorer: str,
        missing: Declined,
        otherwise: Callable[[ScorerRun], Any] | None = None,
    ) -> None:
        is_function = callable(given) and takes_one(given) and not is_async(given)
        is_left_out = given is None and otherwise is not None
        if not is_function and not is_left_out and not (isinstance(given, str) and given.strip()):
            raise UsageError(
                f"{scorer}: {name} is a text that is not empty, or a def of one argument, the run, that gives one, "
                f"not {shown(given)}"
            )
        self.given = given
        self.missing = missing
        self.otherwise = otherwise

    @property
    def is_slow(self) -> bool:
        """Whether it calls what others wrote."""
        return callable(self.given)

    def __call__(self, run: ScorerRun) -> str | Declined:
        """The text of a run."""
        if callable(self.given):
            found = self.given(run)
        else:
            found = self.given if self.given is not None else self.otherwise(run) if self.otherwise else None
        if isinstance(found, Declined):
            return found
        text = "" if found is None or found is MISSING else readable(found).strip()
        return text or self.missing


def _pieces(value: Any) -> list[str]:
    if value is None:
        return []
    pieces = list(value) if isinstance(value, Sequence) and not isinstance(value, str | bytes) else [value]
    return [text for piece in pieces if (text := readable(piece)).strip()]
