"""What it costs to start on the JSONL file of a finished run of 100,000 items, three scorers each.

The look: what `start` takes to see which rows are there, in one pass over the file. The run: the look, and each row
found and counted again, until the verdict; nothing is asked of the target. CPU seconds, and the least of three rounds.
"""

import asyncio
import tempfile
import time
from pathlib import Path

from engine import item, three_checks
from timing import judged

from proctor import Eval, run_evals
from proctor.running.plan import make_plan
from proctor.storage.jsonl import JsonlRecorder

ITEMS = 100_000
ROUNDS = 3
MOST_CALLS = 0
ANSWER = "It is sunny in Brooklyn, and it will rain tomorrow."


class Target:
    """Answers, and counts how often it was asked."""

    def __init__(self):
        self.calls = 0

    async def __call__(self, question):
        self.calls += 1
        return ANSWER


def evaluation(path, target):
    return {
        "data": [item(number) for number in range(ITEMS)],
        "target": target,
        "scorers": three_checks(),
        "recorder": JsonlRecorder(path),
    }


async def look(path, target):
    given = Eval(**evaluation(path, target))
    began = time.process_time()
    known = await given.recorder.start(make_plan(given))
    spent = time.process_time() - began
    await given.recorder.flush()
    if len(known.finished) != ITEMS or known.begun:
        raise AssertionError(f"{len(known.finished)} of {ITEMS} rows are there")
    return spent


async def whole(path, target):
    given = evaluation(path, target)
    began = time.process_time()
    result = await run_evals(**given, keep="none")
    spent = time.process_time() - began
    if result.summary.items != ITEMS or result.status != "complete":
        raise AssertionError(f"the run is not what it should be: {result.summary}")
    return spent


def main():
    with tempfile.TemporaryDirectory() as folder:
        path, target = Path(folder) / "run.jsonl", Target()
        first = asyncio.run(whole(path, target))
        size, asked = path.stat().st_size, target.calls
        looks = [asyncio.run(look(path, target)) for _ in range(ROUNDS)]
        runs = [asyncio.run(whole(path, target)) for _ in range(ROUNDS)]
    again = target.calls - asked
    print(f"A finished run of {ITEMS:,} items, {size / 1e6:.0f} MB of JSON lines (CPU seconds)")
    print(f"  the run that wrote it   {first:8.2f}")
    print(f"  the look at the start   {min(looks):8.2f}")
    print(f"  the whole run on it     {min(runs):8.2f}")
    print(f"  calls of the target     {again:8}  {judged(again, MOST_CALLS)}")


if __name__ == "__main__":
    main()
