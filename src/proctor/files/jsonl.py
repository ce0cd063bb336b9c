"""JSON Lines: one JSON value a line, UTF-8. Empty lines are skipped."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from proctor.errors import UsageError
from proctor.files.holdable import json_texts

__all__ = ["read_rows", "write_rows"]


def read_rows(path: Path) -> Iterator[tuple[str, Any]]:
    """Each row with its place (`line 3`); for a line that is not JSON, the `UsageError` that says why."""
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            text = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
            if text.strip():
                yield f"line {number}", _value(text)


def _value(line: bytes) -> Any:
    try:
        return json.loads(line.decode())
    except UnicodeDecodeError as problem:
        return UsageError(f"is not UTF-8 (byte {problem.start + 1}); save the file as UTF-8")
    except json.JSONDecodeError as problem:
        hint = "; one whole JSON value a line, or name the file .json" if line.strip() in (b"{", b"[") else ""
        return UsageError(f"is not JSON: {problem.msg} (column {problem.colno}){hint}")
    except ValueError as problem:  # a number of more digits than Python reads
        return UsageError(f"is not JSON that can be read: {problem}")
    except RecursionError:
        return UsageError("is nested too deeply")


def write_rows(path: Path, rows: Iterable[Any]) -> None:
    """Write plain data so that `read_rows` gives it back equal. Nothing is written when a row cannot be."""
    path.write_bytes("".join(f"{text}\n" for text in json_texts(rows)).encode())
