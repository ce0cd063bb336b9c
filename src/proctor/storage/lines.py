"""The lines of a recorder's file. Each is a JSON object that begins with what it is, so that most need no parsing.

{"proctor":"record","schema":1,"started_at":"...","session":{...}}       a sitting begins: when, and what it is of
{"item":"i7","repeat":0,"kind":"begin","at":2.5,"value":{...},"turn":0,"of":{...}}     the first reply, and the item
    {"item":"i7","repeat":0,"kind":"reply","at":3.0,"value":{...},"turn":1}            a later turn's
{"item":"i7","repeat":0,"kind":"outcome","at":3.5,"value":{...}}
{"item":"i7","repeat":0,"kind":"row","at":3.5,"value":{...}}             the row ended: all of it
{"proctor":"end","status":"complete","duration_ms":4.0}                  the sitting ended; time of all so far

*at*: ms since the sitting began. A sitting that was killed has no end: it was as long as its last line says.
"""

from __future__ import annotations

import json
import re
from math import inf
from typing import Any

from proctor.data.codec import SCHEMA, decode, encode
from proctor.data.outcome import Outcome
from proctor.data.reply import ItemResult, Reply
from proctor.data.result import RunStatus
from proctor.data.secrets import safe_json
from proctor.errors import ProctorError
from proctor.running.record import Event, RowId
from proctor.storage.session import Session, read_session

__all__ = [
    "HEAD",
    "begins_like_head",
    "end_line",
    "event_line",
    "is_end",
    "kind_of",
    "read_end",
    "read_event",
    "read_head",
    "read_label",
    "session_line",
]

HEAD = b'{"proctor":"record","schema":'
_END = b'{"proctor":"end",'
_LABEL = re.compile(
    rb'\{"item":("(?:[^"\\\x00-\x1f]|\\.)*"),"repeat":(\d+),"kind":"(begin|reply|outcome|row)",'
    rb'(?:"at":(\d{1,15}(?:\.\d+)?),)?'
)
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


def event_line(event: Event, *, at: float) -> bytes:
    """The line of an event, with its end. *at*: ms since the sitting began."""
    line: dict[str, Any] = {
        "item": event.row[0],
        "repeat": event.row[1],
        "kind": kind_of(event),
        "at": round(at, 1),
        "value": encode(event.value),
    }
    if event.turn is not None:
        line["turn"] = event.turn
    if event.begins and event.item is not None:
        line["of"] = encode(event.item)
    return _line(line)


def read_label(line: bytes) -> tuple[RowId, str, bytes | None] | None:
    """The row, the kind and the digits of `at` with which a line begins; None when it is no event's."""
    found = _LABEL.match(line)
    if found is None:
        return None
    name, repeat, kind, at = found.groups()
    try:
        item_id = json.loads(name) if b"\\" in name else name[1:-1].decode()
    except ValueError:
        return None
    return (item_id, int(repeat)), kind.decode(), at


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


def session_line(session: Session, *, started_at: str) -> bytes:
    """The line with which a sitting begins."""
    head = {"proctor": "record", "schema": SCHEMA, "started_at": started_at, "session": session.to_json()}
    return _line(head)


def read_head(line: bytes) -> tuple[Session, str | None]:
    """What `session_line` wrote, and when. Raises `ProctorError` for a form that is newer, or damaged."""
    try:
        written = json.loads(line)
        schema, session = written["schema"], written["session"]
        if schema > SCHEMA:
            message = f"written in form {schema} by a newer Proctor; this one reads up to {SCHEMA}: upgrade proctor"
            raise ProctorError(message, code="SCHEMA_TOO_NEW")
        found = read_session(session)
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise ProctorError(f"not the beginning of a run: {error}", code="UNREADABLE_DATA") from error
    started_at = written.get("started_at")
    return found, started_at if isinstance(started_at, str) else None


def end_line(*, status: RunStatus, duration_ms: float) -> bytes:
    """The line with which a sitting ends that was not killed. *duration_ms*: of all sittings so far."""
    return _line({"proctor": "end", "status": status, "duration_ms": duration_ms})


def is_end(line: bytes) -> bool:
    """Whether a line begins as one of `end_line` does."""
    return line.startswith(_END)


def read_end(line: bytes) -> float:
    """The `duration_ms` of an `end_line`. Raises `ProctorError` when it is damaged."""
    try:
        duration = float(json.loads(line)["duration_ms"])
        if not 0 <= duration < inf:
            raise ValueError(f"no time: {duration}")
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise ProctorError(f"not the end of a run: {error}", code="UNREADABLE_DATA") from error
    return duration


def begins_like_head(text: bytes) -> bool:
    """Whether *text* may be what a killed process left of the first line."""
    return text.startswith(HEAD) or HEAD.startswith(text)


def _line(written: dict[str, Any]) -> bytes:
    """ASCII: a half-written character cannot be, and ids with lone surrogates can."""
    return safe_json(written, allow_nan=False, separators=(",", ":")).encode() + b"\n"
