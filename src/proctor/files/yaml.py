"""YAML: one document that holds a list of rows, UTF-8.

A word without quotes means what it means in JSON: `true`, `false`, `null` (also `~`, or nothing at all) and numbers as
JSON writes them. Everything else is text: `no`, `on`, `True`, `2024-01-01`, `1:30`, `007`, `0x1F`, `1_000`. Keys are
always text. Tags (`!!int`, `!env`) and merge keys (`<<`) are refused, and so is a key that stands twice in a mapping.

`&name` and `*name` are read as copies, as many as make 100,000 values in a row at the most.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from yaml import events as kinds

from proctor.data.plain import DEEPEST, copied
from proctor.errors import UsageError, cut
from proctor.files.holdable import checked_rows

__all__ = ["read_rows", "write_rows"]

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}
_TEXT_TAGS = ("!", "tag:yaml.org,2002:str")
_MOST_COPIED = 100_000
_PLAIN_TEXT = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*(?: [A-Za-z0-9_.-]+)*")
_LONGEST_PLAIN = 60


def read_rows(path: Path) -> Iterator[tuple[str, Any]]:
    """Each row with its place (`line 3`, where it begins); for one that cannot be read, the `UsageError` that says why.

    Raises `UsageError` where the file stops being YAML, and when it holds no list.
    """
    with path.open("rb") as file:
        try:
            yield from _rows(_Reader(yaml.parse(file, Loader=_loader())), path)
        except yaml.YAMLError as problem:
            raise UsageError(f"{path} is not YAML: {_said(problem)}") from None


def _rows(reader: _Reader, path: Path) -> Iterator[tuple[str, Any]]:
    reader.take()  # the stream begins
    if isinstance(reader.take(), kinds.StreamEndEvent):
        raise UsageError(f"{path} is empty: it must hold a list of rows")
    top = reader.take()
    if not isinstance(top, kinds.SequenceStartEvent):
        hint = "; begin each row with -" if isinstance(top, kinds.MappingStartEvent) else ""
        raise UsageError(f"{path} must hold a list of rows{hint}")
    while not isinstance(event := reader.take(), kinds.SequenceEndEvent):
        yield f"line {event.start_mark.line + 1}", reader.row(event)
    reader.take()  # the document ends
    if not isinstance(after := reader.take(), kinds.StreamEndEvent):
        raise UsageError(f"{path} holds several documents (line {after.start_mark.line + 1}); put all rows in one list")


class _Problem(Exception):
    """What is wrong with a row, and on which line."""

    def __init__(self, event: Any, message: str) -> None:
        super().__init__(f"{message} (line {event.start_mark.line + 1})")


class _Reader:
    """Values from the events of a parser, row by row, so that a file of any length needs the room of one row."""

    def __init__(self, events: Iterator[Any]) -> None:
        self._events = events
        self._depth = 0
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._size = 0  # how many values this row has so far
        self._copied = 0

    def take(self) -> Any:
        """The next event."""
        event = next(self._events)
        if isinstance(event, kinds.CollectionStartEvent):
            self._depth += 1
        elif isinstance(event, kinds.CollectionEndEvent):
            self._depth -= 1
        return event

    def row(self, event: Any) -> Any:
        """The value that begins with *event*, or the `UsageError` that says what is wrong with it."""
        outside = self._depth - isinstance(event, kinds.CollectionStartEvent)
        self._size = self._copied = 0
        try:
            return self._value(event)
        except (_Problem, RecursionError) as problem:
            while self._depth > outside:
                self.take()
            return UsageError(str(problem) if isinstance(problem, _Problem) else "is nested too deeply")

    def _value(self, event: Any) -> Any:
        if isinstance(event, kinds.AliasEvent):
            return self._alias(event)
        if self._depth > DEEPEST:
            raise _Problem(event, "is nested too deeply")
        before = self._size
        self._size += 1
        value = self._made(event)
        if event.anchor:
            self._anchors[event.anchor] = (value, self._size - before)
        return value

    def _made(self, event: Any) -> Any:
        if event.tag is not None and not (isinstance(event, kinds.ScalarEvent) and event.tag in _TEXT_TAGS):
            raise _Problem(event, f"has the tag {cut(event.tag, 40)}, which is not read; put text in quotes")
        if isinstance(event, kinds.SequenceStartEvent):
            return list(self._items())
        if isinstance(event, kinds.MappingStartEvent):
            return self._mapping()
        return event.value if event.tag is not None or event.style else _scalar(event)

    def _items(self) -> Iterator[Any]:
        while not isinstance(event := self.take(), kinds.SequenceEndEvent):
            yield self._value(event)

    def _mapping(self) -> dict[str, Any]:
        made: dict[str, Any] = {}
        while not isinstance(event := self.take(), kinds.MappingEndEvent):
            key = self._key(event)
            if key in made:
                raise _Problem(event, f"has the key {cut(key, 40)!r} twice")
            made[key] = self._value(self.take())
        return made

    def _key(self, event: Any) -> str:
        if not isinstance(event, kinds.ScalarEvent) or event.anchor:
            raise _Problem(event, "has a key that is no plain text")
        if event.value == "<<" and not event.style:
            raise _Problem(event, "has a merge key (<<), which is not read: write the keys out")
        return str(event.value)

    def _alias(self, event: Any) -> Any:
        if event.anchor not in self._anchors:
            raise _Problem(event, f"refers to *{event.anchor}, and no value before it is named &{event.anchor}")
        value, size = self._anchors[event.anchor]
        self._size += size
        self._copied += size
        if self._copied > _MOST_COPIED:
            raise _Problem(event, f"refers to *{event.anchor} and others for more than {_MOST_COPIED} values in all")
        return copied(value)


def _scalar(event: Any) -> Any:
    """What a word without quotes means."""
    text = event.value
    if text in _WORDS:
        return _WORDS[text]
    if not _NUMBER.fullmatch(text):
        return text
    try:
        return json.loads(text)
    except ValueError:
        raise _Problem(event, f"has a number of {len(text)} digits; put it in quotes") from None


def _said(problem: Any) -> str:
    mark = getattr(problem, "problem_mark", None)
    what = getattr(problem, "problem", None) or getattr(problem, "reason", None) or "it cannot be read"
    return f"{what} (line {mark.line + 1})" if mark is not None else str(what)


@cache
def _loader() -> Any:
    """The parser written in C where there is one."""
    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


# ── writing ────────────────────────────────────────────────────────────────────────────────────────────────────────


def write_rows(path: Path, rows: Iterable[Any]) -> None:
    """Write plain data so that `read_rows` gives it back equal. Nothing is written when a row cannot be."""
    options: dict[str, Any] = {"allow_unicode": True, "sort_keys": False, "width": 2**31 - 1}
    texts = [
        str(yaml.dump([row], Dumper=_dumper(), default_flow_style=False, **options))
        for _, row in checked_rows(rows, format="YAML")
    ]
    path.write_bytes("".join(texts or ["[]\n"]).encode())


@cache
def _dumper() -> Any:
    class Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
        def ignore_aliases(self, _: Any) -> bool:
            return True

    def text(dumper: Any, value: str) -> Any:
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=_style(value))

    Dumper.add_representer(str, text)
    return Dumper


def _style(text: str) -> str | None:
    """Bare words for what is plainly text, a block for lines, quotes for the rest."""
    if len(text) <= _LONGEST_PLAIN and _PLAIN_TEXT.fullmatch(text) and text not in _WORDS:
        return None
    block = "\n" in text and text.replace("\n", "").isprintable() and not text[0].isspace()
    return "|" if block and not text.endswith("\n\n") else '"'
