"""What keeping a run in a SQLite store costs, and how fast a store is read: each against its limit.

Durable: what `store=` adds to a run of 10,000 items with three scorers and a target that does nothing: 200 µs of CPU an
item. Written: outcome rows for each CPU second that keeping them takes, 20 scorers to an item: 15,000. Pages: of a run
with 100,000 outcomes (`--full`: 1,000,000), by every filter in every order, and opening the file: 100 ms. Resume: from
`resume` to the first new call of the target, behind 10,000 finished items (`--full`: 100,000): 5 s. Memory: streamed
with a store, what three times as many items take more. Throughput: where the target takes 50 ms, of that without.
"""

import asyncio
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from engine import answer, cpu_us, item, make_items, three_checks, whole
from peak import peak_mb
from stored import break_off, make_store
from timing import judged, least, reference

from proctor import Eval, checks, resume, run_evals
from proctor.storage.read import columns_of
from proctor.storage.store import Store

DURABLE_US, ROWS_PER_S, PAGE_MS, OPEN_MS, RESUME_S, GROWTH_BYTES = 200.0, 15_000.0, 100.0, 100.0, 5.0, 600.0
ITEMS, ROUNDS = 10_000, 3
FULL = "--full" in sys.argv


def over(evaluate, count, folder):
    """CPU µs for an item with a store over those without, the least of some rounds."""
    with_store, without = [], []
    for number in range(ROUNDS):
        path = str(Path(folder) / f"{time.monotonic_ns()}-{number}.db")
        with_store.append(cpu_us(lambda path=path: evaluate(store=path), count))
        without.append(cpu_us(evaluate, count))
    return min(with_store) - min(without)


def print_written(folder):
    items = make_items(ITEMS)
    print(f"CPU µs for an item over a run that is not kept, {ITEMS:,} items, three scorers")
    for at in (1, 32):
        added = over(lambda at=at, **options: whole(items, at, **options), ITEMS, folder)
        print(f"  {at:<3} at once {added:>21.1f}  {judged(added, DURABLE_US)}")
    few = items[:1_000]
    added = over(lambda **options: whole(few, 32, scorers=twenty(), **options), len(few), folder)
    rate = 20 / (added / 1e6)
    print(f"  outcome rows a CPU second {rate:>7,.0f}  {judged(rate, ROWS_PER_S, least=True)}")
    print(f"  (reference) {least({'': reference})[''] * 1e6:>21.2f}\n")


def twenty():
    return [checks.max_tool_calls(number) for number in range(1, 21)]


# ── reading ────────────────────────────────────────────────────────────────────────────────────────────────────────


def print_pages(folder):
    rows = 333_334 if FULL else 33_334
    path = Path(folder) / "pages.db"
    make_store(path, rows)
    print(f"Milliseconds for a page of 50, of {rows * 3:,} outcomes: the worst of the first, second and a late one")
    asyncio.run(_pages(path, rows))


