"""Which failures of a target are worth another try, and when."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from proctor.data.value import Value, shown
from proctor.errors import UsageError

__all__ = ["Retry", "RetryOn", "as_retry"]

RetryOn: TypeAlias = type[BaseException] | tuple[type[BaseException], ...] | Callable[[BaseException], bool]

_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504, 529})


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Retry(Value):
    """How often a target that failed is asked again, and after how many seconds.

    *times*: further tries after the first. *on*: exception types, or a function of the exception; by default what the
    network or a busy server does: `ConnectionError`, `TimeoutError`, and errors whose `status_code` (or `status`) is
    408, 425, 429, 500, 502, 503, 504 or 529. Waits double from *first_wait* to *most_wait*, each longer or shorter by
    up to the share *jitter*; a `retry_after` that the error carries, in seconds, is waited at least.
    """

    times: int = 2
    on: RetryOn | None = None
    first_wait: float = 1.0
    most_wait: float = 30.0
    jitter: float = 0.2

    def __post_init__(self) -> None:
        if not isinstance(self.times, int) or isinstance(self.times, bool) or self.times < 0:
            raise UsageError(f"Retry(times=...) is a count, 0 or more, not {shown(self.times)}")
        for name, least, most in (("first_wait", 0, None), ("most_wait", 0, None), ("jitter", 0, 1)):
            value = getattr(self, name)
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not number or value < least or (most is not None and value > most):
                raise UsageError(f"Retry({name}=...) is a number of at least {least}, not {shown(value)}")
        if self.on is not None and not callable(self.on) and not isinstance(self.on, tuple):
            raise UsageError(f"Retry(on=...) is exception types or a function, not {shown(self.on)}")

    def wait(self, error: BaseException, *, tried: int) -> float | None:
        """Seconds to wait before the next try, after *tried* of them; None when there is to be none.

        >>> Retry(times=1, jitter=0).wait(ConnectionError(), tried=1), Retry(times=1).wait(ValueError(), tried=1)
        (1.0, None)
        """
        if tried > self.times or not self._is_passing(error):
            return None
        wait = min(self.first_wait * 2.0 ** (tried - 1), self.most_wait)
        wait *= 1 + random.uniform(-self.jitter, self.jitter)  # noqa: S311 - spreads retries, guards nothing
        return max(wait, _asked_for(error))

    def _is_passing(self, error: BaseException) -> bool:
        if self.on is None:
            return isinstance(error, ConnectionError | TimeoutError) or _status(error) in _STATUSES
        if isinstance(self.on, tuple | type):
            return isinstance(error, self.on)
        return bool(self.on(error))


def as_retry(given: Any) -> Retry:
    """A `Retry` from itself, or from the number of further tries."""
    return given if isinstance(given, Retry) else Retry(times=given)


def _status(error: BaseException) -> Any:
    return getattr(error, "status_code", None) or getattr(error, "status", None)


def _asked_for(error: BaseException) -> float:
    seconds = getattr(error, "retry_after", None)
    return float(seconds) if isinstance(seconds, int | float) and seconds > 0 else 0.0
