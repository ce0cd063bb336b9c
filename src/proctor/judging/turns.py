"""What a model is shown of a message, part by part: what was said, what was called and what came back stay apart.

So nobody can write, in the text of a message, a tool call that was never made.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from proctor.data.message import Data, File, Message, Reasoning, Text, ToolCall
from proctor.data.value import MISSING, Value

__all__ = ["TurnPart", "turn_parts"]


@dataclass(frozen=True, slots=True, repr=False)
class TurnPart(Value):
    """*label*: empty for what was said, else the kind of the part, in words of ours."""

    label: str
    text: str


def turn_parts(message: Message, *, show: Callable[[Any], str], tools: bool = True) -> list[TurnPart]:
    """The parts of a message that are shown, in order, with texts that follow each other as one.

    Reasoning is left out, and so are calls that were still being written. *show*: writes values as text. Without
    *tools*, calls are left out, and so is a message that says nothing besides. An empty message is one empty part.
    """
    if message.role == "tool" and not tools:
        return []
    found: list[TurnPart] = []
    for part in message.parts:
        if isinstance(part, ToolCall):
            found += _call_parts(part, show) if tools else []
        elif not isinstance(part, Reasoning):
            found += _joined(found, _plain_part(part, show))
    silent = any(isinstance(part, ToolCall) for part in message.parts)
    return found or ([] if silent else [TurnPart("", "")])


def _joined(found: list[TurnPart], part: TurnPart) -> list[TurnPart]:
    if found and not part.label and not found[-1].label:
        part = TurnPart("", found.pop().text + part.text)
    return [part]


def _plain_part(part: Text | File | Data | Any, show: Callable[[Any], str]) -> TurnPart:
    if isinstance(part, Text):
        return TurnPart("", part.text)
    if isinstance(part, File):
        return TurnPart("file", _named(part))
    if part.type is None:
        return TurnPart("", show(part.value))
    return TurnPart("data", f"{_line(part.type)}\n{show(part.value)}")


def _call_parts(call: ToolCall, show: Callable[[Any], str]) -> list[TurnPart]:
    if call.state == "partial":
        return []
    label = "tool call that was denied" if call.state == "denied" else "tool call"
    given = "" if call.args is MISSING else f"\narguments: {show(call.args)}"
    parts = [TurnPart(label, f"name: {_line(call.name)}{given}")]
    if call.result is not MISSING:
        parts.append(TurnPart("tool result", show(call.result)))
    if call.error is not None:
        parts.append(TurnPart("tool error", call.error))
    elif call.result is MISSING and call.state in {"called", "failed"}:
        parts.append(TurnPart("tool error", "no result was recorded"))
    return parts


def _line(text: str) -> str:
    """Names that come from outside, on one line."""
    return " ".join(text.split())


def _named(file: File) -> str:
    data = file.data
    if isinstance(data, bytes):
        what = f"{len(data):,} bytes"
    elif isinstance(data, str) and data[:8].lower().startswith(("http://", "https://")):
        what = data
    else:
        what = ""
    known = [_line(text) for text in (file.name or "", file.media_type or "", what) if text]
    return ", ".join(known) or "without a name"
