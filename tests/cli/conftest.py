import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from proctor.cli.main import main

PROCTOR = Path(sys.executable).with_name("proctor")


@pytest.fixture
def proctor(capsys, monkeypatch, tmp_path):
    """Runs the command in this process and in an empty folder: gives its exit code and what it printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(sys, "path", [*sys.path])

    def run(*arguments):
        code = main(list(map(str, arguments)))
        out, err = capsys.readouterr()
        return code, out, err

    return run


@pytest.fixture
def keeping(proctor, monkeypatch):
    """The same with its store, `.proctor/proctor.db` of the folder."""
    monkeypatch.delenv("PROCTOR_STORE")
    return proctor


@pytest.fixture
def write(tmp_path):
    def write(text, name="evals.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        head = "from proctor import Eval, Score, checks, not_scorable, scorer\n"
        path.write_text(head + textwrap.dedent(text), encoding="utf-8")
        return name

    return write


@pytest.fixture
def start_proctor(tmp_path):
    """Starts the command as a process in an empty folder."""
    started = []

    def start(*arguments, **options):
        process = subprocess.Popen(
            [PROCTOR, *map(str, arguments)],
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **options,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()
