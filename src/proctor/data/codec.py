"""Values to JSON and back: what is written of a run, and what a store, a file or a viewer reads.

Everything can be written. Plain data and values over plain data come back equal; foreign objects come back as their
plain form, those without one as `Opaque`, scorers and drivers as the reference that their `to_ref` gives. So for every
x: encode(decode(encode(x))) == encode(x).
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable
from dataclasses import fields
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from proctor.data.agent_reply import AgentReply
from proctor.data.cached_call import CachedCall
from proctor.data.column import Column, ScorerRef
from proctor.data.compare import Difference
from proctor.data.failures import FailedRow, Shortfall
from proctor.data.item import Item, Turn
from proctor.data.judge import JudgeExecution, JudgeRecord, JudgeTotals
from proctor.data.mean import Mean
from proctor.data.message import Data, File, Message, Reasoning, Text, ToolCall
from proctor.data.opaque import Opaque, describe
from proctor.data.outcome import Failure, NotRun, NotScorable, Origin, Outcome, Outcomes, RunSnapshot
from proctor.data.plain import TAG, hashable, to_json
from proctor.data.reply import ItemResult, Reply, TurnOutcomes
from proctor.data.result import EvalResult, NotScorableCounts, Summary
from proctor.data.secrets import safe_json
from proctor.data.stored import Page, RowInfo, RunInfo
from proctor.data.tags import TagMeans
from proctor.data.threshold import Threshold
from proctor.data.tool_mock import ToolMock, ToolReport
from proctor.data.trajectory import ExpectedStep, Step, Trajectory, TrajectoryExpectation
from proctor.data.usage import Cost, Usage
from proctor.data.value import MISSING, Value, shown
from proctor.errors import EncodingError, ProctorError

__all__ = ["SCHEMA", "decode", "dumps", "encode", "loads"]

SCHEMA = 1
"""The version of the written form. A reader refuses newer ones; older ones are brought up to date as they are read."""

_CLASSES: tuple[type[Value], ...] = (
    AgentReply,
    CachedCall,
    Column,
    Cost,
    Data,
    Difference,
    EvalResult,
    ExpectedStep,
    FailedRow,
    Failure,
    File,
    Item,
    ItemResult,
    JudgeExecution,
    JudgeRecord,
    JudgeTotals,
    Mean,
    Message,
    NotRun,
    NotScorable,
    NotScorableCounts,
    Origin,
    Outcome,
    Page,
    Reasoning,
    Reply,
    RowInfo,
    RunInfo,
    RunSnapshot,
    ScorerRef,
    Shortfall,
    Step,
    Summary,
    TagMeans,
    Text,
    Threshold,
    ToolCall,
    ToolMock,
    ToolReport,
    Trajectory,
    TrajectoryExpectation,
    Turn,
    TurnOutcomes,
    Usage,
)
_SHARED = (Column, Origin, ScorerRef)
_OUTCOMES = "Outcomes"
_UNREADABLE = "UNREADABLE_DATA"


# ── writing ────────────────────────────────────────────────────────────────────────────────────────────────────────


def encode(value: Any) -> Any:
    """Anything as something `json.dumps` can write. Raises `EncodingError` for what is nested too deeply.

    >>> encode(Message("user", (Text("hi"),)))
    {'$': 'Message', 'role': 'user', 'parts': [{'$': 'Text', 'text': 'hi'}]}
    """
    made = to_json(value, other=_stand_in)
    return {TAG: _OUTCOMES, "outcomes": made} if type(value) is Outcomes else made


def dumps(value: Any, *, indent: int | None = None) -> str:
    """Anything as JSON text, with the version of its form. It is valid UTF-8 and holds no NaN, and no secrets."""
    separators = (",", ":") if indent is None else None
    whole = {"schema": SCHEMA, "value": encode(value)}
    try:
        return safe_json(whole, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators)
    except RecursionError:
        raise EncodingError("", "is nested too deeply to be written as JSON") from None


def _stand_in(value: Any) -> Any:
    """What is written of an object that has no plain form: its reference when it has one, else its description."""
    refer = getattr(type(value), "to_ref", None)
    if refer is not None:
        try:
            return to_json(refer(value))
        except Exception:  # noqa: BLE001 - somebody else's to_ref may raise, or give anything
            return to_json(describe(value))
    return to_json(describe(value))


# ── reading ────────────────────────────────────────────────────────────────────────────────────────────────────────


def decode(value: Any) -> Any:
    """What `encode` wrote, back. Equal columns become one object. Raises `ProctorError` for anything else."""
    try:
        return _Reader().read(value)
    except ProctorError:
        raise
    except RecursionError:
        raise EncodingError("", "is nested too deeply to be read") from None
    except Exception as error:
        message = f"cannot be read as something Proctor wrote: {type(error).__name__}: {error}"
        raise ProctorError(message, code=_UNREADABLE) from error


def loads(text: str | bytes) -> Any:
    """What `dumps` wrote, back. Raises `ProctorError` for text of a newer version, or that is not ours."""
    try:
        whole = json.loads(text)
    except RecursionError:
        raise EncodingError("", "is nested too deeply to be read") from None
    except ValueError as error:
        raise ProctorError(f"not JSON: {error}{_cut_off(error)}", code=_UNREADABLE) from None
    schema = whole.get("schema") if isinstance(whole, dict) else None
    if type(schema) is not int or "value" not in whole:
        raise ProctorError('not written by Proctor: {"schema": ..., "value": ...} expected', code=_UNREADABLE)
    if schema > SCHEMA:
        message = f"written in form {schema} by a newer Proctor; this one reads up to form {SCHEMA}: upgrade proctor"
        raise ProctorError(message, code="SCHEMA_TOO_NEW")
    return decode(whole["value"])


def _cut_off(error: ValueError) -> str:
    """What to add for JSON that breaks off: the error is at its end, or in what may be a word (`fals`) begun there."""
    if not isinstance(error, json.JSONDecodeError):
        return ""
    text = error.doc.strip()
    at_its_end = error.msg.startswith("Unterminated") or error.pos >= len(error.doc.rstrip()) - len("Infinity")
    return (
        ": the text is cut off at its end" if at_its_end and text.startswith("{") else "" if text else ": it is empty"
    )


class _Reader:
    """One decoding. Equal columns (and origins and references) become one object, as they were in the run."""

    def __init__(self) -> None:
        self.shared: dict[Any, Any] = {}

    def read(self, value: Any) -> Any:
        kind = type(value)
        if kind is list:
            return [self.read(item) for item in value]
        if kind is not dict:
            return value
        tag = value.get(TAG)
        if tag is None:
            return {key: self.read(item) for key, item in value.items()}
        if tag == "map":
            return {hashable(self.read(key)): self.read(item) for key, item in value["items"]}
        if tag == _OUTCOMES:
            return Outcomes(self.read(value["outcomes"]))
        scalar = _SCALARS.get(tag)
        return scalar(value) if scalar is not None else self.record(tag, value)

    def record(self, tag: str, written: dict[str, Any]) -> Any:
        if tag not in _RECORDS:
            raise ProctorError(f"unknown kind {shown(tag)}: written by a newer Proctor?", code=_UNREADABLE)
        cls, sequences = _RECORDS[tag]
        given = {}
        for name, item in written.items():
            if name != TAG:
                made = self.read(item)
                given[name] = sequences[name](made) if type(made) is list and name in sequences else made
        made = cls(**given)
        return self.shared.setdefault(made, made) if cls in _SHARED else made


def _tuples(items: list[Any]) -> tuple[Any, ...]:
    return tuple([tuple(item) if type(item) is list else item for item in items])


def _sequences(cls: type[Value]) -> dict[str, Callable[[list[Any]], Any]]:
    """The fields of a class that hold no list, with what makes them of one; their annotations say so."""
    found: dict[str, Callable[[list[Any]], Any]] = {}
    for field in fields(cls):  # type: ignore[arg-type]  # every subclass of Value is a dataclass
        annotation = str(field.type)
        if annotation.startswith("Outcomes"):
            found[field.name] = Outcomes
        elif annotation.startswith("Sequence[Sequence") or field.name in {"gates", "scorers"}:
            found[field.name] = _tuples  # a scorer may stand with its threshold: (scorer, 0.8)
        elif annotation.startswith(("tuple", "Sequence")):
            found[field.name] = tuple
    return found


_RECORDS = {cls.__name__: (cls, _sequences(cls)) for cls in _CLASSES}

_SCALARS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "missing": lambda value: MISSING,
    "text": lambda value: _text(value),  # noqa: PLW0108 - defined below
    "int": lambda value: int(value["hex"], 16),
    "float": lambda value: float(value["value"]),
    "bytes": lambda value: b64decode(value["base64"]),
    "datetime": lambda value: datetime.fromisoformat(value["iso"]),
    "date": lambda value: date.fromisoformat(value["iso"]),
    "time": lambda value: time.fromisoformat(value["iso"]),
    "timedelta": lambda value: timedelta(value["days"], value["seconds"], value["microseconds"]),
    "decimal": lambda value: Decimal(value["value"]),
    "opaque": lambda value: Opaque(_text(value["type"]), _text(value["shown"])),
}


def _text(written: Any) -> str:
    return written if isinstance(written, str) else bytes.fromhex(written["utf32"]).decode("utf-32-be", "surrogatepass")
