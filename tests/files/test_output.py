"""A file that is written at the end, whole or not at all."""

import os
import pathlib
import sqlite3
import stat
import sys
import threading
from contextlib import closing

import pytest

from proctor.errors import UsageError
from proctor.files.output import OutputFile


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_nothing_is_there_until_it_is_written(tmp_path):
    out = OutputFile(tmp_path / "out.json")
    assert names(tmp_path) == []
    out.write("\u6771\u4eac\n")
    assert names(tmp_path) == ["out.json"]
    assert (tmp_path / "out.json").read_bytes() == b"\xe6\x9d\xb1\xe4\xba\xac\n"


def test_a_file_that_is_there_stays_until_then_and_keeps_its_mode(tmp_path):
    path = tmp_path / "out.json"
    path.write_text("old")
    path.chmod(0o640)
    out = OutputFile(path)
    assert path.read_text() == "old"
    out.write("new")
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_text_that_cannot_be_written_leaves_the_old_one(tmp_path):
    path = tmp_path / "out.json"
    path.write_text("old")
    out = OutputFile(path)
    tmp_path.chmod(0o500)
    try:
        if os.access(tmp_path, os.W_OK):
            pytest.skip("this user may write anywhere")
        with pytest.raises(OSError, match="denied"):
            out.write("new")
    finally:
        tmp_path.chmod(0o700)
    assert path.read_text() == "old"
    assert names(tmp_path) == ["out.json"]


def test_a_folder_that_is_gone_is_an_error_and_leaves_nothing(tmp_path):
    folder = tmp_path / "sub"
    folder.mkdir()
    out = OutputFile(folder / "out.json")
    folder.rmdir()
    with pytest.raises(FileNotFoundError):
        out.write("new")
    assert names(tmp_path) == []


def test_the_place_is_that_of_the_beginning(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    out = OutputFile(type(tmp_path)("out.json"))
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    out.write("new")
    assert names(tmp_path) == ["out.json", "sub"]


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_of_a_link_the_file_is_written_that_it_points_at(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "real")
    OutputFile(tmp_path / "link").write("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names there")
def test_a_pipe_is_written_into(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    out = OutputFile(tmp_path / "pipe")
    read = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_text()))
    reader.start()
    out.write("new")
    reader.join(10)
    assert read == ["new"]
    assert names(tmp_path) == ["pipe"]


def test_what_a_killed_process_left_is_no_hindrance(tmp_path):
    (tmp_path / f".proctor-{os.getpid()}.part").touch()
    OutputFile(tmp_path / "out.json").write("new")
    assert names(tmp_path) == ["out.json"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (".", "is a folder; give a file"),
        ("no/out.json", "cannot be written: there is no folder"),
        ("file/out.json", "cannot be written: there is no folder"),
        ("file", "is read by this run, and would be written over"),
        ("x" * 300, "cannot be written: File name too long"),
    ],
)
def test_a_place_that_cannot_be_written_is_refused_at_once(tmp_path, name, said):
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=said):
        OutputFile(tmp_path / name, inputs=(tmp_path / "file", tmp_path / "none"))


def test_a_database_is_not_written_over(tmp_path):
    path = tmp_path / "runs.db"
    later = OutputFile(path)
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE runs (name)")
    before = path.read_bytes()
    for write in (lambda: OutputFile(path), lambda: later.write("{}")):
        with pytest.raises(UsageError, match="is a SQLite database"):
            write()
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["runs.db"]


def test_a_file_or_folder_that_is_read_only_is_refused(tmp_path):
    path = tmp_path / "out.json"
    path.touch(0o400)
    if os.access(path, os.W_OK):
        pytest.skip("this user may write anywhere")
    with pytest.raises(UsageError, match="it is read-only"):
        OutputFile(path)
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(UsageError, match="denied"):
            OutputFile(tmp_path / "other")
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.skipif(not pathlib.Path("/dev/fd").is_dir(), reason="no names of open files there")
def test_so_is_one_that_has_only_a_number():
    ours, theirs = os.pipe()
    OutputFile(pathlib.Path(f"/dev/fd/{theirs}")).write("new")
    os.close(theirs)
    with os.fdopen(ours) as pipe:
        assert pipe.read() == "new"
