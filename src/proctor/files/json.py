"""JSON: one file that holds a list of rows, UTF-8."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from proctor.errors import UsageError
from proctor.files.holdable import json_texts

__all__ = ["read_rows", "write_rows"]


def read_rows(path: Path) -> Iterator[tuple[str, Any]]:
    """Each row with its place (`row 3`, counted from 1). Raises `UsageError` when the file is no list in JSON."""
    try:
        rows = json.loads(path.read_bytes().decode("utf-8-sig"))
    except UnicodeDecodeError as problem:
        raise UsageError(f"{path} is not UTF-8 (byte {problem.start + 1}); save it as UTF-8") from None
    except json.JSONDecodeError as problem:
        hint = "; for one JSON value a line name it .jsonl" if problem.msg == "Extra data" else ""
        raise UsageError(f"{path} is not JSON: {problem.msg} (line {problem.lineno}){hint}") from None
    except ValueError as problem:  # a number of more digits than Python reads
        raise UsageError(f"{path} is not JSON that can be read: {problem}") from None
    except RecursionError:
        raise UsageError(f"{path} is nested too deeply") from None
    if not isinstance(rows, list):
        hint = "; put [ ] around it" if isinstance(rows, dict) else ""
        raise UsageError(f"{path} must hold a list of rows, not {type(rows).__name__}{hint}")
    for number, row in enumerate(rows, start=1):
        yield f"row {number}", row


def write_rows(path: Path, rows: Iterable[Any]) -> None:
    """Write plain data so that `read_rows` gives it back equal. Nothing is written when a row cannot be."""
    texts = ",\n".join(json_texts(rows))
    path.write_bytes(f"[\n{texts}\n]\n".encode() if texts else b"[]\n")
