"""An agent behind an address as a target: one request for each turn.

A server of OpenAI's chat completions keeps nothing of a conversation: what was said is sent along, and kept here for
each resource and thread while the conversation lasts. Any other endpoint of JSON is told by a template.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from importlib.util import find_spec
from typing import Any, Final
from urllib.parse import urlsplit

from proctor.data.message import Message
from proctor.data.outcome import Origin
from proctor.data.plain import plain
from proctor.data.read import read_input, read_messages
from proctor.data.reply import Reply
from proctor.data.secrets import redact_text
from proctor.data.value import shown
from proctor.errors import TargetError, UnreadableMessages, UsageError
from proctor.running.per_loop import PerLoop
from proctor.running.target import Call, check_target_options, keep_with, shown_address
from proctor.targets.http_chat import Pieces, chat_reply, sent
from proctor.targets.http_mapping import Reading, Template

__all__ = ["HttpError", "HttpTarget"]

_OPTIONS: Final = ("headers", "instructions", "model", "model_settings", "stream")
_OURS: Final = frozenset({"content-length", "content-type", "host", "traceparent", "transfer-encoding"})
_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_AT_ONCE: Final = 1000


class HttpError(TargetError):
    """The server answered with an error. *status_code*: of HTTP; *retry_after*: seconds that it asked to wait."""

    code = "TARGET_HTTP_ERROR"

    def __init__(self, message: str, *, status_code: int, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.status_code = status_code
        self.retry_after = retry_after


class HttpTarget:
    """Asks the endpoint at *url*. Without *request* and *response* it is one of OpenAI's chat completions: *url* may
    end at `/v1`, *model* is the name of the model or agent there, and *stream* has it answer in pieces, to the same
    reply.

    *request*: the JSON to send to any other endpoint, with placeholders (`{"question": "{input}"}`: `{input}`,
    `{messages}`, `{thread_id}`, `{resource_id}`, `{turn}`, `{request_context.KEY}`), or a function of the `Call`.
    *response*: where in the answer the output stands (`"data.answer"`), paths of `output`, `usage`, `cost`,
    `finish_reason` and `structured`, or a function of the answer. An endpoint remembers when its request names the
    thread or has the messages.

    *headers*: sent each time; a value `env:NAME` is read from the environment then, and written nowhere. *timeout*:
    seconds without a byte; *most_bytes*: of an answer.

    Of `target_options` it takes `headers`, and for chat completions `model`, `instructions`, `model_settings`, which go
    into the body, and `stream`. `request_context` is sent as headers, unless the template asks for it.
    """

    durable = False
    how_to_remember = "Have request= say the thread, or the conversation so far: {thread_id}, {messages}"
    may_hang = False
    mocks_tools = False

    def __init__(
        self,
        url: str,
        *,
        model: str | None = None,
        headers: Mapping[str, str] | None = None,
        request: Any = None,
        response: Any = None,
        stream: bool = False,
        timeout: float = 600.0,
        most_bytes: int = 50_000_000,
    ) -> None:
        self._is_chat = request is None and response is None
        self._url, self._shown = _checked(url, chat=self._is_chat)
        if find_spec("httpx2") is None:
            raise UsageError("an address as a target needs the package 'httpx2': pip install 'proctor[http]'")
        if not self._is_chat and (model is not None or stream):
            raise UsageError("model= and stream= are of chat completions: say them in request=")
        self._model, self._stream, self._most_bytes = model, stream, most_bytes
        self._headers = _legal(headers or {})
        self._make = request if callable(request) else None
        self._template = Template("{input}" if request is None else request) if self._make is None else None
        self._reading = Reading(response)
        names = self._template.names if self._template is not None else frozenset({"thread_id"})
        self._keeps = self._is_chat or "messages" in names
        self._sends_context = "request_context" not in names
        self.remembers = self._keeps or "thread_id" in names
        self._threads: dict[tuple[str | None, str], list[dict[str, Any]]] = {}
        self._timeout = timeout

    def __repr__(self) -> str:
        return f"HttpTarget({self._shown!r})"

    async def reply(self, call: Call) -> Reply:
        """One turn. Raises `HttpError` for an answer that is an error, and what the connection raises."""
        options = dict(call.options or {})
        key = None if call.thread_id is None else (call.resource_id, call.thread_id)
        asked = sent(read_input(call.input)) if self._keeps else []
        before = self._threads.get(key, []) if key else []
        headers, origin = self._told(call, options)
        stream = self._is_chat and bool(options.get("stream", self._stream))
        body = self._body(call, options, [*before, *asked], stream=stream)
        if self._is_chat:
            answer = await self._in_pieces(body, headers) if stream else await self._whole(body, headers)
            reply, said = chat_reply(answer)
            added = [said]
        else:
            reply = self._reading.reply(await self._whole(body, headers))
            added = _as_sent(reply) if self._keeps else []
        if key is not None and self._keeps:
            self._threads[key] = [*before, *asked, *added]
        return _from(reply, origin)

    def _body(self, call: Call, options: dict[str, Any], messages: list[dict[str, Any]], *, stream: bool) -> Any:
        if self._make is not None:
            return plain(self._make(call))
        if not self._is_chat and self._template is not None:
            return self._template.filled(
                {
                    "input": plain(call.input),
                    "messages": messages,
                    "thread_id": call.thread_id,
                    "resource_id": call.resource_id,
                    "turn": call.turn,
                    "request_context": dict(call.request_context or {}),
                }
            )
        told = options.get("instructions")
        system = [{"role": "system", "content": told}] if told else []
        model = options.get("model", self._model)
        more = {"stream": True, "stream_options": {"include_usage": True}} if stream else {}
        named = {} if model is None else {"model": model}
        return {**named, "messages": [*system, *messages], **(options.get("model_settings") or {}), **more}

    def _told(self, call: Call, options: dict[str, Any]) -> tuple[dict[str, str], Origin]:
        """The headers of a call, and where in a trace it stands."""
        context = _legal(call.request_context or {}, what="request_context") if self._sends_context else {}
        given = {**self._headers, **_legal(options.get("headers") or {}), **context}
        headers = {name: _from_environment(name, value) for name, value in given.items()}
        trace, span = _trace(headers)
        return headers, Origin(
            thread_id=call.thread_id, resource_id=call.resource_id, trace_id=trace, span_id=span, source="http"
        )

    async def _whole(self, body: Any, headers: dict[str, str]) -> Any:
        client = await _clients.get()
        async with client.stream("POST", self._url, json=body, headers=headers, timeout=self._timeout) as answer:
            return self._parsed(await self._read(answer), answer)

    def _parsed(self, content: bytes, answer: Any) -> Any:
        try:
            return json.loads(content)
        except ValueError:
            text = content.decode(answer.encoding or "utf-8", "replace")
            if self._is_chat or not str(answer.headers.get("content-type", "")).startswith("text/plain"):
                told = redact_text(text[:200]) or "nothing"
                raise TargetError(f"{self._shown} answered no JSON: {told}", code="UNREADABLE_ANSWER") from None
            return text

    async def _in_pieces(self, body: Any, headers: dict[str, str]) -> Any:
        client, pieces = await _clients.get(), Pieces()
        try:
            async with client.stream("POST", self._url, json=body, headers=headers, timeout=self._timeout) as answer:
                if answer.status_code >= 300 or "json" in answer.headers.get("content-type", ""):
                    return self._parsed(await self._read(answer), answer)
                async for line in answer.aiter_lines():
                    pieces.take(line)
            if not pieces.ended:
                raise TargetError(f"{self._shown} broke its answer off", code="UNREADABLE_ANSWER")
        except BaseException as error:
            if pieces.begun:
                keep_with(error, chat_reply(pieces.body())[0])
            raise
        return pieces.body()

    async def _read(self, answer: Any) -> bytes:
        """The body of an answer. Raises `HttpError` when it is an error."""
        parts, size = [], 0
        async for part in answer.aiter_bytes():
            parts.append(part)
            size += len(part)
            if size > self._most_bytes:
                raise TargetError(
                    f"{self._shown} answered more than {self._most_bytes:,} bytes", code="ANSWER_TOO_LONG"
                )
        content = b"".join(parts)
        if answer.status_code >= 300:  # redirects are not followed: headers may hold secrets
            told = redact_text(content[:200].decode("utf-8", "replace")) or answer.reason_phrase
            message = f"{self._shown} answered {answer.status_code}: {told}"
            raise HttpError(message, status_code=answer.status_code, retry_after=_seconds(answer.headers))
        return content

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Raise an `UnknownName` for what no call takes, and a `UsageError` for a secret that is not there."""
        known = _OPTIONS if self._is_chat else ("headers",)
        check_target_options(options, known, what="an address")
        for name, value in {**self._headers, **_legal(options.get("headers") or {})}.items():
            _from_environment(name, value)

    def forget(self, thread_id: str, *, resource_id: str | None = None) -> None:
        """Drop what is kept here of a thread: its conversation is over."""
        self._threads.pop((resource_id, thread_id), None)


