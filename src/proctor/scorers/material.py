"""What judges read of a run: what was asked, what was answered, and what the answer may rest on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

from proctor.data.message import Message
from proctor.data.plain import canonical_json
from proctor.data.read import read_messages
from proctor.data.value import MISSING
from proctor.judging.readable import readable
from proctor.scorer_utils import get_user_message_from_run_input
from proctor.scorers.values import NO_TRUTH
from proctor.scoring.run import ScorerRun
from proctor.scoring.steps import Declined, StepContext, not_scorable

__all__ = [
    "EMPTY_TRUTH",
    "NO_ANSWER",
    "NO_CLAIMS",
    "NO_CONTEXT",
    "NO_QUESTION",
    "answer_given",
    "answer_of",
    "before_answer",
    "exchange_shown",
    "fenced_or_not_recorded",
    "last_question",
    "question_of",
    "question_shown",
    "tool_results",
    "truth_of",
]

NO_ANSWER: Final = not_scorable("there is no answer: the assistant said nothing")
NO_QUESTION: Final = not_scorable("there is no question: the user said nothing")
NO_CONTEXT: Final = not_scorable("there is no context")
EMPTY_TRUTH: Final = not_scorable("the ground truth is empty: there is nothing in it to compare with")
NO_CLAIMS: Final = not_scorable("the answer makes no claims")


def answer_of(run: ScorerRun) -> str:
    """The last thing that the assistant said in the output; empty when it said nothing. A view for `run.once`."""
    return run.texts[-1].strip() if run.texts else ""


def answer_given(run: ScorerRun) -> str | Declined:
    """The same, or a decline when it said nothing. A view for `run.once`."""
    return run.once(answer_of) or NO_ANSWER


def question_of(run: ScorerRun) -> str:
    """What that was the answer to: the first of the user's messages that stand together before it.

    In a conversation these are the last turn's; of an agent's input, the last of its `inputMessages`. Empty when there
    is none. A view for `run.once`.
    """
    if isinstance(run.input, Mapping) and "messages" not in run.input and not run.turns:
        given = run.input.get("inputMessages")
        messages = read_messages(given, role="user", where="input.inputMessages") if isinstance(given, list) else ()
        at = last_question(messages)
        said = messages[at].text if at is not None else get_user_message_from_run_input(run.input)
        if said and said.strip():
            return said.strip()
    messages = before_answer(run)
    at = last_question(messages)
    return "" if at is None else messages[at].text.strip()


def before_answer(run: ScorerRun) -> tuple[Message, ...]:
    """What stands before the last thing that the assistant said; nothing when it said nothing."""
    messages = run.messages
    answers = [at for at, message in enumerate(messages) if message.role == "assistant" and message.text]
    return messages[: answers[-1]] if answers else ()


def last_question(messages: Sequence[Message]) -> int | None:
    """The place of the first message with text among the last ones of the user, which no assistant's stands between.

    None when these have no text, or there are none.
    """
    found, was_asked = None, False
    for at in range(len(messages) - 1, -1, -1):
        if messages[at].role == "user":
            was_asked = True
            found = at if messages[at].text.strip() else found
        elif messages[at].role == "assistant" and was_asked:
            break
    return found


def question_shown(ctx: StepContext) -> str:
    """The place {question} of a prompt: what the user asked, fenced, or that nobody knows."""
    return fenced_or_not_recorded(ctx, ctx.run.once(question_of), name="question")


def fenced_or_not_recorded(ctx: StepContext, text: str, *, name: str) -> str:
    """A text that may be missing, fenced; a missing one is told outside of any fence."""
    return ctx.fence(text, name) if text else "It was not recorded."


def exchange_shown(ctx: StepContext) -> dict[str, str]:
    """The places {question} and {answer} of a prompt that asks for the reason."""
    return {"question": question_shown(ctx), "answer": ctx.fence(ctx.run.once(answer_of), "answer")}


def truth_of(run: ScorerRun) -> str | Declined:
    """The ground truth as text: JSON in one form for equal values, unless it is a text or has no JSON.

    0 and False are truths; None and text that says nothing are none. A view for `run.once`.
    """
    truth = run.ground_truth
    if truth is MISSING or truth is None:
        return NO_TRUTH
    text = readable(truth, name="the ground truth").strip()
    if isinstance(truth, str):
        return text or EMPTY_TRUTH
    try:
        return canonical_json(json.loads(text))
    except ValueError:  # a date, messages, bytes
        return text or EMPTY_TRUTH


def tool_results(run: ScorerRun) -> list[str]:
    """What the tools gave back in the output, in order, as readable text.

    Nothing comes of a result that is None, nor of a call that failed. It is the `context_extractor=` for answers that
    must rest on what the tools said.
    """
    given = [call.result for call in run.tool_calls if call.result is not MISSING and call.error is None]
    return [readable(result) for result in given if result is not None]
