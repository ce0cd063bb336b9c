"""What is kept of every call to a judge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from proctor.data.usage import Cost, Usage
from proctor.data.value import MISSING, Value

__all__ = ["JudgeExecution", "JudgeRecord"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class JudgeExecution(Value):
    """One judged step as it ran, success or failure.

    *judge_model_id*: the model asked for; *answered_by*: the one the provider says answered. *attempt_count*: how often
    the judge was asked, a re-ask for format included; *model_call_count*: model calls that completed.
    *output*: the validated value, MISSING when there is none; *raw_output*: the last text seen, never parsed.
    *cached*: answered from the store; *repaired*: the reply's JSON had to be mended; *truncated*: the prompt was cut.
    """

    status: Literal["success", "failed"]
    prompt: str
    judge_model_id: str | None = None
    answered_by: str | None = None
    judge_provider: str | None = None
    attempt_count: int = 1
    model_call_count: int = 1
    duration_ms: float | None = None
    usage: Usage | None = None
    cost: Cost | None = None
    output: Any = MISSING
    raw_output: str | None = None
    finish_reason: str | None = None
    error: dict[str, Any] | None = None
    cached: bool = False
    repaired: bool = False
    truncated: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class JudgeRecord(Value):
    """The executions of one judged step, in order."""

    executions: tuple[JudgeExecution, ...] = ()
