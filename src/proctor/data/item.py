"""What is asked and what is expected: items, and the turns of a conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

from proctor.data.fields import named_fields, style_of
from proctor.data.plain import canonical_json
from proctor.data.tool_mock import as_tool_mock
from proctor.data.value import MISSING, Missing, Value, freeze
from proctor.errors import UsageError, cut

__all__ = [
    "Item",
    "Turn",
    "derived_id",
    "is_item_field",
    "item_content",
    "item_from_mapping",
    "item_label",
    "style_of_row",
]

_CODE = "INVALID_DATA_ITEM"


@dataclass(frozen=True, slots=True, repr=False)
class Turn(Value):
    """One thing the user says in a conversation, and what is asked of the answer to it."""

    input: Any
    gates: Sequence[Any] = ()
    scorers: Sequence[Any] = ()
    ground_truth: Any = MISSING

    def __post_init__(self) -> None:
        freeze(self, ("gates", "scorers"))


@dataclass(frozen=True, slots=True, repr=False)
class Item(Value):
    """One test case. Give one of *input*, *inputs*, *turns*; or *output*, to score a saved reply without a target.

    *ground_truth*: the reference answer or label; None, 0, False and "" are labels too. *context*: texts the answer may
    rest on. *gates*, *scorers*: for this item only. *label*: what a person said of the output. *cluster*: items that
    are not independent of each other share one. *id*: made from the content when not given. *tool_mocks*: `ToolMock`s
    that answer calls of tools in their order; *unmocked*: whether a tool that has none is called (`allow`) or the item
    is an error (`deny`); None: as the run says.
    """

    input: Any = MISSING
    inputs: Sequence[Any] | Missing = MISSING
    turns: Sequence[Turn] | Missing = MISSING
    output: Any = MISSING
    id: str | None = None
    ground_truth: Any = MISSING
    context: Any = None
    expected_trajectory: Any = None
    request_context: Mapping[str, Any] | None = None
    tracing_context: Any = None
    start_options: Mapping[str, Any] | None = None
    tool_mocks: Sequence[Any] = ()
    unmocked: Literal["allow", "deny"] | None = None
    driver: Any = None
    gates: Sequence[Any] = ()
    scorers: Sequence[Any] = ()
    stop_on_failure: bool = False
    label: Any = None
    cluster: str | None = None
    severity: str | float | None = None
    external_id: str | None = None
    metadata: Mapping[str, Any] | None = None
    tags: Sequence[str] = ()

    def __post_init__(self) -> None:
        freeze(self, ("inputs", "turns", "tool_mocks", "gates", "scorers", "tags"))
        if type(self.tool_mocks) is tuple and any(isinstance(mock, Mapping) for mock in self.tool_mocks):
            mocks = enumerate(self.tool_mocks)
            object.__setattr__(
                self, "tool_mocks", tuple(as_tool_mock(mock, where=f"tool_mocks[{at}]") for at, mock in mocks)
            )


_HINTS = {
    **dict.fromkeys(("question", "query", "prompt", "request"), "Name it input (proctor score takes --input KEY)."),
    **dict.fromkeys(
        ("answer", "response", "completion", "reply"), "Name it output (proctor score takes --output KEY)."
    ),
    **dict.fromkeys(
        ("expected", "expected_output", "expectedOutput", "reference", "gold", "target"),
        "Name it ground_truth (proctor score takes --truth KEY).",
    ),
    **dict.fromkeys(("unmockedToolPolicy", "unmocked_tool_policy"), "Name it unmocked."),
}
_NAMES = tuple(field.name for field in fields(Item))
_HASHED = ("input", "inputs", "turns", "output", "context", "ground_truth")


def item_label(item: Item, *, item_id: str, index: int) -> str:
    """How people find an item: by the id they gave it, else by its place in the data and how its input begins."""
    if item.id is not None:
        return item_id
    begins = f' "{cut(" ".join(item.input.split()), 30)}"' if isinstance(item.input, str) else ""
    return f"#{index}{begins}"


def derived_id(item: Item) -> str:
    """12 hex digits over what the item gives of input, inputs, turns, output, context and ground truth.

    Raises `EncodingError` when one of them has no plain form: such an item needs an `id`.
    """
    from hashlib import sha256

    return sha256(canonical_json(item_content(item)).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def item_content(item: Item) -> dict[str, Any]:
    """What an item's own id is made of."""
    given: dict[str, Any] = {}
    for name in _HASHED:
        value = getattr(item, name)
        if value is not MISSING and not (name == "context" and value is None):
            given[name] = [_turn_content(turn) for turn in value] if name == "turns" else value
    return given


def _turn_content(turn: Any) -> Any:
    if not isinstance(turn, Turn):
        return turn
    truth = {} if turn.ground_truth is MISSING else {"ground_truth": turn.ground_truth}
    return {"input": turn.input, **truth}


def is_item_field(key: str) -> bool:
    """Whether a key of a row, in either style, is a field of `Item`."""
    return style_of({key: None}, _NAMES) is not None or key in _NAMES


def style_of_row(row: Mapping[str, Any]) -> str | None:
    """How a row spells its fields: `snake_case`, `camelCase`, or None when it does not tell."""
    return style_of(row, _NAMES)


def item_from_mapping(row: Mapping[str, Any]) -> Item:
    """An item from a mapping, in snake_case or the documents' camelCase, one style at a time."""
    named = named_fields(row, _NAMES, what="an item", code=_CODE, hints=_HINTS)
    for name in ("inputs", "turns"):
        if named.get(name, MISSING) is None:
            del named[name]  # null in a column that other rows fill
    turns = named.get("turns", MISSING)
    if isinstance(turns, Sequence) and not isinstance(turns, str):
        named["turns"] = tuple(_turn(turn, index) for index, turn in enumerate(turns))
    if named.get("tool_mocks", ()) is None:
        del named["tool_mocks"]
    return Item(**named)


def _turn(turn: Any, index: int) -> Any:
    if isinstance(turn, Turn):
        return turn
    if not isinstance(turn, Mapping):
        raise UsageError(f"turns[{index}] must be a Turn or a mapping with input, not {turn!r}", code=_CODE)
    named = named_fields(turn, [field.name for field in fields(Turn)], what=f"turns[{index}]", code=_CODE)
    if "input" not in named:
        raise UsageError(f"turns[{index}] has no input", code=_CODE)
    return Turn(**named)
