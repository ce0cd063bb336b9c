"""What the run itself costs for an item: a target that does nothing, three scorers, 10,000 items.

Bare: a plain asyncio loop that calls the same target and the same scorers under a semaphore and keeps what they give:
checks through the scorers' own pipeline, a user's `def` by calling it. Over: what `run_evals` adds, from the plan to
the verdict; for a `def` that includes the way to a thread and back, three times. Targets: 40 µs, and 150 µs
for `def`s with 32 at once. `--full` streams 1,000,000 items too: an item costs there what it costs among few.
"""

import asyncio
import gc
import sys
import time

from timing import judged, least, reference

from proctor import Item, Outcome, ScorerRun, checks, create_scorer, run_evals
from proctor.data.column import Column
from proctor.scoring.pipeline import Walk

ITEMS = 10_000
ROUNDS = 5
CHECKS_US, DEFS_US, LINEAR = 40.0, 150.0, 1.25
ANSWER = "It is sunny in Brooklyn, and it will rain tomorrow."


def item(number):
    return Item(f"What is the weather in street {number}?", id=f"street-{number}")


def make_items(count):
    return [item(number) for number in range(count)]


async def answer(question):
    return ANSWER


# ── three scorers ──────────────────────────────────────────────────────────────────────────────────────────────────


def three_checks():
    return [checks.includes("Brooklyn"), checks.no_tool_errors(), checks.max_tool_calls(3)]


def names_the_town(ctx):
    return "Brooklyn" in ctx.run.text


def is_short(ctx):
    return len(ctx.run.text) < 300


def ends_in_a_full_stop(ctx):
    return ctx.run.text.endswith(".")


DEFS = (names_the_town, is_short, ends_in_a_full_stop)


def three_defs():
    return [
        create_scorer(id=function.__name__, description="A quick def.").generate_score(function) for function in DEFS
    ]


# ── two ways to run them ───────────────────────────────────────────────────────────────────────────────────────────


async def bare(items, concurrency, *, target=answer, score=None):
    score = score or by_checks()
    slots = asyncio.Semaphore(concurrency)

    async def one(item):
        async with slots:
            run = ScorerRun(output=await target(item.input), input=item.input)
            return run.output, score(run)

    if concurrency == 1:
        return [await one(item) for item in items]
    return await asyncio.gather(*[one(item) for item in items])


def by_checks():
    cells = [(scorer, Column("scorer", None, scorer.key, scorer.id)) for scorer in three_checks()]
    return lambda run: [Walk(scorer, run, column=column).start() for scorer, column in cells]


class Context:
    """What a user's step sees of a run."""

    __slots__ = ("run",)

    def __init__(self, run):
        self.run = run


def by_defs(run):
    return [function(Context(run)) for function in DEFS]


async def whole(items, concurrency, *, scorers=None, **options):
    scorers = scorers or three_checks()
    return await run_evals(data=items, target=answer, scorers=scorers, concurrency=concurrency, **options)


def cpu_us(evaluate, count):
    """CPU µs for an item, once."""
    gc.collect()
    began = time.process_time()
    made = asyncio.run(evaluate())
    spent = time.process_time() - began
    del made
    return spent / count * 1e6


def least_of(evaluations, *, items, rounds=ROUNDS):
    """CPU µs for an item of each of these, the least of rounds that alternate."""
    found = [[] for _ in evaluations]
    for _ in range(rounds):
        for spent, evaluate in zip(found, evaluations, strict=True):
            spent.append(cpu_us(evaluate, items))
    return [min(spent) for spent in found]


# ── what is printed ────────────────────────────────────────────────────────────────────────────────────────────────


def print_over_bare():
    items = make_items(ITEMS)
    print(f"CPU µs for an item, {ITEMS:,} items, three scorers")
    print(f"  {'':<22}{'run_evals':>10}{'bare':>8}{'over':>8}")
    for name, make, score, target in (
        ("checks", three_checks, by_checks(), CHECKS_US),
        ("def scorers", three_defs, by_defs, DEFS_US),
    ):
        for concurrency in (1, 32):
            ours, theirs = least_of(
                [
                    lambda make=make, at=concurrency: whole(items, at, scorers=make()),
                    lambda score=score, at=concurrency: bare(items, at, score=score),
                ],
                items=ITEMS,
            )
            over, row = ours - theirs, f"{name}, {concurrency} at once"
            judgement = "" if score is by_defs and concurrency == 1 else judged(over, target)
            print(f"  {row:<22}{ours:10.1f}{theirs:8.1f}{over:8.1f}  {judgement}")
    print(f"  {'(reference)':<22}{least({'': reference})[''] * 1e6:10.2f}")


def print_linear(counts):
    print("\nCPU µs for an item by the number of items, streamed, keep='none', 32 at once")
    found = {}
    for count in counts:
        found[count] = cpu_us(lambda count=count: whole(map(item, range(count)), 32, keep="none"), count)
        print(f"  {count:<22,}{found[count]:10.1f}")
    ratio = found[counts[-1]] / found[counts[0]]
    print(f"  {'last over first':<22}{ratio:10.2f}  {judged(ratio, LINEAR)}")


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
    print_over_bare()
    print_linear((10_000, 100_000, 1_000_000) if "--full" in sys.argv else (10_000, 50_000))
    print(f"\nReprs of outcomes asked for: {reprs_of_outcomes(make_items(100))} (none is right)")


if __name__ == "__main__":
    main()
