"""What a run ran in: versions, and the code in git."""

import os
import sys
from time import perf_counter
from types import ModuleType

import pytest

from proctor.running import environment
from proctor.running.environment import git_state, versions_of
from tests.running.repositories import git

# ── git ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_clean_repository(repository):
    assert git_state() == {"commit": git(repository, "rev-parse", "HEAD"), "branch": "main", "dirty": False}


def test_files_that_git_does_not_know_do_not_count(repository):
    (repository / "results.db").write_text("x")
    assert git_state()["dirty"] is False


@pytest.mark.parametrize("staged", [False, True])
def test_a_tracked_file_that_differs_does(repository, staged):
    (repository / "agent.py").write_text("x = 2\n")
    if staged:
        git(repository, "add", ".")
    assert git_state()["dirty"] is True


def test_in_a_folder_of_it(repository, monkeypatch):
    (repository / "below").mkdir()
    (repository / "agent.py").write_text("x = 2\n")
    monkeypatch.chdir(repository / "below")
    assert git_state() == {"commit": git(repository, "rev-parse", "HEAD"), "branch": "main", "dirty": True}


def test_without_a_branch(repository):
    git(repository, "checkout", "-q", "--detach")
    assert git_state() == {"commit": git(repository, "rev-parse", "HEAD"), "branch": None, "dirty": False}


def test_without_a_commit(tmp_path, monkeypatch):
    git(tmp_path, "init", "-q")
    monkeypatch.chdir(tmp_path)
    assert git_state() == {"commit": None, "branch": "main", "dirty": False}


def test_nothing_is_written(repository):
    """A file that only looks changed makes `git status` refresh its index, unless it is told not to."""
    os.utime(repository / "agent.py", (1, 1))
    before = {path: path.stat().st_mtime_ns for path in (repository / ".git").rglob("*")}
    assert git_state()["dirty"] is False
    assert {path: path.stat().st_mtime_ns for path in (repository / ".git").rglob("*")} == before


def test_no_repository(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert git_state() is None


def test_no_git(repository, monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert git_state() is None


def test_a_working_directory_that_is_gone(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert git_state() is None


@pytest.mark.slow
def test_a_git_that_hangs_is_not_waited_for(tmp_path, monkeypatch):
    slow = tmp_path / "git"
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(environment, "GIT_SECONDS", 0.2)
    began = perf_counter()
    assert git_state() is None
    assert perf_counter() - began < 30


# ── versions ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Makes a package in a folder of packages, loaded or not."""
    monkeypatch.syspath_prepend(tmp_path)

    def make(folder, module=None, *, file=None):
        (tmp_path / f"{folder}.dist-info").mkdir()
        if module is not None:
            loaded = ModuleType(module)
            loaded.__file__ = str(file or tmp_path / module / "__init__.py")
            monkeypatch.setitem(sys.modules, module, loaded)

    return make


def test_versions_are_of_what_is_named_and_loaded(install):
    install("My_Agents-2.1.0rc1", "my_agents")
    install("not_loaded-1.0")
    install("loaded_by_somebody-1.0", "loaded_by_somebody")
    found = versions_of({"my_agents", "not_loaded", "no_such_thing"})
    assert found["my-agents"] == "2.1.0rc1"
    assert not found.keys() & {"not-loaded", "loaded-by-somebody", "no-such-thing"}


def test_what_agents_are_built_with_is_named_by_its_package(install):
    install("pydantic_ai_slim-2.68.0", "pydantic_ai")
    install("openai_agents-0.9.1", "agents")
    found = versions_of(())
    assert (found["pydantic-ai-slim"], found["openai-agents"]) == ("2.68.0", "0.9.1")


def test_a_module_of_ones_own_is_not_taken_for_theirs(install):
    install("openai_agents-0.9.1", "agents", file="/somewhere/else/agents/__init__.py")
    assert "openai-agents" not in versions_of({"agents"})


def test_the_first_on_the_path_counts_and_odd_paths_do_not(install, tmp_path, monkeypatch):
    install("my_agents-2.0", "my_agents")
    (tmp_path / "later").mkdir()
    (tmp_path / "later" / "my_agents-1.0.dist-info").mkdir()
    monkeypatch.setattr(sys, "path", ["", "/no/such.zip", *sys.path, str(tmp_path / "later")])
    assert versions_of({"my_agents"})["my-agents"] == "2.0"
