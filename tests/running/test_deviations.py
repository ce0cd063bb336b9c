"""Where a run differs from the reference on purpose: rules 1 to 6 of the deviations."""

import asyncio
import math
import threading
from decimal import Decimal

import numpy as np
import pytest

from proctor import (
    ItemResult,
    Threshold,
    checks,
    create_scorer,
    run_evals,
    scorer,
)
from tests.running.graded import asked, echo, graded, saved


def statuses(result, column=0):
    return [item.scorers[column].status for item in result.items]


# ── 1: outcomes ──────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_scorer_that_raises_is_an_error_of_that_item_and_the_run_goes_on():
    result = await run_evals(data=saved(1.0, "boom", 0.5), scorers=[graded()])
    assert statuses(result) == ["scored", "error", "scored"]
    failure = result.items[1].scorers[0].error
    assert (failure.type, failure.message, failure.step) == ("ValueError", "the scorer broke", "generate_score")
    mean = result.scores["graded"]
    assert (mean.mean, mean.n, mean.of, mean.errors) == (0.75, 2, 3, 1)
    assert (result.items[1].status, result.summary.errors, result.summary.outcome_errors) == ("done", 0, 1)


async def test_a_gate_that_raises_is_an_error_and_no_0():
    result = await run_evals(data=saved(1.0, "boom"), gates=[graded()])
    gate = result.gate_results[0]
    assert (gate.mean, gate.errors, gate.passed, gate.decided_by) == (1.0, 1, False, "errors")
    assert result.exit_code() == 4


async def test_every_outcome_is_exactly_one_of_the_statuses():
    result = await run_evals(target=echo, data=asked(1.0, "n/a", "boom", "fail"), scorers=[graded()])
    assert statuses(result) == ["scored", "not_scorable", "error", "not_run"]
    assert [outcome.score for item in result.items for outcome in item.scorers] == [1.0, None, None, None]


async def test_a_score_that_was_made_before_the_reason_failed_is_kept_and_counted_nowhere():
    def fail(ctx):
        raise ValueError

    broken = create_scorer(id="s").generate_score(lambda ctx: 0).generate_reason(fail)
    result = await run_evals(data=saved("x"), scorers=[(broken, 0.0)])
    assert result.items[0].scorers[0].recovered == 0.0
    assert (result.scores["s"].mean, result.verdict) == (None, "scored")


async def test_declined_items_are_counted_and_in_no_mean():
    result = await run_evals(data=saved(1.0, "n/a", "n/a"), scorers=[graded()], gates=[graded("gate")])
    assert (result.scores["graded"].mean, result.scores["graded"].n, result.scores["graded"].of) == (1.0, 1, 3)
    declined = result.summary.not_scorable
    assert (dict(declined.by_column), declined.total) == ({"gate gate": 2, "graded": 2}, 4)
    assert (declined["graded"], declined["gate gate"], dict(declined.by_id)) == (2, 2, {"gate": 2, "graded": 2})
    assert result.items[1].scorers[0].reason == "nothing to score"


async def test_r14_whatever_one_scorer_raises_its_siblings_go_on():
    class Unreadable(Exception):
        def __str__(self):
            raise RuntimeError

    errors = [SystemExit(1), Unreadable(), StopIteration(), RecursionError(), ExceptionGroup("x", [ValueError()])]

    def raising(n, error):
        def fail(run):
            raise error

        return scorer(id=f"s{n}")(fail)

    result = await run_evals(data=saved(1.0, 1.0), scorers=[*map(raising, range(5), errors), graded()])
    assert [[outcome.status for outcome in item.scorers] for item in result.items] == [["error"] * 5 + ["scored"]] * 2


# ── 1: on_item_complete ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("later", [False, True], ids=["def", "async def"])
async def test_each_item_is_told_when_it_is_done(later):
    told = []

    async def tell_later(item):
        await asyncio.sleep(0)
        told.append(item)

    result = await run_evals(
        data=saved(1.0, 0.5), scorers=[graded()], on_item_complete=tell_later if later else told.append
    )
    assert told == list(result.items)
    assert all(isinstance(item, ItemResult) for item in told)


@pytest.mark.parametrize("later", [False, True], ids=["def", "async def"])
async def test_a_listener_that_raises_is_noted_and_warned_of_once(later):
    def fail(item):
        raise KeyError(item.item_id)

    async def fail_later(item):
        fail(item)

    with pytest.warns(RuntimeWarning, match="on_item_complete") as warned:
        result = await run_evals(
            data=saved(1.0, 1.0, 1.0), gates=[graded()], on_item_complete=fail_later if later else fail
        )
    note = "on_item_complete raised 3 times, first KeyError: 'i0' (on i0)"
    assert [str(warning.message) for warning in warned] == [note]
    assert result.summary.notes == (note,)
    assert (result.verdict, result.exit_code()) == ("passed", 0)


