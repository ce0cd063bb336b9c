import pytest
from hypothesis import given

from proctor.data.compare import Difference, differences
from proctor.data.value import MISSING
from tests.data.strategies import plain_data

NESTED = {"a": 1, "b": {"c": [1, {"d": "x"}]}}


@pytest.mark.parametrize(
    ("expected", "actual", "rules"),
    [
        pytest.param({"a": 1}, {"a": 1}, "value exact subset superset", id="equal"),
        pytest.param({"a": 1}, {"a": 1.0}, "value subset superset", id="x02: 1 and 1.0"),
        pytest.param({"a": True}, {"a": 1}, "", id="x02: True and 1"),
        pytest.param({"a": False}, {"a": 0.0}, "", id="x02: False and 0.0"),
        pytest.param({"a": "1"}, {"a": 1}, "", id="x02: '1' and 1"),
        pytest.param({"a": None}, {"a": False}, "", id="None and False"),
        pytest.param({"a": None}, {}, "superset", id="None and nothing"),
        pytest.param({"a": 1, "b": 2}, {"b": 2, "a": 1}, "value exact subset superset", id="x03: order of keys"),
        pytest.param({"a": [1, 2]}, {"a": [2, 1]}, "", id="x03: order of lists"),
        pytest.param({"a": "\u00e9"}, {"a": "e\u0301"}, "", id="x03: composed and decomposed"),
        pytest.param({"a": "x"}, {"a": "x "}, "", id="x03: trailing space"),
        pytest.param({"a": 1}, {"a": 1, "b": 2}, "subset", id="x06: one more"),
        pytest.param({"a": 1, "b": 2}, {"a": 1}, "superset", id="x06: one less"),
        pytest.param({"a": {"b": 1}}, {"a": {"b": 1, "c": 2}}, "subset", id="one more inside"),
        pytest.param({"a": {"b": 1, "c": 2}}, {"a": {"b": 1}}, "superset", id="one less inside"),
        pytest.param({"a": [{"b": 1}]}, {"a": [{"b": 1, "c": 2}]}, "subset", id="one more inside a list"),
        pytest.param({"a": [1]}, {"a": [1, 2]}, "", id="a longer list"),
        pytest.param({"a.b": 1}, {"a": {"b": 1}}, "subset", id="x06: dotted path"),
        pytest.param({"a.0.b": 1}, {"a": [{"b": 1}]}, "subset", id="dotted path through a list"),
        pytest.param({"a.b": 1}, {"a": {"b": 2}}, "", id="dotted path to something else"),
        pytest.param({"a.b": 1}, {"a": 1}, "", id="dotted path to nowhere"),
        pytest.param({"a.b": 1}, {"a.b": 1, "a": {"b": 2}}, "subset", id="a key with a dot of its own"),
        pytest.param({}, {"a": 1}, "subset", id="nothing expected"),
        pytest.param({}, {}, "value exact subset superset", id="nothing at all"),
        pytest.param({"a": 1}, "a", "", id="text"),
        pytest.param({"a": float("nan")}, {"a": float("nan")}, "value exact subset superset", id="NaN"),
        pytest.param({"a": (1, 2)}, {"a": [1, 2]}, "value exact subset superset", id="tuple and list"),
    ],
)
@pytest.mark.parametrize("rule", ["value", "exact", "subset", "superset"])
def test_what_fits(expected, actual, rules, rule):
    assert (differences(expected, actual, rule=rule) == []) == (rule in rules.split())


def test_a_difference_says_where_it_is():
    assert differences(NESTED, {"a": 1, "b": {"c": [1, {"d": "y"}]}}) == [Difference("b.c[1].d", "x", "y")]
    assert differences(NESTED, {"b": {"c": [1]}, "e": 2}) == [
        Difference("a", 1, MISSING),
        Difference("b.c[1]", {"d": "x"}, MISSING),
        Difference("e", MISSING, 2),
    ]
    assert differences(1, 2) == [Difference("", 1, 2)]


@given(plain_data)
def test_everything_is_like_itself(value):
    for rule in ("value", "exact", "subset", "superset"):
        assert differences(value, value, rule=rule) == []
