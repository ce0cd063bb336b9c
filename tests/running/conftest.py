import pytest

from tests.running.repositories import git


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository with one commit, as the working directory."""
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "agent.py").write_text("x = 1\n")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    monkeypatch.chdir(folder)
    return folder
