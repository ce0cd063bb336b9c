"""Messages between Proctor and LangChain: what a graph is given in its own form, and what it added in ours."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from proctor.data.message import Data, File, Message, Part, Reasoning, Text, ToolCall
from proctor.data.plain import plain
from proctor.data.usage import Usage
from proctor.data.value import MISSING
from proctor.errors import UsageError

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

__all__ = ["finish_reason_of", "given", "seen", "usage_of"]


# ── what a graph is given ──────────────────────────────────────────────────────────────────────────────────────────


def given(messages: Sequence[Message]) -> list[BaseMessage]:
    """Messages in LangChain's form; each result of a tool is a message of its own."""
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

    found: list[BaseMessage] = []
    for message in messages:
        if message.role == "system":
            found.append(SystemMessage(message.text))
        elif message.role == "user":
            found.append(HumanMessage(_content(message)))
        else:
            calls = [part for part in message.parts if isinstance(part, ToolCall)]
            asked = [
                {"name": call.name, "args": call.args if isinstance(call.args, dict) else {}, "id": _id(call, at)}
                for at, call in enumerate(calls)
            ]
            found.append(AIMessage(message.text, tool_calls=asked))
            for at, call in enumerate(calls):
                failed = call.result is MISSING
                back = call.error or "" if failed else call.result
                text = back if isinstance(back, str) else as_text(back)
                found.append(ToolMessage(text, tool_call_id=_id(call, at), status="error" if failed else "success"))
    return found


def as_text(value: Any) -> str:
    """What a tool gave, as LangChain writes it for the model."""
    import json

    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        return str(value)


def _id(call: ToolCall, at: int) -> str:
    return call.id or f"{call.name}-{at}"


def _content(message: Message) -> Any:
    if not any(isinstance(part, File) for part in message.parts):
        return message.text
    return [_block(part) for part in message.parts]


def _block(part: Part) -> dict[str, Any]:
    if not isinstance(part, File):
        return {"type": "text", "text": Message("user", (part,)).text}
    kind = part.media_type or "image/png"
    block = {"type": "image" if kind.startswith("image/") else "file", "mime_type": kind}
    if isinstance(part.data, bytes):
        return {**block, "base64": b64encode(part.data).decode()}
    if not isinstance(part.data, str):
        raise UsageError(f"the file {part.name or 'without a name'} in what the user says has no data")
    return {**block, "url" if part.data.startswith(("http://", "https://", "data:")) else "base64": part.data}


# ── what it added ──────────────────────────────────────────────────────────────────────────────────────────────────


def seen(messages: Sequence[Any], *, structured: Any = MISSING) -> list[Message]:
    """What was said and called, each result joined to its call.

    *structured*: the object of an agent with structured output; the call by which a model gave it is none.
    """
    found: list[list[Part]] = []
    calls: dict[str, tuple[int, int]] = {}
    for message in messages:
        if message.type == "tool":
            place = calls.pop(message.tool_call_id, None)
            if place is not None:
                found[place[0]][place[1]] = _answered(found[place[0]][place[1]], message)
        elif message.type in {"ai", "AIMessageChunk"}:
            found.append([part for part in _said(message) if not _is_output(part, structured)])
            for at, part in enumerate(found[-1]):
                if isinstance(part, ToolCall) and part.id is not None and part.state == "called":
                    calls[part.id] = (len(found) - 1, at)
    made = [Message("assistant", tuple(parts)) for parts in found if parts]
    return made if structured is MISSING else [*made, Message("assistant", (Data(structured),))]


def _is_output(part: Part, structured: Any) -> bool:
    return structured is not MISSING and isinstance(part, ToolCall) and part.args == structured


def _answered(call: Any, message: Any) -> Any:
    content = plain(message.content)
    if message.status == "error":
        return replace(call, error=content if isinstance(content, str) else as_text(content), state="failed")
    return replace(call, result=content, state="done")


def _said(message: Any) -> list[Part]:
    thought = message.additional_kwargs.get("reasoning_content")
    parts: list[Part] = [Reasoning(thought)] if isinstance(thought, str) and thought else []
    if isinstance(message.content, str):
        parts += [Text(message.content)] if message.content else []
    else:
        parts += _blocks(message.content_blocks)
    parts += [ToolCall(call["name"], call["args"], id=call.get("id")) for call in message.tool_calls]
    for call in message.invalid_tool_calls:
        error = call.get("error") or "its arguments are no JSON"
        parts.append(ToolCall(call.get("name") or "", call.get("args"), id=call.get("id"), error=error, state="failed"))
    return parts


def _blocks(blocks: Sequence[Mapping[str, Any]]) -> list[Part]:
    """The parts of a content of several; calls of tools stand in the message besides."""
    parts: list[Part] = []
    results = {block.get("tool_call_id"): block for block in blocks if block["type"] == "server_tool_result"}
    for block in blocks:
        kind = block["type"]
        if kind == "text" and block.get("text"):
            parts.append(Text(block["text"]))
        elif kind == "reasoning" and block.get("reasoning"):
            parts.append(Reasoning(block["reasoning"]))
        elif kind in {"image", "audio", "video", "file"}:
            data = block.get("url") or block.get("base64") or MISSING
            parts.append(File(data, media_type=block.get("mime_type")))
        elif kind == "server_tool_call":
            back = results.get(block.get("id"))
            result = MISSING if back is None else back.get("output")
            state: Any = "called" if back is None else "done"
            parts.append(
                ToolCall(block.get("name") or "", block.get("args"), id=block.get("id"), result=result, state=state)
            )
    return parts


def usage_of(messages: Sequence[Any]) -> Usage | None:
    """The tokens of the models' answers among messages; None when none of them says how many."""
    known = [it for message in messages if (it := getattr(message, "usage_metadata", None))]
    if not known:
        return None

    def detail(kind: str, name: str) -> int | None:
        return sum((it.get(kind) or {}).get(name) or 0 for it in known) or None

    return Usage(
        input_tokens=sum(it["input_tokens"] for it in known),
        output_tokens=sum(it["output_tokens"] for it in known),
        total_tokens=sum(it["total_tokens"] for it in known),
        reasoning_tokens=detail("output_token_details", "reasoning"),
        cached_input_tokens=detail("input_token_details", "cache_read"),
        cache_creation_input_tokens=detail("input_token_details", "cache_creation"),
    )


def finish_reason_of(messages: Sequence[Any]) -> str | None:
    """Why the last model stopped, where its provider says so."""
    for message in reversed(messages):
        if message.type in {"ai", "AIMessageChunk"}:
            told = message.response_metadata
            reason = told.get("finish_reason") or told.get("stop_reason")
            return reason if isinstance(reason, str) else None
    return None
