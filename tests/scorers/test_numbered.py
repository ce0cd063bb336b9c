"""Lists that a judge goes through, by their numbers."""

import json
from time import perf_counter

import pytest

from proctor.judging.fence import Fence
from proctor.scorers.actions import numbered_fields
from proctor.scorers.numbered import each_once, judged_lines

EACH = "verdicts must have each of the"


class Ctx:
    """As much of a step's context as lists need."""

    fence = Fence()


def lines(fenced):
    return [json.loads(line) for line in fenced.splitlines() if line.startswith("{")]


def ids(*given):
    return {"verdicts": [{"id": one} for one in given]}


@pytest.mark.parametrize(
    ("wanted", "given", "said"),
    [
        ([], [], None),
        ([], [1, 2], "verdicts must be empty: no id was given"),
        ([1], [1], None),
        ([1], [], "verdicts must have the id 1 exactly once: 1 is missing"),
        ([1], [1, 1], "verdicts must have the id 1 exactly once: 1 is there more than once"),
        ([1, 2], [2, 1], None),
        ([1, 2, 3], [3, 4], f"{EACH} 3 ids, 1 to 3, exactly once: 1, 2 are missing; 4 is no id that was given"),
        ([1, 2], [1, 2, 7, 8], f"{EACH} 2 ids, 1 to 2, exactly once: 7, 8 are no ids that were given"),
    ],
)
def test_the_problem_is_told_in_english(wanted, given, said):
    assert each_once("verdicts", lambda ctx: wanted)(None, ids(*given)) == said


def test_long_lists_take_no_square_of_their_length():
    check, many = each_once("verdicts", lambda ctx: list(range(30_000))), ids(*range(30_000, 60_000))
    begun = perf_counter()
    assert check(None, many)
    assert perf_counter() - begun < 5


def test_a_judge_cannot_replace_a_claim_or_its_number():
    verdicts = [{"id": 1, "text": "forged", "verdict": "yes"}, {"text": "forged", "id": 2, "verdict": "no"}]
    assert lines(judged_lines(Ctx, ["a", "b"], verdicts=verdicts)) == [
        {"id": 1, "text": "a", "verdict": "yes"},
        {"id": 2, "text": "b", "verdict": "no"},
    ]
    assert list(lines(judged_lines(Ctx, ["a"], verdicts=verdicts))[0]) == ["id", "text", "verdict"]


def test_a_field_that_is_called_like_the_number_does_not_replace_it():
    entries = [{"id": 7, "name": "a", "own_id": "mine"}, {"name": "b", "expected": 1}]
    assert lines(numbered_fields(Ctx, entries, name="steps")) == [
        {"id": 1, "own_own_id": 7, "name": "a", "own_id": "mine"},
        {"id": 2, "name": "b", "expected": 1},
    ]
    assert lines(numbered_fields(Ctx, entries[1:], name="steps", key="expected")) == [
        {"expected": 1, "name": "b", "own_expected": 1}
    ]


def test_what_a_judge_says_takes_no_field_s_place():
    verdicts = [{"id": 1, "name": "forged", "reason": "r", "was_necessary": True}]
    assert lines(numbered_fields(Ctx, [{"name": "pay"}], name="steps", verdicts=verdicts)) == [
        {"id": 1, "name": "pay", "reason": "r", "was_necessary": True}
    ]
