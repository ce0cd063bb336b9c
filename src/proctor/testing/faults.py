"""What a model server can do wrong, as replies for the script of a `ModelServer`."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, TypeAlias

from proctor.data.value import Value, shown
from proctor.errors import UsageError

__all__ = ["FAULTS", "Drop", "Fault", "Html", "Malformed", "Plain", "Slow", "Status", "Truncated"]

_SAYS: dict[int, tuple[str, str | None, str]] = {  # status: type, code, message
    400: ("invalid_request_error", None, "the request cannot be answered as it is"),
    401: ("invalid_request_error", "invalid_api_key", "the API key is wrong"),
    403: ("invalid_request_error", None, "this key may not use the model"),
    404: ("invalid_request_error", "model_not_found", "there is no such model"),
    429: ("requests", "rate_limit_exceeded", "too many requests"),
}
_QUOTA = "insufficient_quota"


@dataclass(frozen=True, slots=True, repr=False)
class Status(Value):
    """An error, in the form that OpenAI gives it: `{"error": {"message", "type", "param", "code"}}`.

    What is left out is what that status usually says: `Status(404)` is an unknown model. Codes that clients look at:
    `insufficient_quota` (429), `context_length_exceeded` (400). *retry_after*: seconds, sent as `Retry-After`, rounded
    up, and exactly as `retry-after-ms`.
    """

    status: int
    _: KW_ONLY
    code: str | None = None
    message: str | None = None
    type: str | None = None
    param: str | None = None
    retry_after: float | None = None

    def __post_init__(self) -> None:
        if isinstance(self.status, bool) or not isinstance(self.status, int) or not 400 <= self.status <= 599:
            raise UsageError(f"Status(...) is an error of HTTP, 400 to 599, not {shown(self.status)}")

    def to_dict(self) -> dict[str, Any]:
        """The body of the answer."""
        type_, code, message = _SAYS.get(self.status, ("server_error", None, "the server failed"))
        if self.code is not None:
            code = self.code
            message = code.replace("_", " ")
        if code == _QUOTA:
            type_ = _QUOTA
        said = {"message": self.message or message, "type": self.type or type_, "param": self.param, "code": code}
        return {"error": said}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Drop(Value):
    """The connection is closed before the answer; with *amid*, after half of it."""

    amid: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class Html(Value):
    """A page of a proxy, with status 200."""

    text: str = "<html><body><h1>Sign in to go on</h1></body></html>"


@dataclass(frozen=True, slots=True, repr=False)
class Slow(Value):
    """*reply*, any reply or fault, after *seconds*."""

    seconds: float
    reply: Any = "late"


@dataclass(frozen=True, slots=True, repr=False)
class Truncated(Value):
    """*text*, cut for its length: the finish reason is `length`, in responses `max_output_tokens`."""

    text: str


@dataclass(frozen=True, slots=True, repr=False)
class Malformed(Value):
    """The first half of the JSON of an answer, as if it were all, with status 200."""

    text: str = "half"


@dataclass(frozen=True, slots=True, repr=False)
class Plain(Value):
    """*text* as the model's words, also where a tool had to be called."""

    text: str


Fault: TypeAlias = Status | Drop | Html | Slow | Truncated | Malformed | Plain
FAULTS: tuple[type, ...] = (Status, Drop, Html, Slow, Truncated, Malformed, Plain)