async def _pages(path, rows):
    async with Store(str(path)):
        pass  # libraries are loaded
    began = time.perf_counter()
    async with Store(str(path)) as store:
        run = await store.run("latest")
        print_ms("open, and find the run", (time.perf_counter() - began) * 1e3, OPEN_MS)
        print_ms("list the runs", await timed(store.runs()), PAGE_MS)
        for order in ("input", "failures", "worst"):
            for name, filters in await filters_of(store):
                took = [await timed(store.rows(run.name, order=order, **filters)) for _ in range(2)]
                pages = [min(took)]
                page = await store.rows(run.name, order=order, **filters)
                late = {"input": (rows // 2, 0), "failures": (1, rows // 2, 0), "worst": (1.0, rows // 2, 0)}[order]
                if len(page.after or ()) == len(late):
                    pages += [
                        await timed(store.rows(run.name, order=order, after=at, **filters)) for at in (page.after, late)
                    ]
                print_ms(f"{order}, {name}", max(pages), PAGE_MS)
    print()


async def filters_of(store):
    async with store._engine.connect() as connection:
        labels = [column.label for column in (await columns_of(connection, 1)).values()]
    return (
        ("all", {}),
        ("status done", {"status": "done"}),
        ("status error", {"status": "error"}),
        ("failed", {"failed": True}),
        ("worst below 0.6", {"below": 0.6}),
        ("worst below 0.1 (none)", {"below": 0.1}),
        ("one column below 0.9", {"below": 0.9, "column": labels[0]}),
        ("another below 0.9 (none)", {"below": 0.9, "column": labels[1]}),
    )


async def timed(asked):
    began = time.perf_counter()
    await asked
    return (time.perf_counter() - began) * 1e3


def print_ms(what, took, limit):
    print(f"  {what:<36}{took:8.1f}  {judged(took, limit)}")


# ── going on ───────────────────────────────────────────────────────────────────────────────────────────────────────


def print_resume(folder):
    count = 100_000 if FULL else 10_000
    path = Path(folder) / "resume.db"
    one("make", count, path)
    print(f"Resume behind {count:,} finished items")
    wall, cpu, row_us, peak = one("resume", count, path)
    print(f"  seconds to the first new call {wall:6.2f}  {judged(wall, RESUME_S)}  (CPU {cpu:.2f})")
    print(f"  CPU µs for a finished item {row_us:9.1f}")
    print(f"  peak MB above the imports {peak:10.1f}\n")


def make_broken_off(count, path):
    """In a process of its own too: a process is born with the peak of the one that started it."""
    make_store(path, count)
    break_off(path)


def measure_resume(count, path):
    first = []

    async def target(question):
        first.append((time.perf_counter(), time.process_time()))
        return await answer(question)

    items, before = make_items(count + 100), peak_mb()
    evaluation = Eval(data=items, target=target, scorers=three_checks(), concurrency=32, keep="none")
    began, spent = time.perf_counter(), time.process_time()
    result = asyncio.run(resume("latest", evaluation, store=path, allow_changes=True))
    whole_cpu = time.process_time() - spent
    if result.summary.items != count + 100 or len(first) != 100:
        raise AssertionError(f"the resumed run is not what it should be: {len(first)} calls, {result.summary}")
    wall, cpu = first[0][0] - began, first[0][1] - spent
    return wall, cpu, (whole_cpu - cpu) / count * 1e6, peak_mb() - before


# ── memory and throughput ──────────────────────────────────────────────────────────────────────────────────────────


def print_memory(folder):
    counts = (100_000, 300_000) if FULL else (10_000, 30_000)
    print("Peak memory of a streamed run with a store, MB above the imports")
    for keep in ("none", "all"):
        peaks = [one("stream", count, Path(folder) / f"{keep}{count}.db", keep) for count in counts]
        grown = (peaks[1] - peaks[0]) * 1024 * 1024 / (counts[1] - counts[0])
        shown = ", ".join(f"{count:,}: {peak:.1f}" for count, peak in zip(counts, peaks, strict=True))
        print(f"  keep={keep!r:<7}{shown}; bytes an item more {grown:.0f}  {judged(grown, GROWTH_BYTES)}")
    print()


def measure_stream(count, path, keep):
    before = peak_mb()
    data = (item(number) for number in range(count))
    asyncio.run(run_evals(data=data, target=answer, scorers=three_checks(), concurrency=32, keep=keep, store=path))
    return peak_mb() - before


def one(what, *arguments):
    asked = [sys.executable, __file__, "--one", what, *map(str, arguments)]
    return json.loads(subprocess.run(asked, check=True, capture_output=True, text=True).stdout)


async def slow(question):
    await asyncio.sleep(0.05)
    return await answer(question)


def print_throughput(folder):
    items, took = make_items(4_000), {}
    for store in (None, str(Path(folder) / "throughput.db")):
        began = time.perf_counter()
        asyncio.run(run_evals(data=items, target=slow, scorers=three_checks(), concurrency=100, store=store))
        took[store is None] = time.perf_counter() - began
    print(f"Throughput with a target of 50 ms, 100 at once: {took[True] / took[False]:.0%} of that without a store")


def main():
    if "--one" in sys.argv:
        what, count, *rest = sys.argv[sys.argv.index("--one") + 1 :]
        does = {"make": make_broken_off, "resume": measure_resume, "stream": measure_stream}
        print(json.dumps(does[what](int(count), *rest)))
        return
    folder = tempfile.mkdtemp()
    try:
        for section in (print_memory, print_resume, print_written, print_pages, print_throughput):
            section(folder)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
