"""What `import proctor` costs, over Python itself."""

import os
import subprocess
import sys
import tempfile

import pytest

CPU_S = 0.060
RUNS = 7
USUAL = "from proctor import Item, Turn, Threshold, checks, create_scorer, scorer"
HEAVY = ["asyncio", "numpy", "pydantic", "rich", "typer"]
BYTECODE = tempfile.mkdtemp(prefix="proctor-bytecode-")  # as for anyone who imports it a second time


def run(code: str) -> str:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment = {**kept, "PYTHONPYCACHEPREFIX": BYTECODE}
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment)
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
