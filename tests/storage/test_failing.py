"""The table of a stored run: the same as of rows in memory, and only what it shows is read."""

from dataclasses import replace

import pytest

from proctor import Item, checks, not_scorable, run_evals, scorer
from proctor.storage.items import StoredItems


@scorer(inline=True, version="1")
def shaky(run):
    """Breaks now and then."""
    if run.text.endswith("7"):
        raise ValueError("seven")
    return 1.0


@scorer(inline=True, version="1")
def choosy(run):
    """Declines now and then."""
    return not_scorable("no threes") if run.text.endswith("3") else 1.0


@scorer(inline=True, version="1", range=(1, 5), better="lower")
def grade(run):
    """From 1 to 5, fewer being better."""
    return 1.0 + int(run.text) % 5


def target(text):
    if text == "47":
        raise ConnectionError("gone")
    return text


COUNT = 60
KINDS = {
    "nothing": {"gates": [checks.length(max=5)]},
    "a gate": {"gates": [checks.excludes("1")]},
    "a threshold missed": {"scorers": [(checks.excludes("1"), 0.9)]},
    "a threshold met": {"scorers": [(checks.excludes("1"), 0.1)]},
    "an upper bound": {"scorers": [(checks.includes("1"), {"max": 0.1})]},
    "errors": {"gates": [checks.excludes("1")], "scorers": [shaky, (checks.excludes("2"), 0.99)]},
    "declines": {"gates": [choosy], "scorers": [(checks.excludes("2"), 0.99)]},
    "declines that decide nothing": {"gates": [checks.excludes("5")], "scorers": [choosy]},
    "everything": {
        "gates": [choosy, checks.excludes("11")],
        "scorers": [(shaky, 0.9), (grade, {"max": 2}), (checks.excludes("2"), 0.99), (checks.excludes("3"), 0.01)],
    },
}


async def results(place, options, repeats=1):
    data = [Item(id=f"i{number}" if number % 2 else None, input=str(number)) for number in range(COUNT)]
    stored = await run_evals(data=data, target=target, store=place, repeats=repeats, concurrency=5, **options)
    assert isinstance(stored.items, StoredItems)
    return stored, replace(stored, items=tuple(stored.items))


@pytest.mark.parametrize("repeats", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
async def test_the_table_and_the_failures_are_those_of_rows_in_memory(tmp_path, kind, repeats):
    stored, eager = await results(tmp_path / "runs.db", KINDS[kind], repeats)
    assert str(stored) == str(eager)
    assert list(stored.failures()) == list(eager.failures())
    assert stored._repr_html_() == eager._repr_html_()


async def test_the_table_is_the_same_in_postgres(store_url):
    stored, eager = await results(store_url, KINDS["everything"])
    assert str(stored) == str(eager)
    assert list(stored.failures()) == list(eager.failures())


async def test_rows_that_are_not_shown_are_not_read(tmp_path, monkeypatch):
    stored, _ = await results(tmp_path / "runs.db", KINDS["a threshold met"])
    monkeypatch.setattr(StoredItems, "__iter__", None)
    monkeypatch.setattr(StoredItems, "__getitem__", None)
    assert "What failed:" in str(stored)
