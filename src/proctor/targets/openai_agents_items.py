"""Messages between Proctor and the OpenAI Agents SDK: what an agent is given as its items, and what it did in ours."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from proctor.data.message import File, Message, Part, Reasoning, Text, ToolCall
from proctor.data.plain import plain
from proctor.data.value import MISSING
from proctor.errors import UsageError
from proctor.targets.openai_agents_tools import args_of

__all__ = ["given", "results_of", "seen", "structured_of"]


# ── what an agent is given ─────────────────────────────────────────────────────────────────────────────────────────


def given(messages: Sequence[Message]) -> str | list[Any]:
    """A question as text; anything longer as items, calls of tools with what came back among them."""
    if len(messages) == 1 and all(isinstance(part, Text) for part in messages[0].parts):
        return messages[0].text
    return [item for message in messages for item in _items(message)]


def _items(message: Message) -> list[Any]:
    if message.role == "user" and any(isinstance(part, File) for part in message.parts):
        return [{"role": "user", "content": [_content(part) for part in message.parts]}]
    if message.role in {"user", "system"}:
        return [{"role": message.role, "content": message.text}]
    found: list[Any] = [{"role": "assistant", "content": message.text}] if message.text else []
    for at, part in enumerate(message.parts):
        if isinstance(part, ToolCall):
            id = part.id or f"{part.name}-{at}"
            args = part.args if isinstance(part.args, str) else json.dumps({} if part.args is MISSING else part.args)
            found.append({"type": "function_call", "call_id": id, "name": part.name, "arguments": args})
            back = part.error if part.result is MISSING else part.result
            text = back if isinstance(back, str) else json.dumps(back)
            found.append({"type": "function_call_output", "call_id": id, "output": text})
    return found


def _content(part: Part) -> dict[str, Any]:
    if not isinstance(part, File):
        return {"type": "input_text", "text": Message("user", (part,)).text}
    kind = part.media_type or "image/png"
    data = b64encode(part.data).decode() if isinstance(part.data, bytes) else part.data
    if not isinstance(data, str):
        raise UsageError(f"the file {part.name or 'without a name'} in what the user says has no data")
    address = data if data.startswith(("http://", "https://", "data:")) else f"data:{kind};base64,{data}"
    if kind.startswith("image/"):
        return {"type": "input_image", "image_url": address, "detail": "auto"}
    where = "file_url" if address.startswith("http") else "file_data"
    return {"type": "input_file", where: address, "filename": part.name or "file"}


# ── what it did ────────────────────────────────────────────────────────────────────────────────────────────────────


def results_of(items: Sequence[Any]) -> dict[str, Any]:
    """What came back of calls, by their ids: outputs of tools, and of handing over."""
    found: dict[str, Any] = {}
    for item in items:
        raw = getattr(item, "raw_item", None)
        if item.type in {"tool_call_output_item", "handoff_output_item"}:
            id = raw.get("call_id") if isinstance(raw, Mapping) else getattr(raw, "call_id", None)
            output = getattr(item, "output", MISSING)
            if output is MISSING and isinstance(raw, Mapping):
                output = raw.get("output", MISSING)
            if id is not None:
                found[id] = plain(output)
    return found


def seen(responses: Sequence[Any], results: Mapping[str, Any]) -> list[Message]:
    """What an agent did: a message for each response of a model, each result joined to its call."""
    left = dict(results)
    found = []
    for response in responses:
        parts = [part for item in response.output for part in _said(item)]
        joined = [_answered(part, left) if isinstance(part, ToolCall) else part for part in parts]
        if joined:
            found.append(Message("assistant", tuple(joined)))
    return found


def _answered(call: ToolCall, results: dict[str, Any]) -> ToolCall:
    return replace(call, result=results.pop(call.id), state="done") if call.id in results else call


def _said(item: Any) -> list[Part]:
    kind = _get(item, "type")
    if kind == "message":
        return [part for each in _get(item, "content") or () for part in _text(each)]
    if kind == "reasoning":
        told = [*(_get(item, "summary") or ()), *(_get(item, "content") or ())]
        texts = [text for each in told if (text := _get(each, "text"))]
        return [Reasoning("\n".join(texts))] if texts else []
    if kind in {"function_call", "custom_tool_call"}:
        args = _get(item, "arguments") if kind == "function_call" else _get(item, "input")
        return [ToolCall(_get(item, "name"), args_of(args), id=_get(item, "call_id"))]
    if isinstance(kind, str) and kind.endswith("_call"):
        return [_hosted(item, kind)]
    return []


def _text(part: Any) -> list[Part]:
    text = _get(part, "text") or _get(part, "refusal")
    return [Text(text)] if text else []


def _hosted(item: Any, kind: str) -> ToolCall:
    """A call that the provider made by itself: what it says of it, and that it ended where it says so."""
    whole = plain(item)
    if not isinstance(whole, dict):
        return ToolCall(kind.removesuffix("_call"))
    status, id = whole.pop("status", None), whole.pop("call_id", None) or whole.pop("id", None)
    name = whole.pop("name", None) or kind.removesuffix("_call")
    back = {key: whole.pop(key) for key in ("results", "result", "output", "outputs") if whole.get(key) is not None}
    args = {key: value for key, value in whole.items() if key not in {"type", "id"} and value is not None}
    if status not in {None, "completed"}:
        return ToolCall(name, args, id=id, error=f"status {status}", state="failed")
    return ToolCall(name, args, id=id, result=next(iter(back.values()), None), state="done")


def _get(item: Any, name: str) -> Any:
    return item.get(name) if isinstance(item, Mapping) else getattr(item, name, None)


def structured_of(output: Any) -> Any:
    """The object of an agent with structured output, in plain data; MISSING where it gave text, or nothing."""
    return MISSING if output is None or isinstance(output, str) else plain(output)
