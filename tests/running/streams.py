"""Where items come from in tests of streams."""

import asyncio

import pytest

at_any_concurrency = pytest.mark.parametrize("concurrency", [1, 4], ids=["one at a time", "four at once"])


async def later(rows, *, pause=0.0):
    """The rows of an async generator."""
    for row in rows:
        await asyncio.sleep(pause)
        yield row


class Source:
    """A generator of either kind that knows what was taken from it, and that it was closed."""

    def __init__(self, rows):
        self.rows = rows
        self.taken = 0
        self.closed = False

    def sync(self):
        try:
            for row in self.rows:
                self.taken += 1
                yield row
        finally:
            self.closed = True

    async def later(self):
        try:
            for row in self.rows:
                await asyncio.sleep(0)
                self.taken += 1
                yield row
        finally:
            await asyncio.sleep(0)
            self.closed = True


either_kind = pytest.mark.parametrize("kind", ["sync", "later"])
