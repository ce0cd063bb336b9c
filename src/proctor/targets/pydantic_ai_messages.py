"""Messages between Proctor and pydantic-ai: what an agent is given in its own form, and what it did in ours."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from proctor.data.message import Data, File, Message, Part, Reasoning, Text, ToolCall
from proctor.data.plain import canonical_json, plain
from proctor.data.value import MISSING
from proctor.errors import UsageError

if TYPE_CHECKING:
    from pydantic_ai import messages as sent

__all__ = ["args_of", "given", "kept", "prompt", "seen", "was_kept"]

_KEPT: Final = "pydantic-ai"  # the type of the data by which a thread memory keeps a message in its own form
_CALLS: Final = ("tool-call", "builtin-tool-call")  # those of the model's provider, too
_OUTPUT: Final = "final_result"  # begins the names of the tools by which structured output comes


# ── what an agent is given ─────────────────────────────────────────────────────────────────────────────────────────


def prompt(message: Message) -> Any:
    """What a user says: text, or texts and files in their order."""
    if all(isinstance(part, Text) for part in message.parts):
        return message.text
    return [_content(part) for part in message.parts]


def given(messages: Sequence[Message]) -> list[sent.ModelMessage]:
    """What was said before, as a history: calls of tools with what came back, too."""
    from pydantic_ai import messages as made

    found: list[sent.ModelMessage] = []
    for message in messages:
        if message.role == "system":
            found.append(made.ModelRequest(parts=[made.SystemPromptPart(message.text)]))
        elif message.role == "user":
            found.append(made.ModelRequest(parts=[made.UserPromptPart(prompt(message))]))
        else:
            found += _answer(message)
    return found


def _answer(message: Message) -> list[sent.ModelMessage]:
    from pydantic_ai import messages as made

    said: list[Any] = []
    back: list[Any] = []
    for at, part in enumerate(message.parts):
        if isinstance(part, ToolCall):
            id = part.id or f"{part.name}-{at}"
            said.append(made.ToolCallPart(part.name, None if part.args is MISSING else part.args, tool_call_id=id))
            if part.result is not MISSING or part.error is not None:
                failed = part.result is MISSING
                content = part.error if failed else part.result
                back.append(
                    made.ToolReturnPart(part.name, content, tool_call_id=id, outcome="failed" if failed else "success")
                )
        elif isinstance(part, Reasoning):
            said.append(made.ThinkingPart(part.text))
        elif isinstance(part, Text | Data):
            said.append(made.TextPart(Message("assistant", (part,)).text))
    found: list[sent.ModelMessage] = [made.ModelResponse(parts=said)] if said else []
    return [*found, made.ModelRequest(parts=back)] if back else found


def _content(part: Part) -> Any:
    from pydantic_ai import BinaryContent, DocumentUrl, ImageUrl

    if isinstance(part, Text):
        return part.text
    if isinstance(part, Data):
        return part.value if isinstance(part.value, str) else canonical_json(part.value)
    if not isinstance(part, File):
        raise UsageError(f"a {type(part).__name__} in what the user says cannot be given to an agent of pydantic-ai")
    data, kind = part.data, part.media_type or "image/png"
    if isinstance(data, str) and data.startswith(("http://", "https://")):
        return ImageUrl(data) if kind.startswith("image/") else DocumentUrl(data)
    if isinstance(data, str) and data.startswith("data:"):
        return BinaryContent.from_data_uri(data)
    if isinstance(data, str):
        data = b64decode(data)
    if not isinstance(data, bytes):
        raise UsageError(f"the file {part.name or 'without a name'} in what the user says has no data")
    return BinaryContent(data, media_type=kind)


# ── what a thread memory keeps ─────────────────────────────────────────────────────────────────────────────────────


def kept(messages: Sequence[sent.ModelMessage]) -> list[Message]:
    """Messages as a thread memory keeps them: in their own form, whole."""
    from pydantic_ai.messages import ModelMessagesTypeAdapter

    dumped = ModelMessagesTypeAdapter.dump_python(list(messages), mode="json")
    return [
        Message(
            "user" if one["kind"] == "request" else "assistant", (Data(one, type=_KEPT),), id=f"{one['run_id']}-{at}"
        )
        for at, one in enumerate(dumped)
    ]


def was_kept(messages: Sequence[Message]) -> list[sent.ModelMessage]:
    """The history that a thread memory has; also of a thread that somebody else began."""
    from pydantic_ai.messages import ModelMessagesTypeAdapter

    found: list[sent.ModelMessage] = []
    for message in messages:
        own = [part.value for part in message.parts if isinstance(part, Data) and part.type == _KEPT]
        found += ModelMessagesTypeAdapter.validate_python(own) if own else given([message])
    return found


# ── what it did ────────────────────────────────────────────────────────────────────────────────────────────────────


def seen(messages: Sequence[sent.ModelMessage]) -> list[Message]:
    """What an agent did, as messages: the user's prompt left out, each result joined to its call."""
    from pydantic_ai.messages import ModelResponse

    found: list[list[Part]] = []
    calls: dict[str, tuple[int, int]] = {}
    for message in messages:
        if isinstance(message, ModelResponse):
            found.append([part for each in message.parts for part in _said(each)])
            for at, part in enumerate(found[-1]):
                if isinstance(part, ToolCall) and part.id is not None:
                    calls[part.id] = (len(found) - 1, at)
        for given in message.parts:
            if given.part_kind in _CALLS:
                continue
            place = calls.get(getattr(given, "tool_call_id", None) or "")
            if place is not None:
                found[place[0]][place[1]] = _answered(found[place[0]][place[1]], given)
    return [Message("assistant", tuple(parts)) for parts in found if parts]


def _said(part: Any) -> list[Part]:
    if part.part_kind == "text":
        return [Text(part.content)] if part.content else []
    if part.part_kind == "thinking":
        return [Reasoning(part.content)] if part.content else []
    if part.part_kind in _CALLS and not part.tool_name.startswith(_OUTPUT):
        return [ToolCall(part.tool_name, args_of(part), id=part.tool_call_id)]
    return []


def args_of(part: Any) -> Any:
    """The arguments of a call; what the model wrote where that is no JSON."""
    if not isinstance(part.args, str):
        return {} if part.args is None else plain(part.args)
    try:
        return json.loads(part.args)
    except ValueError:
        return part.args


def _answered(call: Any, part: Any) -> Any:
    """A call with what came back: its result, or what was wrong with it."""
    failed = part.part_kind == "retry-prompt" or getattr(part, "outcome", "success") != "success"
    if not failed:
        return replace(call, result=plain(part.content), state="done")
    content = part.content if isinstance(part.content, str) else plain(part.content)
    return replace(call, error=content if isinstance(content, str) else str(content), state="failed")
