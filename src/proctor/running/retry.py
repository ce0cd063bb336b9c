"""Which failures of a target are worth another try, and when."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from sys import float_info
from typing import Any, TypeAlias

from proctor.data.value import Value, shown
from proctor.errors import UsageError
from proctor.scoring.callables import takes_one

__all__ = ["Retry", "RetryOn", "as_retry"]

RetryOn: TypeAlias = type[BaseException] | tuple[type[BaseException], ...] | Callable[[BaseException], bool]

_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504, 529})
_LOST = frozenset(
    {
        ("aiohttp", "ClientConnectionError"), ("anthropic", "APIConnectionError"), ("httpx", "NetworkError"),
        ("httpx", "RemoteProtocolError"), ("httpx", "TimeoutException"), ("httpx2", "NetworkError"),
        ("httpx2", "RemoteProtocolError"), ("httpx2", "TimeoutException"), ("openai", "APIConnectionError"),
        ("pydantic_ai", "ModelConnectionError"), ("pydantic_ai", "ModelRequestTimeout"),
        ("requests", "ConnectionError"), ("requests", "Timeout"),
    }
)  # fmt: skip  # connections lost, as clients call them that do not use Python's own errors
_MOST = float_info.max  # seconds: neither infinite nor NaN
_MOST_DOUBLINGS = 1000  # a float holds so many


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Retry(Value):
    """How often a target that failed is asked again, and after how many seconds.

    *times*: further tries after the first. *on*: exception types, or a function of the exception; by default what the
    network or a busy server does: `ConnectionError`, `TimeoutError`, what httpx, httpx2, requests, aiohttp, pydantic-ai
    and the clients of OpenAI and Anthropic raise in their place, and errors whose `status_code` (or `status`), or that
    of their `response`, is 408, 425, 429, 500, 502, 503, 504 or 529. Waits double from *first_wait* to *most_wait*,
    each longer or shorter by up to the share *jitter*; the seconds of a `retry_after` that the error carries, or of a
    `Retry-After` header, are waited at least.
    """

    times: int = 2
    on: RetryOn | None = None
    first_wait: float = 1.0
    most_wait: float = 30.0
    jitter: float = 0.2

    def __post_init__(self) -> None:
        if not isinstance(self.times, int) or isinstance(self.times, bool) or self.times < 0:
            raise UsageError(f"Retry(times=...) is a count, 0 or more, not {shown(self.times)}")
        for name, least, most in (("first_wait", 0, _MOST), ("most_wait", 0, _MOST), ("jitter", 0, 1)):
            value = getattr(self, name)
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not number or not least <= value <= most:
                bounds = f"from {least} to {most}" if most == 1 else f"of at least {least}"
                raise UsageError(f"Retry({name}=...) is a number {bounds}, not {shown(value)}")
        if not _is_on(self.on):
            raise UsageError(
                f"Retry(on=...) is an exception type, a tuple of them, or a function of the exception, "
                f"not {shown(self.on)}"
            )

    def wait(self, error: BaseException, *, tried: int) -> float | None:
        """Seconds to wait before the next try, after *tried* of them; None when there is to be none.

        >>> Retry(times=1, jitter=0).wait(ConnectionError(), tried=1), Retry(times=1).wait(ValueError(), tried=1)
        (1.0, None)
        """
        if tried > self.times or not self._is_passing(error):
            return None
        wait = min(self.first_wait * 2.0 ** min(tried - 1, _MOST_DOUBLINGS), self.most_wait)
        wait *= 1 + random.uniform(-self.jitter, self.jitter)  # noqa: S311 - spreads retries, guards nothing
        return max(wait, _asked_for(error))

    def _is_passing(self, error: BaseException) -> bool:
        if self.on is None:
            return isinstance(error, ConnectionError | TimeoutError) or _is_lost(error) or _is_busy(error)
        if isinstance(self.on, tuple | type):
            return isinstance(error, self.on)
        return bool(self.on(error))


def as_retry(given: Any) -> Retry:
    """A `Retry` from itself, or from the number of further tries."""
    if isinstance(given, Retry):
        return given
    if not isinstance(given, int) or isinstance(given, bool) or given < 0:
        raise UsageError(f"retries is a count of further tries, 0 or more, or a Retry(...), not {shown(given)}")
    return Retry(times=given)


def _is_on(on: Any) -> bool:
    if on is None:
        return True
    if isinstance(on, type | tuple):
        kinds = on if isinstance(on, tuple) else (on,)
        return all(isinstance(kind, type) and issubclass(kind, BaseException) for kind in kinds)
    return callable(on) and takes_one(on)


def _is_lost(error: BaseException) -> bool:
    """Whether it is a lost connection by its name: the libraries that raise these are not imported for it."""
    return any((kind.__module__.partition(".")[0], kind.__qualname__) in _LOST for kind in type(error).__mro__)


def _is_busy(error: BaseException) -> bool:
    """Whether the error, or the HTTP response that it holds, has the status of a server that may answer later."""
    for holder in (error, _look(error, "response")):
        for name in ("status_code", "status"):
            status = _look(holder, name)
            if isinstance(status, int) and status in _STATUSES:
                return True
    return False


def _asked_for(error: BaseException) -> float:
    """The seconds that the server asked to wait; a date in the header is not read."""
    asked = [_look(error, "retry_after")]
    for holder in (error, _look(error, "response")):
        try:
            asked.append(float(_look(holder, "headers").get("retry-after")))
        except Exception:  # noqa: BLE001, S112 - none there, a date, or something that is not what it looks like
            continue
    return max((float(it) for it in asked if isinstance(it, int | float) and 0 < it <= _MOST), default=0.0)


def _look(thing: Any, name: str) -> Any:
    """An attribute of a foreign object; None when it is not there, or cannot be had."""
    try:
        return getattr(thing, name, None)
    except Exception:  # noqa: BLE001 - what it says of itself must not hide the failure
        return None
