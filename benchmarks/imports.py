"""What it costs to begin: CPU of a fresh Python that imports the usual names, or prints the help, over Python itself.

With compiled modules, as an installed package has them: the first round fills a cache of its own.
"""

import os
import subprocess
import sys
import tempfile
from resource import RUSAGE_CHILDREN, getrusage

from timing import judged

ROUNDS = 15
USUAL = "from proctor import Item, Turn, Threshold, checks, create_scorer, scorer"
STARTS = {
    "import proctor": ("import proctor", None),
    "the usual names": (USUAL, 60.0),
    "run_evals too": (f"{USUAL}, run_evals", None),
    "proctor --help": (
        "from proctor.cli.main import main\nimport sys\nsys.argv = ['proctor', '--help']\nmain()",
        150.0,
    ),
}


def cpu_ms(code, cache):
    """CPU ms of a fresh Python that runs the code, its start and its end included; None when it fails."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": cache}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    before = getrusage(RUSAGE_CHILDREN)
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, env=environment)
    after = getrusage(RUSAGE_CHILDREN)
    if ended.returncode:
        return None
    return (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime) * 1e3


def main():
    codes = {"python alone": "pass"} | {name: code for name, (code, _) in STARTS.items()}
    found = {name: [] for name in codes}
    with tempfile.TemporaryDirectory() as cache:
        for _ in range(ROUNDS):
            for name, code in codes.items():
                found[name].append(cpu_ms(code, cache))
    alone = min(found.pop("python alone"))
    print(f"CPU ms over Python alone ({alone:.1f})")
    for name, spent in found.items():
        budget = STARTS[name][1]
        if None in spent:
            print(f"  {name:<18}   fails")
            continue
        over = min(spent) - alone
        print(f"  {name:<18}{over:8.1f}  {'' if budget is None else judged(over, budget)}".rstrip())


if __name__ == "__main__":
    main()
