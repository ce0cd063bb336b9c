"""The two forms of OpenAI's API, chat completions and responses: what a request asks, and how an answer is written."""

from __future__ import annotations

from collections.abc import Mapping
from time import time
from typing import Any, Literal, TypeAlias

from proctor.data.usage import Usage
from proctor.judging.judge import OutputMode
from proctor.testing.replies import ScriptedReply

__all__ = ["Api", "answer_body", "mode_of", "prompts_of", "rough_usage", "schema_parameter", "tool_of"]

Api: TypeAlias = Literal["chat", "responses"]

_INCOMPLETE = {"length": "max_output_tokens", "content_filter": "content_filter"}


def prompts_of(body: Mapping[str, Any]) -> list[str]:
    """The texts of the user messages, from last to first."""
    return [text for role, text in reversed(_messages(body)) if role == "user"]


def _messages(body: Mapping[str, Any]) -> list[tuple[Any, str]]:
    given = body.get("messages", body.get("input"))
    if isinstance(given, str):
        return [("user", given)]
    return [(it.get("role"), _text(it.get("content"))) for it in given or () if isinstance(it, dict)]


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join([str(part.get("text", "")) for part in content or () if isinstance(part, dict)])


def mode_of(body: Mapping[str, Any]) -> OutputMode:
    """How the request says what the answer must be."""
    if tool_of(body) is not None:
        return "tool"
    return "native" if _format(body).get("type") == "json_schema" else "prompted"


def _format(body: Mapping[str, Any]) -> Mapping[str, Any]:
    return body.get("response_format") or (body.get("text") or {}).get("format") or {}


def schema_parameter(mode: OutputMode, *, api: Api) -> str:
    """The parameter that a schema is sent in."""
    if mode == "tool":
        return "tools"
    return "response_format" if api == "chat" else "text.format"


def tool_of(body: Mapping[str, Any]) -> str | None:
    """The name of the tool to call: that which must be called, else the first. None when there is none."""
    tools, choice = body.get("tools") or (), body.get("tool_choice")
    if not tools or choice == "none":
        return None
    chosen = choice.get("function", choice).get("name") if isinstance(choice, dict) else None
    first = tools[0].get("function", tools[0]).get("name")
    return str(chosen or first)


def rough_usage(body: Mapping[str, Any], text: str) -> Usage:
    """Tokens counted as words: near enough to see that they are counted."""
    read = sum(len(said.split()) for _, said in _messages(body))
    return Usage(input_tokens=read, output_tokens=len(text.split()), total_tokens=read + len(text.split()))


def answer_body(
    reply: ScriptedReply, *, api: Api, number: int, model: str, tool: str | None, usage: Usage | None
) -> dict[str, Any]:
    """The answer in the form of the API. *tool*: the reply is sent as the arguments of a call of that name."""
    if reply.refusal is not None:
        tool = None
    form = _chat if api == "chat" else _response
    body = form(reply, number=number, tool=tool)
    said = _usage(usage, api=api)
    if reply.cost is not None:
        said["cost"] = reply.cost.amount
    return {**body, "model": reply.answered_by or model, **({"usage": said} if said else {})}


def _chat(reply: ScriptedReply, *, number: int, tool: str | None) -> dict[str, Any]:
    text: str | None = reply.sent
    message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": reply.refusal}
    finish = reply.finish_reason
    if reply.refusal is not None:
        message["content"] = text or None
    if tool is not None:
        call = {"id": f"call_{number}", "type": "function", "function": {"name": tool, "arguments": text}}
        message |= {"content": None, "tool_calls": [call]}
        finish = "tool_calls" if finish == "stop" else finish
    choice = {"index": 0, "message": message, "finish_reason": finish, "logprobs": None}
    return {"id": f"chatcmpl-{number}", "object": "chat.completion", "created": int(time()), "choices": [choice]}


def _response(reply: ScriptedReply, *, number: int, tool: str | None) -> dict[str, Any]:
    reason = _INCOMPLETE.get(reply.finish_reason or "")
    status = "incomplete" if reason else "completed"
    output: dict[str, Any]
    if tool is not None:
        output = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}"}
        output |= {"name": tool, "arguments": reply.sent, "status": status}
    else:
        content: list[dict[str, Any]] = []
        if reply.sent or reply.refusal is None:
            content.append({"type": "output_text", "text": reply.sent, "annotations": []})
        if reply.refusal is not None:
            content.append({"type": "refusal", "refusal": reply.refusal})
        output = {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": status, "content": content}
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": int(time()),
        "status": status,
        "error": None,
        "incomplete_details": {"reason": reason} if reason else None,
        "instructions": None,
        "metadata": {},
        "output": [output],
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
    }


def _usage(usage: Usage | None, *, api: Api) -> dict[str, Any]:
    if usage is None:
        return {}
    read, written = ("prompt", "completion") if api == "chat" else ("input", "output")
    return {
        f"{read}_tokens": usage.input_tokens or 0,
        f"{written}_tokens": usage.output_tokens or 0,
        "total_tokens": usage.total or 0,
        f"{read}_tokens_details": {"cached_tokens": usage.cached_input_tokens or 0},
        f"{written}_tokens_details": {"reasoning_tokens": usage.reasoning_tokens or 0},
    }
