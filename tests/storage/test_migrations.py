"""The schema of a store: made once, whoever comes first, and whatever broke off before."""

import asyncio
import os
import sqlite3
import subprocess
import sys

import pytest
from sqlalchemy import inspect, text

from proctor import ProctorError, Store, checks, run_evals
from proctor.storage.address import address_of
from proctor.storage.engine import make_engine, reading, writing
from proctor.storage.migrations import VERSION, migrate
from proctor.storage.schema import METADATA, SCHEMA_VERSION
from tests.support import ROOT

TABLES = {table.name for table in METADATA.sorted_tables}
OPENING = """
import asyncio, sys
from proctor.storage.address import address_of
from proctor.storage.engine import make_engine
from proctor.storage.migrations import migrate

async def main():
    engine = make_engine(address_of(sys.argv[1]))
    await migrate(engine, where="x")
    await engine.dispose()

input()
asyncio.run(main())
print("done")
"""


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def where(request, tmp_path):
    return tmp_path / "x.db" if request.param == "sqlite" else request.getfixturevalue("postgres_url")


@pytest.fixture
async def engine(where):
    made = make_engine(address_of(where))
    yield made
    await made.dispose()


async def tables(engine):
    async with reading(engine) as connection:
        return set(await connection.run_sync(lambda sync: inspect(sync).get_table_names()))


async def steps(engine):
    async with reading(engine) as connection:
        return [tuple(row) for row in await connection.execute(text("SELECT version, done_at FROM proctor_schema"))]


async def change(engine, *statements):
    async with writing(engine) as connection:
        for statement in statements:
            await connection.execute(text(statement))


async def works(where):
    result = await run_evals(data=[{"id": "a", "output": "x"}], gates=[checks.includes("x")], store=where)
    async with Store(where) as store:
        assert await store.result(result.run) == result


async def test_d21_doing_it_twice_does_no_harm(engine, where):
    await migrate(engine, where="x")
    first = await steps(engine)
    await migrate(engine, where="x")
    assert await tables(engine) >= TABLES
    assert await steps(engine) == first
    assert [version for version, _ in first] == list(range(1, VERSION + 1))
    assert all(done for _, done in first)
    await works(where)


@pytest.mark.parametrize("missing", [["proctor_outcome"], ["proctor_item", "proctor_eval", "proctor_cached_call"]])
async def test_d21_a_step_that_broke_off_is_done_again(engine, where, missing):
    await migrate(engine, where="x")
    await change(engine, *[f"DROP TABLE {name}" for name in missing], "UPDATE proctor_schema SET done_at = NULL")
    await migrate(engine, where="x")
    assert await tables(engine) >= TABLES
    assert all(done for _, done in await steps(engine))
    await works(where)


async def test_d21_what_a_step_had_made_before_it_broke_off_stays(engine, where):
    await works(where)
    await change(engine, "UPDATE proctor_schema SET done_at = NULL")
    await works(where)
    async with Store(where) as store:
        assert len(await store.runs()) == 2


async def test_d21_a_store_with_nothing_but_the_versions_is_made_whole(engine, where):
    await change(
        engine, "CREATE TABLE proctor_schema (version BIGINT PRIMARY KEY, began_at TEXT NOT NULL, done_at TEXT)"
    )
    await works(where)
    assert await tables(engine) >= TABLES


@pytest.mark.parametrize("done", ["then", None], ids=["done", "broken off"])
async def test_d21_a_newer_one_is_refused_and_stays_as_it_is(engine, where, done):
    await migrate(engine, where="x")
    async with writing(engine) as connection:
        await connection.execute(SCHEMA_VERSION.insert().values(version=VERSION + 1, began_at="then", done_at=done))
    for _ in range(2):
        with pytest.raises(ProctorError, match="upgrade proctor, or give another store") as error:
            await migrate(engine, where="x")
        assert error.value.code == "SCHEMA_TOO_NEW"
    assert len(await steps(engine)) == VERSION + 1


@pytest.mark.slow
async def test_d20_several_processes_may_open_a_new_one_at_once(engine, where):
    started = [
        subprocess.Popen(  # noqa: ASYNC220 - it is only started
            [sys.executable, "-W", "error", "-c", OPENING, where],
            env=os.environ | {"PYTHONPATH": f"{ROOT / 'src'}"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    await asyncio.sleep(1.0)  # until all have loaded what they need
    for process in started:
        process.stdin.write("\n")
        process.stdin.flush()
    for process in started:
        assert process.communicate(timeout=60) == ("done\n", "")
    assert len(await steps(engine)) == VERSION
    await works(where)


async def test_one_loop_may_open_a_new_one_many_times_at_once(where):
    async def opened():
        engine = make_engine(address_of(where))
        await migrate(engine, where="x")
        await engine.dispose()

    await asyncio.gather(*[opened() for _ in range(6)])
    await works(where)


async def test_a_writer_that_is_at_work_is_waited_for(tmp_path):
    database = sqlite3.connect(tmp_path / "x.db", isolation_level=None)
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("BEGIN IMMEDIATE")
    opening = asyncio.create_task(works(tmp_path / "x.db"))
    await asyncio.sleep(0.1)
    assert not opening.done()
    database.execute("COMMIT")
    database.close()
    await opening