async def test_a_listener_does_not_hold_the_event_loop():
    threads = []
    await run_evals(
        data=saved(1.0),
        scorers=[graded()],
        on_item_complete=lambda item: threads.append(threading.current_thread()),
    )
    assert threads[0] is not threading.current_thread()


# ── 2: target failure ────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_target_that_fails_is_an_error_of_the_item():
    result = await run_evals(
        target=echo, data=asked(1.0, "fail"), gates=[graded("gate")], scorers=[graded(), (graded("bound"), 0.5)]
    )
    failed = result.items[1]
    assert (failed.status, failed.error.type) == ("error", "ConnectionError")
    assert failed.error.code == "RUN_EXPERIMENT_TARGET_FAILED_TO_GENERATE_RESULT"
    assert [(outcome.status, outcome.cause.why) for outcome in failed.outcomes] == [("not_run", "target_failed")] * 3
    gate, bare, bound = result.means
    assert (gate.passed, gate.decided_by, gate.not_run) == (False, "errors", 1)
    assert (bare.mean, bare.n, bare.of) == (1.0, 1, 2)
    assert (bound.passed, bound.decided_by) == (False, "errors")
    assert (result.verdict, result.exit_code(), result.summary.errors) == ("failed", 4, 1)
    assert "1 of 2 items had no reply, first i1" in result.sentence


async def test_s05_scorers_do_not_run_on_the_text_of_an_error():
    result = await run_evals(target=echo, data=asked("fail"), scorers=[checks.matches("try")])
    assert statuses(result) == ["not_run"]
    assert result.scores["check-matches"].mean is None
    assert result.items[0].status == "error"


async def test_a_reply_of_none_is_a_reply_that_cannot_be_read():
    result = await run_evals(
        target=lambda given: None, data=asked("x"), gates=[checks.excludes("secret")], scorers=[checks.used_no_tools()]
    )
    assert result.items[0].status == "done"
    assert [outcome.error.code for outcome in result.items[0].outcomes] == ["UNREADABLE_OUTPUT"] * 2
    assert (result.verdict, result.gate_results[0].decided_by) == ("failed", "errors")


# ── 3: gates ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("outputs", "mean", "passed", "decided_by", "code"),
    [
        pytest.param([1.0, 1.0], 1.0, True, "scores", 0, id="all at the top"),
        pytest.param([1.0, 1 - 1e-10], 1.0, True, "scores", 0, id="rounding noise"),
        pytest.param([1.0, 0.99], 0.995, False, "scores", 1, id="one short"),
        pytest.param([1.0, "n/a"], 1.0, True, "scores", 0, id="one declined"),
        pytest.param([1.0, "boom"], 1.0, False, "errors", 4, id="one error"),
        pytest.param([0.0, "boom"], 0.0, False, "scores", 1, id="one short and one error"),
        pytest.param(["boom", "boom"], None, False, "errors", 4, id="all errors"),
        pytest.param(["n/a", "n/a"], None, False, "declines", 4, id="all declined"),
        pytest.param(["n/a", "boom"], None, False, "errors", 4, id="declined and error"),
    ],
)
async def test_a_gate_asks_every_item_for_the_top_of_the_range(outputs, mean, passed, decided_by, code):
    result = await run_evals(data=saved(*outputs), gates=[graded()])
    gate = result.gate_results[0]
    assert gate.mean is mean if mean is None else gate.mean == pytest.approx(mean)
    assert (gate.passed, gate.decided_by) == (passed, decided_by)
    assert (result.verdict, result.exit_code()) == ("passed" if passed else "failed", code)


async def test_high_scores_of_a_gate_do_not_make_up_for_low_ones():
    result = await run_evals(data=saved(2, 0), gates=[graded(scale=2)])
    assert (result.gate_results[0].mean, result.verdict) == (1.0, "failed")


async def test_the_top_is_that_of_the_scorers_own_range():
    assert (await run_evals(data=saved(5, 5), gates=[graded(scale=5)])).verdict == "passed"
    assert (await run_evals(data=saved(1, 1), gates=[graded(scale=5)])).verdict == "failed"


