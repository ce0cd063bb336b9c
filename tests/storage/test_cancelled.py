"""A run that is cancelled, at whatever moment, leaves a store that anyone may write to at once."""

import asyncio
import random
import sqlite3
from contextlib import suppress

import pytest

from proctor import run_evals
from tests.storage.test_faults import Slow, evaluation

CANCELLED = 60


async def cancelled(where, *, after):
    task = asyncio.ensure_future(run_evals(**evaluation(Slow()), store=where))
    await asyncio.sleep(after)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


@pytest.mark.slow
def test_no_lock_is_left_and_no_thread_outlives_its_loop(tmp_path):
    """Most of the moments are in its opening. A thread that broke would be told by pytest."""
    chance = random.Random(5)
    for number in range(CANCELLED):
        path = tmp_path / f"{number // 10}.db"  # a new one, or one that is there
        asyncio.run(cancelled(path, after=chance.random() * 0.08))
        database = sqlite3.connect(path, timeout=0.2, isolation_level=None)
        try:
            database.execute("BEGIN IMMEDIATE")
        finally:
            database.close()
