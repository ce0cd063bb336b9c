"""Items that arrive one by one, from an iterator or anything asynchronous: taken when there is room, never ahead."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from proctor.data.item import Item
from proctor.data.row import item_from_row
from proctor.errors import ProctorError, TargetError, UsageError, safe_message
from proctor.running.source import NO_DATA

__all__ = ["arriving"]


async def arriving(data: Any) -> AsyncIterator[tuple[int, Item | ProctorError]]:
    """Each item with its place, or the error that says why there is none. Data that raises ends the run with its error.

    An iterator that is not asynchronous is asked on the event loop: give an async one where the next item takes long.
    """
    index = 0
    rows = aiter(data) if hasattr(type(data), "__aiter__") else _from_iterator(data)
    while True:
        try:
            row = await anext(rows)
        except StopAsyncIteration:
            if index == 0:
                raise UsageError("data has no items", code=NO_DATA) from None
            return
        except Exception as error:
            raised = f"{type(error).__name__}: {safe_message(error)}"
            raise TargetError(f"data raised {raised} (after {index} items)", code="DATA_FAILED") from error
        try:
            item: Item | ProctorError = item_from_row(row)
        except ProctorError as problem:
            item = problem
        yield index, item
        index += 1


async def _from_iterator(data: Any) -> AsyncIterator[Any]:
    for row in data:
        yield row
