import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor import checks
from proctor.errors import EncodingError
from proctor.scoring.create import create_scorer
from proctor.scoring.keys import key_of, numbered


@pytest.mark.parametrize(
    ("check", "key"),
    [
        (checks.used_no_tools(), "check-used-no-tools"),
        (checks.includes("Brooklyn"), "check-includes[Brooklyn]"),
        (checks.includes("Queens", ignore_case=True), "check-includes[Queens]"),
        (checks.includes("Brooklyn", ignore_case=False), "check-includes[Brooklyn,ignore_case=false]"),
        (checks.called_tool("get_weather", times=2), "check-called-tool[get_weather,times=2]"),
        (checks.max_tool_calls(3), "check-max-tool-calls[3]"),
        (checks.tool_order(["a", "b"]), "check-tool-order[a,b]"),
        (checks.no_tool_errors(text=False), "check-no-tool-errors[text=false]"),
        (checks.equals(""), 'check-equals[""]'),
        (checks.includes("a, b"), "check-includes[a, b]"),
        (checks.includes("a,b=c"), 'check-includes["a,b=c"]'),
        (checks.includes(" a"), 'check-includes[" a"]'),
        (checks.includes("天気"), "check-includes[天気]"),
        (checks.includes("one\ntwo"), "check-includes[one two]"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_key_is_the_id_and_the_arguments_that_are_not_defaults(check, key):
    assert check.key == key


def test_a_scorer_of_ones_own_without_arguments_has_its_id_as_key():
    assert create_scorer(id="refund-policy").key == "refund-policy"


def test_arguments_of_ones_own_factory_make_the_key():
    assert create_scorer(id="judge", arguments={"criterion": "polite"}).key == "judge[criterion=polite]"


def test_arguments_that_cannot_be_written_are_refused():
    with pytest.raises(EncodingError, match="no plain form"):
        create_scorer(id="judge", arguments={"criterion": object()})


def test_a_long_key_is_cut_and_told_apart_by_a_digest():
    left, right = checks.includes("x" * 100), checks.includes("x" * 101)
    assert left.key != right.key
    assert re.fullmatch(r"check-includes\[x{33}~[0-9a-f]{6}\]", left.key)
    assert left.key == checks.includes("x" * 100).key


def test_forty_characters_are_not_cut():
    assert checks.includes("x" * 40).key == f"check-includes[{'x' * 40}]"


@given(st.dictionaries(st.text(max_size=8), st.text() | st.integers() | st.none() | st.lists(st.text(max_size=4))))
def test_every_key_is_short_and_printable(arguments):
    key = key_of("s", arguments)
    assert len(key) <= 43
    assert all(char.isprintable() or char == " " for char in key)


def test_lone_surrogates_do_not_break_a_key():
    assert key_of("s", {"text": "\ud800" * 50}).startswith("s[")


def test_names_that_repeat_are_numbered_in_order():
    assert numbered(["a", "b", "a", "a"]) == ["a", "b", "a#2", "a#3"]
