"""Where items come from: what the caller gave, or a file, every mistake in it at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from proctor.data.item import Item, style_of_row
from proctor.data.row import item_from_row
from proctor.data.secrets import redact_text
from proctor.data.value import Value
from proctor.errors import ProctorError, UnknownName, UsageError, safe_message
from proctor.plugins import find, known
from proctor.running.choice import Picker, picked_from

__all__ = ["NO_DATA", "DataFile", "Source", "read_items"]

NO_DATA = "RUN_EXPERIMENT_FAILED_NO_DATA_PROVIDED"
_CODE = "INVALID_DATA_ITEM"


@dataclass(frozen=True, slots=True, repr=False)
class DataFile(Value):
    """A file of items. *names*: for a field of Item, the key that holds it in this file (`{"output": "answer"}`)."""

    path: str | PathLike[str]
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Source:
    """What was read. *where*: from what; *rows*: each row's place (`line 3`), and its item or why there is none.

    *indexes*: which row of the data each of them is, counted from 0; there are gaps where some were not chosen.
    *made_ids*: see `Picker`.
    """

    where: str
    rows: list[tuple[str, Item | ProctorError]] = field(default_factory=list)
    indexes: list[int] = field(default_factory=list)
    made_ids: list[str | None] = field(default_factory=list)

    @property
    def items(self) -> list[Item]:
        """The rows that are items."""
        return [row for _, row in self.rows if isinstance(row, Item)]


def read_items(data: Any) -> Source:
    """The rows of *data*: a path, a `DataFile`, or an iterable of items and mappings. Bad rows come as their error.

    Of `Chosen` data those that are chosen; what lies behind the last of them is not looked at.
    """
    data, picker = picked_from(data)
    if isinstance(data, str | PathLike):
        data = DataFile(data)
    if isinstance(data, DataFile):
        return _items(str(data.path), _rows_of(Path(data.path)), names=data.names, picker=picker)
    if isinstance(data, Mapping) or not isinstance(data, Iterable):
        raise UsageError(f"data must be a list of items or the path of a file, not {type(data).__name__}", code=_CODE)
    return _items("data", _numbered(data), names={}, picker=picker)


def _numbered(data: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    index = -1
    try:
        for index, row in enumerate(data):
            yield f"item {index}", row
    except Exception as error:
        raised = f"{type(error).__name__}: {redact_text(safe_message(error))}"
        raise UsageError(f"data raised {raised} (after {index + 1} items)", code=_CODE) from error


def _rows_of(file: Path) -> Iterator[tuple[str, Any]]:
    if not file.exists():
        raise UsageError(f"there is no file {str(file)!r} (looked in {Path.cwd()})", code=NO_DATA)
    if file.is_dir():
        raise UsageError(f"{str(file)!r} is a folder; give one of its files", code=NO_DATA)
    try:
        read = find("file", file.suffix.lower())
    except UnknownName:
        endings = ", ".join(known("file"))
        raise UsageError(
            f"{str(file)!r}: no reader for files that end in {file.suffix!r}; there are {endings}"
        ) from None
    try:
        yield from read(file)
    except OSError as problem:
        raise UsageError(f"{str(file)!r} cannot be read: {problem.strerror}") from problem


def _items(where: str, rows: Iterable[tuple[str, Any]], *, names: Mapping[str, str], picker: Picker) -> Source:
    source = Source(where)
    styles: dict[str, str] = {}
    for index, (place, row) in enumerate(rows):
        try:
            if isinstance(row, ProctorError):
                raise row
            if isinstance(row, Mapping):
                _keep_to_one_style(row, place, styles)
            made: Item | ProctorError = item_from_row(row, names=names)
        except ProctorError as problem:
            made = problem
        if picker.takes(made):
            source.rows.append((place, made))
            source.indexes.append(index)
            source.made_ids.append(picker.made_id)
            if picker.full:
                break
    picker.check(where)
    if not source.rows:
        raise UsageError(f"{where}: no items", code=NO_DATA)
    return source


def _keep_to_one_style(row: Mapping[str, Any], place: str, styles: dict[str, str]) -> None:
    """*styles*: where each style was seen first."""
    style = style_of_row(row)
    if style is None:
        return
    styles.setdefault(style, place)
    for other, first in styles.items():
        if other != style:
            raise UsageError(f"writes its keys in {style}, {first} in {other}: keep to one", code=_CODE)
