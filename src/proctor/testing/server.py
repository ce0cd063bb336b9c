"""A model server on the loopback address, with set replies and faults: for tests of what talks to models over HTTP.

It has a thread and an event loop of its own, not those of `bridge`: what it serves may hold the loop it is used from,
or be the process's background loop.

    python -m proctor.testing.server --reply '{"verdict": "pass"}' --delay-ms 50 --rate 100

prints its URL as the first line, serves until its standard input is closed or it is told to end (SIGTERM, Ctrl-C), and
prints what it has counted as one line of JSON.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from concurrent.futures import Future
from dataclasses import replace
from threading import Thread
from typing import Any, Self

from proctor.errors import UsageError
from proctor.judging.judge import OutputMode
from proctor.testing.faults import FAULTS, Drop, Html, Malformed, Plain, Slow, Status, Truncated
from proctor.testing.http import Connection, HttpAnswer, HttpRequest
from proctor.testing.replies import Script, ScriptedReply
from proctor.testing.served import APIS, ServedRequest, error_answer, json_answer, reply_answer, request_of
from proctor.testing.traffic import Traffic
from proctor.testing.wire import schema_parameter

__all__ = ["ModelServer", "main"]


class ModelServer:
    """A server that speaks OpenAI's chat completions and responses, not streamed, and `GET /v1/models`.

    *replies*: as of a `ScriptedModel`; a function gets the `ServedRequest`, in the server's thread. Besides replies
    there are faults: `Status`, `Drop`, `Html`, `Slow`, `Truncated`, `Malformed`, and `Plain`. A request with a tool to
    call gets its reply as the arguments of the call. An exception of the script is an answer with status 500.

    *rate*: requests in a second; those above get 429 with the seconds until the next. *rejects*: ways to send a schema,
    `native` or `tool`, and *rejects_parameters*: settings, that get 400. *key*: requests without it get 401. *models*:
    names that are known; others get 404. *port*: 0 for any that is free.

    *url*: its address, up to `/v1`. *requests*: the requests for an answer, in order, refused ones too. *traffic*: what
    it has counted; `GET /traffic` is the same as JSON, for other processes.

    >>> with ModelServer({"refund": {"verdict": "pass"}, "*": Status(429, retry_after=1.0)}) as server:
    ...     server.url
    'http://127.0.0.1:.../v1'
    """

    def __init__(
        self,
        replies: Any,
        *,
        rate: int | None = None,
        rejects: Iterable[OutputMode] = (),
        rejects_parameters: Iterable[str] = (),
        key: str | None = None,
        models: Iterable[str] | None = None,
        port: int = 0,
    ) -> None:
        if rate is not None and rate < 1:
            raise UsageError(f"ModelServer(rate=...) is a number of requests in a second, not {rate}")
        self._script = Script(replies, owner="ModelServer", faults=FAULTS)
        self.rejects = tuple(rejects)
        self.rejects_parameters = tuple(rejects_parameters)
        self.key = key
        self.models = None if models is None else tuple(models)
        self.port = port
        self.requests: list[ServedRequest] = []
        self.traffic = Traffic(rate)
        self._asked = 0
        self._open_ones: set[Connection] = set()
        self._thread: Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end: asyncio.Event | None = None

    @property
    def url(self) -> str:
        """`http://127.0.0.1:PORT/v1`, the base URL for clients."""
        return f"http://127.0.0.1:{self.port}/v1"

    def start(self) -> None:
        """Begin to listen. Returns when it does."""
        if self._thread is not None:
            raise UsageError("this ModelServer was started before; make another one")
        listens: Future[int] = Future()
        self._thread = Thread(target=lambda: asyncio.run(self._serve(listens)), name="model-server", daemon=True)
        self._thread.start()
        try:
            self.port = listens.result()
        except (OSError, OverflowError) as error:
            self._thread.join()
            raise UsageError(f"ModelServer cannot listen on port {self.port} of 127.0.0.1: {error}") from error

    def stop(self) -> None:
        """Close all connections and end, with answers that are not yet sent given up. A second time does nothing."""
        if self._thread is None or self._loop is None or self._end is None:
            return
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._end.set)
            self._thread.join()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self.stop()

    async def __aenter__(self) -> Self:
        self.start()
        return self

    async def __aexit__(self, *raised: object) -> None:
        self.stop()

    async def _serve(self, listens: Future[int]) -> None:
        self._loop = asyncio.get_running_loop()
        self._end = asyncio.Event()
        try:
            server = await self._loop.create_server(self._connection, "127.0.0.1", self.port, backlog=1024)
        except Exception as error:  # noqa: BLE001 - whoever waits for the server is told
            listens.set_exception(error)
            return
        self.traffic.begin()
        listens.set_result(server.sockets[0].getsockname()[1])
        await self._end.wait()
        server.close()
        while self._open_ones:
            for connection in list(self._open_ones):
                connection.abort()
            await asyncio.sleep(0)
        await server.wait_closed()

    def _connection(self) -> Connection:
        self.traffic.connections += 1
        return Connection(self._answer, open_ones=self._open_ones)

    # ── one request ────────────────────────────────────────────────────────────────────────────────────────────────

    async def _answer(self, got: HttpRequest) -> HttpAnswer:
        path = got.path.partition("?")[0]
        if got.method == "GET" and path == "/traffic":
            return json_answer(self.traffic.to_dict())
        known = self.key is None or got.headers.get("authorization") == f"Bearer {self.key}"
        if got.method == "GET" and path == "/v1/models":
            if not known:
                return error_answer(Status(401))
            names = self.models or ("scripted",)
            data = [{"id": name, "object": "model", "created": 0, "owned_by": "proctor"} for name in names]
            return json_answer({"object": "list", "data": data})
        if got.method != "POST" or path not in APIS:
            return error_answer(Status(404, code="not_found", message=f"there is no {got.method} {path} here"))
        try:
            body = json.loads(got.body)
        except ValueError as wrong:
            return error_answer(Status(400, message=f"the body is not JSON: {wrong}"))
        if not isinstance(body, dict):
            return error_answer(Status(400, message="the body is no JSON object"))
        return await self._counted(request_of(got, path=path, body=body), known=known)

    async def _counted(self, request: ServedRequest, *, known: bool) -> HttpAnswer:
        traffic = self.traffic
        self.requests.append(request)
        wait = traffic.admit()
        if wait is not None:
            return error_answer(Status(429, message=f"more than {traffic.rate} requests in a second", retry_after=wait))
        traffic.enter()
        served = False
        try:
            answer = self._refusal(request, known=known) or await self._scripted(request)
            served = answer.status == 200 and answer.cut is None
        except Exception as error:  # noqa: BLE001 - a script may raise anything; whoever asks is told
            answer = error_answer(Status(500, message=f"{type(error).__name__}: {error}"))
        finally:
            traffic.leave(served=served)
        return answer

    def _refusal(self, request: ServedRequest, *, known: bool) -> HttpAnswer | None:
        body, model = request.body, request.body.get("model")
        if not known:
            return error_answer(Status(401))
        if self.models is not None and model not in self.models:
            return error_answer(Status(404, message=f"there is no model {model!r}", param="model"))
        if body.get("stream"):
            return error_answer(Status(400, message="answers are not streamed here", param="stream"))
        if request.mode in self.rejects:
            name = schema_parameter(request.mode, api=request.api)
            what = name if request.mode == "tool" else f"{name} of type json_schema"
            return error_answer(
                Status(400, code="unsupported_parameter", message=f"{what} is not supported", param=name)
            )
        for name in self.rejects_parameters:
            if name in body:
                message = f"{name} is not supported with this model"
                return error_answer(Status(400, code="unsupported_parameter", message=message, param=name))
        return None

    async def _scripted(self, request: ServedRequest) -> HttpAnswer:
        number, self._asked = self._asked, self._asked + 1
        given = await self._script.reply(request, number=number, prompts=request.prompts)
        while isinstance(given, Slow):
            await asyncio.sleep(given.seconds)
            given = self._script.read(given.reply)
        if isinstance(given, Status):
            return error_answer(given)
        if isinstance(given, Html):
            return HttpAnswer(type="text/html; charset=utf-8", body=given.text.encode())
        if isinstance(given, ScriptedReply):
            if given.delay:
                await asyncio.sleep(given.delay)
            if given.throw is not None:
                raise given.throw.with_traceback(None)
            return reply_answer(request, given, number=number)
        if isinstance(given, Truncated):
            return reply_answer(request, ScriptedReply(given.text, finish_reason="length"), number=number)
        if isinstance(given, Plain):
            return reply_answer(request, ScriptedReply(given.text), number=number, tool=False)
        text = given.text if isinstance(given, Malformed) else "half"
        whole = reply_answer(request, ScriptedReply(text), number=number)
        half = len(whole.body) // 2
        if isinstance(given, Drop):
            return replace(whole, cut=half if given.amid else 0)
        return replace(whole, body=whole.body[:half])


def main(arguments: list[str] | None = None) -> None:
    """The command. It ends with its standard input, at SIGTERM and at Ctrl-C."""
    import argparse
    import signal
    import sys

    parser = argparse.ArgumentParser(
        prog="python -m proctor.testing.server",
        description="A model server with set replies on the loopback address. Prints its URL, serves until standard "
        "input is closed, then prints what it has counted.",
    )
    parser.add_argument("--reply", action="append", help="text of a reply; several are taken in turn, the last repeats")
    parser.add_argument("--delay-ms", type=float, default=0.0, help="milliseconds before each answer")
    parser.add_argument("--rate", type=int, help="requests let in within one second; those above get 429")
    parser.add_argument("--port", type=int, default=0, help="0, as usual, for any that is free")
    parser.add_argument("--rejects", action="append", default=[], choices=["native", "tool"], help="answered with 400")
    given = parser.parse_args(arguments)
    replies = [ScriptedReply(text, delay=given.delay_ms / 1000) for text in given.reply or ["ok"]]
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with ModelServer(replies, rate=given.rate, rejects=given.rejects, port=given.port) as server:
        try:
            sys.stdout.write(f"{server.url}\n")
            sys.stdout.flush()
            while sys.stdin.read(4096):
                pass
        except KeyboardInterrupt:
            pass
        counted = server.traffic.to_dict()
    sys.stdout.write(json.dumps(counted) + "\n")


if __name__ == "__main__":
    main()
