"""Items that arrive one by one, from an iterator or anything asynchronous: taken when there is room, never ahead."""

from __future__ import annotations

import warnings
from collections.abc import AsyncGenerator, Generator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from proctor.bridge import cancel_requests
from proctor.data.item import Item
from proctor.data.row import item_from_row
from proctor.data.secrets import redact_text
from proctor.errors import ProctorError, TargetError, UsageError, safe_message
from proctor.running.choice import picked_from
from proctor.running.source import NO_DATA

if TYPE_CHECKING:
    from asyncio import Lock, Task

__all__ = ["Turns", "arriving"]

R = TypeVar("R")


async def arriving(
    data: Any, *, unique_ids: bool = True
) -> AsyncGenerator[tuple[int, Item | ProctorError, str | None], None]:
    """Each item with its place, or the error that says why there is none. Data that raises ends the run with its error.

    An iterator that is not asynchronous is asked on the event loop: give an async one where the next item takes long.
    Of `Chosen` data those that are chosen; nothing is asked for behind the last of them.
    The third is the id made for a chosen one, see `Picker`. A generator is closed at the end, whatever ended it.
    """
    import asyncio

    data, picker = picked_from(data, unique_ids=unique_ids)
    index = 0
    rows: Any = None
    try:
        while not picker.full:
            before = cancel_requests()
            try:
                if rows is None:
                    rows = aiter(data) if hasattr(type(data), "__aiter__") else _from_iterator(data)
                row = await anext(rows)
            except BaseException as error:
                _raise_if_stopped(before)
                if isinstance(error, StopAsyncIteration):
                    break
                if not isinstance(error, Exception | asyncio.CancelledError):
                    raise  # it is to end the program
                message = f"data raised {_said(error)} (after {index} items)"
                raise TargetError(message, code="DATA_FAILED") from error
            _raise_if_stopped(before)
            try:
                item: Item | ProctorError = item_from_row(row)
            except ProctorError as problem:
                item = problem
            if picker.takes(item):
                yield index, item, picker.made_id
            index += 1
        picker.check("data")
        if index == 0:
            raise UsageError("data has no items (an iterator gives its items once)", code=NO_DATA)
    finally:
        await _close(rows)


def _raise_if_stopped(before: int) -> None:
    """Be cancelled when this task was asked to stop meanwhile, whatever the data made of that."""
    if cancel_requests() > before:
        import asyncio

        raise asyncio.CancelledError


async def _from_iterator(data: Any) -> AsyncGenerator[Any, None]:
    try:
        for row in data:
            yield row
    finally:
        if isinstance(data, Generator):
            data.close()


async def _close(rows: Any) -> None:
    """Let it clean up. What goes wrong then is a warning: the run is paid for."""
    if not hasattr(type(rows), "aclose"):
        return
    try:
        await rows.aclose()
    except Exception as error:  # noqa: BLE001 - whatever a user's generator does at its end
        with suppress(RuntimeWarning):
            warnings.warn(f"data raised {_said(error)} when it was closed", RuntimeWarning, stacklevel=2)


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {redact_text(safe_message(error))}"


class Turns(Generic[R]):
    """Workers taking turns at a stream: it is asked for one row at a time, and whoever waits for it can be let go.

    *ended*: whether it has said that there are no more.
    """

    def __init__(self, rows: AsyncGenerator[R, None]) -> None:
        self.ended = False
        self._rows = rows
        self._over = False
        self._lock: Lock | None = None
        self._waiting: Task[Any] | None = None

    async def next(self) -> R | None:
        """The next row; None at the end, and after `stop`."""
        import asyncio

        self._lock = self._lock or asyncio.Lock()
        async with self._lock:
            if self._over:
                return None
            self._waiting, before = asyncio.current_task(), cancel_requests()
            try:
                row = await anext(self._rows, None)
            except asyncio.CancelledError:
                if not self._let_go(before):
                    raise
                return None
            finally:
                self._waiting = None
            self.ended = row is None
            return row

    def _let_go(self, before: int) -> bool:
        """Whether a cancellation was that of `stop`, which is taken back, and nobody else's."""
        return self._over and self._waiting is not None and self._waiting.uncancel() <= before

    def stop(self) -> None:
        """Take no more rows."""
        self._over = True
        if self._waiting is not None:
            self._waiting.cancel()

    async def close(self) -> None:
        """Close what the rows come from."""
        await self._rows.aclose()
