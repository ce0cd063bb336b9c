"""What is kept of every call to a judge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from proctor.data.usage import Cost, Usage
from proctor.data.value import MISSING, Value

__all__ = ["JudgeExecution", "JudgeRecord", "JudgeTotals"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class JudgeExecution(Value):
    """One judged step as it ran, success or failure.

    *judge_model_id*: the model asked for; *answered_by*: the one the provider says answered. *attempt_count*: how often
    the judge was asked, a re-ask for format included; *model_call_count*: model calls that completed.
    *output*: the validated value, MISSING when there is none; *raw_output*: the last text seen, never parsed.
    *retry_count*: calls that were made again since they failed in passing; *waited_ms*: time spent waiting for a turn
    or for a rate limit, part of *duration_ms*.
    *cached*: answered from a cache; *repaired*: the reply's JSON had to be mended; *truncated*: the prompt was cut.
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
    retry_count: int = 0
    waited_ms: float = 0.0
    cached: bool = False
    repaired: bool = False
    truncated: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class JudgeRecord(Value):
    """The executions of one judged step, in order."""

    executions: tuple[JudgeExecution, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class JudgeTotals(Value):
    """What judges did and took, over many executions; failed ones count like others.

    *executions*: judged steps, of *outcomes* that asked a judge; *failed* of them without an answer, *cached* answered
    without a call, *truncated* on a prompt that was cut, *repaired* from JSON that had to be mended. *requests*: model
    calls that were begun; *calls* of them completed. *usage*, *cost*: what was spent, so nothing of the cached ones;
    None when nothing was reported. *unpriced*: executions that made calls whose price is not known: the cost is of the
    others. *duration_ms*: time in judged steps, in all; *waited_ms* of it for a turn, or for a rate limit to pass.
    """

    executions: int = 0
    outcomes: int = 0
    failed: int = 0
    cached: int = 0
    truncated: int = 0
    repaired: int = 0
    requests: int = 0
    calls: int = 0
    usage: Usage | None = None
    cost: Cost | None = None
    unpriced: int = 0
    duration_ms: float = 0.0
    waited_ms: float = 0.0
