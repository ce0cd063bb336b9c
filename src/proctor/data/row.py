"""Rows of data as items: one row is a test case, or a saved conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from proctor.data.item import Item, is_item_field, item_from_mapping
from proctor.errors import UsageError

__all__ = ["item_from_row"]

_CODE = "INVALID_DATA_ITEM"
_OPENING = frozenset({"system", "developer", "user"})


def item_from_row(row: Any, *, names: Mapping[str, str] | None = None) -> Item:
    """An item from a row: an `Item`, or a mapping of its fields in snake_case or camelCase.

    A row with `messages` is a saved conversation: its leading system and user messages are the input, the rest the
    output, and keys that Item does not have are its metadata. In other rows such keys are errors. *names*: for a field
    of Item, the key that holds it in these rows (`{"output": "answer"}`).
    """
    if isinstance(row, Item):
        return row
    if not isinstance(row, Mapping):
        shown = f"{type(row).__name__} {row!r}"[:120]
        raise UsageError(f'an item is an Item or a mapping such as {{"input": ...}}, not {shown}', code=_CODE)
    row = _renamed(row, names or {})
    if "messages" not in row:
        if "role" in row and "content" in row:
            raise UsageError('is a message, not an item: wrap a conversation as {"messages": [...]}', code=_CODE)
        return item_from_mapping(row)
    return _conversation(dict(row))


def _renamed(row: Mapping[str, Any], names: Mapping[str, str]) -> Mapping[str, Any]:
    made = dict(row)
    for field, key in names.items():
        if key not in row:
            raise UsageError(
                f"no key {key!r}, which was named as the {field}; keys: {', '.join(map(str, row))}", code=_CODE
            )
        if key != field and field in row:
            raise UsageError(f"both {key!r} (named as the {field}) and {field!r} are there", code=_CODE)
        made[field] = row[key]
    return {key: value for key, value in made.items() if key not in names.values() or key in names}


def _conversation(row: dict[str, Any]) -> Item:
    messages = row.pop("messages")
    if not isinstance(messages, Sequence) or isinstance(messages, str) or not messages:
        raise UsageError("messages must be a list of messages that is not empty", code=_CODE)
    for name in ("input", "inputs", "turns", "output"):
        if name in row:
            raise UsageError(f"messages and {name} are both there: a saved conversation has only messages", code=_CODE)
    opening = _opening_length(messages)
    own = {key: row.pop(key) for key in list(row) if is_item_field(key)}
    metadata = own.pop("metadata", None) or {}
    if not isinstance(metadata, Mapping):
        raise UsageError(f"metadata must be a mapping, not {type(metadata).__name__}", code=_CODE)
    metadata = {**row, **metadata}
    item = item_from_mapping(own)
    item = replace(item, input=list(messages[:opening]), metadata=metadata or None)
    return item if opening == len(messages) else replace(item, output=list(messages[opening:]))


def _opening_length(messages: Sequence[Any]) -> int:
    for index, message in enumerate(messages):
        role = message.get("role") if isinstance(message, Mapping) else getattr(message, "role", None)
        if not isinstance(role, str) or role not in _OPENING:
            return index
    return len(messages)
