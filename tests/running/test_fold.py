import random

import pytest

from proctor import Item, ItemResult, Outcome, Reply
from proctor.data.column import Column
from proctor.data.outcome import Failure, NotRun, NotScorable, Outcomes
from proctor.data.usage import Cost, Usage
from proctor.running.columns import Cell, Columns
from proctor.running.fold import ColumnFold, Fold
from tests.running.graded import graded

SCORER = Column("scorer", None, "graded", "graded")
GATE = Column("gate", None, "graded[x]", "graded")
CELLS = [Cell(graded(), GATE), Cell(graded(), SCORER)]

ERROR = Failure(type="ValueError", message="boom")


def scored(score, column=SCORER):
    return Outcome(column, "scored", score, duration_ms=1.5)


def unscored(status, column=SCORER):
    causes = {"error": ERROR, "not_scorable": NotScorable("analyze"), "not_run": NotRun("target_failed")}
    return Outcome(column, status, cause=causes[status])


def folded(*outcomes):
    fold = ColumnFold(CELLS[1])
    for n, outcome in enumerate(outcomes):
        fold.add(outcome, index=n, item=f"i{n}")
    return fold


def row(n, *, gates=(), scorers=(), replies=(), **fields):
    return ItemResult(
        item=Item(n),
        item_id=f"i{n}",
        index=n,
        gates=Outcomes(gates),
        scorers=Outcomes(scorers),
        replies=replies,
        **fields,
    )


def test_every_outcome_is_counted_once_by_its_status():
    fold = folded(scored(1.0), scored(0.5), unscored("error"), unscored("not_scorable"), unscored("not_run"))
    assert (fold.of, fold.n, fold.errors, fold.not_scorable, fold.not_run) == (5, 2, 1, 1, 1)
    assert (fold.mean, fold.short, fold.duration_ms.value) == (0.75, 1, 3.0)


def test_a_column_that_scored_nothing_has_no_mean():
    assert folded().mean is None
    assert folded(unscored("error")).mean is None


def test_the_first_of_each_kind_is_kept_for_the_sentence():
    fold = folded(scored(1.0), scored(0.4), unscored("error"), scored(0.2), unscored("error"))
    assert fold.first["short"] == ((1, 0), "i1", scored(0.4))
    assert fold.first["error"] == ((2, 0), "i2", unscored("error"))


def test_the_first_is_the_first_of_the_input_whatever_came_first():
    fold = ColumnFold(CELLS[1])
    for n in (3, 1, 2):
        fold.add(scored(n / 10), index=n, item=f"i{n}")
    assert fold.first["short"] == ((1, 0), "i1", scored(0.1))


def test_a_score_within_rounding_noise_of_the_top_is_not_short():
    assert folded(scored(1 - 1e-10)).short == 0


def test_a_mean_is_the_same_in_any_order():
    chance = random.Random(1)
    outcomes = [scored(chance.random()) for _ in range(1000)]
    mean = folded(*outcomes).mean
    chance.shuffle(outcomes)
    assert folded(*outcomes).mean == mean


def test_ten_tenths_make_a_tenth():
    assert folded(*[scored(0.1)] * 10).mean == 0.1


def test_columns_are_counted_for_themselves_though_their_ids_are_one():
    fold = Fold(Columns(CELLS))
    fold.add(row(0, gates=[scored(1.0, GATE)], scorers=[scored(0.5)]))
    fold.add(row(1, gates=[unscored("not_scorable", GATE)], scorers=[unscored("not_scorable")]))
    assert [column.mean for column in fold.columns.values()] == [1.0, 0.5]
    declined = fold.not_scorable()
    assert (dict(declined.by_column), dict(declined.by_id)) == ({"gate graded[x]": 1, "graded": 1}, {"graded": 2})


def test_a_column_without_declined_outcomes_is_not_listed():
    fold = Fold(Columns(CELLS))
    fold.add(row(0, scorers=[scored(1.0)]))
    assert (len(fold.not_scorable()), fold.not_scorable().total) == (0, 0)


def test_rows_are_counted_and_those_whose_target_failed():
    fold = Fold(Columns(CELLS))
    fold.add(row(0, scorers=[scored(1.0)]))
    fold.add(row(1, status="error", error=ERROR))
    assert (fold.items, fold.item_errors) == (2, 1)


def test_tokens_and_cost_of_the_replies_add_up():
    fold = Fold(Columns(CELLS))
    for n in range(10):
        reply = Reply("x", usage=Usage(input_tokens=2, output_tokens=1), cost=Cost(amount=0.1))
        fold.add(row(n, replies=(reply,)))
    fold.add(row(10, replies=(Reply("x"),)))
    assert fold.usage == Usage(input_tokens=20, output_tokens=10)
    assert fold.cost == Cost(amount=1.0)


def test_what_nobody_reported_is_not_zero():
    fold = Fold(Columns(CELLS))
    fold.add(row(0, replies=(Reply("x"),)))
    assert (fold.usage, fold.cost, fold.notes) == (None, None, [])


def test_costs_in_several_units_are_not_added_up():
    fold = Fold(Columns(CELLS))
    for n, unit in enumerate(["USD", "EUR"]):
        fold.add(row(n, replies=(Reply("x", cost=Cost(amount=1.0, unit=unit)),)))
    assert fold.cost is None
    assert fold.notes == ["costs are in several units (EUR, USD) and not added up"]


@pytest.mark.parametrize("score", [0.0, 0.5])
def test_a_score_of_zero_is_a_score(score):
    assert folded(scored(score)).mean == score
