"""What the run itself costs for an item: a target that does nothing, three built-in checks, 10,000 items.

Bare: a plain asyncio loop that calls the same target and the same scorers (through the scorers' own pipeline) under a
semaphore, and keeps what they give. Over: what `run_evals` adds, from the plan to the verdict. Later target: 40 µs.
"""

import asyncio
import gc
import time

from timing import judged, least, reference

from proctor import Item, Outcome, ScorerRun, checks, run_evals
from proctor.data.column import Column
from proctor.scoring.pipeline import Walk

ITEMS = 10_000
ROUNDS = 5
TARGET_US = 40.0
ANSWER = "It is sunny in Brooklyn, and it will rain tomorrow."


async def answer(question):
    return ANSWER


def three_checks():
    return [checks.includes("Brooklyn"), checks.no_tool_errors(), checks.max_tool_calls(3)]


async def bare(items, concurrency):
    cells = [(scorer, Column("scorer", None, scorer.key, scorer.id)) for scorer in three_checks()]
    slots = asyncio.Semaphore(concurrency)

    async def one(item):
        async with slots:
            run = ScorerRun(output=await answer(item.input), input=item.input)
            return run.output, [Walk(scorer, run, column=column).start() for scorer, column in cells]

    if concurrency == 1:
        return [await one(item) for item in items]
    return await asyncio.gather(*[one(item) for item in items])


async def whole(items, concurrency):
    return await run_evals(data=items, target=answer, scorers=three_checks(), concurrency=concurrency)


def cpu_us(evaluate, items, concurrency):
    """CPU µs for an item, once."""
    gc.collect()
    began = time.process_time()
    made = asyncio.run(evaluate(items, concurrency))
    spent = time.process_time() - began
    del made
    return spent / len(items) * 1e6


def reprs_of_outcomes(items):
    """How often a run asks for an Outcome's repr, in asyncio's debug mode too."""
    asked = []
    real = Outcome.__repr__
    Outcome.__repr__ = lambda self: asked.append(1) or real(self)
    try:
        for debug in (False, True):
            asyncio.run(whole(items, 4), debug=debug)
    finally:
        Outcome.__repr__ = real
    return len(asked)


def main():
    items = [Item(f"What is the weather in street {number}?", id=f"street-{number}") for number in range(ITEMS)]
    print(f"CPU µs for an item, {ITEMS} items, three checks (target over bare: {TARGET_US:g})")
    print(f"  {'concurrency':<12}{'run_evals':>10}{'bare':>8}{'over':>8}")
    for concurrency in (1, 32):
        found = {evaluate: [] for evaluate in (bare, whole)}
        for _ in range(ROUNDS):
            for evaluate, spent in found.items():
                spent.append(cpu_us(evaluate, items, concurrency))
        ours, theirs = min(found[whole]), min(found[bare])
        over = ours - theirs
        print(f"  {concurrency:<12}{ours:10.1f}{theirs:8.1f}{over:8.1f}  {judged(over, TARGET_US)}")
    print(f"  {'(reference)':<12}{least({'': reference})[''] * 1e6:10.2f}")
    print(f"\nReprs of outcomes asked for: {reprs_of_outcomes(items[:100])} (none is right)")


if __name__ == "__main__":
    main()
