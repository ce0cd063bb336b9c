"""How a scorer's run on one item ended. Exactly one of: scored, not_scorable, error, cancelled, not_run.

A score is a number only when it was measured; what an error's finished steps produced stays in `evidence`, and in no
mean, gate or threshold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from proctor.data.column import Column
from proctor.data.value import MISSING, Value
from proctor.errors import UnknownName

if TYPE_CHECKING:
    from proctor.data.judge import JudgeRecord

__all__ = ["Failure", "NotRun", "NotScorable", "Origin", "Outcome", "Outcomes", "RunSnapshot", "Status", "Why"]

Status: TypeAlias = Literal["scored", "not_scorable", "error", "cancelled", "not_run"]
Why: TypeAlias = Literal["target_failed", "gate_failed", "earlier_turn_failed", "stopped"]


@dataclass(frozen=True, slots=True, repr=False)
class NotScorable(Value):
    """A scorer declined: the question does not apply to this item. *step*: where it said so."""

    step: str
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Failure(Value):
    """Something went wrong. *code*: a stable word; *step*: the scorer's step, None outside one.

    *place*: the line of the user's code where it happened (`refunds.py:14`), None when there is none.
    """

    type: str
    message: str
    code: str | None = None
    step: str | None = None
    completed_steps: tuple[str, ...] = ()
    traceback: str | None = None
    place: str | None = None

    def __str__(self) -> str:
        said = "" if self.message == self.type else f": {self.message}"
        where = f" ({self.place})" if self.place else ""
        step = f" in {self.step}" if self.step and (self.completed_steps or self.step != "generate_score") else ""
        return f"{self.type}{step}{said}{where}"


@dataclass(frozen=True, slots=True, repr=False)
class NotRun(Value):
    """The scorer was never started. *why*: what happened first."""

    why: Why


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Origin(Value):
    """Where a reply came from. One object for all outcomes of a reply."""

    thread_id: str | None = None
    resource_id: str | None = None
    trace_id: str | None = None
    span_id: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RunSnapshot(Value):
    """What the finished steps of one scorer run produced. Steps that did not run are MISSING."""

    score: float | None = None
    reason: str | None = None
    preprocess_step_result: Any = MISSING
    analyze_step_result: Any = MISSING
    prompts: Mapping[str, str] | None = None
    judge: Mapping[str, JudgeRecord] | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Outcome(Value):
    """One cell of the table: a scorer's run on one item (and repeat).

    *score*: in the scorer's own range, None unless `scored`. *cause*: None when scored, else why there is no score.
    *duration_ms*: None for what never ran.
    """

    column: Column
    status: Status
    score: float | None = None
    label: str | None = None
    reason: str | None = None
    cause: NotScorable | Failure | NotRun | None = None
    evidence: RunSnapshot | None = None
    duration_ms: float | None = None
    origin: Origin | None = None
    run_id: str | None = None

    @property
    def scorer_id(self) -> str:
        """What the scorer is."""
        return self.column.scorer_id

    @property
    def key(self) -> str:
        """Which scorer it is."""
        return self.column.key

    @property
    def position(self) -> str:
        """Where it stands: `gate`, `scorer`, `trajectory` or `step:<id>`."""
        return self.column.position

    @property
    def turn_index(self) -> int | None:
        """The turn it belongs to, None for the whole item."""
        return self.column.turn

    @property
    def not_scorable(self) -> NotScorable | None:
        """Who declined and why, when the outcome is `not_scorable`."""
        return self.cause if isinstance(self.cause, NotScorable) else None

    @property
    def error(self) -> Failure | None:
        """What failed, when the outcome is an `error` (or was cancelled by one)."""
        return self.cause if isinstance(self.cause, Failure) else None

    @property
    def recovered(self) -> float | None:
        """The score that finished steps gave before a later one failed: evidence, counted nowhere."""
        return self.evidence.score if self.status == "error" and self.evidence else None

    @property
    def preprocess_step_result(self) -> Any:
        """What `preprocess` returned, MISSING when it did not run."""
        return self.evidence.preprocess_step_result if self.evidence else MISSING

    @property
    def analyze_step_result(self) -> Any:
        """What `analyze` returned, MISSING when it did not run."""
        return self.evidence.analyze_step_result if self.evidence else MISSING

    @property
    def preprocess_prompt(self) -> str | None:
        """What a judge was asked in `preprocess`; None where none was, or where it could not answer."""
        return self._prompt("preprocess")

    @property
    def analyze_prompt(self) -> str | None:
        """The same in `analyze`."""
        return self._prompt("analyze")

    @property
    def generate_score_prompt(self) -> str | None:
        """The same in `generate_score`."""
        return self._prompt("generate_score")

    @property
    def generate_reason_prompt(self) -> str | None:
        """The same in `generate_reason`."""
        return self._prompt("generate_reason")

    def _prompt(self, step: str) -> str | None:
        return ((self.evidence.prompts if self.evidence else None) or {}).get(step)

    @property
    def truncated(self) -> bool:
        """Whether a judge was shown a shortened prompt."""
        return any(execution.truncated for record in self.judge.values() for execution in record.executions)

    @property
    def judge(self) -> Mapping[str, JudgeRecord]:
        """The judge's executions by step; empty when no step asked one."""
        return (self.evidence.judge if self.evidence else None) or {}


class Outcomes(tuple[Outcome, ...]):
    """Outcomes in the order of their columns; also found by key, or by an id that only one of them has."""

    __slots__ = ()

    @overload  # type: ignore[override]
    def __getitem__(self, at: int | str, /) -> Outcome: ...
    @overload
    def __getitem__(self, at: slice, /) -> tuple[Outcome, ...]: ...
    def __getitem__(self, at: int | str | slice, /) -> Outcome | tuple[Outcome, ...]:
        if not isinstance(at, str):
            return super().__getitem__(at)
        found = [outcome for outcome in self if outcome.column.key == at]
        found = found or [outcome for outcome in self if outcome.column.scorer_id == at]
        if len(found) == 1:
            return found[0]
        what = "one outcome with the id" if found else "outcome with the key or id"
        raise UnknownName(what, at, [outcome.column.key for outcome in self])

    def __contains__(self, key: object) -> bool:
        if isinstance(key, str):
            return any(key in (outcome.column.key, outcome.column.scorer_id) for outcome in self)
        return super().__contains__(key)

    def keys(self) -> list[str]:
        """The keys, in order."""
        return [outcome.column.key for outcome in self]
