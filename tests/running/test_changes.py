"""What a command changes of an Eval of a file, kept as plain data."""

import json
from dataclasses import replace

import pytest

from proctor import Eval, UsageError
from proctor.judging.budget import Budget
from proctor.running.changes import Changes, changes_from
from proctor.running.choice import Choice, Chosen

EVAL = Eval(data=[{"id": "a", "output": "x"}])


@pytest.mark.parametrize(
    "changes",
    [
        Changes(),
        Changes(limit=3),
        Changes(budget=Budget(usd=0.5, tokens=100)),
        Changes(filters=("id=a*", "tag=slow"), concurrency=4, repeats=2),
        Changes(only=frozenset({"b", "a"})),
        Changes(only=frozenset()),
    ],
)
def test_they_come_back_from_json(changes):
    assert changes_from(json.loads(json.dumps(changes.to_json()))) == changes


def test_what_else_is_kept_with_them_is_left_alone():
    assert changes_from({"env_file": "x", "limit": 2}) == Changes(limit=2)
    assert changes_from(None) == Changes()


def test_nothing_changed_is_the_same_eval():
    assert Changes().made(EVAL) == EVAL


def test_each_is_done():
    made = Changes(limit=2, filters=("id=a",), only=frozenset("a"), concurrency=3, repeats=4).made(EVAL)
    assert (made.concurrency, made.repeats) == (3, 4)
    assert isinstance(made.data, Chosen)
    assert made.data.choice == Choice(ids=("a",), limit=2, only=frozenset("a"))


def test_a_filter_that_cannot_be_read():
    with pytest.raises(UsageError, match="a filter is written"):
        Changes(filters=("slow",)).made(EVAL)


def test_a_budget_is_put_in_the_place_of_the_evals():
    assert Changes(budget=Budget(tokens=10)).made(replace(EVAL, budget=5)).budget == Budget(tokens=10)
    assert Changes().made(replace(EVAL, budget=5)).budget == 5
