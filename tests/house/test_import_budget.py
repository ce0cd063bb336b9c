"""What `import proctor` costs, over Python itself."""

import os
import subprocess
import sys

import pytest

CPU_S = 0.060
PYTHON_S = 0.012  # what Python alone takes where that limit was set; a processor in a slow phase is slow at both
RUNS = 15
USUAL = "from proctor import Item, Turn, Threshold, checks, create_scorer, scorer"
HEAVY = ["asyncio", "datetime", "decimal", "numpy", "pathlib", "pydantic", "rich", "sqlalchemy", "sqlite3", "typer"]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """Runs code in a fresh process, with compiled modules as for anyone who imports it a second time."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment = {**kept, "PYTHONPYCACHEPREFIX": str(tmp_path_factory.mktemp("bytecode"))}

    def run(code):
        command = [sys.executable, "-c", code]
        ended = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    return run


def test_the_usual_names_cost_little(python):
    """CPU seconds, the least of several runs: a busy machine only adds. The two alternate, so that it adds to both."""
    spent = {"": [], USUAL: []}
    for _ in range(RUNS):
        for code, seconds in spent.items():
            seconds.append(float(python(f"{code}\nimport time\nprint(time.process_time())")))
    alone = min(spent[""])
    assert min(spent[USUAL]) - alone <= CPU_S * max(1.0, alone / PYTHON_S)


def test_the_usual_names_load_nothing_heavy(python):
    assert python(f"{USUAL}\nimport sys\nprint(*[name for name in {HEAVY} if name in sys.modules])").split() == []
