import math

import pytest

from proctor import scorers

SAID = [{"role": "user", "content": "Capital?"}, {"role": "assistant", "content": "Paris"}]


def outcome(expected, output):
    return scorers.exact_match().run_sync(output=output, ground_truth=expected)


@pytest.mark.parametrize(
    ("expected", "output"),
    [
        pytest.param("Paris", "Paris", id="text"),
        pytest.param("Paris", SAID, id="what the assistant said"),
        pytest.param({"a": [1, {"b": None}]}, {"a": [1, {"b": None}]}, id="object"),
        pytest.param({"a": 1, "b": 2}, {"b": 2, "a": 1.0}, id="keys in another order, 1 and 1.0"),
        pytest.param(["a", "b"], ["a", "b"], id="list of texts"),
        pytest.param({"choices": ["a"]}, {"choices": ["a"]}, id="object that could be a reply"),
        pytest.param({"name": "Ann", "role": "admin"}, {"name": "Ann", "role": "admin"}, id="object with a role"),
        pytest.param("Paris", {"messages": SAID}, id="a conversation in an object"),
        pytest.param([], [], id="empty list"),
        pytest.param(None, None, id="None"),
        pytest.param("", "", id="empty text"),
        pytest.param(0, 0, id="0"),
        pytest.param(False, False, id="False"),
        pytest.param(math.nan, math.nan, id="NaN"),
        pytest.param(b"x", b"x", id="bytes"),
        pytest.param((1, 2), [1, 2], id="a tuple is a list"),
    ],
)
def test_what_is_the_same_scores_one(expected, output):
    assert outcome(expected, output).score == 1
    assert scorers.exact_match(expected).run_sync(output=output).score == 1


@pytest.mark.parametrize(
    ("expected", "output"),
    [
        pytest.param("Paris", "paris", id="case"),
        pytest.param("Paris", " Paris", id="white space"),
        pytest.param("é", "e\u0301", id="code points"),
        pytest.param([1, 2], [2, 1], id="order of a list"),
        pytest.param({"a": 1}, {"a": 1, "b": 2}, id="a key more"),
        pytest.param({"a": 1, "b": 2}, {"a": 1}, id="a key less"),
        pytest.param(0, False, id="0 and False"),
        pytest.param("", None, id="empty text and None"),
        pytest.param([], None, id="empty list and None"),
        pytest.param("a b", ["a", "b"], id="a text and a list of texts"),
    ],
)
def test_what_differs_scores_zero(expected, output):
    assert outcome(expected, output).score == 0


@pytest.mark.parametrize(
    ("expected", "output", "reason"),
    [
        ("Paris", "Paris", "the answer is 'Paris'"),
        ("Paris", "Rome", "the answer differs: expected 'Paris', not 'Rome'"),
        ({"a": [1, 2]}, {"a": [1]}, "the answer differs at a[1]: expected 2, nothing there"),
        ({}, {"a": 1}, "the answer differs at a: expected nothing, not 1"),
    ],
)
def test_the_reason_says_where(expected, output, reason):
    assert outcome(expected, output).reason == reason
