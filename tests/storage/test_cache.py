"""Calls are paid for once, whichever run asks. N01-N04 are cases of a list that several frameworks failed."""

import asyncio
import json
import os
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from dataclasses import replace
from datetime import timedelta

import pytest

from proctor.data.cached_call import CachedCall
from proctor.errors import ProctorError
from proctor.judging.cache import CacheNotes, answered
from proctor.judging.request import CallRequest
from proctor.storage.store import Store
from tests.judging.contract import CALL, CacheContract
from tests.judging.test_cache import KEPT, NOT_KEPT, Model, asked
from tests.running.memory_contract import said, texts
from tests.support import ROOT

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "src")}


class TestSQLiteCache(CacheContract):
    @pytest.fixture
    def cache(self, tmp_path):
        return Store(tmp_path / "proctor.db").cache()


class TestPostgresCache(CacheContract):
    @pytest.fixture
    def cache(self, store_url):
        return Store(store_url).cache()


class TestCacheOfAnOpenStore(CacheContract):
    @pytest.fixture
    async def cache(self, tmp_path):
        await Store(tmp_path / "proctor.db").cache().get("1-a")  # makes it
        async with Store(tmp_path / "proctor.db") as store:
            yield store.cache()


class TestCacheOfAnOpenPostgres(CacheContract):
    @pytest.fixture
    async def cache(self, store_url):
        async with Store(store_url) as store:
            yield store.cache()


@pytest.fixture(params=["sqlite", "postgres"])
def where(request, tmp_path):
    return str(tmp_path / "proctor.db") if request.param == "sqlite" else request.getfixturevalue("store_url")


# ── N01-N04 ────────────────────────────────────────────────────────────────────────────────────────────────────────

ASKING = """
import asyncio, json, sys
from proctor.data.cached_call import CachedCall
from proctor.judging.cache import answered
from proctor.judging.request import CallRequest
from proctor.storage.store import Store

made = 0

async def call():
    global made
    made += 1
    return CachedCall(raw_output="fair", output=made, finish_reason="stop")

async def run(where):
    cache = Store(where).cache()
    requests = [CallRequest(model="openai:gpt-5-mini", messages="Fair?", repeat=repeat) for repeat in range(5)]
    answers = await asyncio.gather(*(answered(cache, request, call=call) for request in requests))
    print(json.dumps([made, [answer.call.output for answer in answers]]))

asyncio.run(run(sys.argv[1]))
"""


@pytest.mark.slow
def test_repeats_are_calls_of_their_own_and_another_run_makes_none(where):
    """N01"""
    first, second = [
        json.loads(
            subprocess.run(
                [sys.executable, "-c", ASKING, where], env=ENVIRONMENT, check=True, stdout=subprocess.PIPE, text=True
            ).stdout
        )
        for _ in range(2)
    ]
    assert (first[0], sorted(first[1])) == (5, [1, 2, 3, 4, 5])
    assert second == [0, first[1]]


async def test_another_request_is_another_entry(where):
    """N02"""
    cache, model = Store(where).cache(), Model()
    requests = [
        asked(), asked("Was it polite?"), asked(settings={"temperature": 0.7}), asked(repeat=1),
        asked(model="openai:gpt-5-mini-2026-01-01"), asked(schema={"type": "object"}),
    ]  # fmt: skip
    assert [(await answered(cache, request, call=model)).cached for request in requests] == [False] * 6
    assert [(await answered(cache, request, call=model)).cached for request in requests] == [True] * 6
    assert model.calls == 6


async def test_a_hit_keeps_what_the_call_took_and_is_not_spent(where):
    """N03"""
    first, hit = [await answered(Store(where).cache(), asked(), call=Model()) for _ in range(2)]
    assert (first.cached, first.spent_usage, first.spent_cost) == (False, CALL.usage, CALL.cost)
    assert (hit.cached, hit.spent_usage, hit.spent_cost) == (True, None, None)
    assert hit.call == first.call == CALL


@pytest.mark.parametrize(("replies", "calls"), [(NOT_KEPT, 2), (KEPT, 1)], ids=["not kept", "kept"])
async def test_only_whole_replies_are_kept(where, replies, calls):
    """N04"""
    cache = Store(where).cache()
    for number, (name, reply) in enumerate(replies.items()):
        model = Model(reply)
        for _ in range(2):
            await answered(cache, asked(repeat=number), call=model)
        assert (name, model.calls) == (name, calls)


async def test_errors_are_not_kept(where):
    """N04"""
    cache, model = Store(where).cache(), Model(ConnectionError("reset"))
    for _ in range(2):
        with pytest.raises(ConnectionError, match="reset"):
            await answered(cache, asked(), call=model)
    assert model.calls == 2
    assert not (await answered(cache, asked(), call=Model())).cached


# ── what cannot be read is not there ───────────────────────────────────────────────────────────────────────────────


def written(path, body):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"UPDATE proctor_cached_call SET body = {body}")  # noqa: S608 - our own


