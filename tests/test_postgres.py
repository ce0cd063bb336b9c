"""The tests' own server can be used as the store's tests use it."""

import asyncio

import asyncpg
import pytest
import uvloop
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import create_async_engine


async def round_trip(url):
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetchval("select $1::text", "öut")
    finally:
        await connection.close()


@pytest.mark.parametrize("loop", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def test_a_driver_reaches_it_from_either_loop(postgres_url, loop):
    with asyncio.Runner(loop_factory=loop) as runner:
        assert runner.run(round_trip(postgres_url)) == "öut"


async def test_the_password_counts(postgres, postgres_url):
    assert postgres.password in postgres_url
    with pytest.raises(asyncpg.InvalidPasswordError):
        await round_trip(postgres_url.replace(postgres.password, "another"))


async def test_each_test_has_an_empty_database_of_its_own(postgres, postgres_url):
    other = postgres.database()
    assert (await round_trip(postgres_url), postgres_url.endswith(f"/{other}")) == ("öut", False)
    postgres.drop(other)
    with pytest.raises(asyncpg.InvalidCatalogNameError):
        await round_trip(postgres.url(other))


@pytest.mark.parametrize("mode", ["fast", "immediate"])
async def test_what_was_committed_is_there_after_a_stop_and_a_start(postgres, postgres_url, mode):
    engine = create_async_engine(postgres_url.replace("postgresql:", "postgresql+asyncpg:"))
    try:
        async with engine.begin() as connection:
            await connection.execute(text("create table kept (value text)"))
            await connection.execute(text("insert into kept values ('öut')"))
        async with engine.connect() as connection:
            await asyncio.to_thread(postgres.stop, mode)
            with pytest.raises(DBAPIError):
                await connection.execute(text("select value from kept"))
        with pytest.raises(OSError):
            await round_trip(postgres_url)
        await asyncio.to_thread(postgres.start)
        async with engine.connect() as connection:
            assert (await connection.execute(text("select value from kept"))).scalar_one() == "öut"
    finally:
        await engine.dispose()


def test_it_starts_for_a_test_after_one_that_stopped_it(postgres):
    postgres.stop()
    assert not postgres.running


async def test_and_here_it_is(postgres_url):
    assert await round_trip(postgres_url) == "öut"
