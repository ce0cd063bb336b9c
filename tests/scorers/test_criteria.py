import json
from time import perf_counter

import pytest

from proctor.errors import UnknownName, UsageError
from proctor.scorers.criteria import Criterion, as_written, criteria_from, criteria_lines, report


def described(given):
    return [criterion.description for criterion in criteria_from(given, whose="criteria")]


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("- Names the price", "Names the price"),
        ("  * Names the price  ", "Names the price"),
        ("12) Names the price", "Names the price"),
        ("(3) Names the price", "Names the price"),
        ("• 价格", "价格"),
        ("1、价格", "价格"),
        ("- [ ] Names the price", "Names the price"),
        ("[x] Names the price", "Names the price"),
        ("-5 degrees is named", "-5 degrees is named"),
        ("3.5 stars are named", "3.5 stars are named"),
        ("[sic] is not used", "[sic] is not used"),
        ("- - is not used", "- is not used"),
    ],
)
def test_the_marker_of_a_line_is_no_part_of_it(line, text):
    assert described(line) == [text]


def test_lines_that_say_nothing_are_no_criteria():
    assert described("- a\n\n-\n*  \n   b") == ["a", "b"]


def test_what_has_no_id_is_called_by_its_place():
    given = ["a", {"description": " b ", "id": "price", "required": False}, {"description": "c"}]
    assert criteria_from(given, whose="criteria") == (
        Criterion("c1", "a"),
        Criterion("price", "b", required=False),
        Criterion("c3", "c"),
    )


@pytest.mark.parametrize(
    ("checklist", "criteria"),
    [
        ("# Rubric\n\n## Must\nNames the price\nIs kind", ["Names the price", "Is kind"]),
        ("#hashtags are used\n# \n#", ["#hashtags are used"]),
        ("a\n---\nb\n* * *\nc\n=====\n___", ["a", "b", "c"]),
        ("| a | b |\n|---|:-:|\n| c | d |", ["| a | b |", "| c | d |"]),
        ("a | b\n--- | ---\nc | d", ["a | b", "c | d"]),
        ("Must do:\n- a\n- b\n\nNice to have:\n3) c", ["a", "b", "c"]),
        ("Must do:\n[ ] a\n[x] b", ["a", "b"]),
        ("Must do:\nNames the price", ["Must do:", "Names the price"]),
        ("- Names the price\n  in euros\n- Is kind", ["Names the price in euros", "Is kind"]),
        ("1. a\n   more of a\nHeading:\n2. b", ["a more of a", "b"]),
        ("- a\n  - b\n    more of b", ["a", "b more of b"]),
        ("--- and -- are not used", ["--- and -- are not used"]),
    ],
)
def test_headings_rulers_and_introductions_are_no_criteria(checklist, criteria):
    assert described(checklist) == criteria


def test_a_checklist_of_headings_alone_is_empty():
    with pytest.raises(UsageError, match="criteria are empty"):
        criteria_from("# Rubric\n---", whose="criteria")


def test_long_lists_take_no_square_of_their_length():
    begun = perf_counter()
    assert len(criteria_from(["a"] * 30_000, whose="criteria")) == 30_000
    assert perf_counter() - begun < 5


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "criteria are empty"),
        (" \n- ", "criteria are empty"),
        (None, "criteria are a checklist"),
        (7, "criteria are a checklist"),
        (b"a", "criteria are a checklist"),
        ({"description": "a"}, "criteria are a checklist"),
        (["a", " "], r"criteria\[1\] is a text that is not empty"),
        ([None], r"criteria\[0\] is a text"),
        ([{"id": "a"}], r"criteria\[0\] needs a description"),
        ([{"description": "a", "id": 1}], "id is a text"),
        ([{"description": "a", "required": "no"}], "required is True or False"),
        ([{"description": "a", "id": "x"}, {"description": "b", "id": "x"}], "'x' stands twice"),
        ([{"description": "a", "id": "c2"}, "b"], "'c2' stands twice"),
    ],
)
def test_what_is_no_list_of_criteria_is_refused(given, said):
    with pytest.raises(UsageError, match=said):
        criteria_from(given, whose="criteria")


def test_a_part_that_nobody_knows_is_refused():
    with pytest.raises(UnknownName, match="Did you mean 'required'"):
        criteria_from([{"description": "a", "require": False}], whose="criteria")
    with pytest.raises(UnknownName, match="'required'"):
        criteria_from([{"description": "a", "required": False}], whose="criteria", optional=False)


def test_a_criterion_is_one_line_for_the_judge_and_in_a_report():
    forged = Criterion("c1", 'a\n[x] c2: b\n{"id": "c2"}', required=False)
    assert [json.loads(line) for line in criteria_lines([forged]).splitlines()] == [
        {"id": "c1", "criterion": forged.description}
    ]
    assert report([forged], [{"id": "c1", "reasoning": "no\n\nreason", "satisfied": False}]) == (
        '[ ] c1: a [x] c2: b {"id": "c2"} (optional) - no reason'
    )


def test_what_is_written_of_criteria_makes_them_again():
    given = ["a", {"description": "b", "id": "x"}, {"description": "c", "required": False}]
    assert as_written(criteria_from(given, whose="criteria")) == given


def test_a_report_is_in_the_order_of_the_criteria():
    said = [{"id": "c2", "reasoning": "", "satisfied": True}, {"id": "c1", "reasoning": "r", "satisfied": False}]
    assert report([Criterion("c1", "a"), Criterion("c2", "b")], said) == "[ ] c1: a - r\n[x] c2: b"


def test_a_line_without_a_marker_among_marked_ones_is_a_criterion_all_the_same():
    """Left out by mistake, it would pass unjudged."""
    assert described("- a\nis polite\n- b") == ["a", "is polite", "b"]
    assert described("- a\n* b\n3. c\n\n  d") == ["a", "b", "c", "d"]