@pytest.mark.parametrize(
    "body",
    [
        "''",
        "'{'",
        "substr(body, 1, length(body) - 5)",
        "'null'",
        "'[1, 2]'",
        """'{"$":"Text","text":"a"}'""",
        """'{"$":"CachedCall","raw_output":"a","of_a_newer_version":1}'""",
        """'{"$":"LaterCall","raw_output":"a"}'""",
        "replace(hex(zeroblob(100000)), '0', '[')",
        "x'00ff'",
        "CAST(x'ff' AS TEXT)",
        "7",
    ],
)
async def test_what_is_damaged_or_of_a_newer_proctor_is_asked_again_and_replaced(tmp_path, body):
    cache = Store(tmp_path / "x.db").cache()
    await answered(cache, asked(), call=Model())
    written(tmp_path / "x.db", body)
    notes = CacheNotes()
    again = [await answered(cache, asked(), call=Model(), notes=notes) for _ in range(2)]
    assert ([answer.cached for answer in again], notes.notes) == ([False, True], ())
    assert again[1].call == CALL


async def test_a_store_of_a_newer_proctor_costs_a_note_and_no_answer(tmp_path):
    await Store(tmp_path / "x.db").cache().put("1-a", CALL)
    with closing(sqlite3.connect(tmp_path / "x.db")) as connection, connection:
        connection.execute("INSERT INTO proctor_schema VALUES (99, '2026', '2026')")
    cache, notes = Store(tmp_path / "x.db").cache(), CacheNotes()
    with pytest.warns(RuntimeWarning, match="made by a newer Proctor"):
        answer = await answered(cache, asked(), call=Model(), notes=notes)
    assert (answer.call, len(notes.notes)) == (CALL, 2)


async def test_a_store_that_cannot_be_opened_is_an_error_that_names_it(tmp_path):
    (tmp_path / "x.db").write_text("no database" * 100)
    with pytest.raises(ProctorError, match=r"x\.db cannot be read: file is not a database"):
        await Store(tmp_path / "x.db").cache().get("1-a")


# ── several at once ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
async def test_a_put_waits_while_another_process_writes(tmp_path):
    path = tmp_path / "x.db"
    cache = Store(path).cache()
    await cache.get("1-a")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        putting = asyncio.create_task(cache.put("1-a", CALL))
        await asyncio.sleep(0.5)
        assert not putting.done()
        assert await Store(path).cache().get("1-a") is None  # who reads does not wait
        other.execute("COMMIT")
        await putting
    assert await cache.get("1-a") == CALL


async def test_one_cache_serves_several_loops_at_once(where):
    cache, lost = Store(where).cache(), []

    async def work(who):
        for number in range(10):
            await cache.put(f"1-{who} {number}", CachedCall(output=number))
            found = await cache.get(f"1-{who} {number}")
            if found is None or found.output != number:
                lost.append((who, number))

    threads = [threading.Thread(target=lambda who=who: asyncio.run(work(who))) for who in range(4)]
    for thread in threads:
        thread.start()
    await work("here")
    for thread in threads:
        await asyncio.to_thread(thread.join)
    assert lost == []
    assert [await cache.get(f"1-{who} 9") for who in range(4)] == [CachedCall(output=9)] * 4


async def test_a_store_that_was_closed_leaves_its_cache_usable(where):
    await Store(where).cache().put("1-a", CALL)
    async with Store(where) as store:
        cache = store.cache()
        assert await cache.get("1-a") == CALL
    assert await cache.get("1-a") == CALL
    await cache.put("1-b", CALL)
    assert await cache.get("1-b") == CALL


async def test_a_server_that_was_restarted_costs_no_answer(postgres, store_url):
    async with Store(store_url) as store:
        cache = store.cache()
        await cache.put("1-a", CALL)
        postgres.stop()
        waiting = asyncio.create_task(cache.get("1-a"))
        await asyncio.to_thread(postgres.start)
        assert await waiting == CALL
        postgres.stop("immediate")
        postgres.start()
        await cache.put("1-a", replace(CALL, output=1))
        assert (await cache.get("1-a")).output == 1


# ── deleting ───────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_prune_deletes_what_is_older_and_leaves_what_is_not(where):
    cache, threads = Store(where).cache(), Store(where).threads()
    await cache.put("1-a", CALL)
    await threads.append("t", [said("a")])
    async with Store(where) as store:
        await store.prune(older_than=timedelta(days=1))
        await store.prune(older_than=timedelta(days=-1), dry_run=True)
        assert (await cache.get("1-a"), texts(await threads.load("t"))) == (CALL, ["a"])
        await store.prune(older_than=timedelta(days=-1))
        assert (await cache.get("1-a"), await threads.load("t")) == (None, [])


def test_what_is_kept_says_which_model_answered_and_when(tmp_path):
    store = Store(tmp_path / "x.db")
    asyncio.run(store.cache().put(CallRequest(model="m", messages="x").key, CALL))
    with closing(sqlite3.connect(tmp_path / "x.db")) as connection:
        ((model, kept_at),) = connection.execute("SELECT model, kept_at FROM proctor_cached_call").fetchall()
    assert (model, kept_at[:2], kept_at[-6:]) == ("gpt-5-mini-2026-01-01", "20", "+00:00")
    assert repr(store.cache()) == f"StoredCalls({str(tmp_path / 'x.db')!r})"
