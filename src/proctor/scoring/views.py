"""The views of a run that are worked out from its messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from proctor.data.message import Message, Reasoning
from proctor.data.read import read_input, read_messages
from proctor.errors import UnreadableMessages

if TYPE_CHECKING:
    from proctor.scoring.run import ScorerRun

__all__ = ["exchange", "reasoning", "system_text", "texts", "user_text"]


def exchange(run: ScorerRun) -> tuple[Message, ...]:
    """All turns of a conversation, else the input and then the output."""
    if not run.turns:
        return run.input_messages + run.output_messages
    pairs = [read_input(turn.input) + read_messages(turn.output) for turn in run.turns]
    return tuple(message for pair in pairs for message in pair)


def _asked(run: ScorerRun) -> tuple[Message, ...]:
    """The exchange as far as it can be read: what was asked is known even when the answer is None."""
    try:
        return run.messages
    except UnreadableMessages:
        return run.input_messages


def user_text(run: ScorerRun) -> str:
    """The texts of the user's messages."""
    return " ".join(texts(run.once(_asked), "user"))


def system_text(run: ScorerRun) -> str:
    """The texts of the system messages."""
    return "\n\n".join(texts(run.once(_asked), "system"))


def reasoning(run: ScorerRun) -> str:
    """The texts of the reasoning parts of the output; empty ones left out."""
    thoughts = [part.text for message in run.output_messages for part in message.parts if type(part) is Reasoning]
    return "\n".join(thought for thought in thoughts if thought)


def texts(messages: Sequence[Message], role: str) -> tuple[str, ...]:
    """The texts of the messages of this role; empty ones left out."""
    return tuple(text for message in messages if message.role == role and (text := message.text))