async def test_gates_count_for_themselves():
    result = await run_evals(data=saved("sunny"), gates=[checks.includes("sunny"), checks.includes("rain")])
    assert [(gate.passed, gate.mean) for gate in result.gate_results] == [(True, 1.0), (False, 0.0)]


async def test_the_sentence_of_a_failing_gate_names_item_score_and_reason():
    result = await run_evals(data=saved("sunny", "rain"), gates=[checks.includes("sunny")])
    assert result.sentence.startswith("gate check-includes[sunny] missed: item i1 scored 0.00: ")
    assert '"rain"' in result.sentence
    assert result.sentence.endswith("1 of 2 items fell short")


# ── 4: thresholds ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("outputs", "threshold", "passed", "decided_by"),
    [
        pytest.param([0.5, 0.7], 0.6, True, "scores", id="on the bound"),
        pytest.param([0.1] * 10, 0.1, True, "scores", id="on the bound but for floats"),
        pytest.param([0.5, 0.7], 0.61, False, "scores", id="below"),
        pytest.param([0.5, 0.7], Threshold(max=0.6), True, "scores", id="on the upper bound"),
        pytest.param([0.5, 0.7], Threshold(max=0.5), False, "scores", id="above"),
        pytest.param([0.5, 0.7], {"min": 0.5, "max": 0.7}, True, "scores", id="between"),
        pytest.param([1.0, "boom"], 0.5, False, "errors", id="an error"),
        pytest.param([1.0, "boom"], Threshold(0.5, max_errors=0.5), True, "scores", id="as many errors as allowed"),
        pytest.param([1.0, "boom", "boom"], Threshold(0.5, max_errors=0.5), False, "errors", id="more than allowed"),
        pytest.param([1.0, "n/a"], 0.5, True, "scores", id="one declined"),
        pytest.param(["n/a", "n/a"], 0.5, False, "declines", id="all declined"),
        pytest.param(["boom"], Threshold(0.5, max_errors=1), False, "errors", id="nothing scored"),
        pytest.param(["n/a"], Threshold(0.5, min_scored=0), None, None, id="left out"),
        pytest.param([1.0], Threshold(0.5, min_scored=2), False, "declines", id="too few scored"),
    ],
)
async def test_a_threshold_bounds_the_exact_mean(outputs, threshold, passed, decided_by):
    result = await run_evals(data=saved(*outputs), scorers=[(graded(), threshold)])
    mean = result.threshold_results[0]
    assert (mean.passed, mean.decided_by) == (passed, decided_by)
    assert result.verdict == {True: "passed", False: "scored", None: None}[passed]


async def test_a_threshold_that_needs_more_scores_is_missed_by_errors_when_there_were_errors():
    result = await run_evals(
        data=saved("boom", 1.0, 1.0), scorers=[(graded(), Threshold(0.5, max_errors=0.5, min_scored=3))]
    )
    assert result.threshold_results[0].decided_by == "errors"


async def test_s01_a_nan_is_no_score_and_in_no_mean():
    result = await run_evals(data=saved(0.9, math.nan, 0.7), scorers=[(graded(), 0.5)])
    mean = result.threshold_results[0]
    assert (mean.mean, mean.n, mean.of, mean.errors) == (0.8, 2, 3, 1)
    assert statuses(result) == ["scored", "error", "scored"]
    assert result.items[1].scorers[0].error.code == "SCORE_NOT_FINITE"
    assert "2 of 3" in str(result)


async def test_s02_half_of_the_answers_never_came():
    data = asked(*[1.0] * 5, *["fail"] * 5)
    result = await run_evals(target=echo, data=data, scorers=[(graded(), 0.9)])
    mean = result.threshold_results[0]
    assert (mean.mean, mean.n, mean.of, mean.not_run) == (1.0, 5, 10, 5)
    assert (result.summary.errors, result.verdict, mean.decided_by) == (5, "scored", "errors")
    assert "5 of 10 items had no reply" in result.sentence
    tolerant = await run_evals(target=echo, data=data, scorers=[(graded(), Threshold(0.9, max_errors=0.5))])
    assert tolerant.verdict == "passed"


async def test_s03_a_scorer_that_raised_is_no_success_of_the_run():
    result = await run_evals(data=saved("boom"), gates=[checks.includes("boom")], scorers=[graded()])
    assert statuses(result) == ["error"]
    assert result.exit_code() == 4
    assert result.exit_code(fail_on=("failed", "scored")) == 0


