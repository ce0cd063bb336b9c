"""That no worker of a run ends unseen."""

import asyncio

import pytest

from proctor import MemoryRecorder, run_evals, run_evals_sync
from proctor.errors import ProctorError
from tests.running.graded import asked, echo, graded


class Cancels(MemoryRecorder):
    """A recorder something of which is cancelled, after so many events."""

    def __init__(self, left):
        super().__init__()
        self.left = left

    async def put(self, event):
        self.left -= 1
        if self.left < 0:
            raise asyncio.CancelledError
        await super().put(event)


@pytest.mark.parametrize("concurrency", [1, 3])
@pytest.mark.parametrize("left", [0, 4])
async def test_a_recorder_that_is_cancelled_does_not_make_a_run_of_fewer_items(concurrency, left):
    work = run_evals(
        target=echo, data=asked(*[1.0] * 6), gates=[graded()], recorder=Cancels(left), concurrency=concurrency
    )
    with pytest.raises(ProctorError, match=r"recorder Cancels: its put\(\) raised CancelledError") as caught:
        await work
    assert caught.value.code == "RECORDER_FAILED"


def test_nor_in_code_that_is_not_async():
    with pytest.raises(ProctorError, match=r"its put\(\) raised CancelledError"):
        run_evals_sync(target=echo, data=asked(1.0, 1.0), gates=[graded()], recorder=Cancels(1), concurrency=2)
