"""A GGUF file as a judge, in this process: llama.cpp by way of `xllamacpp`, no server and no key.

One request at a time: a second one would only share the same processor. It is loaded when it is first asked, once for
a file and process, and stays.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from proctor.bridge import in_thread
from proctor.data.message import File
from proctor.data.usage import Cost, Usage
from proctor.errors import ModelError, UsageError, cut, safe_message
from proctor.judging.judge import OutputMode
from proctor.judging.model import ModelAnswer, ModelCall, Price
from proctor.models.gguf import context_length
from proctor.models.requests import sendable

__all__ = ["LocalModel"]

_MOST_CONTEXT: Final = 8192  # tokens, unless PROCTOR_LOCAL_CONTEXT says otherwise: a long context takes much memory
_SECONDS_TO_LOOK_UP: Final = 0.1  # from waiting, to see whether it was cancelled
_SETTINGS: Final = {
    "frequency_penalty": "frequency_penalty",
    "max_tokens": "max_tokens",
    "presence_penalty": "presence_penalty",
    "seed": "seed",
    "stop_sequences": "stop",
    "temperature": "temperature",
    "top_k": "top_k",
    "top_p": "top_p",
}

_loaded: dict[tuple[Path, int], _Loaded] = {}
_lock = threading.Lock()


class LocalModel:
    """*path*: of a GGUF file. Its window is what it was made for, at most PROCTOR_LOCAL_CONTEXT (8192) tokens.

    A schema is held by a grammar, so that every answer fits it that is not cut.
    """

    at_once = 1  # more would wait for each other anyway
    keeps_time = True
    in_process = True

    def __init__(self, path: str) -> None:
        file = Path(path).expanduser()
        if find_spec("xllamacpp") is None:
            raise UsageError("local models need the package 'xllamacpp': pip install 'proctor[local]'")
        if not file.is_file():
            raise UsageError(f"local:{path}: there is no such file; write local: and the path of a GGUF file")
        self._path = file.resolve()
        self.id = f"local:{file.name}"
        self.provider: str | None = "local"
        self.address: str | None = str(self._path)
        self.modes: tuple[OutputMode, ...] = ("native", "prompted")
        self.accepts: frozenset[str] = frozenset()
        self.window: int | None = min(context_length(self._path) or _MOST_CONTEXT, _most_context())
        self.price: Price | None = Price(input_token=0.0, output_token=0.0, source="local")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self._path)!r})"

    async def request(self, call: ModelCall, /) -> ModelAnswer:
        """The answer to one request. The time it may take begins when it is its turn and the file is loaded.

        At the end of it the model stops writing, and so it does when the request is cancelled.
        """
        import asyncio

        stop = threading.Event()
        body = _body(call, model=self.id)
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(None) as limit:

                def begun() -> None:
                    if not stop.is_set():
                        limit.reschedule(loop.time() + call.timeout)

                return await in_thread(self._ask, body, stop, lambda: loop.call_soon_threadsafe(begun))
        except TimeoutError:
            raise ModelError(
                f"{self.id}: took longer than the {call.timeout:g} s of timeout=; give Judge(timeout=...) more of them",
                kind="timeout",
            ) from None
        finally:
            stop.set()

    def _ask(self, body: dict[str, Any], stop: threading.Event, begun: Callable[[], Any]) -> ModelAnswer:
        """On a thread of its own. *begun*: called when it is this request's turn."""
        loaded = _load(self._path, context=self.window or _MOST_CONTEXT)
        while not loaded.turn.acquire(timeout=_SECONDS_TO_LOOK_UP):
            if stop.is_set():
                return ModelAnswer(text="")  # nobody waits for it
        try:
            if stop.is_set():
                return ModelAnswer(text="")
            begun()
            return loaded.ask(body, stop, model=self.id)
        finally:
            loaded.turn.release()


class _Loaded:
    """A model in memory. *turn*: held by the request that it works at."""

    def __init__(self, path: Path, *, context: int) -> None:
        xllamacpp = import_module("xllamacpp")  # it says nothing of its types
        params = xllamacpp.CommonParams()
        params.model.path = str(path)
        params.n_ctx = context
        params.n_parallel = 1
        params.offline = True
        params.warmup = False
        params.verbosity = -1  # nothing on stderr
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = max(1, (os.cpu_count() or 1) // 2)
        params.hostnames, params.port, params.ui = ["127.0.0.1"], 0, False
        params.api_keys = [os.urandom(16).hex()]  # its own server is not used, and shall answer nobody
        self._server = xllamacpp.Server(params)
        self.turn = threading.Lock()

    def ask(self, body: dict[str, Any], stop: threading.Event, *, model: str) -> ModelAnswer:
        pieces: list[dict[str, Any]] = []

        def take(piece: Any) -> bool:
            pieces.append(piece)
            return stop.is_set()

        try:
            whole = self._server.handle_chat_completions(body, take)
        except ValueError as error:  # of the request: a schema that no grammar can be made of
            message = f"{model}: the request was rejected: {cut(safe_message(error), 300)}"
            raise ModelError(message, kind="rejected") from error
        return _answer([*pieces, *([whole] if isinstance(whole, dict) else [])], model=model)


def _load(path: Path, *, context: int) -> _Loaded:
    with _lock:
        found = _loaded.get((path, context))
        if found is None:
            try:
                found = _loaded[path, context] = _Loaded(path, context=context)
            except Exception as error:
                message = f"local:{path.name} cannot be loaded: {cut(safe_message(error), 300)}"
                raise ModelError(message, kind="not_found") from error
        return found


def _body(call: ModelCall, *, model: str) -> dict[str, Any]:
    messages = []
    for message in call.messages:
        if any(isinstance(part, File) for part in message.parts):
            raise ModelError(f"{model} reads text only; it was given a file", kind="rejected")
        messages.append({"role": message.role, "content": sendable(message.text)})
    body: dict[str, Any] = {"messages": messages, "stream": True, "stream_options": {"include_usage": True}}
    for name, value in call.settings.items():
        if name not in _SETTINGS:
            raise ModelError(f"{model} does not take {name}", kind="rejected", parameter=name)
        body[_SETTINGS[name]] = value
    if call.schema is not None and call.mode != "prompted":
        schema = {"name": call.name, "schema": dict(call.schema), "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body


def _answer(pieces: list[dict[str, Any]], *, model: str) -> ModelAnswer:
    text, reason, usage = "", None, None
    for piece in pieces:
        if error := piece.get("error"):
            message = cut(str(error.get("message", error)), 300)
            too_long = error.get("type") == "exceed_context_size_error"
            raise ModelError(f"{model}: {message}", kind="context" if too_long else "rejected")
        for choice in piece.get("choices", ()):
            text += (choice.get("delta") or choice.get("message") or {}).get("content") or ""
            reason = choice.get("finish_reason") or reason
        usage = piece.get("usage") or usage
    read, written = (usage["prompt_tokens"], usage["completion_tokens"]) if usage else (0, 0)
    counts = Usage(input_tokens=read, output_tokens=written, total_tokens=read + written) if usage else None
    return ModelAnswer(
        text=text, finish_reason=reason, usage=counts, cost=Cost(amount=0.0, source="local"), answered_by=model
    )


def _most_context() -> int:
    said = os.environ.get("PROCTOR_LOCAL_CONTEXT")
    if not said:
        return _MOST_CONTEXT
    if not said.isascii() or not said.isdigit() or int(said) < 1:
        raise UsageError(f"PROCTOR_LOCAL_CONTEXT is a number of tokens, not {said!r}")
    return int(said)
