"""The examples run as they say. What their tables show is tested in tests/cli and in the documents."""

import subprocess
import sys

import pytest

from tests.support import ROOT


@pytest.mark.slow
@pytest.mark.parametrize(("name", "code", "said"), [("live_function.py", 0, "A function of rules: PASSED")])
def test_an_example_runs_as_a_script(name, code, said):
    command = [sys.executable, ROOT / "examples" / name]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert (ran.returncode, ran.stderr) == (code, "")
    assert ran.stdout.startswith(said)
