"""What came back for one item: the target's replies, and what every scorer made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, Literal, TypeAlias

from proctor.data.item import Item
from proctor.data.message import Message
from proctor.data.outcome import Failure, Origin, Outcome, Outcomes
from proctor.data.tool_mock import ToolMock, ToolReport
from proctor.data.usage import Cost, Usage
from proctor.data.value import MISSING, Value, shown
from proctor.errors import UsageError, cut

__all__ = ["ItemResult", "ItemStatus", "Reply", "TurnOutcomes"]

ItemStatus: TypeAlias = Literal["done", "error", "cancelled", "not_run"]
_NONE = Outcomes()


@dataclass(frozen=True, slots=True, repr=False)
class Reply(Value):
    """What the target gave for one turn. *duration_ms*: wall time of the call, None when nothing was called.

    *structured*: the validated object of an agent with structured output. *error*: why there is no output.
    """

    output: Any = MISSING
    usage: Usage | None = None
    cost: Cost | None = None
    duration_ms: float | None = None
    finish_reason: str | None = None
    structured: Any = MISSING
    origin: Origin | None = None
    error: Failure | None = None

    def __post_init__(self) -> None:
        for name, kind in _KINDS:
            value = getattr(self, name)
            if value is not None and not isinstance(value, kind):
                raise UsageError(f"Reply({name}=...) is a {kind.__name__} or None, not {shown(value)}")
        duration = self.duration_ms
        if duration is not None and not (isinstance(duration, int | float) and 0 <= duration < inf):
            raise UsageError(f"Reply(duration_ms=...) is a number of milliseconds or None, not {shown(duration)}")


_KINDS: tuple[tuple[str, type], ...] = (("usage", Usage), ("cost", Cost), ("origin", Origin), ("error", Failure))


@dataclass(frozen=True, slots=True, repr=False)
class TurnOutcomes(Value):
    """What the scorers of one turn made of its reply."""

    index: int
    gates: Outcomes = _NONE
    scorers: Outcomes = _NONE


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ItemResult(Value):
    """One row of the table: an item (and repeat), its replies, and one outcome for each of its columns.

    *index*: the item's place in the data, from 0.
    *status*: `error` when the target failed: then the columns that needed its reply are `not_run`. *steps*: outcomes of
    a workflow's steps, *trajectory*: of the path taken, *turns*: of each turn.
    """

    item: Item
    item_id: str
    index: int = 0
    repeat: int = 0
    status: ItemStatus = "done"
    replies: tuple[Reply, ...] = ()
    gates: Outcomes = _NONE
    scorers: Outcomes = _NONE
    steps: Outcomes = _NONE
    trajectory: Outcomes = _NONE
    turns: tuple[TurnOutcomes, ...] = ()
    error: Failure | None = None

    @property
    def output(self) -> Any:
        """The replies, joined: the one reply's output, or the messages of all turns in order. MISSING without any."""
        outputs = [reply.output for reply in self.replies if reply.output is not MISSING]
        if len(outputs) <= 1:
            return outputs[0] if outputs else MISSING
        return [part for output in outputs for part in (output if isinstance(output, list | tuple) else [output])]

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """Every outcome of the row, whole-item columns first."""
        own = (*self.gates, *self.scorers, *self.steps, *self.trajectory)
        if not self.turns:
            return own
        return own + tuple(outcome for turn in self.turns for outcome in (*turn.gates, *turn.scorers))

    @property
    def tool_report(self) -> ToolReport:
        """Which calls of tools were answered by the item's mocks, which were live, and which mocks no call came for."""
        outputs = [reply.output for reply in self.replies if isinstance(reply.output, list | tuple)]
        said = [it for output in outputs for it in output if isinstance(it, Message)]
        calls = [call for message in said for call in message.tool_calls]
        answered = {call.mock for call in calls}
        unused = [
            mock
            for at, mock in enumerate(self.item.tool_mocks)
            if isinstance(mock, ToolMock) and at not in answered and mock.repeat in (None, self.repeat)
        ]
        mocked = tuple(call for call in calls if call.mock is not None)
        others = [call for call in calls if call.mock is None]
        return ToolReport(
            served=mocked,
            live=tuple(call for call in others if call.duration_ms is not None),
            unused=tuple(unused),
            not_run=tuple(call for call in others if call.duration_ms is None),
        )

    @property
    def duration_ms(self) -> float | None:
        """What the target's replies took in all; None when nothing was timed."""
        known = [reply.duration_ms for reply in self.replies if reply.duration_ms is not None]
        return sum(known) if known else None

    def to_dict(self) -> Mapping[str, Any]:
        """A short plain summary: id, status, scores by label, and errors; for logs and callbacks."""
        scores = {outcome.column.label: outcome.score for outcome in self.outcomes if outcome.status == "scored"}
        unmeasured = {o.column.label: o.status for o in self.outcomes if o.status != "scored"}
        found: dict[str, Any] = {
            "item_id": self.item_id,
            "repeat": self.repeat,
            "status": self.status,
            "scores": scores,
        }
        if unmeasured:
            found["unmeasured"] = unmeasured
        return found

    def __repr__(self) -> str:
        return (
            f"ItemResult({cut(self.item_id, 40)!r}, repeat={self.repeat}, {self.status}, {len(self.outcomes)} outcomes)"
        )
