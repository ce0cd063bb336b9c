"""The lines of a recorder's file. Each is a JSON object that begins with what it is, so that most need no parsing.

{"proctor":"record","schema":1,"session":{...}}                          a run begins: what it is of
{"item":"i7","repeat":0,"kind":"begin","value":{...},"turn":0,"of":{...}}    the first reply, and the item
    {"item":"i7","repeat":0,"kind":"reply","value":{...},"turn":1}               a later turn's
{"item":"i7","repeat":0,"kind":"outcome","value":{...}}
{"item":"i7","repeat":0,"kind":"row","value":{...}}                      the row ended: all of it
"""

from __future__ import annotations

import json
import re
from typing import Any

from proctor.data.codec import SCHEMA, decode, encode
from proctor.data.column import Column
from proctor.data.outcome import Outcome
from proctor.data.reply import ItemResult, Reply
from proctor.data.secrets import safe_json
from proctor.errors import ProctorError
from proctor.running.record import Event, RowId
from proctor.storage.session import Session

__all__ = [
    "HEAD",
    "begins_like_head",
    "event_line",
    "kind_of",
    "read_event",
    "read_head",
    "read_label",
    "session_line",
]

HEAD = b'{"proctor":"record","schema":'
_LABEL = re.compile(rb'\{"item":("(?:[^"\\\x00-\x1f]|\\.)*"),"repeat":(\d+),"kind":"(begin|reply|outcome|row)",')
_KINDS: dict[str, type[Reply | Outcome | ItemResult]] = {
    "begin": Reply,
    "reply": Reply,
    "outcome": Outcome,
    "row": ItemResult,
}


def kind_of(event: Event) -> str:
    """What its line is called."""
    if isinstance(event.value, Reply):
        return "begin" if event.begins else "reply"
    return "outcome" if isinstance(event.value, Outcome) else "row"


def event_line(event: Event) -> bytes:
    """The line of an event, with its end."""
    line: dict[str, Any] = {
        "item": event.row[0],
        "repeat": event.row[1],
        "kind": kind_of(event),
        "value": encode(event.value),
    }
    if event.turn is not None:
        line["turn"] = event.turn
    if event.begins and event.item is not None:
        line["of"] = encode(event.item)
    return _line(line)


def read_label(line: bytes) -> tuple[RowId, str] | None:
    """The row and the kind with which a line begins; None when it is no event's."""
    found = _LABEL.match(line)
    if found is None:
        return None
    name, repeat, kind = found.groups()
    try:
        item_id = json.loads(name) if b"\\" in name else name[1:-1].decode()
    except ValueError:
        return None
    return (item_id, int(repeat)), kind.decode()


def read_event(line: bytes) -> Event:
    """The event of a whole line. Raises `ProctorError` when the line is damaged."""
    try:
        written = json.loads(line)
        row, kind = (written["item"], written["repeat"]), _KINDS[written["kind"]]
        value, item = decode(written["value"]), decode(written.get("of"))
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise ProctorError(f"not a line of a recorder: {error}", code="UNREADABLE_DATA") from error
    if not isinstance(value, kind):
        raise ProctorError(f"not a {written['kind']}: {type(value).__name__}", code="UNREADABLE_DATA")
    return Event(row, value, written.get("turn"), item)


def session_line(session: Session) -> bytes:
    """The line with which a run begins."""
    columns = [
        [column.position, column.turn, column.key, column.scorer_id, fingerprint]
        for column, fingerprint in session.columns.items()
    ]
    written = {"name": session.name, "target": session.target, "options": session.options, "columns": columns}
    return _line({"proctor": "record", "schema": SCHEMA, "session": written})


def read_head(line: bytes) -> Session:
    """What `session_line` wrote. Raises `ProctorError` for a form that is newer, or damaged."""
    try:
        written = json.loads(line)
        schema, session = written["schema"], written["session"]
        if schema > SCHEMA:
            message = f"written in form {schema} by a newer Proctor; this one reads up to {SCHEMA}: upgrade proctor"
            raise ProctorError(message, code="SCHEMA_TOO_NEW")
        columns = {Column(*column): fingerprint for *column, fingerprint in session["columns"]}
        return Session(name=session["name"], target=session["target"], options=session["options"], columns=columns)
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise ProctorError(f"not the beginning of a run: {error}", code="UNREADABLE_DATA") from error


def begins_like_head(text: bytes) -> bool:
    """Whether *text* may be what a killed process left of the first line."""
    return text.startswith(HEAD) or HEAD.startswith(text)


def _line(written: dict[str, Any]) -> bytes:
    """ASCII: a half-written character cannot be, and ids with lone surrogates can."""
    return safe_json(written, allow_nan=False, separators=(",", ":")).encode() + b"\n"
