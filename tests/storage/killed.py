"""A run in a process of its own, to be killed: `python -m tests.storage.killed FILE CALLS ITEMS`.

Each call of the target and of the scorers is a line of CALLS, written before anything is recorded of it.
"""

import asyncio
import os
import random
import sys

from proctor import Item, JsonlRecorder, Turn, checks, run_evals_sync, scorer


def note(what):
    descriptor = os.open(CALLS, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(descriptor, f"{what}\n".encode())
    os.close(descriptor)


async def target(text, *, thread_id=None):
    await asyncio.sleep(random.random() / 1000)
    note(f"asked {text}")
    return f"the answer to {text}"


@scorer(inline=True, version="1")
def paid(run):
    """A scorer that costs something."""
    note(f"scored {run.text}")
    return 0.5


def items(count):
    for number in range(count):
        if number % 5:
            yield Item(id=f"i{number}", input=f"question {number}")
        else:
            yield Item(id=f"i{number}", turns=[Turn(f"first {number}"), Turn(f"second {number}", scorers=[paid])])


def evaluate(path, count, **options):
    return run_evals_sync(
        **{
            "target": target,
            "data": list(items(count)),
            "gates": [checks.includes("answer")],
            "scorers": [paid],
            "repeats": 2,
            "concurrency": 4,
            "recorder": JsonlRecorder(path),
            **options,
        }
    )


if __name__ == "__main__":
    CALLS = sys.argv[2]
    result = evaluate(sys.argv[1], int(sys.argv[3]))
    print(result.verdict, *[mean.n for mean in result.means])
