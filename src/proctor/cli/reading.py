"""Reading runs of a store page by page."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from proctor.data.stored import RowInfo

if TYPE_CHECKING:
    from proctor.storage.store import Store

__all__ = ["all_rows"]

_PAGE = 1_000


async def all_rows(store: Store, run: str, *, failed: bool = False) -> AsyncIterator[RowInfo]:
    """The rows of a run in the order of the input; only those that fell short or broke when *failed*."""
    after: tuple[float | int, ...] | None = None
    while True:
        page = await store.rows(run, failed=failed, limit=_PAGE, after=after)
        for row in page.rows:
            yield row
        after = page.after
        if after is None:
            return
