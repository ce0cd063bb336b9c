"""Pages of rows: the same as sorting and filtering all of them, along an index."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

import proctor.storage.pages
from proctor import Item, create_scorer, run_evals
from proctor.data.stored import RowInfo
from proctor.storage.store import Store

SCORES = (1.0, 0.2, 0.6, None, 0.2)
"""By the number of an item modulo five; the target fails for the fourth."""


async def answer(question: str) -> str:
    if SCORES[int(question) % 5] is None:
        raise ValueError("no answer")
    return question


@pytest.fixture
async def path(tmp_path: Path) -> Path:
    scorers = [
        create_scorer(id="varied", description="By the number.").generate_score(
            lambda ctx: SCORES[int(ctx.run.text) % 5]
        ),
        create_scorer(id="steady", description="The same for all.").generate_score(lambda ctx: 0.9),
    ]
    data = [Item(str(number), id=f"item-{number}") for number in range(20)]
    path = tmp_path / "runs.db"
    await run_evals(data=data, target=answer, scorers=scorers, repeats=2, store=path, concurrency=4)
    return path


FILTERS: list[dict[str, Any]] = [
    {},
    {"status": "done"},
    {"status": "error"},
    {"status": "not_run"},
    {"failed": True},
    {"below": 0.5},
    {"below": 0.5, "column": "varied"},
    {"below": 0.95, "column": "steady"},
    {"below": 0.95, "column": "steady", "failed": True, "status": "done"},
    {"status": "done", "below": 0.5},
]


def wanted(rows: list[RowInfo], order: str, filters: dict[str, Any]) -> list[RowInfo]:
    """The rows that pass, in order, out of all."""

    def passes(row: RowInfo) -> bool:
        below, column = filters.get("below"), filters.get("column")
        score = SCORES[row.index % 5]
        if column == "steady" and score is not None:
            score = 0.9
        low = below is None or (score is not None and score < below)
        broke = bool(row.failed or row.errors or row.status == "error")
        return low and filters.get("status", row.status) == row.status and (broke or not filters.get("failed"))

    def place(row: RowInfo) -> tuple[float, ...]:
        first = {"input": 0.0, "failures": float(not (row.failed or row.errors or row.status == "error"))}
        return (first.get(order, row.worst or 0.0), row.index, row.repeat)

    found = [row for row in rows if passes(row) and (order != "worst" or row.worst is not None)]
    return sorted(found, key=place)


@pytest.mark.parametrize("few", [0, 5_000], ids=["along the index", "few are sorted"])
async def test_pages_are_what_sorting_all_rows_gives(path: Path, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every filter in every order, page after page, however it is looked up."""
    monkeypatch.setattr(proctor.storage.pages, "_FEW", few)
    async with Store(path) as store:
        rows = list((await store.rows("latest", limit=1000)).rows)
        assert len(rows) == 40
        for order, filters in itertools.product(("input", "failures", "worst"), FILTERS):
            found: list[RowInfo] = []
            after: Any = None
            while True:
                page = await store.rows("latest", order=order, limit=7, after=after, **filters)
                found += page.rows
                if (after := page.after) is None:
                    break
            assert found == wanted(rows, order, filters), (order, filters)


async def test_pages_are_found_along_an_index(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite sorts nothing and scans no table, whatever the filter, where many rows pass it."""
    monkeypatch.setattr(proctor.storage.pages, "_FEW", 0)
    asked: list[tuple[str, Any]] = []
    async with Store(path) as store:
        assert store._engine is not None
        event.listen(store._engine.sync_engine, "before_cursor_execute", lambda *given: asked.append(given[2:4]))
        for order, filters in itertools.product(("input", "failures", "worst"), FILTERS):
            if filters.get("status") == "not_run":
                continue  # there is none: nothing is few
            await store.rows("latest", order=order, limit=7, **filters)
        pages = [(statement, values) for statement, values in asked if "ORDER BY proctor_item" in statement]
        assert len(pages) == 3 * (len(FILTERS) - 1)
        async with store._engine.connect() as connection:
            for statement, values in pages:
                plan = (await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values)).all()
                steps = [row[3] for row in plan]
                assert not any("TEMP B-TREE" in step for step in steps), (statement, steps)
                assert all(re.match(r"SEARCH .* USING |CORRELATED", step) for step in steps), (statement, steps)
