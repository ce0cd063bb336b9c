"""Messages as OpenAI's chat API has them, and the many who write the same: LangChain, Ollama, AG-UI, the AI SDK.

The words are `content` (text or a list of parts), what was thought `reasoning_content` or `reasoning`, the calls
`tool_calls` (or the legacy `function_call`), the results messages of role `tool` (or `function`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proctor.data.message import CallState, File, Part, Reasoning, Text, ToolCall
from proctor.data.read_fields import Problem, find, id_of, is_list, is_mapping, must_be, refused, text_of
from proctor.data.read_join import Answer, Conversation, make_call
from proctor.data.read_parts import arguments, holds_results, plain_text, read_parts
from proctor.data.value import MISSING, Missing

__all__ = ["RESULT_ROLES", "ROLES", "metadata_of", "read_as", "read_openai", "role_of"]

ROLES = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
"""The roles of this dialect, and ours."""

RESULT_ROLES = frozenset({"tool", "function"})
_USUAL = frozenset({"role", "content", "tool_calls", "function_call"})


def read_openai(message: Mapping[str, Any], conversation: Conversation) -> None:
    """Adds one message, or what it answers, to the *conversation*."""
    role = role_of(message, ROLES)
    content = message.get("content")
    if type(content) is str and len(message) == 2 and role != "tool":  # the common case: a role and some text
        conversation.add(role, [Text(content)] if content else [])
    else:
        read_as(role, message, conversation=conversation)


def read_as(role: str, message: Mapping[str, Any], *, conversation: Conversation) -> None:
    """The same for a message whose role is known already."""
    if role == "tool":
        _read_result(message, conversation)
    else:
        _read_message(role, message, conversation=conversation)


def role_of(message: Mapping[str, Any], known: Mapping[str, str]) -> str:
    """The message's role, as we call it."""
    role = message["role"]
    if not isinstance(role, str):
        raise must_be(".role", "text", got=role)
    found = known.get(role)
    if found is None:
        raise refused(".role", "role", name=role, known=list(known))
    return found


def _read_content(content: Any, conversation: Conversation) -> list[Part]:
    """The parts of a `content`: None, text or a list of parts."""
    if content is None or content == "":
        return []
    if isinstance(content, str):
        return [Text(content)]
    if not is_list(content):
        raise must_be(".content", "text, a list of parts or a stored message", got=content)
    try:
        return read_parts(content, conversation)
    except Problem as problem:
        raise problem.within(".content") from None


def _read_message(role: str, message: Mapping[str, Any], *, conversation: Conversation) -> None:
    content = message.get("content")
    parts = _read_content(content, conversation)
    if message.keys() <= _USUAL:
        id: str | None = None
        metadata: Mapping[str, Any] | Missing = MISSING
    else:
        thought = message.get("reasoning_content") or message.get("reasoning")
        if role == "assistant" and thought and isinstance(thought, str):
            parts = [Reasoning(thought), *parts]
        parts += _said_elsewhere(message, content)
        id, metadata = id_of(message, "id"), metadata_of(message)
    calls = _read_calls(message)
    if calls and parts:  # LangChain repeats in `tool_calls` what Anthropic's content holds already
        in_content = {part.id for part in parts if type(part) is ToolCall and part.id}
        calls = [call for call in calls if call.id not in in_content]
    conversation.open(calls)
    parts += calls
    if not parts and is_list(content) and holds_results(content):
        return  # it held nothing but results, which are with their calls now
    conversation.add(role, parts, id=id, metadata=metadata)


def metadata_of(fields: Mapping[str, Any]) -> Mapping[str, Any] | Missing:
    """What stands under `metadata`, when it is a mapping."""
    metadata = fields.get("metadata")
    return metadata if is_mapping(metadata) else MISSING


def _said_elsewhere(message: Mapping[str, Any], content: Any) -> list[Part]:
    """What some writers put beside the content: the text itself, a refusal, what a voice said."""
    texts = [text_of(message, "refusal")]
    if content is None:
        texts.append(text_of(message, "text"))
    parts: list[Part] = []
    audio = message.get("audio")
    if is_mapping(audio):
        parts.append(File(find(audio, "data", "id"), text_of(audio, "format")))
        texts.append(text_of(audio, "transcript"))
    return parts + [Text(text) for text in texts if text]


# ── calls ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _read_calls(message: Mapping[str, Any]) -> list[ToolCall]:
    calls: list[ToolCall] = []
    for key in ("tool_calls", "toolCalls"):
        value = message.get(key)
        if value is None:
            continue
        if not is_list(value):
            raise must_be(f".{key}", "a list", got=value)
        for index, call in enumerate(value):
            try:
                calls.append(_read_call(call))
            except Problem as problem:
                raise problem.within(f".{key}[{index}]") from None
    legacy = message.get("function_call")
    if legacy is not None:
        try:
            calls.append(_read_call(legacy))
        except Problem as problem:
            raise problem.within(".function_call") from None
    return calls


def _read_call(call: Any) -> ToolCall:
    """A call as OpenAI writes it (`function` or `custom` inside), or flat, as LangChain does."""
    if not is_mapping(call):
        raise must_be("", "a mapping", got=call)
    inner = call.get("function") or call.get("custom") or call
    if not is_mapping(inner):
        raise must_be(".function", "a mapping", got=inner)
    args = arguments(find(inner, "arguments", "args", "input"))
    return make_call(text_of(inner, "name") or "", args, id_of(call, "id"), MISSING, None, "called")


def _read_result(message: Mapping[str, Any], conversation: Conversation) -> None:
    """A message of role `tool`: one result, or, as in the AI SDK, a list of parts that are results."""
    content = message.get("content")
    if is_list(content) and holds_results(content):
        parts = _read_content(content, conversation)
        if parts:
            conversation.add("tool", parts, id=id_of(message, "id"), metadata=metadata_of(message))
        return
    text = plain_text(content) if is_list(content) else None
    result = content if text is None else text
    failed = message.get("status") == "error" or message.get("is_error") or message.get("isError")
    state: CallState = "failed" if failed else "done"
    error = result if failed and isinstance(result, str) else None
    name = text_of(message, "name", "tool_name", "toolName") or ""
    conversation.answer(Answer(id_of(message, "tool_call_id", "toolCallId"), name, result, state, error))
