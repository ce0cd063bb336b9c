"""Items that arrive one by one, from an iterator or anything asynchronous: taken when there is room, never ahead."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from proctor.data.item import Item
from proctor.data.row import item_from_row
from proctor.errors import ProctorError, TargetError, UsageError, safe_message
from proctor.running.choice import Choice, Chosen, Picker
from proctor.running.source import NO_DATA

__all__ = ["arriving"]


async def arriving(data: Any) -> AsyncIterator[tuple[int, Item | ProctorError]]:
    """Each item with its place, or the error that says why there is none. Data that raises ends the run with its error.

    An iterator that is not asynchronous is asked on the event loop: give an async one where the next item takes long.
    Of `Chosen` data those that are chosen; nothing is asked for behind the last of them.
    """
    picker = Picker(data.choice if isinstance(data, Chosen) else Choice())
    data = data.data if isinstance(data, Chosen) else data
    index = 0
    rows = aiter(data) if hasattr(type(data), "__aiter__") else _from_iterator(data)
    while not picker.full:
        try:
            row = await anext(rows)
        except StopAsyncIteration:
            picker.check("data")
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
        if picker.takes(item):
            yield index, item
        index += 1


async def _from_iterator(data: Any) -> AsyncIterator[Any]:
    for row in data:
        yield row
