"""What the tools of an agent gave in a run, in a file: a line for each row, from which the run can be made again.

    {"item_id": "refund-3", "repeat": 0, "calls": [{"name": "get_order", "args": {"id": 7}, "output": {...}}, ...]}

Lines are added as rows end, so that nothing is lost when a run breaks off; of several lines of one row the last holds.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from proctor.data.codec import decode, encode
from proctor.data.item import Item
from proctor.data.message import Message, ToolCall
from proctor.data.reply import ItemResult, Reply
from proctor.data.secrets import safe_json
from proctor.data.tool_mock import ToolMock, as_tool_mock
from proctor.data.value import MISSING, shown
from proctor.errors import ProctorError, UsageError, safe_message

__all__ = ["ToolRecording", "check_recording", "record_row"]

_BROKEN = "is no recording of tools"


class ToolRecording:
    """A recording that was read. Raises `UsageError` for a file that is none."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)
        self._rows: dict[str, dict[int, list[ToolMock]]] = defaultdict(dict)
        try:
            lines = self.path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as problem:
            raise UsageError(f"replay_tools: {self.path} cannot be read: {safe_message(problem)}") from None
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                self._take(json.loads(line))
            except (ValueError, TypeError, KeyError, ProctorError) as problem:
                if number == len(lines):
                    continue  # the run was killed while it wrote
                where = f"replay_tools: {self.path}, line {number} {_BROKEN}"
                raise UsageError(f"{where}: {safe_message(problem)}") from None

    def _take(self, row: dict[str, Any]) -> None:
        repeat = row["repeat"]
        mocks = [replace(as_tool_mock(decode(call), where="a call"), repeat=repeat) for call in row["calls"]]
        self._rows[row["item_id"]][repeat] = mocks

    def onto(self, item: Item, item_id: str, *, repeats: int) -> Item:
        """The item with what its tools gave then as mocks, so that none is called.

        Raises `UsageError` for an item, or a repeat of it, that was not recorded, and for one with mocks of its own.
        """
        if item.tool_mocks:
            raise UsageError("has tool_mocks, and replay_tools= would answer in their place: leave one out")
        rows = self._rows.get(item_id, {})
        missing = [repeat for repeat in range(repeats) if repeat not in rows]
        if missing:
            which = "it" if len(missing) == repeats else f"its repeat {missing[0]}"
            known = ", ".join(list(self._rows)[:5]) or "nothing"
            raise UsageError(f"{self.path.name} has no recording of {which} ({item_id}); it has {known}")
        mocks = tuple(mock for repeat in range(repeats) for mock in rows[repeat])
        return replace(item, tool_mocks=mocks, unmocked="deny")


def record_row(path: str | PathLike[str], result: ItemResult) -> None:
    """Add the line of a row that ended. Raises `ProctorError` when it cannot be written."""
    calls = [encode(mock) for reply in result.replies for mock in _calls(reply)]
    line = safe_json({"item_id": result.item_id, "repeat": result.repeat, "calls": calls}, ensure_ascii=False)
    try:
        with Path(path).open("a", encoding="utf-8", newline="\n") as file:
            file.write(line + "\n")
    except OSError as problem:
        message = f"record_tools: {path} cannot be written: {safe_message(problem)}"
        raise ProctorError(message, code="RECORDER_FAILED") from problem


def _calls(reply: Reply) -> list[ToolMock]:
    """What the tools of a reply gave; the calls that ended it gave nothing that could be given again."""
    output = reply.output if isinstance(reply.output, list | tuple) else ()
    said = [message for message in output if isinstance(message, Message) and message.parts]
    ended = said[-1] if said and reply.error is not None else None
    return [
        _as_mock(call)
        for message in said
        for call in message.tool_calls
        if call.result is not MISSING or (call.error is not None and message is not ended)
    ]


def _as_mock(call: ToolCall) -> ToolMock:
    args = call.args if isinstance(call.args, Mapping) else MISSING  # text that was no JSON is not compared
    return ToolMock(call.name, args, output=call.result, error=call.error)


def check_recording(name: str, given: Any) -> None:
    """Raise a `UsageError` for a path that cannot be one of a recording."""
    if given is None:
        return
    if not isinstance(given, str | PathLike) or not str(given):
        raise UsageError(f"{name} is the path of a file, not {shown(given)}")
    path = Path(given)
    if path.is_dir() or not path.absolute().parent.is_dir():
        what = "is a folder" if path.is_dir() else f"is in {path.parent}, which is not there"
        raise UsageError(f"{name}: {path} {what}; give the path of a file")
