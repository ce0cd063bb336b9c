"""CSV: a line that names the columns, then one row a line, UTF-8, as RFC 4180 has it: commas, and double quotes.

A cell is text, whatever it looks like: `007`, `1e5`, `TRUE`, `N/A`, `null` and ` x ` stay as they are. An empty cell is
no cell: the row lacks that key. `""` is an empty text.

A column holds JSON when its name ends in `:json` (which is not part of the key), and when it is a field that text can
never be: messages, inputs, turns, tags, metadata, request_context, start_options, tool_mocks, stop_on_failure.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from proctor.data.shown import plural
from proctor.data.value import shown
from proctor.errors import UsageError, cut
from proctor.files.holdable import checked_rows, json_text

__all__ = ["read_rows", "write_rows"]

_JSON = ":json"
_NEVER_TEXT = frozenset(
    {
        *("messages", "inputs", "turns", "tags", "metadata", "request_context", "start_options", "tool_mocks"),
        *("stop_on_failure", "requestContext", "startOptions", "toolMocks", "stopOnFailure"),
    }
)
_Cells: TypeAlias = list[str | None] | UsageError
_OTHER_COMMAS = {";": "semicolons", "\t": "tabs", "|": "bars"}


def read_rows(path: Path) -> Iterator[tuple[str, Any]]:
    """Each row with its place (`line 3`, where it begins); for one that cannot be read, the `UsageError` that says why.

    Raises `UsageError` when the first line is no list of column names, and when the file is not UTF-8.
    """
    with path.open("rb") as file:
        records = _records(_lines(file, path))
        columns = _columns(next(records, None), path)
        for line, cells in records:
            yield f"line {line}", _row(cells, columns)


# ── lines to cells ─────────────────────────────────────────────────────────────────────────────────────────────────


def _lines(file: Iterable[bytes], path: Path) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(file, start=1):
        try:
            yield number, (line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line).decode()
        except UnicodeDecodeError as problem:
            message = f"{path} is not UTF-8 (line {number}, byte {problem.start + 1}); save it as UTF-8"
            raise UsageError(message) from None


def _records(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, _Cells]]:
    """The cells of each record, with the line it begins on. Empty lines are skipped."""
    for number, line in lines:
        if line.strip("\r\n"):
            try:
                yield number, list(_cells(line, lines))
            except UsageError as problem:
                yield number, problem


def _cells(line: str, lines: Iterator[tuple[int, str]]) -> Iterator[str | None]:
    """The cells of a record that begins on *line*; quoted ones may go on over the next ones. None: an empty cell."""
    at = 0
    while True:
        if line.startswith('"', at):
            text, line, at = _quoted(line, at + 1, lines)
            yield text
        else:
            end = line.find(",", at)
            text = line[at:end] if end >= 0 else line[at:].removesuffix("\n").removesuffix("\r")
            _check_bare(text)
            at += len(text)
            yield text or None
        rest = line[at : at + 2]
        if rest in ("", "\n", "\r", "\r\n"):
            return
        if not rest.startswith(","):
            raise UsageError(f"has {cut(line[at:].strip(), 20)!r} after a closing quote; double a quote inside a cell")
        at += 1


def _quoted(line: str, at: int, lines: Iterator[tuple[int, str]]) -> tuple[str, str, int]:
    """The text of a cell whose quote opened before *at*; the line it ends on, and the place after its closing quote."""
    parts = []
    while True:
        end = line.find('"', at)
        if end < 0:
            parts.append(line[at:])
            following = next(lines, None)
            if following is None:
                raise UsageError("opens a quote that is never closed")
            line, at = following[1], 0
        elif line.startswith('"', end + 1):
            parts.append(line[at : end + 1])
            at = end + 2
        else:
            parts.append(line[at:end])
            return "".join(parts), line, end + 1


def _check_bare(cell: str) -> None:
    if '"' in cell:
        raise UsageError(
            f"has a quote inside the cell {cut(cell, 40)!r}: put the cell in quotes and double those in it"
        )
    if "\r" in cell:
        raise UsageError("has a carriage return in the middle: end lines with a line feed, or put the cell in quotes")


# ── cells to rows ──────────────────────────────────────────────────────────────────────────────────────────────────


def _columns(first: tuple[int, _Cells] | None, path: Path) -> list[tuple[str, bool]]:
    """The key of each column, and whether it holds JSON."""
    if first is None:
        raise UsageError(f"{path} is empty: its first line must name the columns")
    line, names = first
    if isinstance(names, UsageError):
        raise UsageError(f"{path}: line {line} {names.message}")
    if len(names) == 1 and (what := _other_commas(names[0] or "")):
        raise UsageError(f"{path}: its columns seem to stand between {what}; save it with commas (line {line})")
    columns = [((name or "").removesuffix(_JSON), _holds_json(name or "")) for name in names]
    seen: set[str] = set()
    for number, (key, _) in enumerate(columns, start=1):
        if not key:
            raise UsageError(f"{path}: column {number} has no name (line {line})")
        if key in seen:
            raise UsageError(f"{path}: two columns are named {key!r} (line {line})")
        seen.add(key)
    return columns


def _other_commas(name: str) -> str | None:
    return next((what for char, what in _OTHER_COMMAS.items() if char in name), None)


def _holds_json(name: str) -> bool:
    return name.endswith(_JSON) or name in _NEVER_TEXT


def _row(cells: _Cells, columns: Sequence[tuple[str, bool]]) -> dict[str, Any] | UsageError:
    if isinstance(cells, UsageError):
        return cells
    if len(cells) != len(columns):
        return UsageError(f"has {plural(len(cells), 'cell')}, the first line names {plural(len(columns), 'column')}")
    row: dict[str, Any] = {}
    for cell, (key, is_json) in zip(cells, columns, strict=True):
        if cell is not None:
            try:
                row[key] = json.loads(cell) if is_json else cell
            except (ValueError, RecursionError) as problem:
                return UsageError(f"{key}: {shown(cell, 40)} is not JSON ({problem})")
    return row


# ── writing ────────────────────────────────────────────────────────────────────────────────────────────────────────


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write mappings so that `read_rows` gives them back equal. Nothing is written when a row cannot be.

    A column whose values are not all text is written as JSON, under its name with `:json` where that is needed.
    """
    made = []
    for number, row in checked_rows(rows, format="CSV"):
        if not isinstance(row, dict) or not row:
            raise UsageError(f"row {number}: a row of CSV is a mapping that is not empty, not {shown(row)}")
        made.append(row)
    columns = {key: _is_json(key, made) for key in dict.fromkeys(key for row in made for key in row)}
    names = [key + _JSON if is_json and key not in _NEVER_TEXT else key for key, is_json in columns.items()]
    if "" in columns:
        raise UsageError("CSV has no column without a name: the key '' cannot be written")
    if len(names) == 1 and (what := _other_commas(names[0])):
        raise UsageError(f"CSV: a single column {names[0]!r} would be taken for several between {what}")
    lines = [",".join(map(_written, names))] if names else []
    for number, row in enumerate(made, start=1):
        lines.append(",".join(_cell(row, key, is_json=is_json, number=number) for key, is_json in columns.items()))
    path.write_bytes("".join(f"{line}\r\n" for line in lines).encode())


def _is_json(key: str, rows: Sequence[Mapping[str, Any]]) -> bool:
    return _holds_json(key) or any(not isinstance(row.get(key, ""), str) for row in rows)


def _cell(row: Mapping[str, Any], key: str, *, is_json: bool, number: int) -> str:
    if key not in row:
        return ""
    return _written(json_text(row[key], where=f"row {number}: {key}") if is_json else row[key])


def _written(text: str) -> str:
    if text and not any(char in text for char in ',"\r\n\ufeff'):
        return text
    doubled = text.replace('"', '""')
    return f'"{doubled}"'