async def test_s04_the_error_is_in_what_is_printed():
    def grade(run):
        raise ConnectionError("404 from the grader")

    result = await run_evals(data=saved("x"), gates=[checks.includes("x")], scorers=[scorer(grade)])
    assert result.scores["grade"].mean is None
    assert "404 from the grader" in str(result)
    assert "1 scorer error" in str(result)


async def test_s12_two_of_three_do_not_reach_067_and_the_sentence_says_so():
    result = await run_evals(data=saved(1, 1, 0), scorers=[(graded(), 0.67)])
    assert result.verdict == "scored"
    assert "mean 0.667 < 0.67 over 3 of 3 items" in result.sentence
    assert "use 2/3" in result.sentence
    assert (await run_evals(data=saved(1, 1, 0), scorers=[(graded(), 2 / 3)])).verdict == "passed"


async def test_s13_what_is_shown_is_on_the_side_it_was_decided_on():
    result = await run_evals(data=saved(0.69996), scorers=[(graded(), 0.7)])
    assert result.verdict == "scored"
    assert "0.69996 < 0.7" in result.sentence
    assert "0.70 " not in str(result)


async def test_s19_one_of_three_scorers_fails_and_the_others_show_what_they_came_to():
    result = await run_evals(
        data=saved("sunny"),
        scorers=[(checks.includes("sunny"), 1), (graded(), 1), (checks.excludes("rain"), 1)],
    )
    assert [mean.passed for mean in result.threshold_results] == [True, False, True]
    rows = [line for line in str(result).splitlines() if line.startswith("scorer ")]
    assert ["met" in row for row in rows] == [True, False, True]


# ── 5: range ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("value", [7, -0.3, 1.2, math.inf, "1", None, [1]], ids=repr)
async def test_s17_what_is_no_score_is_an_error_that_names_value_and_scorer(value):
    result = await run_evals(data=saved("x"), scorers=[(scorer(id="odd")(lambda run: value), 0.5)])
    assert statuses(result) == ["error"]
    assert f"odd gave {value!r}" in result.items[0].scorers[0].error.message
    assert (result.scores["odd"].mean, result.verdict, result.exit_code()) == (None, "scored", 4)


async def test_s16_s17_numbers_of_every_kind_have_a_mean():
    values = iter([np.float64(0.5), np.True_, Decimal("0.5"), True, 1.0000000002, -1e-17])
    result = await run_evals(data=saved(*range(6)), scorers=[scorer(id="odd", inline=True)(lambda run: next(values))])
    scores = [item.scorers[0].score for item in result.items]
    assert scores == [0.5, 1.0, 0.5, 1.0, 1.0, 0.0]
    assert {type(score) for score in scores} == {float}
    assert result.scores["odd"].mean == 4 / 6


async def test_a_threshold_is_in_the_scorers_own_units():
    result = await run_evals(data=saved(3, 4), scorers=[(graded(scale=5), 3.5)])
    assert (result.threshold_results[0].mean, result.verdict) == (3.5, "passed")


# ── 6: keys ──────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_s18_two_scorers_of_one_id_have_columns_of_their_own():
    result = await run_evals(data=saved("sunny"), scorers=[checks.includes("sunny"), (checks.includes("rain"), 0.5)])
    assert {mean.key: mean.mean for mean in result.means} == {"check-includes[sunny]": 1.0, "check-includes[rain]": 0.0}
    assert [mean.key for mean in result.threshold_results] == ["check-includes[rain]"]


async def test_s18_the_same_scorer_twice_is_numbered_and_warned_of():
    check = checks.includes("sunny")
    with pytest.warns(UserWarning, match=r"scorer check-includes\[sunny\] is given more than once.*#2.*\.named"):
        result = await run_evals(data=saved("sunny"), scorers=[check, (check, 0.5)])
    assert [mean.key for mean in result.means] == ["check-includes[sunny]", "check-includes[sunny]#2"]
    assert [mean.threshold for mean in result.means] == [None, Threshold(0.5)]


async def test_s18_one_scorer_may_be_gate_and_scorer():
    result = await run_evals(data=saved("sunny"), gates=[checks.includes("sunny")], scorers=[checks.includes("sunny")])
    assert [mean.column.label for mean in result.means] == ["gate check-includes[sunny]", "check-includes[sunny]"]


@pytest.mark.parametrize("id", ["agent", "workflow", "steps", "trajectory", "a.b", "gate"])
async def test_no_id_is_reserved(id):
    result = await run_evals(data=saved(0.5), scorers=[graded(id)])
    assert result.scores[id].mean == 0.5
    assert result.scores.agent[id].mean == 0.5
