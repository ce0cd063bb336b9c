"""How a schema is sent to a model: the best way that it takes, found once in a process.

The first call of a model goes alone, so that a way that the model rejects costs one call, not one for each of a hundred
in flight. A way that worked is remembered for the model; where one schema needs another way, for that schema.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Final, TypeVar
from weakref import WeakKeyDictionary

from proctor.errors import ModelError
from proctor.judging.judge import SETTINGS, OutputMode

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Lock

__all__ = ["Modes", "modes_of"]

T = TypeVar("T")
_log = logging.getLogger(__name__)


class Modes:
    """What is known of one model. *known*: the way that worked last; None before one did."""

    def __init__(self, model: str) -> None:
        self.known: OutputMode | None = None
        self._model = model
        self._of_schemas: dict[str, OutputMode] = {}
        self._locks: WeakKeyDictionary[AbstractEventLoop, Lock] = WeakKeyDictionary()

    async def through(
        self, ways: Sequence[OutputMode], call: Callable[[OutputMode], Awaitable[T]], *, schema: str
    ) -> T:
        """What *call* gives in the first of these *ways* that the model does not reject. *schema*: its text.

        Raises the `ModelError` of the first way when all are rejected, and any that is of another kind.
        """
        if self.known is None and len(ways) > 1:
            async with self._alone():
                if self.known is None:
                    return await self._try(ways, call, schema)
        known = self._of_schemas.get(schema, self.known)
        at = ways.index(known) if known in ways else 0
        return await self._try(ways[at:], call, schema)

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
        if self.known is None:
            self.known = way
        elif self.known != way:
            self._of_schemas[schema] = way
        if first is not None:
            _log.warning("%s rejects how the answer's schema was sent; it is sent as %s: %s", self._model, way, first)

    def _alone(self) -> Lock:
        import asyncio

        return self._locks.setdefault(asyncio.get_running_loop(), asyncio.Lock())


_KNOWN: Final[dict[str, Modes]] = {}


def modes_of(model: str) -> Modes:
    """What this process knows of a model."""
    return _KNOWN.setdefault(model, Modes(model))
