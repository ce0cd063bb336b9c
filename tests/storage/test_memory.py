import asyncio
import os
import sqlite3
import subprocess
import sys
from contextlib import asynccontextmanager

import pytest

from proctor import Item, Turn, checks, run_evals
from proctor.errors import ProctorError
from proctor.running.threads import MemoryThreads
from proctor.storage import database
from proctor.storage.engine import writing as engine_writing
from proctor.storage.store import Store
from proctor.testing import ScriptedAgent
from tests.running.memory_contract import MemoryContract, said, texts
from tests.support import ROOT

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "src")}


class TestMemoryThreads(MemoryContract):
    @pytest.fixture
    def memory(self):
        return MemoryThreads()


class TestSQLiteThreads(MemoryContract):
    @pytest.fixture
    def memory(self, tmp_path):
        return Store(tmp_path / "proctor.db").threads()


class TestPostgresThreads(MemoryContract):
    @pytest.fixture
    def memory(self, store_url):
        return Store(store_url).threads()


class TestThreadsOfAnOpenStore(MemoryContract):
    @pytest.fixture
    async def memory(self, tmp_path):
        await Store(tmp_path / "proctor.db").threads().clear("none")  # makes it
        async with Store(tmp_path / "proctor.db") as store:
            yield store.threads()


@pytest.fixture(params=["sqlite", "postgres"])
def where(request, tmp_path):
    return str(tmp_path / "proctor.db") if request.param == "sqlite" else request.getfixturevalue("store_url")


APPENDING = """
import asyncio, sys
from proctor import Message, Text
from proctor.storage.store import Store

async def work(where, who, count):
    threads = Store(where).threads()
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(count):
        await threads.append("t", [Message("user", (Text(f"{who} {number} {part}"),)) for part in "ab"])

asyncio.run(work(sys.argv[1], sys.argv[2], int(sys.argv[3])))
"""


@pytest.mark.slow
def test_of_processes_that_append_to_one_thread_none_loses_a_message(where):
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", APPENDING, where, who, "20"],
            env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for who in "xyz"
    ]  # fmt: skip
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        process.communicate()
    assert [process.returncode for process in processes] == [0, 0, 0]
    found = texts(asyncio.run(Store(where).threads().load("t")))
    for who in "xyz":
        mine = [text for text in found if text.startswith(who)]
        assert mine == [f"{who} {number} {part}" for number in range(20) for part in "ab"]
    assert len(found) == 120
    assert all(first[:-1] == second[:-1] for first, second in zip(found[::2], found[1::2], strict=True))


async def test_a_thread_outlives_its_memory(where):
    await Store(where).threads().append("t", [said("a")], resource_id="anna")
    await Store(where).threads().append("t", [said("b")])
    assert texts(await Store(where).threads().load("t")) == ["a", "b"]
    assert Store(where).threads().durable


async def test_an_append_whose_commit_is_not_answered_is_done_once(where, monkeypatch):
    lost = [True]

    @asynccontextmanager
    async def writing(engine):
        async with engine_writing(engine) as connection:
            yield connection
        if lost:
            lost.clear()
            raise ConnectionError("the answer was lost")

    monkeypatch.setattr(database, "writing", writing)
    threads = Store(where).threads()
    await threads.append("t", [said("a"), said("a"), said("b", id="1")])
    assert (texts(await threads.load("t")), lost) == (["a", "a", "b"], [])


async def test_who_a_thread_is_of_is_kept(tmp_path):
    threads = Store(tmp_path / "x.db").threads()
    for whose in (None, "anna", None):
        await threads.append("t", [said("a")], resource_id=whose)
    with sqlite3.connect(tmp_path / "x.db") as connection:
        assert connection.execute("SELECT resource_id FROM proctor_thread").fetchall() == [("anna",)]


async def test_many_ids_may_be_known(where):
    threads = Store(where).threads()
    messages = [said(str(number), id=str(number)) for number in range(2_000)]
    await threads.append("t", messages[::2])
    await threads.append("t", messages)
    assert len(await threads.load("t")) == 2_000


async def test_a_damaged_message_is_an_error_that_says_where(tmp_path):
    threads = Store(tmp_path / "x.db").threads()
    await threads.append("t", [said("a")])
    for body, what in (('{"$":"Message"', "cannot be read"), ("[]", "is none"), ('{"$":"Later"}', "cannot be read")):
        with sqlite3.connect(tmp_path / "x.db") as connection:
            connection.execute("UPDATE proctor_message SET body = ?", [body])
        with pytest.raises(ProctorError, match=rf"x\.db holds a message in the thread 't' that {what}") as raised:
            await threads.load("t")
        assert raised.value.code == "UNREADABLE_DATA"


async def test_an_agent_goes_on_with_a_thread_of_an_earlier_run(tmp_path):
    """The thread of a conversation is in the store, under the id that its reply says."""
    agent = ScriptedAgent({"*": "Yes."}, memory=Store(tmp_path / "x.db").threads())
    result = await run_evals(
        data=[Item(turns=[Turn("Are you there?"), Turn("Still?")])], target=agent, scorers=[checks.includes("Yes")]
    )
    assert result.items[0].status == "done"
    thread = agent.calls[0].thread_id
    found = await Store(tmp_path / "x.db").threads().load(thread)
    assert texts(found) == ["Are you there?", "Yes.", "Still?", "Yes."]
    assert agent.durable_threads
