"""Messages as the reference stores them, and the AI SDK's UI messages: what was said is a mapping of parts.

    {id, role, content: {format, parts, content?, text?, toolInvocations?, reasoning?, metadata?}}     stored
    {id, role, parts, content?, toolInvocations?, metadata?}                                           AI SDK 4 and 5

The text is that of the text parts; when they say nothing, the legacy `content`, else `text`. Calls stand in the parts,
in the legacy `toolInvocations`, or in both: then the parts win, and what only the legacy list has keeps its place among
its neighbours. A `signal` has the role that its metadata or its `type` names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from proctor.data.message import Part, Reasoning, Text, ToolCall
from proctor.data.read_fields import Problem, id_of, is_list, is_mapping, list_of, must_be, text_of
from proctor.data.read_join import Conversation
from proctor.data.read_openai import RESULT_ROLES, ROLES, metadata_of, read_as, role_of
from proctor.data.read_parts import holds_results, read_invocation, read_parts

__all__ = ["is_stored", "read_stored"]

_ROLES = {**ROLES, "signal": "signal", "data": "data"}


def is_stored(message: Mapping[str, Any]) -> bool:
    """Whether the message is of this dialect; one that is makes its whole list so."""
    if "parts" in message or "toolInvocations" in message:
        return True
    content = message.get("content")
    if type(content) is str or not is_mapping(content):
        return False
    # The result of a tool may be a mapping in other dialects too.
    return str(message.get("role")) not in RESULT_ROLES or "parts" in content


def read_stored(message: Mapping[str, Any], conversation: Conversation) -> None:
    """Adds one message of a list in stored form to the *conversation*."""
    role = role_of(message, _ROLES)
    if role == "signal":
        role = _signal_role(message)
    if not is_stored(message):
        read_as(role, message, conversation=conversation)
        return
    content = message.get("content")
    if is_mapping(content):
        try:
            parts = _read_body(content, conversation)
        except Problem as problem:
            raise problem.within(".content") from None
        metadata = metadata_of(content) or metadata_of(message)
    else:
        parts, metadata = _read_body(message, conversation), metadata_of(message)
    if parts is not None:
        conversation.add(role, parts, id=id_of(message, "id"), metadata=metadata)


def _read_body(body: Mapping[str, Any], conversation: Conversation) -> list[Part] | None:
    """What was said and done. None when it held nothing but results, which are with their calls."""
    key = "content" if is_list(body.get("content")) and "parts" not in body else "parts"
    content = list_of(body, key)
    try:
        parts = read_parts(content, conversation)
    except Problem as problem:
        raise problem.within(f".{key}") from None
    only_results = not parts and holds_results(content)
    thought = text_of(body, "reasoning")
    if thought:
        parts = [Reasoning(thought), *(part for part in parts if type(part) is not Reasoning)]
    if not any(type(part) is Text for part in parts):
        text = (key == "parts" and text_of(body, "content")) or text_of(body, "text")
        parts = [Text(text), *parts] if text else parts
    legacy = _legacy_calls(body)
    if legacy:
        parts = _merged(parts, legacy, conversation=conversation)
    return None if only_results and not parts else parts


def _legacy_calls(body: Mapping[str, Any]) -> list[ToolCall]:
    calls = []
    for index, invocation in enumerate(list_of(body, "toolInvocations")):
        try:
            if not is_mapping(invocation):
                raise must_be("", "a mapping", got=invocation)
            calls.append(read_invocation(invocation))
        except Problem as problem:
            raise problem.within(f".toolInvocations[{index}]") from None
    return calls


def _merged(parts: list[Part], legacy: Sequence[ToolCall], *, conversation: Conversation) -> list[Part]:
    """The parts, and what only the legacy list has: before the next call that both have, the rest at the end."""
    in_parts = {part.id for part in parts if type(part) is ToolCall and part.id}
    place = {call.id: index for index, call in enumerate(legacy) if call.id}
    merged: list[Part] = []
    done = 0
    for part in parts:
        if type(part) is ToolCall and part.id in place:
            merged += [call for call in legacy[done : place[part.id]] if call.id not in in_parts]
            done = max(done, place[part.id] + 1)
        merged.append(part)
    merged += [call for call in legacy[done:] if call.id not in in_parts]
    conversation.open([call for call in legacy if call.id not in in_parts])
    return merged


def _signal_role(message: Mapping[str, Any]) -> str:
    """The role that a signal stands for: what its metadata says, else its `type`; `signal` when nothing says."""
    content = message.get("content")
    metadata = (content.get("metadata") if is_mapping(content) else None) or message.get("metadata")
    signal = metadata.get("signal") if is_mapping(metadata) else None
    said = text_of(signal, "tagName", "type") if is_mapping(signal) else None
    said = said or text_of(message, "type") or "signal"
    return ROLES.get(said, said)
