import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor import UsageError, scorers

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)
WANTED = {"city": "Paris", "days": [1, 2], "guest": {"name": "Ann", "age": 41}}


def outcome(expected, output, **options):
    return scorers.json_diff(expected, **options).run_sync(output=output)


@pytest.mark.parametrize("value", [{}, [], "", None, {"a": {}}, [[], [{}]], {"a": [None, ""]}, 0, False])
def test_d01_the_same_value_scores_one(value):
    assert outcome(value, value).score == 1
    assert outcome(value, json.dumps(value)).score == 1
    assert scorers.json_diff().run_sync(output=value, ground_truth=value).score == 1


@given(JSON)
def test_d01_any_value_is_most_like_itself(value):
    assert outcome(value, {"is": value}).score <= outcome({"is": value}, {"is": value}).score == 1


@given(JSON, JSON)
def test_it_is_symmetric_and_in_range(left, right):
    score = outcome({"v": left}, {"v": right}).score
    assert 0 <= score <= 1
    assert score == pytest.approx(outcome({"v": right}, {"v": left}).score, abs=1e-12)


@pytest.mark.parametrize(
    ("output", "score"),
    [
        pytest.param({**WANTED, "city": "Rome"}, 2 / 3, id="a field"),
        pytest.param({**WANTED, "days": [1, 3]}, (1 + 1 / 2 + 1) / 3, id="a place of a list"),
        pytest.param({**WANTED, "days": [1]}, (1 + 1 / 2 + 1) / 3, id="a place less"),
        pytest.param({**WANTED, "guest": {"name": "Ann"}}, (1 + 1 + 1 / 2) / 3, id="a field inside"),
        pytest.param({**WANTED, "more": 1}, 3 / 4, id="a field more"),
        pytest.param({"city": "Paris"}, 1 / 3, id="one field"),
        pytest.param({**WANTED, "guest": None}, 2 / 3, id="null for an object"),
        pytest.param({**WANTED, "days": {"0": 1, "1": 2}}, 2 / 3, id="an object for a list"),
        pytest.param({}, 0, id="empty object"),
        pytest.param([], 0, id="a list"),
        pytest.param("Paris", 0, id="no JSON"),
        pytest.param(None, 0, id="null"),
    ],
)
def test_credit_is_partial(output, score):
    assert outcome(WANTED, output).score == pytest.approx(score)


@pytest.mark.parametrize(
    ("expected", "output", "score"),
    [
        pytest.param({"a": 1}, {"a": 1.0}, 1, id="1 and 1.0"),
        pytest.param({"a": 1}, {"a": True}, 0, id="1 and True"),
        pytest.param({"a": 1}, {"a": "1"}, 0, id="1 and text"),
        pytest.param({"a": "1"}, {"a": "1"}, 1, id="text inside stays text"),
    ],
)
def test_x02_single_values(expected, output, score):
    assert outcome(expected, output).score == score


@pytest.mark.parametrize(
    "output",
    [
        pytest.param('{"city":"Paris"}', id="JSON"),
        pytest.param(' {\n "city": "Paris" } ', id="with white space"),
        pytest.param('```json\n{"city": "Paris"}\n```', id="in a fence"),
        pytest.param('```\n{"city": "Paris"}\n```\n', id="in a plain fence"),
        pytest.param([{"role": "assistant", "content": '{"city": "Paris"}'}], id="said"),
        pytest.param(
            [{"role": "assistant", "content": "Let me see."}, {"role": "assistant", "content": '{"city": "Paris"}'}],
            id="said last",
        ),
        pytest.param({"city": "Paris"}, id="a value"),
    ],
)
def test_an_answer_is_read_however_it_is_written(output):
    assert outcome({"city": "Paris"}, output).score == 1
    assert outcome('{"city": "Paris"}', output).score == 1


@pytest.mark.parametrize("output", ["NaN", '{"a": NaN}', "Infinity", "[" * 5000 + "]" * 5000, "9" * 5000, "{", "007"])
def test_text_that_is_no_json_is_text(output):
    assert outcome({"a": 1}, output).score == 0
    assert outcome(output, output).score == 1


def test_numbers_may_be_near():
    wanted, answer = {"a": 1.0, "b": 1000}, {"a": 1.05, "b": 1009}
    assert outcome(wanted, answer).score == 0
    assert outcome(wanted, answer, tolerance=0.1).score == 0.5
    assert outcome(wanted, answer, tolerance=0.1, relative=0.01).score == 1


@pytest.mark.parametrize(
    ("ignore", "score"),
    [
        pytest.param((), 1 / 4, id="nothing"),
        pytest.param(["at"], 0.5, id="a field"),
        pytest.param(["at", "items[*].id"], 1, id="a field in every place"),
        pytest.param(["at", "items[0].id"], 0.75, id="a field in one place"),
        pytest.param(["at", "items"], 1, id="all below"),
    ],
)
def test_paths_can_be_left_out(ignore, score):
    wanted = {"at": 1, "items": [{"id": 1, "n": 1}, {"id": 2, "n": 2}]}
    answer = {"at": 2, "items": [{"id": 3, "n": 1}, {"id": 4, "n": 2}]}
    assert outcome(wanted, answer, ignore=ignore).score == pytest.approx(score)


def test_the_reason_goes_by_path():
    found = outcome(WANTED, {"city": "Rome", "days": [1], "guest": {"name": "Ann", "age": 41}, "vip": True})
    assert found.reason == (
        "3 of 6 fields are right; city is 'Rome', not 'Paris'; days[1] is missing; vip was not expected"
    )
    assert found.preprocess_step_result["differing"] == ["city", "days[1]", "vip"]
    assert outcome(5, 6).reason == "0 of 1 field is right; the answer is 6, not 5"


def test_many_differences_are_cut():
    found = outcome({str(number): 1 for number in range(100)}, {str(number): 2 for number in range(100)})
    assert found.reason.startswith("0 of 100 fields are right; ")
    assert found.reason.endswith(" and 95 more")
    assert len(found.reason) < 200


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ignore": "id"}, "ignore must be a list of paths, not 'id'"),
        ({"ignore": ["$.id"]}, r"looks like user.tags\[\*\].id, not '\$.id'"),
        ({"ignore": [""]}, "not ''"),
        ({"tolerance": True}, "tolerance must be a number"),
    ],
)
def test_options_are_refused_when_written(options, message):
    with pytest.raises(UsageError, match=message):
        scorers.json_diff({}, **options)