def _client() -> Any:
    """One client for all targets of a loop. It keeps no cookies: by them one conversation would know another."""
    from http.cookiejar import DefaultCookiePolicy

    import httpx2

    client = httpx2.AsyncClient(limits=httpx2.Limits(max_connections=_AT_ONCE, max_keepalive_connections=100))
    client.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=()))
    return client


_clients: Final = PerLoop(_client)


def _checked(url: str, *, chat: bool) -> tuple[str, str]:
    """The address to ask, and how it is shown: without a password and a query, which may be secret."""
    parts = urlsplit(url)
    if parts.scheme.lower() not in {"http", "https"} or not parts.hostname:
        raise UsageError(
            f"{shown(redact_text(url))} is no address of an endpoint: http://host/path or https://host/path"
        )
    path = parts.path.rstrip("/")
    if chat and not path.endswith("/chat/completions"):
        path += "/chat/completions"
        url = parts._replace(path=path).geturl()
    return url, shown_address(url)


def _legal(headers: Mapping[str, Any], *, what: str = "headers") -> dict[str, str]:
    """Names and values as a request may have them; the values are not shown."""
    made = {}
    for name, value in headers.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name) or name.lower() in _OURS:
            raise UsageError(f"{what}: {shown(name)} cannot be the name of a header")
        text = value if isinstance(value, str) else json.dumps(value) if isinstance(value, int | float) else None
        if text is None or not text.isascii() or not (text.isprintable() or not text):
            raise UsageError(f"{what}: the value of {name} cannot be a header: give text of one line, in ASCII")
        made[name] = text
    return made


def _from_environment(name: str, value: str) -> str:
    if not value.startswith("env:"):
        return value
    found = os.environ.get(value[4:])
    if found is None:
        raise UsageError(f"headers: {name} is {value}, and {value[4:]} is not set")
    return found


def _trace(headers: dict[str, str]) -> tuple[str, str]:
    """Add where in a trace the call stands: in the active span of OpenTelemetry if there is one, else in a new one."""
    import secrets
    import sys

    if "opentelemetry" in sys.modules:
        from opentelemetry import propagate

        propagate.inject(headers)
    if "traceparent" not in headers:
        headers["traceparent"] = f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-01"
    _, trace, span, _ = headers["traceparent"].split("-")
    return trace, span


def _seconds(headers: Any) -> float | None:
    try:
        return float(headers.get("retry-after"))
    except (TypeError, ValueError):
        return None


def _as_sent(reply: Reply) -> list[dict[str, Any]]:
    try:
        return sent([message for message in read_messages(reply.output) if isinstance(message, Message)])
    except UnreadableMessages:
        return []


def _from(reply: Reply, origin: Origin) -> Reply:
    return replace(reply, origin=origin)
