"""Chat completions, as OpenAI's API has them and many servers do: what is sent, and what comes back, in pieces too."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from proctor.data.message import Data, File, Message, Reasoning, ToolCall
from proctor.data.plain import canonical_json
from proctor.data.read import read_messages
from proctor.data.reply import Reply
from proctor.data.usage import Cost, Usage
from proctor.data.value import MISSING
from proctor.errors import TargetError, UsageError

__all__ = ["Pieces", "chat_reply", "sent", "usage_of"]


def sent(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Messages as the API has them; each result of a tool is a message of its own."""
    return [made for message in messages for made in _sent(message)]


def _sent(message: Message) -> list[dict[str, Any]]:
    if message.role in {"user", "system"}:
        files = any(isinstance(part, File) for part in message.parts)
        return [{"role": message.role, "content": [_part(it) for it in message.parts] if files else message.text}]
    calls = [part for part in message.parts if isinstance(part, ToolCall)]
    said: dict[str, Any] = {"role": "assistant", "content": message.text or None}
    if calls:
        said["tool_calls"] = [
            {"id": _id(call, at), "type": "function", "function": {"name": call.name, "arguments": _written(call.args)}}
            for at, call in enumerate(calls)
        ]
    answered = [(at, call) for at, call in enumerate(calls) if call.result is not MISSING or call.error is not None]
    return [
        said,
        *(
            {"role": "tool", "tool_call_id": _id(call, at), "content": _text(call)}
            for at, call in answered
        ),
    ]  # fmt: skip


def _id(call: ToolCall, at: int) -> str:
    return call.id or f"{call.name}-{at}"


def _written(args: Any) -> str:
    return args if isinstance(args, str) else json.dumps({} if args is MISSING else args)


def _text(call: ToolCall) -> str:
    back = call.error if call.result is MISSING else call.result
    return back if isinstance(back, str) else canonical_json(back)


def _part(part: Any) -> dict[str, Any]:
    from base64 import b64encode

    if not isinstance(part, File):
        words = part.text if not isinstance(part, Data) else canonical_json(part.value)
        return {"type": "text", "text": words}
    kind, data = part.media_type or "image/png", part.data
    if isinstance(data, bytes):
        data = b64encode(data).decode()
    if not isinstance(data, str) or not kind.startswith("image/"):
        raise UsageError(f"a file of type {kind} cannot be sent in a chat: images can, as bytes or addresses")
    address = data if data.startswith(("http://", "https://", "data:")) else f"data:{kind};base64,{data}"
    return {"type": "image_url", "image_url": {"url": address}}


# ── what comes back ────────────────────────────────────────────────────────────────────────────────────────────────


def chat_reply(body: Any) -> tuple[Reply, dict[str, Any]]:
    """The reply in an answer of the API, and the message as it stands there. Raises `TargetError` for any other."""
    choices = body.get("choices") if isinstance(body, Mapping) else None
    first: Any = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, Mapping) else None
    if not isinstance(message, Mapping):
        kept = ", ".join(map(str, body)) if isinstance(body, Mapping) else type(body).__name__
        raise TargetError(
            f"the answer is no chat completion: no choices[0].message in {kept}", code="UNREADABLE_ANSWER"
        )
    said = dict(message)
    thought = said.get("reasoning_content") or said.get("reasoning")
    read = read_messages(
        [{key: value for key, value in said.items() if key != "reasoning"}], where="choices[0].message"
    )
    if (
        isinstance(thought, str)
        and thought
        and not any(isinstance(part, Reasoning) for it in read for part in it.parts)
    ):
        read = (replace(read[0], parts=(Reasoning(thought), *read[0].parts)), *read[1:])
    usage = body.get("usage")
    reason = first.get("finish_reason")
    reply = Reply(
        output=list(read),
        usage=usage_of(usage),
        cost=_cost(usage),
        finish_reason=reason if isinstance(reason, str) else None,
    )
    return reply, said


def usage_of(given: Any) -> Usage | None:
    """Tokens as a server states them, by the names of either of OpenAI's APIs; None when it states none."""
    if not isinstance(given, Mapping):
        return None

    def count(*names: str, inside: str = "") -> int | None:
        where = given.get(inside) if inside else given
        found = [where.get(name) for name in names] if isinstance(where, Mapping) else []
        return next((it for it in found if isinstance(it, int) and not isinstance(it, bool) and it >= 0), None)

    made = Usage(
        input_tokens=count("prompt_tokens", "input_tokens"),
        output_tokens=count("completion_tokens", "output_tokens"),
        total_tokens=count("total_tokens"),
        reasoning_tokens=count("reasoning_tokens", inside="completion_tokens_details")
        or count("reasoning_tokens", inside="output_tokens_details"),
        cached_input_tokens=count("cached_tokens", inside="prompt_tokens_details")
        or count("cached_tokens", inside="input_tokens_details"),
    )
    return None if made == Usage() else made


def _cost(usage: Any) -> Cost | None:
    amount = usage.get("cost") if isinstance(usage, Mapping) else None
    if not isinstance(amount, int | float) or isinstance(amount, bool) or amount < 0:
        return None
    return Cost(amount=float(amount), source="the server")


class Pieces:
    """An answer that comes in pieces, put together. *ended*: whether the server said that it was whole."""

    def __init__(self) -> None:
        self.ended = False
        self._message: dict[str, Any] = {"role": "assistant", "content": ""}
        self._calls: dict[int, dict[str, Any]] = {}
        self._reason: str | None = None
        self._usage: Any = None

    def take(self, line: str) -> None:
        """One line of the stream; what is no data is a comment."""
        if not line.startswith("data:"):
            return
        data = line[5:].strip()
        if data == "[DONE]":
            self.ended = True
            return
        try:
            chunk = json.loads(data)
        except ValueError:
            raise TargetError(f"a piece of the answer is no JSON: {data[:100]}", code="UNREADABLE_ANSWER") from None
        if not isinstance(chunk, Mapping) or "error" in chunk:
            raise TargetError(f"the server broke its answer off: {str(chunk)[:200]}", code="UNREADABLE_ANSWER")
        self._usage = chunk.get("usage") or self._usage
        for choice in (chunk.get("choices") or ())[:1]:
            self._add(choice.get("delta") or {})
            self._reason = choice.get("finish_reason") or self._reason
            self.ended = self.ended or self._reason is not None

    def _add(self, delta: Mapping[str, Any]) -> None:
        for name in ("content", "reasoning_content", "reasoning", "refusal"):
            if isinstance(delta.get(name), str):
                self._message[name] = (self._message.get(name) or "") + delta[name]
        for piece in delta.get("tool_calls") or ():
            call = self._calls.setdefault(
                piece.get("index", 0), {"id": None, "type": "function", "function": {"name": "", "arguments": ""}}
            )
            call["id"] = piece.get("id") or call["id"]
            for name in ("name", "arguments"):
                call["function"][name] += (piece.get("function") or {}).get(name) or ""

    @property
    def begun(self) -> bool:
        """Whether anything of a message came."""
        return bool(self._calls or self._message["content"] or len(self._message) > len(("role", "content")))

    def body(self) -> dict[str, Any]:
        """The same as an answer that came whole."""
        message = dict(self._message)
        if self._calls:
            message["tool_calls"] = [self._calls[at] for at in sorted(self._calls)]
        return {"choices": [{"message": message, "finish_reason": self._reason}], "usage": self._usage}
