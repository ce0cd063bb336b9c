"""From counts to a decision, and the sentence that says what decided it."""

import re

import pytest

from proctor import Item, Outcome, Threshold, not_scorable, run_evals, scorer
from proctor.data.codec import dumps, loads
from proctor.data.column import Column
from proctor.data.outcome import Failure, NotRun, NotScorable
from proctor.running.fold import ColumnFold
from proctor.running.plan import Cell
from proctor.running.verdict import column_mean, decide
from proctor.stats.rates import wilson_interval
from tests.running.graded import graded


def mean_of(*values, threshold=None, position="scorer", key="graded", whole=True, **options):
    """What a column comes to: numbers are scores, `boom`, `n/a` and `fail` what their names say."""
    column = Column(position, None, key, key)
    fold = ColumnFold(Cell(graded(**options), column, threshold and Threshold.of(threshold)))
    for n, value in enumerate(values):
        fold.add(outcome(column, value), index=n, item=f"i{n}")
    return column_mean(fold, whole=whole)


def outcome(column, value):
    if value == "boom":
        return Outcome(column, "error", cause=Failure(type="ValueError", message="the scorer broke"))
    if value == "n/a":
        return Outcome(column, "not_scorable", reason="no policy", cause=NotScorable("analyze", "no policy"))
    if value == "fail":
        return Outcome(column, "not_run", cause=NotRun("target_failed"))
    return Outcome(column, "scored", value, reason=f"saw {value}")


def gate(*values, **options):
    return mean_of(*values, position="gate", **options)


# ── sentences ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("mean", "sentence"),
    [
        pytest.param(gate(1, 1), "gate graded met: 2 of 2 items reached the top", id="gate met"),
        pytest.param(gate(1, "n/a"), "gate graded met: 1 of 2 items reached the top", id="gate met, one declined"),
        pytest.param(
            gate(0.5), "gate graded missed: item i0 scored 0.50, a gate needs 1: saw 0.5", id="gate missed, one item"
        ),
        pytest.param(
            gate(1 - 1.5e-9),
            "gate graded missed: item i0 scored 0.999999998, a gate needs 1: saw 0.9999999985",
            id="gate missed by less than two digits show",
        ),
        pytest.param(
            gate(1, 0.5, 0),
            "gate graded missed: item i1 scored 0.50, a gate needs 1: saw 0.5; 2 of 3 items fell short",
            id="gate missed",
        ),
        pytest.param(
            gate(1, "boom"),
            "gate graded missed: 1 of 2 items ended in an error, first i1: ValueError: the scorer broke",
            id="gate, error",
        ),
        pytest.param(gate("fail", 1), "gate graded missed: 1 of 2 items had no reply, first i0", id="gate, no reply"),
        pytest.param(
            gate("n/a", "n/a"),
            "gate graded missed: nothing to decide on, all 2 items declined (no policy)",
            id="gate, all declined",
        ),
        pytest.param(mean_of(0.5, 0.7), "", id="bare scorer"),
        pytest.param(mean_of(0.5, threshold=0.5), "graded met: mean 0.50 over 1 of 1 item, needed >= 0.5", id="met"),
        pytest.param(
            mean_of(0.5, "n/a", threshold={"min": 0.1, "max": 0.9}),
            "graded met: mean 0.50 over 1 of 2 items, needed >= 0.1 and <= 0.9",
            id="met between bounds",
        ),
        pytest.param(
            mean_of(0.5, threshold=0.6),
            "graded missed its threshold: mean 0.50 < 0.6 over 1 of 1 item",
            id="below",
        ),
        pytest.param(
            mean_of(0.5, threshold=Threshold(max=0.4)),
            "graded missed its threshold: mean 0.50 > 0.4 over 1 of 1 item",
            id="above",
        ),
        pytest.param(
            mean_of(1, 1, 0, threshold=0.67),
            "graded missed its threshold: mean 0.667 < 0.67 over 3 of 3 items "
            "(the mean is 2/3; use 2/3 as the threshold if that is enough)",
            id="s12: a fraction was meant",
        ),
        pytest.param(
            mean_of(0.69996, threshold=0.7),
            "graded missed its threshold: mean 0.69996 < 0.7 over 1 of 1 item",
            id="s13: as many digits as it takes",
        ),
        pytest.param(
            mean_of(1, "boom", "fail", threshold=0.5),
            "graded missed its threshold: 1 of 3 items ended in an error, first i1: ValueError: the scorer broke; "
            "1 of 3 items had no reply, first i2",
            id="errors",
        ),
        pytest.param(
            mean_of(1, "boom", "boom", threshold=Threshold(0.5, max_errors=0.5)),
            "graded missed its threshold: 2 of 3 items ended in an error, first i1: ValueError: the scorer broke, "
            "0.5 of them allowed",
            id="more errors than allowed",
        ),
        pytest.param(
            mean_of("n/a", threshold=0.5),
            "graded missed its threshold: 0 items scored, at least 1 needed",
            id="nothing scored",
        ),
        pytest.param(
            mean_of("n/a", threshold=Threshold(0.5, min_scored=0)),
            "graded scored nothing and decides nothing (min_scored=0)",
            id="left out",
        ),
    ],
)
def test_a_sentence_says_what_decided(mean, sentence):
    assert mean.sentence == sentence


