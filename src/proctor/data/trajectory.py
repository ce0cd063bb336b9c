"""What an agent or workflow did, in order: nested steps, and what may be expected of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from proctor.data.value import MISSING, Value, freeze

__all__ = ["ExpectedStep", "Ordering", "Step", "StepType", "Trajectory", "TrajectoryExpectation"]

StepType: TypeAlias = Literal[
    "tool_call",
    "mcp_tool_call",
    "provider_tool_call",
    "model_generation",
    "agent_run",
    "workflow_step",
    "workflow_run",
    "workflow_conditional",
    "workflow_parallel",
    "workflow_loop",
    "workflow_sleep",
    "workflow_wait_event",
    "processor_run",
]
Ordering: TypeAlias = Literal["strict", "relaxed", "unordered"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Step(Value):
    """One thing that happened. Fields that do not belong to its type are MISSING or None.

    *duration_ms*: None when it was not measured. *success*: None when nothing says so.
    """

    name: str
    step_type: StepType
    duration_ms: float | None = None
    success: bool | None = None
    children: tuple[Step, ...] = ()
    metadata: Mapping[str, Any] | None = None
    tool_args: Any = MISSING
    tool_result: Any = MISSING
    mcp_server: str | None = None
    model_id: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    finish_reason: str | None = None
    agent_id: str | None = None
    step_id: str | None = None
    status: str | None = None
    output: Any = MISSING
    workflow_id: str | None = None
    condition_count: int | None = None
    selected_steps: tuple[str, ...] | None = None
    branch_count: int | None = None
    parallel_steps: tuple[str, ...] | None = None
    loop_type: str | None = None
    total_iterations: int | None = None
    sleep_duration_ms: float | None = None
    sleep_type: str | None = None
    event_name: str | None = None
    event_received: bool | None = None
    processor_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Trajectory(Value):
    """The steps of one run, in order. *raw_output*, *raw_workflow_result*: what they were read from."""

    steps: tuple[Step, ...] = ()
    total_duration_ms: float | None = None
    raw_output: Any = MISSING
    raw_workflow_result: Any = MISSING


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ExpectedStep(Value):
    """A step that should occur. Without *step_type* any type matches. *fields*: what the step must carry, by name."""

    name: str
    step_type: StepType | None = None
    fields: Mapping[str, Any] | None = None
    children: TrajectoryExpectation | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TrajectoryExpectation(Value):
    """What a trajectory should look like. None means: nothing is asked of it.

    *steps*: an empty sequence expects that nothing happens. Budgets count every depth of the level that states them.
    """

    steps: Sequence[ExpectedStep] | None = None
    ordering: Ordering = "relaxed"
    allow_repeated_steps: bool = True
    max_steps: int | None = None
    max_total_tokens: int | None = None
    max_total_duration_ms: float | None = None
    no_redundant_calls: bool | None = None
    blacklisted_tools: Sequence[str] = ()
    blacklisted_sequences: Sequence[Sequence[str]] = ()
    max_retries_per_tool: int = 2

    def __post_init__(self) -> None:
        freeze(self, ("steps", "blacklisted_tools", "blacklisted_sequences"))
        sequences = tuple([tuple(it) if type(it) is list else it for it in self.blacklisted_sequences])
        object.__setattr__(self, "blacklisted_sequences", sequences)
