"""What a run costs where the target is what takes time: 2,000 items of 50 ms, a hundred at once.

Bare: the asyncio loop of `engine.py`. Throughput is wall time; rounds alternate, and the least counts. Target: at least
95 % of the bare loop's. The ideal is what the sleeps alone take.
"""

import asyncio
import time

from engine import ANSWER, bare, three_checks
from timing import judged

from proctor import Item, run_evals

ITEMS, CONCURRENCY, SECONDS = 2_000, 100, 0.05
ROUNDS = 6
TARGET_PERCENT = 95.0


async def slow_answer(question):
    await asyncio.sleep(SECONDS)
    return ANSWER


async def whole(items):
    return await run_evals(data=items, target=slow_answer, scorers=three_checks(), concurrency=CONCURRENCY)


async def plain(items):
    return await bare(items, CONCURRENCY, target=slow_answer)


def wall_seconds(evaluate, items):
    began = time.perf_counter()
    asyncio.run(evaluate(items))
    return time.perf_counter() - began


def main():
    items = [Item(f"What is the weather in street {number}?", id=f"street-{number}") for number in range(ITEMS)]
    found = {evaluate: [] for evaluate in (plain, whole)}
    for _ in range(ROUNDS):
        for evaluate, spent in found.items():
            spent.append(wall_seconds(evaluate, items))
    theirs, ours = min(found[plain]), min(found[whole])
    percent = theirs / ours * 100
    print(f"{ITEMS} items of {SECONDS * 1000:g} ms at concurrency {CONCURRENCY}: seconds of wall time")
    print(f"  ideal {SECONDS * ITEMS / CONCURRENCY:.3f}, bare {theirs:.3f}, run_evals {ours:.3f}")
    print(f"  throughput: {percent:.1f} % of the bare loop's  {judged(percent, TARGET_PERCENT, least=True)}")


if __name__ == "__main__":
    main()
