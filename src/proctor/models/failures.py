"""What went wrong with a request, as a `ModelError`: its kind decides what the asker does, its message is for people.

Messages hold the model, the status, the server's own words, cut, and where it was asked; no header and no key.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from proctor.data.secrets import redact_text
from proctor.data.value import Value
from proctor.errors import ModelError, ModelErrorKind, cut, safe_message
from proctor.models.providers import PROVIDERS

if TYPE_CHECKING:
    from proctor.judging.model import ModelCall

__all__ = ["Asked", "failed", "server_words"]

_MOST: Final = 300  # characters of the server's own words

_SAYS: Final[dict[ModelErrorKind, str]] = {
    "busy": "the server asks to wait",
    "unavailable": "the server failed",
    "timeout": "the server gave up waiting",
    "unreadable": "what came back is no reply of a model",
    "rejected": "the request was rejected",
    "context": "the request is too long for the model",
    "unauthorized": "the key was not accepted",
    "quota": "the account's quota or credit is used up",
    "not_found": "no such model, or no such address",
}
_BY_CLASS: Final[tuple[tuple[str, ModelErrorKind], ...]] = (  # the first that fits: some derive from others
    ("ModelRequestTimeout", "timeout"),
    ("ModelTimeoutError", "timeout"),
    ("ModelRateLimitError", "busy"),
    ("ModelQuotaExceededError", "quota"),
    ("ModelAuthenticationError", "unauthorized"),
    ("ModelNotFoundError", "not_found"),
    ("ModelContextWindowExceededError", "context"),
    ("ModelRequestRejectedError", "rejected"),
    ("ModelUnavailableError", "unavailable"),
    ("ModelServerError", "unavailable"),
    ("ModelConnectionError", "unavailable"),
    ("UserError", "rejected"),
)
_BY_STATUS: Final[dict[int, ModelErrorKind]] = {
    401: "unauthorized", 402: "quota", 403: "unauthorized", 404: "not_found", 408: "timeout", 409: "unavailable",
    413: "context", 425: "unavailable", 429: "busy",
}  # fmt: skip
_TOO_LONG: Final = re.compile(
    r"context[ _-]?(?:length|window|size)|maximum context"
    r"|(?:prompt|input) is too (?:long|large)|too many (?:input )?tokens"
    r"|exceeds? .{0,40}\b(?:tokens|context)\b",
    re.IGNORECASE,
)
_OURS: Final = {  # what servers call a setting: what it is called here
    "max_completion_tokens": "max_tokens",
    "max_output_tokens": "max_tokens",
    "stop": "stop_sequences",
    "reasoning_effort": "thinking",
    "reasoning.effort": "thinking",
    "reasoning": "thinking",
}

_READERS: Final = frozenset({"anthropic", "cohere", "google", "groq", "json", "mistralai", "openai", "pydantic_ai"})


@dataclass(frozen=True, slots=True, repr=False)
class Asked(Value):
    """Where a model was asked. *url*: of the server, without secrets; *is_own*: whether the user said which.

    *keys*: the environment variables that a key may come from, None where somebody else gave it.
    """

    url: str | None = None
    is_own: bool = False
    keys: tuple[str, ...] | None = None


def failed(error: Exception, call: ModelCall, *, model: str, asked: Asked = Asked()) -> ModelError | None:
    """The error for what a request raised; None for what is no failure of a model, but a defect."""
    from pydantic_ai import exceptions

    if isinstance(error, exceptions.FallbackExceptionGroup):  # of several models: the last one tried
        last = error.exceptions[-1]
        return failed(last, call, model=model, asked=asked) if isinstance(last, Exception) else None
    if isinstance(error, UserWarning):
        return _setting_ignored(error, call, model=model)
    kind = _kind(error, exceptions)
    if kind is None:
        return None
    if isinstance(error, exceptions.ModelRequestTimeout):
        return ModelError(f"{model}: took longer than the {call.timeout:g} s of timeout=", kind="timeout")
    words, status = server_words(error), getattr(error, "status_code", None)
    if kind == "rejected" and _TOO_LONG.search(words) and "max_tokens" not in words:
        kind = "context"
    parameter = _parameter(error, words, call.settings) if kind == "rejected" else None
    about = f" ({parameter})" if parameter else ""
    numbered = f", status {status}" if status else ""
    says, hint = _SAYS[kind], _hint(kind, asked)
    if kind == "unavailable" and asked.url and _is_not_connected(error):
        says, hint = f"no connection to {asked.url}", "; is the server running there?" if asked.is_own else ""
    return ModelError(
        f"{model}: {says}{about}{numbered}" + (f": {words}" if words else "") + hint,
        kind=kind,
        retry_after=getattr(error, "retry_after", None),
        parameter=parameter,
        status=status,
    )


def _hint(kind: ModelErrorKind, asked: Asked) -> str:
    if kind == "unauthorized" and asked.keys:
        of = [key for key in asked.keys if os.environ.get(key)]
        return f"; the key is that of {' or '.join(of)}" if of else f"; {' or '.join(asked.keys)} is not set"
    if kind == "not_found" and asked.url and asked.is_own:
        return f"; asked at {asked.url}" + ("" if re.search(r"/v\d", asked.url) else ": does it lack /v1?")
    return ""


def _is_not_connected(error: BaseException) -> bool:
    found: BaseException | None = error
    while found is not None:
        if type(found).__name__ in {"ConnectError", "ConnectionRefusedError"}:
            return True
        found = found.__cause__ or found.__context__
    return False


def _kind(error: Exception, exceptions: Any) -> ModelErrorKind | None:
    for name, kind in _BY_CLASS:
        if isinstance(error, getattr(exceptions, name)):
            return kind
    if isinstance(error, exceptions.ModelHTTPError):
        status = error.status_code
        return _BY_STATUS.get(status) or ("unavailable" if status >= 500 else "rejected")
    if isinstance(error, exceptions.UnexpectedModelBehavior | exceptions.ModelAPIError):
        return "unreadable"  # HTML, or half a reply
    if isinstance(error, ValueError | LookupError | TypeError | AttributeError) and _is_of_a_reader(error):
        return "unreadable"  # JSON in which nothing is where it belongs
    return None


def _is_of_a_reader(error: Exception) -> bool:
    """Whether what read the reply raised it: in a function of the user's it would be a defect, and no failure."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_globals.get("__name__", "").partition(".")[0] in _READERS


