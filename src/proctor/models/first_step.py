"""The first step of a request: all that happens before anything is sent, in which pydantic-ai drops settings."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Coroutine, Generator
from typing import Any, Generic, TypeVar

__all__ = ["FirstStep"]

R = TypeVar("R")

_lock = threading.Lock()


class FirstStep(Generic[R]):
    """Await a coroutine so that a warning of an ignored setting is raised, at the place where it is given.

    Only in the first step, up to where it waits for the first time: filters of warnings are of the whole process, and
    nothing else of this thread can run in a step. *passed*: called when there was no such warning.
    """

    def __init__(self, work: Coroutine[Any, Any, R], *, passed: Callable[[], None]) -> None:
        self._work = work
        self._passed = passed

    def __await__(self) -> Generator[Any, Any, R]:
        try:
            with _lock, warnings.catch_warnings():
                warnings.filterwarnings("error", message=r"(?s).*will be ignored", category=UserWarning)
                waits_for = self._work.send(None)
        except StopIteration as ended:
            self._passed()
            result: R = ended.value
            return result
        self._passed()
        return (yield from _rest(self._work, waits_for))


def _rest(work: Coroutine[Any, Any, R], waits_for: Any) -> Generator[Any, Any, R]:
    """Go on with what was begun, as `yield from` would."""
    try:
        while True:
            try:
                given = yield waits_for
            except GeneratorExit:
                work.close()
                raise
            except BaseException as error:  # noqa: BLE001 - a cancellation, as a rule: it belongs to the work
                waits_for = work.throw(error)
            else:
                waits_for = work.send(given)
    except StopIteration as ended:
        result: R = ended.value
        return result
