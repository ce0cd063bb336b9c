"""Content parts, of every dialect at once: OpenAI, Anthropic, the AI SDK and the stored form share these lists.

An unknown type is a problem, never skipped: it could hide a tool call, and silence would pass `did_not_call`. What is
known to carry no words and no call is left out (`step-start`) or kept as `Data` with its type (`source-url`,
`data-weather`), which has no text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from proctor.data.message import CallState, Data, File, Part, Reasoning, Text, ToolCall
from proctor.data.read_fields import (
    Problem,
    find,
    id_of,
    is_list,
    is_mapping,
    list_of,
    must_be,
    refused,
    text_of,
)
from proctor.data.read_join import Answer, Conversation
from proctor.data.value import MISSING

__all__ = ["arguments", "holds_results", "plain_text", "read_invocation", "read_parts", "reasoning_text"]

_TEXTS = ("text", "input_text", "output_text", "summary_text", "text-plain")
_FILES = (
    "image_url", "image", "input_image", "audio", "audio_url", "input_audio", "video", "video_url", "input_video",
    "file", "input_file", "document", "media",
)  # fmt: skip
_CALLS = ("tool-call", "tool_use", "tool_call", "server_tool_use", "server_tool_call", "mcp_tool_use")
_RESULTS = frozenset({"tool-result", "tool_result", "tool-error", "server_tool_result", "mcp_tool_result"})
_LEFT_OUT = frozenset({"step-start", "redacted_thinking", "tool-approval-request", "tool-approval-response"})
_KEPT_AS_DATA = ("data-", "source")

_STATES: dict[str, CallState] = {
    "partial-call": "partial",
    "input-streaming": "partial",
    "call": "called",
    "input-available": "called",
    "approval-requested": "called",
    "approval-responded": "called",
    "result": "done",
    "output-available": "done",
    "output-error": "failed",
    "output-denied": "denied",
}
_OUTPUTS: dict[Any, CallState] = {
    "text": "done",
    "json": "done",
    "content": "done",
    "error-text": "failed",
    "error-json": "failed",
    "execution-denied": "denied",
}


def read_parts(content: Sequence[Any], conversation: Conversation) -> list[Part]:
    """The parts of one message. Its calls are opened in the *conversation*, results among the parts go there too."""
    parts: list[Part] = []
    opened = 0
    for index, part in enumerate(content):
        try:
            if isinstance(part, str):
                parts.append(Text(part))
            elif not is_mapping(part):
                raise must_be("", "a part (a mapping with a type) or text", got=part)
            elif _is_result(part):
                conversation.open(parts[opened:])
                opened = len(parts)
                conversation.answer(_read_result(part))
            else:
                read = _read_part(part)
                if read is not None:
                    parts.append(read)
        except Problem as problem:
            raise problem.within(f"[{index}]") from None
    conversation.open(parts[opened:])
    return parts


def holds_results(content: Sequence[Any]) -> bool:
    """Whether the list has parts that are tool results."""
    return any(is_mapping(part) and _is_result(part) for part in content)


def plain_text(content: Sequence[Any]) -> str | None:
    """The text of a list that holds texts and text parts only; None of any other list, or an empty one."""
    texts = [part if isinstance(part, str) else _only_text(part) for part in content]
    return "".join([text for text in texts if text is not None]) if texts and None not in texts else None


def _only_text(part: Any) -> str | None:
    is_text = is_mapping(part) and part.get("type") in _TEXTS and isinstance(part.get("text"), str)
    return part["text"] if is_text else None


def _is_result(part: Mapping[str, Any]) -> bool:
    kind = part.get("type")
    return isinstance(kind, str) and (kind in _RESULTS or kind.endswith("_tool_result")) and not _is_ui_tool(part, kind)


def _is_ui_tool(part: Mapping[str, Any], kind: str) -> bool:
    """Whether this is an AI SDK 5 part `tool-<name>`, also of a tool that is named `call` or `result`."""
    return kind.startswith("tool-") and "state" in part and "toolName" not in part and "toolInvocation" not in part


def _read_part(part: Mapping[str, Any]) -> Part | None:
    kind = part.get("type")
    if not isinstance(kind, str):
        raise must_be(".type", "text", got=kind)
    if _is_ui_tool(part, kind):
        return read_invocation(part, name=kind.removeprefix("tool-"))
    reader = _READERS.get(kind)
    if reader is not None:
        return reader(part)
    if kind in _LEFT_OUT:
        return None
    if kind.startswith(_KEPT_AS_DATA):
        return Data(part.get("data", part), kind)
    if kind.startswith("tool-") and "toolCallId" in part:
        return read_invocation(part, name=kind.removeprefix("tool-"))
    raise refused(".type", "part type", name=kind, known=[*_READERS, *_RESULTS, *_LEFT_OUT])


# ── words, thoughts and files ──────────────────────────────────────────────────────────────────────────────────────


def _read_text(part: Mapping[str, Any]) -> Text | None:
    text = text_of(part, "text", "refusal")
    return Text(text) if text else None


def _read_reasoning(part: Mapping[str, Any]) -> Reasoning | None:
    text = reasoning_text(part)
    return Reasoning(text) if text else None


def reasoning_text(part: Mapping[str, Any]) -> str:
    """The words of a reasoning part: given whole, or in pieces; what is redacted gives nothing."""
    whole = text_of(part, "thinking") or text_of(part, "reasoning") or text_of(part, "text")
    if whole:
        return whole
    pieces = [*list_of(part, "details"), *list_of(part, "summary")]
    return "".join([text_of(piece, "text") or "" for piece in pieces if is_mapping(piece)])


def _read_file(part: Mapping[str, Any]) -> File:
    keys = ("image_url", "source", "input_audio", "file", "image", "audio_url", "video_url")
    inner = next((part[key] for key in keys if part.get(key) is not None), part)
    fields = inner if is_mapping(inner) else part
    data = find(fields, "data", "url", "file_data", "file_url", "file_id", "uri") if is_mapping(inner) else inner
    both = {**part, **fields}
    media_type = text_of(both, "media_type", "mediaType", "mimeType", "mime_type")
    return File(data, media_type, text_of(both, "filename", "name", "title"))


# ── calls and results ──────────────────────────────────────────────────────────────────────────────────────────────


def arguments(value: Any) -> Any:
    """A call's arguments: JSON text is parsed, text that is no JSON is kept, an empty text is no arguments.

    >>> arguments('{"city": "Bern"}'), arguments("Bern"), arguments("")
    ({'city': 'Bern'}, 'Bern', {})
    """
    if not isinstance(value, str):
        return value
    import json

    try:
        return json.loads(value) if value.strip() else {}
    except (ValueError, RecursionError):
        return value


def _read_call(part: Mapping[str, Any]) -> ToolCall:
    args = arguments(find(part, "input", "args", "arguments"))
    return ToolCall(text_of(part, "toolName", "name") or "", args, id_of(part, "toolCallId", "id", "tool_call_id"))


def _read_result(part: Mapping[str, Any]) -> Answer:
    value = find(part, "output", "result", "content", "error")
    state: CallState = "failed" if part.get("is_error") or part.get("isError") else "done"
    if part.get("type") == "tool-error":
        state = "failed"
    elif is_mapping(value) and isinstance(value.get("type"), str) and value["type"] in _OUTPUTS:
        state = _OUTPUTS[value["type"]] if state == "done" else state
        value = find(value, "value", "reason")
    if is_list(value):
        text = plain_text(value)
        value = value if text is None else text
    error = value if state != "done" and isinstance(value, str) else None
    name = text_of(part, "toolName", "name") or ""
    return Answer(id_of(part, "toolCallId", "tool_use_id", "tool_call_id"), name, value, state, error)


def _read_wrapped(part: Mapping[str, Any]) -> ToolCall:
    invocation = part.get("toolInvocation")
    if not is_mapping(invocation):
        raise must_be(".toolInvocation", "a mapping", got=invocation)
    try:
        return read_invocation(invocation)
    except Problem as problem:
        raise problem.within(".toolInvocation") from None


def read_invocation(fields: Mapping[str, Any], *, name: str | None = None) -> ToolCall:
    """A call with its state and result in one mapping: the stored form's invocation, the AI SDK 5's tool part."""
    result = find(fields, "result", "output")
    said = text_of(fields, "errorText")
    state = _read_state(fields, result)
    if state == "done" and fields.get("isError"):
        state = "failed"
    if state == "failed" and said is None and isinstance(result, str):
        said = result
    called = text_of(fields, "toolName") or name or ""
    args = find(fields, "args", "input", "rawInput")
    return ToolCall(called, args, id_of(fields, "toolCallId"), result, said, state)


def _read_state(fields: Mapping[str, Any], result: Any) -> CallState:
    word = text_of(fields, "state")
    if word is None:
        if fields.get("errorText") is not None:
            return "failed"
        return "called" if result is MISSING else "done"
    if word not in _STATES:
        raise refused(".state", "state of a tool call", name=word, known=list(_STATES))
    return _STATES[word]


_READERS: dict[str, Callable[[Mapping[str, Any]], Part | None]] = {
    **dict.fromkeys((*_TEXTS, "refusal"), _read_text),
    **dict.fromkeys(("reasoning", "thinking"), _read_reasoning),
    **dict.fromkeys(_FILES, _read_file),
    **dict.fromkeys(_CALLS, _read_call),
    "tool-invocation": _read_wrapped,
    "dynamic-tool": read_invocation,
}
