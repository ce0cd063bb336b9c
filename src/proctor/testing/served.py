"""Between HTTP and the script of a model server: what was asked, and how replies and errors are sent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any

from proctor.data.value import Missing, Value
from proctor.judging.judge import OutputMode
from proctor.testing.faults import Status
from proctor.testing.http import HttpAnswer, HttpRequest
from proctor.testing.replies import ScriptedReply
from proctor.testing.wire import Api, answer_body, mode_of, prompts_of, rough_usage, tool_of

__all__ = ["APIS", "ServedRequest", "error_answer", "json_answer", "reply_answer", "request_of"]

APIS: dict[str, Api] = {"/v1/chat/completions": "chat", "/v1/responses": "responses"}
"""What is asked where."""

_SECRET = ("authorization", "cookie", "key", "token")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ServedRequest(Value):
    """A request as it came. *headers*: names in small letters; of those that hold secrets, only that they were sent.

    *api*: `chat` or `responses`. *body*: the JSON object. *prompts*: the texts of its user messages, from last to
    first. *mode*: how it says what the answer must be.
    """

    path: str
    headers: Mapping[str, str]
    api: Api
    body: Mapping[str, Any]
    prompts: tuple[str, ...]
    mode: OutputMode

    @property
    def prompt(self) -> str:
        """The text of the last user message."""
        return next(iter(self.prompts), "")


def request_of(got: HttpRequest, *, path: str, body: dict[str, Any]) -> ServedRequest:
    """What was asked, read from what came."""
    headers = {name: "***" if any(word in name for word in _SECRET) else value for name, value in got.headers.items()}
    return ServedRequest(
        path=path, headers=headers, api=APIS[path], body=body, prompts=tuple(prompts_of(body)), mode=mode_of(body)
    )


def reply_answer(request: ServedRequest, reply: ScriptedReply, *, number: int, tool: bool = True) -> HttpAnswer:
    """The reply in the form of the API that was asked. *tool* False: as text, also where a tool had to be called."""
    usage = rough_usage(request.body, reply.sent) if isinstance(reply.usage, Missing) else reply.usage
    body = answer_body(
        reply,
        api=request.api,
        number=number,
        model=str(request.body.get("model", "scripted")),
        tool=tool_of(request.body) if tool else None,
        usage=usage,
    )
    return json_answer(body)


def json_answer(body: dict[str, Any], **other: Any) -> HttpAnswer:
    """An answer with this body. *other*: what else it has."""
    return HttpAnswer(body=json.dumps(body, ensure_ascii=False).encode(), **other)


def error_answer(status: Status) -> HttpAnswer:
    """The error as it is sent."""
    headers = {}
    if status.retry_after is not None:  # whole seconds, as HTTP has it, and exactly, as OpenAI adds
        headers = {"retry-after": str(ceil(status.retry_after)), "retry-after-ms": str(ceil(status.retry_after * 1000))}
    return json_answer(status.to_dict(), status=status.status, headers=headers)
