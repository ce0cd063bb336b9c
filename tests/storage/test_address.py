"""What `store=` may be, and what is said of what it may not; nothing is paid for before that."""

import asyncio
import os
import sqlite3
from pathlib import Path

import pytest

from proctor import ProctorError, Store, UsageError, checks, run_evals, run_evals_sync
from proctor.storage.address import address_of
from proctor.storage.migrations import VERSION


def run(where):
    """A run with that store, by a target that must not be called when the store cannot be used."""
    return run_evals(
        target=lambda given: given, data=[{"id": "a", "input": "x"}], gates=[checks.includes("x")], store=where
    )


async def refused(where, match):
    called = []
    with pytest.raises(ProctorError, match=match) as refusal:
        await run_evals(target=called.append, data=[{"input": "x"}], gates=[checks.includes("x")], store=where)
    assert called == []
    assert "hunter" not in f"{refusal.value}{refusal.value.__cause__}"
    return refusal.value


# ── addresses ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("given", [5, False, None, "", 1.5, object()])
def test_what_is_no_address(given):
    with pytest.raises(UsageError, match="store is True"):
        address_of(given)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        (":memory:", "ends with its connection"),
        ("sqlite:///:memory:", "ends with its connection"),
        ("sqlite://", "names no file"),
        ("a\x00.db", "embedded null"),
        ("a" * 5000, "cannot be opened: File name too long"),
        ("sqlite:///runs.db?mode=ro", "no option in the URL of store 'mode'"),
        ("mysql://proctor@host/db", "no kind of database for store 'mysql'"),
        ("postgresql://proctor@host:port/db", "the URL cannot be read"),
        ("postgresql://proctor:hunter@2@host/db", "write %40"),
        ("postgresql://host/db?password=hunter2", "no option in the URL of store 'password'"),
    ],
)
async def test_an_address_that_is_none_is_refused_before_anything_is_called(given, match):
    await refused(given, match)


def test_a_password_is_not_shown():
    address = address_of("postgresql://proctor:hunter2@host:5432/db")
    assert "hunter" not in f"{address.shown}{address!r}{Store('postgresql://proctor:hunter2@host/db')!r}"
    assert address.url.password == "hunter2"


def test_a_password_may_hold_anything_that_is_written_as_url_do():
    address = address_of("postgres://proctor:hunter%40%2F%3A@host/db?sslmode=disable")
    assert (address.url.password, address.url.host, dict(address.url.query)) == (
        "hunter@/:",
        "host",
        {"ssl": "disable"},
    )


# ── files ──────────────────────────────────────────────────────────────────────────────────────────────────────────

NAMES = [
    "a b.db",
    "ünïcode 日本.db",
    "q?mode=ro.db",
    "h#x.db",
    "p%20.db",
    "file:x.db",
    "a;b'c\".db",
    "deep/er/x.db",
    "\udc80.db",
]


@pytest.mark.parametrize("name", NAMES)
async def test_d27_a_file_may_have_any_name(tmp_path, name):
    result = await run(tmp_path / name)
    assert (tmp_path / name).is_file()
    async with Store(tmp_path / name) as store:
        assert [info.name for info in await store.runs()] == [result.run]


async def test_d27_threads_and_loops_may_share_a_file(tmp_path):
    names = [
        (await run(tmp_path / "x.db")).run,
        run_evals_sync(data=[{"output": "x"}], gates=[checks.includes("x")], store=tmp_path / "x.db").run,
    ]
    async with Store(tmp_path / "x.db") as store:
        assert [info.name for info in await store.runs()] == names[::-1]


async def test_true_is_a_file_in_the_folder_one_is_in(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    await run(True)
    assert (tmp_path / ".proctor" / "proctor.db").is_file()


async def test_an_empty_file_becomes_a_store(tmp_path):
    (tmp_path / "x.db").touch()
    assert (await run(tmp_path / "x.db")).status == "complete"


async def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path):
    text = "not a database\n" * 1000
    (tmp_path / "notes.txt").write_text(text)
    error = await refused(tmp_path / "notes.txt", "notes.txt cannot be opened: file is not a database")
    assert error.code == "STORE_UNUSABLE"
    assert (tmp_path / "notes.txt").read_text() == text


async def test_another_applications_tables_stay_as_they_are(tmp_path):
    with sqlite3.connect(tmp_path / "x.db") as database:
        database.execute("CREATE TABLE users (name TEXT)")
        database.execute("INSERT INTO users VALUES ('ada')")
    database.close()
    await run(tmp_path / "x.db")
    with sqlite3.connect(tmp_path / "x.db") as database:
        assert database.execute("SELECT * FROM users").fetchall() == [("ada",)]
    database.close()