def test_a_long_reason_is_cut_in_the_sentence():
    column = Column("gate", None, "graded", "graded")
    fold = ColumnFold(Cell(graded(), column))
    fold.add(Outcome(column, "scored", 0.0, reason="long " * 1000), index=0, item="i0")
    assert len(column_mean(fold).sentence) < 300


@pytest.mark.parametrize("bound", [0.7, 1 / 3, 0.1 + 0.2])
@pytest.mark.parametrize("away", [1e-3, 1e-5, 1e-7, 2e-9])
@pytest.mark.parametrize("side", [-1, 1], ids=["below", "above"])
def test_s13_the_shown_mean_is_on_its_side_of_the_shown_bound(bound, away, side):
    missed = mean_of(bound + side * away, threshold=Threshold(bound) if side < 0 else Threshold(max=bound))
    assert missed.passed is False
    mean, sign, shown = re.search(r"mean (\S+) ([<>]) (\S+) over", missed.sentence).groups()
    assert float(mean) < float(shown) if sign == "<" else float(mean) > float(shown)


# ── means ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_mean_says_of_how_many():
    mean = mean_of(1, 0.5, "boom", "n/a", "fail", "fail")
    assert (mean.mean, mean.n, mean.of) == (0.75, 2, 6)
    assert (mean.errors, mean.not_scorable, mean.not_run) == (1, 1, 2)
    assert (mean.passed, mean.decided_by, mean.threshold) == (None, None, None)


@pytest.mark.parametrize(
    ("values", "options", "interval"),
    [
        pytest.param([1] * 8 + [0] * 2, {}, (0.490162471536642, 0.943317848545625), id="8 of 10"),
        pytest.param([1], {}, (0.206549314377238, 1), id="1 of 1"),
        pytest.param([0.8] * 10, {}, (0.490162471536642, 0.943317848545625), id="graded, by its mean"),
        pytest.param([5] * 8 + [0] * 2, {"scale": 5}, (2.45081235768321, 4.716589242728125), id="scaled"),
        pytest.param([1] * 5 + [-1] * 5, {"range": (-1, 1)}, (-0.52681381898, 0.52681381898), id="around 0"),
        pytest.param([1, "boom", "n/a", "fail"], {}, (0.206549314377238, 1), id="what was scored counts"),
        pytest.param(["n/a"], {}, None, id="nothing scored"),
        pytest.param([], {}, None, id="nothing at all"),
    ],
)
@pytest.mark.parametrize("position", ["scorer", "gate"])
def test_a_mean_has_an_interval_in_its_own_units(values, options, interval, position):
    found = mean_of(*values, position=position, **options).interval
    assert found == (interval and pytest.approx(interval, abs=1e-9))


