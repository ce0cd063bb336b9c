"""asyncio's debug paths and task names take reprs of results: a run must not pay for them by the outcome."""

import asyncio

import pytest

from proctor import Item, Outcome, checks, run_evals


@pytest.fixture
def reprs(monkeypatch):
    """One entry for each time that an Outcome's repr is asked for."""
    asked = []
    real = Outcome.__repr__
    monkeypatch.setattr(Outcome, "__repr__", lambda self: asked.append(1) or real(self))
    return asked


async def answer(question):
    return "It is sunny in Brooklyn."


@pytest.mark.parametrize("debug", [False, True], ids=["usual", "debug"])
@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_run_asks_for_no_repr_of_an_outcome(reprs, concurrency, debug):
    evaluation = run_evals(
        data=[Item(f"street {number}") for number in range(20)],
        target=answer,
        gates=[checks.includes("Brooklyn")],
        scorers=[checks.max_tool_calls(0), (checks.similarity("sunny"), 0.1)],
        concurrency=concurrency,
    )
    result = asyncio.run(evaluation, debug=debug)
    assert result.verdict == "passed"
    assert len(result.items) == 20
    assert reprs == []


def test_the_result_of_a_run_shows_itself_in_one_line(reprs):
    """What `asyncio.run` in an interactive session, a log or a debugger would print."""
    result = asyncio.run(run_evals(data=[Item("a"), Item("b")], target=answer, scorers=[checks.used_no_tools()]))
    shown = [repr(result), *map(repr, result.items)]
    assert all(len(line) < 200 and "\n" not in line for line in shown)
    assert reprs == []


def test_the_count_would_notice(reprs):
    result = asyncio.run(run_evals(data=[Item("a")], target=answer, scorers=[checks.used_no_tools()]))
    assert "scored" in repr(result.items[0].scorers)
    assert reprs == [1]
