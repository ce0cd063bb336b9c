"""As much of HTTP/1.1 as a model server needs: requests with a length, answers in turn, connections kept open."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from proctor.data.value import Value

__all__ = ["Connection", "HttpAnswer", "HttpRequest"]

_LONGEST_HEAD = 64 * 1024
_END_OF_HEAD = b"\r\n\r\n"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class HttpRequest(Value):
    """What came. The names of *headers* are in small letters."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class HttpAnswer(Value):
    """What is sent. *cut*: the connection is closed after so many bytes of the body; at 0 nothing is sent, no head."""

    status: int = 200
    type: str = "application/json"
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: int | None = None

    def to_bytes(self) -> bytes:
        """Head and body, as they go over the wire."""
        lines = [
            f"HTTP/1.1 {self.status} {_phrase(self.status)}",
            f"content-type: {self.type}",
            f"content-length: {len(self.body)}",
            *[f"{name}: {value}" for name, value in self.headers.items()],
        ]
        return "\r\n".join(lines).encode("latin-1") + _END_OF_HEAD + self.body


class Connection(asyncio.Protocol):
    """One connection of a client. Its requests are answered one after the other; when it goes, its answer is given up.

    *open_ones*: it is in this set for as long as it is open.
    """

    def __init__(self, answer: Callable[[HttpRequest], Awaitable[HttpAnswer]], *, open_ones: set[Connection]) -> None:
        self._answer = answer
        self._open_ones = open_ones
        self._buffer = bytearray()
        self._task: asyncio.Task[None] | None = None
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: Any) -> None:
        """It is open."""
        self._transport = transport
        self._open_ones.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """It is closed, by either side."""
        self._open_ones.discard(self)
        self._transport = None
        if self._task is not None:
            self._task.cancel()

    def data_received(self, data: bytes) -> None:
        """Some of a request, or of several."""
        self._buffer += data
        if self._task is None:
            self._next()

    def abort(self) -> None:
        """Close it at once."""
        if self._transport is not None:
            self._transport.abort()

    def _next(self) -> None:
        try:
            request = _taken(self._buffer)
        except ValueError as wrong:
            self._send(HttpAnswer(status=400, type="text/plain", body=str(wrong).encode(), headers=_CLOSE))
            return
        if request is not None:
            self._task = asyncio.get_running_loop().create_task(self._serve(request))

    async def _serve(self, request: HttpRequest) -> None:
        answer = await self._answer(request)
        self._task = None
        self._send(answer)
        if self._transport is not None and not self._transport.is_closing():
            self._next()

    def _send(self, answer: HttpAnswer) -> None:
        if self._transport is None:
            return
        sent = answer.to_bytes()
        if answer.cut is None:
            self._transport.write(sent)
        elif answer.cut:
            self._transport.write(sent[: len(sent) - len(answer.body) + answer.cut])
        if answer.cut is not None or answer.headers.get("connection") == "close":
            self._transport.close()


_CLOSE = {"connection": "close"}


def _taken(buffer: bytearray) -> HttpRequest | None:
    """The first request, taken out of the buffer; None when it is not whole yet."""
    end = buffer.find(_END_OF_HEAD)
    if end < 0:
        if len(buffer) > _LONGEST_HEAD:
            raise ValueError("the head of the request is too long")
        return None
    first, *lines = bytes(buffer[:end]).decode("latin-1").split("\r\n")
    pairs = [line.partition(":") for line in lines]
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    if "transfer-encoding" in headers:
        raise ValueError("the body of a request needs a Content-Length")
    method, _, rest = first.partition(" ")
    start, length = end + len(_END_OF_HEAD), int(headers.get("content-length") or 0)
    if len(buffer) < start + length:
        return None
    body = bytes(buffer[start : start + length])
    del buffer[: start + length]
    return HttpRequest(method=method, path=rest.partition(" ")[0], headers=headers, body=body)


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Other"