def test_repeats_of_an_item_are_one_case():
    column = Column("scorer", None, "graded", "graded")
    fold = ColumnFold(Cell(graded(), column), repeats=4)
    for n in range(40):
        fold.add(outcome(column, float(n % 4 > 0)), index=n // 4, item=f"i{n // 4}")
    mean = column_mean(fold)
    assert (mean.mean, mean.n) == (0.75, 40)
    assert mean.interval == pytest.approx(wilson_interval(7.5, 10))


@pytest.mark.parametrize("value", [0.0, 0.1, 1 / 3, 0.7, 1.0])
@pytest.mark.parametrize("n", [1, 7, 1000])
def test_an_interval_holds_its_mean_and_is_no_point(value, n):
    mean = mean_of(*[value * 5 - 2] * n, range=(-2, 3))
    low, high = mean.interval
    assert -2 <= low <= mean.mean <= high <= 3
    assert low < high


def test_a_mean_knows_its_scorers_range_and_direction():
    mean = mean_of(3, scale=5, better="lower")
    assert (mean.range, mean.better) == ((0, 5), "lower")


def test_a_miss_on_scores_comes_before_errors():
    mean = mean_of(0.1, "boom", threshold=0.5)
    assert (mean.passed, mean.decided_by) == (False, "scores")


# ── the verdict ────────────────────────────────────────────────────────────────────────────────────────────────────

MET, MISSED = gate(1), gate(0)
REACHED, SHORT = mean_of(1, threshold=0.5), mean_of(0, threshold=0.5)
BARE, LEFT_OUT = mean_of(0), mean_of("n/a", threshold=Threshold(0.5, min_scored=0))


@pytest.mark.parametrize(
    ("means", "verdict", "sentence"),
    [
        pytest.param([], None, "nothing to decide: no gate and no threshold", id="nothing"),
        pytest.param([BARE, BARE], None, "nothing to decide: no gate and no threshold", id="bare scorers"),
        pytest.param(
            [LEFT_OUT],
            None,
            "nothing to decide: graded scored nothing and decides nothing (min_scored=0)",
            id="a threshold left out",
        ),
        pytest.param([MET], "passed", "1 gate met", id="a gate"),
        pytest.param([MET, MET, REACHED, BARE], "passed", "2 gates and 1 threshold met", id="gates and a threshold"),
        pytest.param([REACHED, REACHED], "passed", "2 thresholds met", id="thresholds"),
        pytest.param([MET, SHORT], "scored", SHORT.sentence, id="a threshold missed"),
        pytest.param([REACHED, SHORT], "scored", f"{SHORT.sentence} (1 of 2 thresholds missed)", id="one of two"),
        pytest.param([MISSED, SHORT], "failed", MISSED.sentence, id="both missed"),
        pytest.param([MET, MISSED, MISSED], "failed", f"{MISSED.sentence} (2 of 3 gates missed)", id="two of three"),
    ],
)
def test_failed_before_scored_before_passed(means, verdict, sentence):
    assert decide(means) == (verdict, sentence)


@pytest.mark.parametrize(
    ("values", "options", "passed"),
    [
        pytest.param((1, 1), {"position": "gate"}, None, id="gate met so far"),
        pytest.param((1, 0), {"position": "gate"}, False, id="gate missed"),
        pytest.param((1, "boom"), {"position": "gate"}, False, id="gate with an error"),
        pytest.param((1, 1), {"threshold": 0.5}, None, id="threshold met so far"),
        pytest.param((0, 0), {"threshold": 0.5}, None, id="threshold missed so far"),
        pytest.param((1, "fail"), {"threshold": 0.5}, False, id="threshold with an error"),
        pytest.param((1, "boom"), {"threshold": Threshold(0.5, max_errors=0.1)}, None, id="errors that may thin out"),
        pytest.param((0, 0, "boom"), {"threshold": 0.5}, None, id="threshold missed so far, beside an error"),
        pytest.param((), {"threshold": 0.5}, None, id="nothing scored yet"),
    ],
)
def test_of_a_run_that_ended_early_only_what_no_item_could_change_is_decided(values, options, passed):
    assert mean_of(*values, whole=False, **options).passed is passed


def test_a_run_that_ended_early_failed_or_is_not_decided():
    broke = mean_of("boom", threshold=0.5, whole=False)
    assert decide([broke], stopped="no key") == (None, "not decided: the run ended early (no key)")
    assert decide([broke, MISSED], stopped="no key") == ("failed", MISSED.sentence)


async def test_why_items_were_declined_is_counted_and_told():
    @scorer(inline=True)
    def picky(run):
        return (
            not_scorable({"a": "inconsistent: flip", "b": "no baseline", "c": None}[run.text[0]]) if run.text else 1.0
        )

    outputs = ["a", "a", "b", "c", ""]
    result = await run_evals(
        data=[Item("?", output=text, id=f"i{at}") for at, text in enumerate(outputs)], gates=[picky]
    )
    mean = result.means[0]
    assert mean.declines == (("inconsistent: flip", 2), ("", 1), ("no baseline", 1))
    assert (result.verdict, result.sentence) == ("passed", "1 gate met, gate picky on 1 of 5 alone")
    told = "gate picky: inconsistent: flip (2); without a reason (1); no baseline (1)"
    assert told in " ".join(str(result).split())
    assert loads(dumps(result)).means == result.means


async def test_declines_are_the_same_whatever_the_order_and_for_very_many_reasons_some():
    @scorer(inline=True)
    def picky(run):
        return not_scorable(f"reason {run.text}")

    result = await run_evals(data=[Item("?", output=str(at), id=f"i{at}") for at in range(250)], scorers=[picky])
    mean = result.means[0]
    assert (len(mean.declines), mean.not_scorable) == (200, 250)
    assert "for other reasons (247)" in str(result)
