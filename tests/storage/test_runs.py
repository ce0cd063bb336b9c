"""Runs of a store, by what people call them."""

from datetime import timedelta

import pytest

from proctor import Item, Store, checks, run_evals
from proctor.errors import UnknownName

HUGE = 10**30


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
async def store(request, tmp_path):
    where = tmp_path / "x.db" if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    await run_evals(data=[Item("a", id="i", output="a")], scorers=[checks.includes("a")], store=where)
    async with Store(where) as opened:
        yield opened


@pytest.mark.parametrize("name", [f"latest~{HUGE}", "latest~1", "a\x00bcdefg", "a\udcffbcdefg", "\x1babcdefg"])
async def test_a_name_that_no_run_can_have_is_unknown(store, name):
    with pytest.raises(UnknownName, match="run"):
        await store.run(name)


async def test_numbers_that_no_database_takes_are_those_of_nothing(store):
    (info,) = await store.runs(limit=HUGE)
    assert len((await store.rows(info.name, limit=HUGE)).rows) == 1
    assert (await store.rows(info.name, after=(HUGE, -1))).rows == ()
    with pytest.raises(UnknownName):
        await store.row(info.name, "i", repeat=HUGE)


async def test_nothing_is_older_than_any_age(store):
    assert await store.prune(older_than=timedelta.max) == []
