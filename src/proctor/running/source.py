"""Where items come from: what the caller gave, or a file, every mistake in it at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from proctor.data.item import Item
from proctor.data.row import item_from_row
from proctor.errors import DataErrors, ProctorError, UsageError
from proctor.plugins import find

__all__ = ["load_items", "read_items"]

_NO_DATA = "RUN_EXPERIMENT_FAILED_NO_DATA_PROVIDED"
_CODE = "INVALID_DATA_ITEM"


def read_items(data: Any) -> list[Item]:
    """The items of *data*: a path, or an iterable of items and mappings. Raises `DataErrors` with all that is wrong."""
    if isinstance(data, str | PathLike):
        return load_items(data)
    if isinstance(data, Mapping) or not isinstance(data, Iterable):
        raise UsageError(f"data must be a list of items or the path of a file, not {type(data).__name__}", code=_CODE)
    rows = [(f"item {index}", row) for index, row in enumerate(data)]
    return _items("data", rows, names=None)


def load_items(path: str | PathLike[str], *, names: Mapping[str, str] | None = None) -> list[Item]:
    """The items of a .jsonl or .json file. *names*: for a field of Item, the key that holds it in this file.

    Raises `DataErrors` with every bad row, by line (or place) and key.
    """
    file = Path(path)
    if not file.exists():
        raise UsageError(f"there is no file {str(file)!r} (looked in {Path.cwd()})", code=_NO_DATA)
    if file.is_dir():
        raise UsageError(f"{str(file)!r} is a folder; give one of its files", code=_NO_DATA)
    rows = find("file", file.suffix.lower())(file)
    return _items(str(file), rows, names=names)


def _items(where: str, rows: Iterable[tuple[str, Any]], *, names: Mapping[str, str] | None) -> list[Item]:
    items, problems = [], []
    for place, row in rows:
        try:
            if isinstance(row, ProctorError):
                raise row
            items.append(item_from_row(row, names=names))
        except ProctorError as problem:
            problems.append(f"{place}: {problem}")
    if problems:
        raise DataErrors(where, problems)
    if not items:
        raise UsageError(f"{where}: no items", code=_NO_DATA)
    return items
