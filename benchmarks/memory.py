"""What a finished run keeps for an item with three outcomes, above the item's own data. Target: at most 1.6 kB.

One gate and two checks over a target that gives one prebuilt text. Traced: everything that is still there when the run
is over, less the items and ids that were there before it.
"""

import asyncio
import gc
import sys
import tracemalloc
from collections import Counter

from timing import judged

from proctor import Item, checks, run_evals

ITEMS = 20_000
TARGET_BYTES = 1600
ANSWER = "It is sunny in Brooklyn, and it will rain tomorrow."


async def answer(question):
    return ANSWER


def make_items(count):
    return [Item(f"What is the weather in street {number}?", id=f"street-{number}") for number in range(count)]


def evaluate(items):
    return asyncio.run(
        run_evals(
            data=items,
            target=answer,
            gates=[checks.includes("Brooklyn")],
            scorers=[checks.similarity("sunny in Brooklyn"), (checks.no_tool_errors(), 1)],
        )
    )


def kept_bytes(items):
    """Bytes that are there after the run and were not before it; and the result."""
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    result = evaluate(items)
    gc.collect()
    after = tracemalloc.get_traced_memory()[0]
    places = tracemalloc.take_snapshot().statistics("lineno")
    tracemalloc.stop()
    return after - before, result, places


def by_type(roots, known):
    """Bytes and objects of each type that *roots* reach, each object once, those in *known* left out."""
    sizes, counts = Counter(), Counter()
    seen, stack = set(known), list(roots)
    while stack:
        thing = stack.pop()
        if id(thing) in seen or isinstance(thing, type):
            continue
        seen.add(id(thing))
        sizes[type(thing).__name__] += sys.getsizeof(thing)
        counts[type(thing).__name__] += 1
        stack += gc.get_referents(thing)
    return sizes, counts


def main():
    evaluate(make_items(10))  # imports and caches are no part of what an item keeps
    items = make_items(ITEMS)
    kept, result, places = kept_bytes(items)
    each = kept / ITEMS
    print(f"Kept for an item with three outcomes, above its own data: {each:.0f} bytes  {judged(each, TARGET_BYTES)}")

    known = {id(thing) for item in items for thing in (item, item.id, item.input)}
    sizes, counts = by_type(result.items, known)
    print("\nBy type (sys.getsizeof; for one item)")
    for name, size in sizes.most_common(12):
        print(f"  {name:<16}{size / ITEMS:8.0f} bytes in {counts[name] / ITEMS:5.2f} objects")

    print("\nBy the line that made it (tracemalloc; for one item)")
    for place in places[:14]:
        frame = place.traceback[0]
        where = "/".join(frame.filename.split("/")[-3:])
        print(f"  {where}:{frame.lineno:<6}{place.size / ITEMS:8.0f} bytes in {place.count / ITEMS:5.2f} objects")


if __name__ == "__main__":
    main()
