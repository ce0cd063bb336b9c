"""How far a run is, while it goes on."""

from contextlib import contextmanager

import pytest

from proctor import Eval, start_evals
from proctor.data.reply import Reply
from proctor.data.usage import Cost
from proctor.running.plan import make_plan
from proctor.running.run_evals import run_plan_sync
from tests.running.graded import asked, graded, saved


def paid(given):
    return Reply(given, cost=None if given == 0.0 else Cost(amount=0.1))


async def test_what_replies_cost_is_told_as_it_comes():
    told = []
    run = start_evals(
        data=asked(0.0, 1.0, 1.0),
        target=paid,
        scorers=[graded()],
        on_item_complete=lambda done: told.append(run.progress.cost),
    )
    result = await run
    assert told == [None, Cost(amount=0.1), Cost(amount=0.2)]
    assert run.progress.cost == result.summary.cost


def test_who_watches_a_run_is_there_from_before_it_begins_until_it_has_ended():
    seen = []

    @contextmanager
    def watched(progress):
        seen.append((progress.total, progress.done))
        yield
        seen.append((progress.total, progress.done, progress.failed, progress.errors, progress.not_scorable))

    plan = make_plan(Eval(data=saved(1.0, 0.0, "boom", "n/a"), gates=[graded()]))
    run_plan_sync(plan, watched=watched)
    assert seen == [(4, 0), (4, 4, 1, 1, 1)]


def test_who_watches_is_told_of_an_error_too():
    seen = []

    @contextmanager
    def watched(progress):
        try:
            yield
        finally:
            seen.append(progress.done)

    plan = make_plan(Eval(data=saved(1.0, "boom", 1.0), gates=[graded()], on_error="raise"))
    with pytest.raises(Exception, match="the scorer broke"):
        run_plan_sync(plan, watched=watched)
    assert seen == [2]
