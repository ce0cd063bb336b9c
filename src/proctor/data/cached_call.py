"""The answer of a model call as a cache keeps it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from proctor.data.usage import Cost, Usage
from proctor.data.value import MISSING, Value

__all__ = ["CachedCall"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CachedCall(Value):
    """What a model answered, and what that took when it was asked.

    *raw_output*: its text; *output*: what was read from it, plain data, MISSING when nothing was. *answered_by*: the
    model that the provider says answered. *usage*, *cost*, *duration_ms*: of the call that was made, however often the
    answer is used. *attempt_count*, *model_call_count*: as in a `JudgeExecution`. *repaired*: its JSON had to be
    mended; *truncated*: the prompt was cut. *made_at*: when it was kept, ISO 8601 in UTC.
    """

    raw_output: str | None = None
    output: Any = MISSING
    finish_reason: str | None = None
    answered_by: str | None = None
    provider: str | None = None
    usage: Usage | None = None
    cost: Cost | None = None
    duration_ms: float | None = None
    attempt_count: int = 1
    model_call_count: int = 1
    repaired: bool = False
    truncated: bool = False
    made_at: str | None = None