def _setting_ignored(warning: UserWarning, call: ModelCall, *, model: str) -> ModelError:
    text = safe_message(warning)
    named = next(iter(_named(text, call.settings)), None)
    if named is None:  # where warnings are errors: of a reply that can be read in part
        return ModelError(f"{model}: {_SAYS['unreadable']}: {cut(text.splitlines()[0], _MOST)}", kind="unreadable")
    return ModelError(f"{model} does not take {named}: {cut(text, _MOST)}", kind="rejected", parameter=named)


def server_words(error: BaseException) -> str:
    """What the server, or what lies between, says of it: one line, cut, without secrets."""
    text = _message(getattr(error, "body", None))
    if isinstance(error, LookupError | TypeError | AttributeError):
        return "it has another form than it must have"
    if not text and not hasattr(error, "status_code"):
        while error.__cause__ is not None:  # "Connection error." has a cause that says which
            error = error.__cause__
        text = safe_message(error).partition("\n")[0]
    if "<html" in text[:1000].lower() or text.lstrip()[:9].lower() == "<!doctype":
        text = "a page of HTML: " + re.sub(r"<[^>]*>", " ", text)
    for key in {key for provider in PROVIDERS.values() for key in provider.keys}:
        value = os.environ.get(key)
        if value and len(value) >= 6:
            text = text.replace(value, "***")
    return cut(" ".join(redact_text(text).split()), _MOST)


def _message(body: Any) -> str:
    if isinstance(body, str):
        return body
    if not isinstance(body, Mapping):
        return ""
    for name in ("message", "error", "detail"):
        if name in body and (text := _message(body[name])):
            return text
    return ""


def _parameter(error: Exception, words: str, settings: Mapping[str, Any]) -> str | None:
    """The setting that the server names: in its own field, else in its message if it was sent."""
    body = getattr(error, "body", None)
    inner = body.get("error") if isinstance(body, Mapping) else None
    for part in (body, inner):
        stated = part.get("param") if isinstance(part, Mapping) else None
        if isinstance(stated, str) and stated:
            return _OURS.get(stated, stated)
    return next(iter(_named(words, settings)), None)


def _named(text: str, settings: Iterable[str]) -> list[str]:
    names = {name: [name, *(theirs for theirs, ours in _OURS.items() if ours == name)] for name in settings}
    return [
        name
        for name, written in names.items()
        if any(re.search(rf"(?<![\w.]){re.escape(it)}(?![\w.]*\w)", text) for it in written)
    ]
