"""What is asked and what is expected: items, and the turns of a conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

from proctor.data.plain import canonical_json
from proctor.data.value import MISSING, Missing, Value, freeze
from proctor.errors import UnknownName, UsageError

__all__ = ["Item", "Turn", "derived_id", "item_from_mapping"]

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
    are not independent of each other share one. *id*: made from the content when not given.
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


_HASHED = ("input", "inputs", "turns", "output", "context", "ground_truth")


def derived_id(item: Item) -> str:
    """12 hex digits over what the item gives of input, inputs, turns, output, context and ground truth.

    Raises `EncodingError` when one of them has no plain form: such an item needs an `id`.
    """
    given: dict[str, Any] = {}
    for name in _HASHED:
        value = getattr(item, name)
        if value is not MISSING and not (name == "context" and value is None):
            given[name] = [_turn_content(turn) for turn in value] if name == "turns" else value
    from hashlib import sha256

    return sha256(canonical_json(given).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _turn_content(turn: Any) -> Any:
    if not isinstance(turn, Turn):
        return turn
    truth = {} if turn.ground_truth is MISSING else {"ground_truth": turn.ground_truth}
    return {"input": turn.input, **truth}


def item_from_mapping(row: Mapping[str, Any]) -> Item:
    """An item from a mapping, in snake_case or the documents' camelCase, one style at a time."""
    named = _fields(row, "an item", [field.name for field in fields(Item)])
    turns = named.get("turns", MISSING)
    if isinstance(turns, Sequence) and not isinstance(turns, str):
        named["turns"] = tuple(_turn(turn, index) for index, turn in enumerate(turns))
    return Item(**named)


def _turn(turn: Any, index: int) -> Any:
    if isinstance(turn, Turn):
        return turn
    if not isinstance(turn, Mapping):
        raise UsageError(f"turns[{index}] must be a Turn or a mapping with input, not {turn!r}", code=_CODE)
    named = _fields(turn, f"turns[{index}]", [field.name for field in fields(Turn)])
    if "input" not in named:
        raise UsageError(f"turns[{index}] has no input", code=_CODE)
    return Turn(**named)


def _fields(row: Mapping[str, Any], what: str, known: Sequence[str]) -> dict[str, Any]:
    camel = {_camel(name): name for name in known}
    named: dict[str, Any] = {}
    styles = set()
    for key, value in row.items():
        name = key if key in known else camel.get(key)
        if name is None:
            raise UnknownName(f"field of {what}", str(key), known, code=_CODE)
        if "_" in name:
            styles.add("snake_case" if key == name else "camelCase")
        named[name] = value
    if len(styles) > 1:
        raise UsageError(f"{what} mixes snake_case and camelCase keys: keep to one", code=_CODE)
    return named


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)
