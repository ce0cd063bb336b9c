import math

import pytest

from proctor.errors import ProctorError
from proctor.judging.answer_schema import AnswerSchema
from proctor.judging.listed_words import as_listed

VERDICT = {"enum": ["yes", "no", 1, None]}


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("Yes", "yes"),
        (" NO\n", "no"),
        ("yes", "yes"),
        ("perhaps", "perhaps"),
        ("y", "y"),
        (1, 1),
        (None, None),
    ],
)
def test_a_word_of_the_list_is_read_in_any_capitals(given, read):
    assert as_listed(given, VERDICT) == read


def test_lists_and_objects_are_read_through():
    schema = {"properties": {"verdicts": {"items": {"properties": {"verdict": VERDICT}}}}}
    data = {"verdicts": [{"verdict": "YES", "reason": "No"}, {"verdict": "no"}], "more": "Yes"}
    assert as_listed(data, schema) == {
        "verdicts": [{"verdict": "yes", "reason": "No"}, {"verdict": "no"}],
        "more": "Yes",
    }
    assert data["verdicts"][0]["verdict"] == "YES"


def test_where_two_words_can_be_meant_none_is():
    assert as_listed("PASS", {"enum": ["Pass", "pass"]}) == "PASS"


def test_an_answer_has_the_word_of_the_schema_and_keeps_the_reply_s_own():
    schema = AnswerSchema.of({"type": "object", "properties": {"verdict": VERDICT}, "required": ["verdict"]})
    assert schema.read({"verdict": "Yes "}) == ({"verdict": "yes"}, {"verdict": "Yes "})
    with pytest.raises(ProctorError, match="must be one of"):
        schema.read({"verdict": "perhaps"})


@pytest.mark.parametrize(("given", "read"), [(2.0, 2), (2.5, 2.5), (2, 2), (True, True), (math.nan, None)], ids=repr)
def test_a_whole_number_is_an_int_however_it_was_written(given, read):
    made = as_listed({"id": given}, {"properties": {"id": {"type": "integer"}}})["id"]
    assert (made, type(made)) == (read, type(read)) or (read is None and made != made)
