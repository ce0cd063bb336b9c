"""What was said and done: messages and their parts, in one neutral form.

What counts as a tool call: a `ToolCall` with a name whose state is `called`, `done` or `failed`. A `partial` call was
still being written, a `denied` one was stopped by a person or a policy: neither happened.

What counts as a tool error (one definition for checks, scorers and trajectories): a call that was made and never
completed (`called`), one that `failed`, or a result that says error: a mapping (or the JSON text of one) with a truthy
`error`, `is_error` or `isError`, or text that starts with `Error:` in any case.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from proctor.data.plain import canonical_json
from proctor.data.value import MISSING, Missing, Value

__all__ = ["CallState", "Data", "File", "Message", "Part", "Reasoning", "Text", "ToolCall"]

CallState: TypeAlias = Literal["partial", "called", "done", "failed", "denied"]

_MADE = frozenset({"called", "done", "failed"})
_SAYS_ERROR = ("error", "is_error", "isError")


@dataclass(frozen=True, slots=True, repr=False)
class Text(Value):
    """Words meant for the reader."""

    text: str


@dataclass(frozen=True, slots=True, repr=False)
class ToolCall(Value):
    """A tool that was called, with what came back.

    *args*: the arguments, a mapping as a rule; text when the model wrote something that is not JSON; MISSING when none
    were recorded. *result*: MISSING until it came; None is a result. *error*: what the framework said of the failure.
    *duration_ms*: how long the tool took, where that was seen. *mock*: the place among the item's `tool_mocks`, from 0,
    of the one that answered; None for a call that no mock answered.
    """

    name: str
    args: Any = MISSING
    id: str | None = None
    result: Any = MISSING
    error: str | None = None
    state: CallState = "called"
    duration_ms: float | None = None
    mock: int | None = None

    @property
    def made(self) -> bool:
        """Whether this counts as a call: it has a name, and was neither still being written nor denied."""
        return self.state in _MADE and bool(self.name)

    def is_error(self, *, text: bool = True) -> bool:
        """Whether the call is a tool error. *text*: also count results whose text starts with `Error:`.

        >>> ToolCall("search", result="Error: no such user", state="done").is_error()
        True
        >>> ToolCall("search", result="Error: no such user", state="done").is_error(text=False)
        False
        """
        if self.state in {"called", "failed"}:
            return True
        result = self.result
        if isinstance(result, str):
            return (text and result[:6].lower() == "error:") or _json_says_error(result)
        return isinstance(result, Mapping) and any(result.get(key) for key in _SAYS_ERROR)


@dataclass(frozen=True, slots=True, repr=False)
class Reasoning(Value):
    """What a model thought aloud before it answered; never part of a message's text."""

    text: str


@dataclass(frozen=True, slots=True, repr=False)
class File(Value):
    """An image, a sound, a document. *data*: bytes, base64 text or a URL, as it was recorded."""

    data: Any = MISSING
    media_type: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Data(Value):
    """A value that is no text. *type*: the dialect's name of the part (`data-weather`); None when the value *is* the
    message, as with a function that returns a mapping: then its canonical JSON is the message's text.
    """

    value: Any
    type: str | None = None


Part: TypeAlias = Text | ToolCall | Reasoning | File | Data


@dataclass(frozen=True, slots=True, repr=False)
class Message(Value):
    """One message. *role*: system, user, assistant, or tool (results whose call is not in the list).

    >>> Message("assistant", (Text("It is "), ToolCall("clock"), Text("noon."))).text
    'It is noon.'
    """

    role: str
    parts: tuple[Part, ...] = ()
    id: str | None = None
    metadata: Mapping[str, Any] | Missing = MISSING

    @property
    def text(self) -> str:
        """All text parts in order, joined with nothing."""
        parts = self.parts
        if len(parts) == 1 and type(parts[0]) is Text:
            return parts[0].text
        return "".join([text for part in parts if (text := _text_of(part))])

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls that were made, in order."""
        return tuple(part for part in self.parts if type(part) is ToolCall and part.made)


def _text_of(part: Part) -> str:
    if type(part) is Text:
        return part.text
    if type(part) is Data and part.type is None:
        return part.value if isinstance(part.value, str) else canonical_json(part.value)
    return ""


def _json_says_error(text: str) -> bool:
    if text.lstrip()[:1] != "{" or not any(f'"{key}"' in text for key in _SAYS_ERROR):
        return False
    import json

    try:
        value = json.loads(text)
    except (ValueError, RecursionError):  # no JSON, or too deep for Python's reader
        return False
    return isinstance(value, dict) and any(value.get(key) for key in _SAYS_ERROR)
