import subprocess
import sys
from importlib.metadata import version

import pytest

import proctor


@pytest.mark.parametrize("name", proctor.__all__)
def test_every_name_is_there_and_stays_the_same(name):
    thing = getattr(proctor, name)
    assert getattr(proctor, name) is thing
    assert name in dir(proctor)


def test_all_is_sorted_and_short():
    assert sorted(proctor.__all__) == sorted(set(proctor.__all__))
    assert len(proctor.__all__) <= 49  # what runs comes twice, for async code and for any other


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'proctor' has no attribute 'run_eval'"):
        proctor.run_eval  # noqa: B018
    assert not hasattr(proctor, "__wrapped__")


def test_the_version_is_that_of_the_package():
    assert proctor.__version__ == version("proctor")


def test_star_imports_give_the_names():
    names = {}
    exec("from proctor import *", names)  # noqa: S102
    assert set(proctor.__all__) <= names.keys()


def loaded_after(code):
    """The modules that are there after *code*, in a process of its own."""
    command = [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


def test_l03_importing_it_loads_nothing_that_costs_or_acts():
    loaded = loaded_after("from proctor import Item, Turn, Threshold, checks, create_scorer, scorer")
    assert loaded.isdisjoint({"asyncio", "pydantic", "numpy", "regex", "wcwidth", "rich", "typer", "sqlite3", "socket"})


def test_l03_importing_it_makes_no_thread_and_no_loop():
    code = "import threading, proctor; proctor.run_evals; print(threading.active_count()); exit()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1"]


def test_k01_a_run_needs_no_network():
    """Sockets are barred here, and a run with checks works."""
    result = proctor.run_evals_sync(data=[{"output": "sunny"}], gates=[proctor.checks.includes("sunny")])
    assert result.verdict == "passed"
