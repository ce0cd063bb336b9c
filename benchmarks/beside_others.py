"""What a whole run costs beside pydantic-evals: the same items, target and comparisons. Target: a fifth at most.

It needs `pydantic-evals`, which nothing else here does: make an environment for it, outside of this repository,

    python -m venv /tmp/beside && /tmp/beside/bin/pip install pydantic-evals -e .
    /tmp/beside/bin/python benchmarks/beside_others.py

Without it this says so and measures nothing. Its evaluators give a bare bool for a plain comparison of two texts: what
our checks find besides (the conversation read, tool calls, a reason) is in our figure and not in theirs.
"""

from dataclasses import dataclass

from engine import answer, least_of, make_items, whole
from timing import judged

ITEMS, CONCURRENCY = 2_000, 32
ROUNDS = 5
TARGET_TIMES = 5.0


def their_dataset():
    from pydantic_evals import Case, Dataset
    from pydantic_evals.evaluators import Evaluator

    @dataclass
    class Includes(Evaluator):
        value: str

        def evaluate(self, ctx):
            return self.value.lower() in ctx.output.lower()

    @dataclass
    class Excludes(Evaluator):
        value: str

        def evaluate(self, ctx):
            return self.value.lower() not in ctx.output.lower()

    @dataclass
    class AtMost(Evaluator):
        characters: int

        def evaluate(self, ctx):
            return len(ctx.output) <= self.characters

    cases = [Case(name=item.id, inputs=item.input) for item in make_items(ITEMS)]
    return Dataset(name="weather", cases=cases, evaluators=[Includes("Brooklyn"), Excludes("error"), AtMost(300)])


def main():
    try:
        dataset = their_dataset()
    except ImportError:
        print("skipped: pydantic-evals is not installed here (the top of this file says how)")
        return
    items = make_items(ITEMS)

    async def theirs():
        return await dataset.evaluate(answer, max_concurrency=CONCURRENCY, progress=False)

    async def ours():
        return await whole(items, CONCURRENCY)

    their_us, our_us = least_of([theirs, ours], items=ITEMS, rounds=ROUNDS)
    times = their_us / our_us
    print(f"CPU µs for an item in all, {ITEMS} items, three checks, concurrency {CONCURRENCY}")
    judgement = judged(times, TARGET_TIMES, least=True)
    print(f"  pydantic-evals {their_us:.1f}, run_evals {our_us:.1f}: {times:.1f} times less  {judgement}")


if __name__ == "__main__":
    main()
