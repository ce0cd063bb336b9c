"""The most memory a process takes for a run, above what its imports take. Each run is a process of its own.

Streamed items with `keep="none"`: at most 150 MB, and flat from 100,000 items on (5 MB more at most). 100,000 items
kept: at most 200 MB above the answers (here one text that all items share; the items themselves are counted). `--full`
streams 1,000,000 as well.
"""

import asyncio
import json
import resource
import subprocess
import sys

from timing import judged

NONE_MB, KEPT_MB, GROWTH_MB = 150.0, 200.0, 5.0
MB_OF_MAXRSS = 1024 * 1024 if sys.platform == "darwin" else 1024


def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / MB_OF_MAXRSS


def measure(count, keep):
    """In a process of its own: the peak of a run, above the imports."""
    from engine import answer, item, three_checks

    from proctor import run_evals

    scorers = three_checks()
    before = peak_mb()
    result = asyncio.run(
        run_evals(
            data=(item(number) for number in range(count)), target=answer, scorers=scorers, concurrency=32, keep=keep
        )
    )
    if result.summary.items != count or result.summary.errors:
        raise AssertionError(f"the run is not what it should be: {result.summary}")
    return peak_mb() - before


def measured(count, keep):
    asked = [sys.executable, __file__, "--one", str(count), keep]
    return json.loads(subprocess.run(asked, check=True, capture_output=True, text=True).stdout)


def main():
    if "--one" in sys.argv:
        count, keep = sys.argv[-2:]
        print(measure(int(count), keep))
        return
    print("Peak memory above the imports, MB")
    streamed = {count: measured(count, "none") for count in (10_000, 100_000, 200_000)}
    if "--full" in sys.argv:
        streamed[1_000_000] = measured(1_000_000, "none")
    for count, peak in streamed.items():
        print(f"  {count:>9,} streamed, keep='none' {peak:8.1f}  {judged(peak, NONE_MB)}")
    last = max(streamed)
    growth = streamed[last] - streamed[100_000]
    print(f"  {last:>9,} more than 100,000 {growth:10.1f}  {judged(growth, GROWTH_MB)}")
    kept = measured(100_000, "all")
    print(f"  {100_000:>9,} kept {kept:21.1f}  {judged(kept, KEPT_MB)}")


if __name__ == "__main__":
    main()
