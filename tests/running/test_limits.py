"""A scorer that runs out of time again and again is not started any more."""

import pytest

from proctor import Item, ProctorError, checks, run_evals, scorer
from tests.running.graded import graded, saved


def timing_out(id="slow", *, ran, bad=lambda run: True):
    """A scorer that runs out of time on what is *bad*; *ran* gets an entry for each time it is started."""

    def look(run):
        ran.append(run.output)
        if bad(run):
            raise ProctorError("took too long", code="TIMEOUT")
        return 1

    return scorer(id=id, inline=True)(look)


def started(outcomes):
    return [outcome.duration_ms is not None for outcome in outcomes]


async def test_after_three_it_is_not_started_again():
    ran = []
    result = await run_evals(data=saved(*range(6)), scorers=[timing_out(ran=ran), checks.excludes("z")])
    slow = [item.scorers["slow"] for item in result.items]
    assert (ran, started(slow)) == ([0, 1, 2], [True] * 3 + [False] * 3)
    assert {(outcome.status, outcome.error.code) for outcome in slow} == {("error", "TIMEOUT")}
    assert slow[-1].error.message == "not started: it ran out of time on 3 items before this one"
    assert (result.scores["slow"].errors, result.scores["check-excludes"].n) == (6, 6)


async def test_they_need_not_follow_each_other():
    ran = []
    await run_evals(data=saved(*range(8)), scorers=[timing_out(ran=ran, bad=lambda run: run.output % 2 == 0)])
    assert ran == [0, 1, 2, 3, 4]


async def test_one_scorer_as_gate_and_scorer_is_counted_once_for_all():
    ran = []
    slow = timing_out(ran=ran)
    result = await run_evals(data=saved(*range(3)), gates=[slow], scorers=[slow])
    assert ran == [0, 0, 1]
    assert [started(item.outcomes) for item in result.items] == [[True, True], [True, False], [False, False]]
    assert {outcome.error.code for item in result.items for outcome in item.outcomes} == {"TIMEOUT"}


async def test_an_items_own_scorer_is_counted_too():
    ran = []
    slow = timing_out(ran=ran)
    data = [Item(id=f"i{n}", output=n, scorers=[slow] if n % 2 else []) for n in range(10)]
    await run_evals(data=data, scorers=[graded(scale=10)])
    assert ran == [1, 3, 5]


async def test_scorers_of_other_keys_are_counted_for_themselves():
    ran, others = [], []
    await run_evals(
        data=saved(*range(4)),
        scorers=[timing_out(ran=ran), timing_out(ran=others, bad=lambda run: False).named("quick")],
    )
    assert (ran, others) == ([0, 1, 2], [0, 1, 2, 3])


async def test_every_run_counts_for_itself():
    ran = []
    slow = timing_out(ran=ran)
    for _ in range(2):
        await run_evals(data=saved(*range(4)), scorers=[slow])
    assert ran == [0, 1, 2, 0, 1, 2]


@pytest.mark.parametrize("error", [TimeoutError("read timed out"), ProctorError("no"), ValueError("TIMEOUT")], ids=repr)
async def test_other_errors_are_no_strikes(error):
    ran = []

    @scorer(inline=True)
    def failing(run):
        ran.append(run.output)
        raise error

    await run_evals(data=saved(*range(6)), scorers=[failing])
    assert len(ran) == 6
