"""What `import proctor` costs, over Python itself."""

import subprocess
import sys

import pytest

CPU_S = 0.060
RUNS = 7
USUAL = "from proctor import Item, Turn, Threshold, checks, create_scorer, scorer"
HEAVY = ["asyncio", "numpy", "pydantic", "rich", "typer"]


def run(code: str) -> str:
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def cpu_s(code: str) -> float:
    """CPU seconds of a fresh process that runs the code: the least of several, since a busy machine only adds."""
    return min(float(run(f"{code}\nimport time\nprint(time.process_time())")) for _ in range(RUNS))


@pytest.mark.slow
def test_the_usual_names_cost_little():
    assert cpu_s(USUAL) - cpu_s("") <= CPU_S


@pytest.mark.slow
def test_the_usual_names_load_nothing_heavy():
    assert run(f"{USUAL}\nimport sys\nprint(*[name for name in {HEAVY} if name in sys.modules])").split() == []
