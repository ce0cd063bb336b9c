"""What an agent gives back for one turn, in the form that every adapter makes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from proctor.data.outcome import Origin
from proctor.data.usage import Cost, Usage
from proctor.data.value import MISSING, Value

__all__ = ["AgentReply"]


@dataclass(frozen=True, slots=True, repr=False)
class AgentReply(Value):
    """The messages of one turn, tool calls and their results included, as anything that is read as messages.

    *usage*, *cost*: of this turn alone. *structured*: the validated object of an agent with structured output.
    """

    messages: Any
    usage: Usage | None = None
    cost: Cost | None = None
    structured: Any = MISSING
    finish_reason: str | None = None
    origin: Origin | None = None