async def test_a_folder_is_refused(tmp_path):
    await refused(tmp_path, "is a folder")


async def test_a_folder_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").touch()
    await refused(tmp_path / "file" / "x.db", "cannot be opened")


async def test_looking_into_a_store_that_is_not_there_makes_none(tmp_path):
    with pytest.raises(UsageError, match="there is no store"):
        async with Store(tmp_path / "x.db"):
            pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_d27_a_folder_that_may_not_be_written_is_refused(as_nobody, tmp_path):
    (tmp_path / "x.db").touch()
    assert "STORE_UNUSABLE" in as_nobody(tmp_path / "new.db")
    assert "STORE_UNUSABLE" in as_nobody(tmp_path / "x.db")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.db"]


@pytest.mark.slow
def test_a_store_that_may_not_be_written_can_be_read(as_nobody, tmp_path):
    result = asyncio.run(run(tmp_path / "x.db"))
    assert as_nobody(tmp_path / "x.db", program=READING).split() == [result.run, "1", "STORE_FAILED", "[]"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.db"]


PROGRAM = """
import os, sys
from proctor import ProctorError, Store, checks, run_evals_sync
from proctor.storage import engine, store, recorder
import aiosqlite, sqlalchemy.dialects.sqlite.aiosqlite, sqlalchemy.ext.asyncio
run_evals_sync(data=[{"output": "x"}], gates=[checks.includes("x")])
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
called = []
try:
    run_evals_sync(target=called.append, data=[{"input": "x"}], gates=[checks.includes("x")], store=sys.argv[1])
except ProctorError as error:
    print(error.code, error, called)
"""
READING = """
import asyncio, os, sys
import aiosqlite, sqlalchemy.dialects.sqlite.aiosqlite, sqlalchemy.ext.asyncio
from proctor import ProctorError, Store, checks, run_evals_sync
from proctor.storage import engine, store, recorder

async def look():
    async with Store(sys.argv[1]) as store:
        name = (await store.run("latest")).name
        print(name, len((await store.result(name)).items))
        try:
            await store.delete(name)
        except ProctorError as error:
            print(error.code, [])

if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
asyncio.run(look())
"""


@pytest.fixture
def as_nobody(tmp_path):
    """Runs with that store as a user who may only read the folder."""
    import subprocess
    import sys

    from tests.support import ROOT

    def look(where, program=PROGRAM):
        for folder in (tmp_path, *tmp_path.parents):
            if folder == Path("/"):
                break
            if folder.stat().st_uid == os.getuid():
                folder.chmod(folder.stat().st_mode | 0o555)
        tmp_path.chmod(0o555)
        try:
            done = subprocess.run(
                [sys.executable, "-c", program, where], capture_output=True, text=True, check=False,
                env=os.environ | {"PYTHONPATH": f"{ROOT / 'src'}"},
            )  # fmt: skip
        finally:
            tmp_path.chmod(0o755)
        assert done.stdout.rstrip().endswith("[]"), done.stderr
        return done.stdout

    return look


# ── PostgreSQL ─────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_wrong_password_is_refused_and_not_shown(postgres, postgres_url):
    wrong = postgres_url.replace(postgres.password, "hunter2")
    error = await refused(wrong, "password authentication failed")
    assert (error.code, "***" in str(error)) == ("STORE_UNUSABLE", True)


async def test_a_server_that_is_away_is_told(postgres_url):
    address = address_of(postgres_url).url
    await refused(postgres_url.replace(f":{address.port}/", ":1/"), "Connect call failed")


async def test_a_database_that_is_not_there_is_told(postgres_url):
    await refused(postgres_url + "_not", "does not exist")


async def test_libpqs_way_to_ask_for_no_encryption(postgres_url):
    result = await run(f"{postgres_url}?sslmode=disable")
    async with Store(postgres_url) as store:
        assert (await store.run("latest")).name == result.run


# ── newer ones ─────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_d21_a_newer_file_is_refused(tmp_path):
    await run(tmp_path / "x.db")
    with sqlite3.connect(tmp_path / "x.db") as database:
        database.execute("INSERT INTO proctor_schema VALUES (?, 'then', 'then')", (VERSION + 1,))
    database.close()
    error = await refused(tmp_path / "x.db", "upgrade proctor, or give another store")
    assert error.code == "SCHEMA_TOO_NEW"
    with pytest.raises(ProctorError, match="upgrade proctor"):
        async with Store(tmp_path / "x.db"):
            pass
