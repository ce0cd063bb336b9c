"""How a schema is sent to a model: the best way that it takes, found once in a process.

The first call of a model goes ahead, so that a way that the model rejects, or a key, costs one call, not one for each
of a hundred in flight. The others wait until it has ended, whichever way, or has taken long. A way that worked is
remembered for the model; where one schema needs another way, for that schema.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

from proctor.errors import ModelError
from proctor.judging.judge import SETTINGS, OutputMode
from proctor.judging.waiting import not_counted

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Event

__all__ = ["Modes", "modes_of"]

T = TypeVar("T")
Wait: TypeAlias = Callable[[Awaitable[bool]], Awaitable[bool]]
"""How the end of a first call is waited for."""

_log = logging.getLogger(__name__)

_LONG: Final = 20.0  # seconds after which nobody waits for the first call any more


class Modes:
    """What is known of one model. *known*: the way that worked first; None before one did."""

    def __init__(self, model: str) -> None:
        self.known: OutputMode | None = None
        self._model = model
        self._of_schemas: dict[str, OutputMode] = {}
        self._first: WeakKeyDictionary[AbstractEventLoop, Event] = WeakKeyDictionary()
        self._first_alone: WeakKeyDictionary[AbstractEventLoop, Event] = WeakKeyDictionary()
        self._answers = False

    async def through(
        self,
        ways: Sequence[OutputMode],
        call: Callable[[OutputMode], Awaitable[T]],
        *,
        schema: str,
        wait: Wait | None = None,
    ) -> T:
        """What *call* gives in the first of these *ways* that the model does not reject. *schema*: its text.

        Raises the `ModelError` of the first way when all are rejected, and any that is of another kind. *wait*: what
        the wait for a first call goes through, which may break it off.
        """
        if len(ways) == 1:
            return await self.in_one_way(lambda: call(ways[0]), wait=wait)
        if self.known is None:
            ahead, is_mine = _ahead(self._first)
            if is_mine:
                try:
                    return await self._try(ways, call, schema)
                finally:
                    ahead.set()
            await _ended(ahead, wait)
        worked = self._of_schemas.get(schema)
        if worked is not None and worked in ways:
            return await call(worked)  # what is rejected now is something else than how the schema is sent
        at = ways.index(self.known) if self.known in ways else 0
        return await self._try(ways[at:], call, schema)

    async def in_one_way(self, call: Callable[[], Awaitable[T]], *, wait: Wait | None = None) -> T:
        """What *call* gives, for which there is but one way. The first goes ahead, too: it may be the last."""
        if not self._answers:
            ahead, is_mine = _ahead(self._first_alone)
            if is_mine:
                try:
                    answer = await call()
                    self._answers = True
                    return answer
                finally:
                    ahead.set()
            await _ended(ahead, wait)
        return await call()

    async def _try(self, ways: Sequence[OutputMode], call: Callable[[OutputMode], Awaitable[T]], schema: str) -> T:
        first: ModelError | None = None
        for way in ways:
            try:
                answer = await call(way)
            except ModelError as error:
                if error.kind != "rejected" or error.parameter in SETTINGS:
                    raise
                first = first or error
                continue
            self._worked(way, schema, first)
            return answer
        raise first or AssertionError("no ways")

    def _worked(self, way: OutputMode, schema: str, first: ModelError | None) -> None:
        self._answers = True
        self.known = self.known or way
        self._of_schemas[schema] = way
        if first is not None:
            _log.warning("%s rejects how the answer's schema was sent; it is sent as %s: %s", self._model, way, first)


def _ahead(first: WeakKeyDictionary[AbstractEventLoop, Event]) -> tuple[Event, bool]:
    """What is set when the first call of this loop has ended, and whether that is the one that asks."""
    import asyncio

    loop = asyncio.get_running_loop()
    is_mine = loop not in first
    return first.setdefault(loop, asyncio.Event()), is_mine


async def _ended(ahead: Event, wait: Wait | None) -> None:
    import asyncio

    with not_counted(), suppress(TimeoutError):
        ended = asyncio.wait_for(ahead.wait(), _LONG)
        await (ended if wait is None else wait(ended))


_KNOWN: Final[dict[str, Modes]] = {}


def modes_of(model: str) -> Modes:
    """What this process knows of a model."""
    return _KNOWN.setdefault(model, Modes(model))
