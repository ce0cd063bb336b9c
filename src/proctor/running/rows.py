"""Items as rows: what is asked in which order, and which cells each part of it has."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

from proctor.data.item import Item, Turn
from proctor.data.opaque import Opaque
from proctor.data.plain import plain
from proctor.data.reply import Reply
from proctor.data.tool_mock import ToolMock
from proctor.data.value import MISSING, Missing, shown
from proctor.errors import UsageError
from proctor.running.columns import Cell, Columns, joined, read_cells
from proctor.running.ids import Ids
from proctor.running.record import RowId

__all__ = ["NO_MOCKS", "Row", "RowMaker", "TurnPlan", "context_of"]


@dataclass(frozen=True, slots=True)
class TurnPlan:
    """One turn of a conversation. *given*: its input for the target; *input*: the same in plain data."""

    index: int
    given: Any
    input: Any
    ground_truth: Any
    gates: tuple[Cell, ...] = ()
    scorers: tuple[Cell, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """An item to be run: its place in the input, its id and the number of the repeat, its cells.

    *given*: the item as it came, for the target; *item*: the same in plain data, for scorers and results.
    *turns*: of a conversation, else empty. *reply*: what the item carried, when it carried one.
    """

    index: int
    id: RowId
    given: Item
    item: Item
    gates: tuple[Cell, ...]
    scorers: tuple[Cell, ...]
    turns: tuple[TurnPlan, ...] = ()
    reply: Reply | None = None

    @property
    def cells(self) -> tuple[Cell, ...]:
        """All cells, those of the whole item first."""
        own = (*self.gates, *self.scorers)
        return own + tuple(cell for turn in self.turns for cell in (*turn.gates, *turn.scorers)) if self.turns else own


class RowMaker:
    """Makes rows of items. *unique_ids*: ids are remembered, and must not come twice.

    *mocks_tools*: whether mocks can answer for the target's tools; None for one that calls none. *replayed*: gives an
    item the mocks of a recording.
    """

    def __init__(
        self,
        gates: tuple[Cell, ...],
        scorers: tuple[Cell, ...],
        *,
        has_target: bool,
        unique_ids: bool = True,
        mocks_tools: bool | None = False,
        replayed: Callable[[Item, str], Item] | None = None,
    ) -> None:
        self.gates = gates
        self.scorers = scorers
        self.columns = Columns([*gates, *scorers])
        self.has_conversations = False
        self._has_target = has_target
        self._mocks_tools = mocks_tools
        self._replayed = replayed
        self.unique_ids = unique_ids
        self._ids = Ids(unique=unique_ids)

    def make(self, item: Item, index: int, *, made_id: str | None = None) -> Row:
        """The row of an item. Raises `ProctorError` for one that cannot be right.

        *made_id*: its id among all items, where it is one of those that were chosen.
        """
        _check_item(item, has_target=self._has_target, mocks_tools=self._mocks_tools)
        turns = _turns(item)
        item_id = self._ids.of(item) if made_id is None else self._ids.take(made_id)
        if self._replayed is not None and item.output is MISSING:
            item = self._replayed(item, item_id)
        settled = _settled(item)
        gates, scorers = self.gates, self.scorers
        if item.gates:
            gates = joined(gates, read_cells(item.gates, "gate", where="gates"))
        if item.scorers:
            scorers = joined(scorers, read_cells(item.scorers, "scorer", where="scorers"))
        reply = None if item.output is MISSING else Reply(output=settled.output)
        row = Row(index, (item_id, 0), item if reply is None else settled, settled, gates, scorers, turns, reply)
        if turns or item.gates or item.scorers:
            self.columns.add(row.cells)
        self.has_conversations = self.has_conversations or bool(turns)
        return row


def _check_item(item: Item, *, has_target: bool, mocks_tools: bool | None) -> None:
    given = [
        name
        for name, value in (("input", item.input), ("inputs", item.inputs), ("turns", item.turns))
        if value is not MISSING
    ]
    if len(given) > 1:
        raise UsageError(f"{' and '.join(given)} are both there; give one of them")
    if type(item.tags) is not tuple and (isinstance(item.tags, str) or not isinstance(item.tags, Sequence)):
        raise UsageError(f"tags must be a list of texts, not {item.tags!r}")
    for tag in item.tags:
        if not isinstance(tag, str):
            raise UsageError(f"tags must be a list of texts; {shown(tag)} is none")
    for name in ("request_context", "metadata"):
        value = getattr(item, name)
        if value is not None and not isinstance(value, Mapping):
            raise UsageError(f"{name} must be a mapping, not {shown(value)}")
    if not isinstance(item.stop_on_failure, bool):
        raise UsageError(f"stop_on_failure is True or False, not {shown(item.stop_on_failure)}")
    if item.output is not MISSING:
        if given and given[0] != "input":
            raise UsageError(f"output and {given[0]} are both there: a saved reply has only its input")
        return
    if not given:
        raise UsageError("has none of input, inputs, turns and output")
    if item.driver is not None:
        raise UsageError("has driver, which this version does not carry out: the target would act without it")
    if mocks_tools is not None:
        _check_mocks(item, mocks_tools=mocks_tools)
    if not has_target:
        raise UsageError("has no output, and there is no target to make one: give a target, or items with an output")


def _check_mocks(item: Item, *, mocks_tools: bool) -> None:
    """An item's mocks are ones, and the target's tools can be kept from being called."""
    if item.unmocked not in (None, "allow", "deny"):
        raise UsageError(f"unmocked is 'allow' or 'deny', not {shown(item.unmocked)}")
    if isinstance(item.tool_mocks, str) or not isinstance(item.tool_mocks, Sequence):
        raise UsageError(f"tool_mocks must be a list of ToolMocks, not {shown(item.tool_mocks)}")
    for at, mock in enumerate(item.tool_mocks):
        if not isinstance(mock, ToolMock):
            raise UsageError(f"tool_mocks[{at}] must be a ToolMock, not {shown(mock)}")
        if isinstance(mock.match, Opaque):
            raise UsageError(f"tool_mocks[{at}] was loaded without the function in its match=: give it again")
    if (item.tool_mocks or item.unmocked == "deny") and not mocks_tools:
        raise UsageError(f"has {'tool_mocks' if item.tool_mocks else 'unmocked'}, and {NO_MOCKS}")


NO_MOCKS = (
    "this target's tools cannot be kept from being called: mocks work for agents of pydantic-ai, LangGraph and the "
    "OpenAI Agents SDK, and for a callable that calls its tools through the parameter toolbox"
)


def _turns(item: Item) -> tuple[TurnPlan, ...]:
    """The turns of a conversation, from `inputs` or `turns`; none for a single question."""
    name = "inputs" if item.inputs is not MISSING else "turns"
    value = getattr(item, name)
    if value is MISSING:
        return ()
    if isinstance(value, str | bytes | bytearray) or not isinstance(value, Sequence) or not value:
        raise UsageError(f"{name} must be a list that is not empty, not {shown(value)}")
    if name == "inputs":
        return tuple(TurnPlan(i, given, plain(given), item.ground_truth) for i, given in enumerate(value))
    return tuple(_turn(turn, index, item) for index, turn in enumerate(value))


def _turn(turn: Any, index: int, item: Item) -> TurnPlan:
    if not isinstance(turn, Turn):
        raise UsageError(f"turns[{index}] must be a Turn or a mapping with input, not {shown(turn)}")
    if turn.input is MISSING:
        raise UsageError(f"turns[{index}] has no input")
    truth = item.ground_truth if turn.ground_truth is MISSING else turn.ground_truth
    return TurnPlan(
        index,
        turn.input,
        plain(turn.input),
        plain(truth),
        read_cells(turn.gates, "gate", where=f"turns[{index}].gates", turn=index) if turn.gates else (),
        read_cells(turn.scorers, "scorer", where=f"turns[{index}].scorers", turn=index) if turn.scorers else (),
    )


def context_of(item: Item, common: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The request context of an item: the run's, and by key the item's own, which wins."""
    return common if item.request_context is None else {**(common or {}), **item.request_context}


_ATOMS = frozenset({str, int, float, bool, type(None), Missing})
_FOREIGN = (
    "input", "output", "ground_truth", "context", "expected_trajectory", "request_context", "tracing_context",
    "start_options", "metadata", "label",
)  # fmt: skip
_all_of_them = attrgetter(*_FOREIGN, "inputs", "turns")


def _settled(item: Item) -> Item:
    """The item in plain data: a target that changes what it was given changes nothing for the scorers."""
    if _ATOMS.issuperset(map(type, _all_of_them(item))):
        return item
    changes = {name: plain(value) for name in _FOREIGN if type(value := getattr(item, name)) not in _ATOMS}
    if not isinstance(item.inputs, Missing):
        changes["inputs"] = tuple(plain(given) for given in item.inputs)
    if not isinstance(item.turns, Missing):
        changes["turns"] = tuple(
            replace(turn, input=plain(turn.input), ground_truth=plain(turn.ground_truth)) for turn in item.turns
        )
    return replace(item, **changes) if changes else item
