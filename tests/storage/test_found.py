"""What a store gives back of the rows of earlier sittings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from proctor import Eval, Item, checks, rescore, resume, retry, run_evals, scorer
from proctor.storage.found import Found


async def answer(question: str) -> str:
    return question


async def test_rows_are_read_once_however_many_workers_ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many workers ask for finished rows at once; each row is read out of the store once."""
    evaluation = Eval(
        data=[Item(f"{number}?", id=f"item-{number}") for number in range(450)],
        target=answer,
        scorers=[checks.includes("?")],
        concurrency=32,
        store=tmp_path / "runs.db",
    )
    await run_evals(evaluation)
    read: list[Any] = []
    real = Found._read

    async def counted(self: Found, rows: list[Any], **options: Any) -> Any:
        read.extend(rows)
        return await real(self, rows, **options)

    monkeypatch.setattr(Found, "_read", counted)
    result = await resume("latest", evaluation)
    assert result.summary.items == 450
    assert sorted(read) == sorted(set(read))


async def test_rows_that_broke_are_read_many_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    breaks = [True]

    def judged(run: Any) -> float:
        if breaks:
            raise ValueError("on purpose")
        return 1.0

    evaluation = Eval(
        data=[Item(f"{number}?", id=f"item-{number}") for number in range(450)],
        target=answer,
        scorers=[scorer(judged, id="judged", version="1")],
        concurrency=8,
        store=tmp_path / "runs.db",
    )
    await run_evals(evaluation)
    breaks.clear()
    readings: list[int] = []
    real = Found._read

    async def counted(self: Found, rows: list[Any]) -> Any:
        readings.append(len(rows))
        return await real(self, rows)

    monkeypatch.setattr(Found, "_read", counted)
    result = await retry("latest", evaluation)
    assert (result.means[0].n, sum(readings)) == (450, 450)
    assert len(readings) < 10


async def test_replies_that_are_scored_again_are_read_many_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = [Item(f"{number}?", id=f"item-{number}") for number in range(450)]
    run = await run_evals(data=data, target=answer, scorers=[checks.includes("?")], store=tmp_path / "runs.db")
    readings: list[int] = []
    real = Found._read

    async def counted(self: Found, rows: list[Any]) -> Any:
        readings.append(len(rows))
        return await real(self, rows)

    monkeypatch.setattr(Found, "_read", counted)
    again = await rescore(
        str(run.run), scorers=[checks.includes("?")], repeats=2, concurrency=8, store=tmp_path / "runs.db"
    )
    assert (again.verdict, again.means[0].n, sum(readings)) == (run.verdict, 900, 900)
    assert len(readings) < 10
