import pytest

from proctor import Prompt, create_scorer
from proctor.errors import UsageError
from proctor.judging.answer_schema import AnswerSchema
from proctor.judging.structured import ReplyProblem
from proctor.judging.written_schema import completed

PASS = {"enum": ["pass", "fail"]}


@pytest.mark.parametrize(
    ("output", "says"),
    [
        pytest.param({"verdict": "pass or fail", "reason": "why"}, "'verdict', 'reason' are no words", id="an example"),
        pytest.param({"verdict": "pass", "title": "a title"}, "'verdict' is no word of JSON Schema", id="one word"),
        pytest.param({}, "output= allows any answer. For an object write", id="nothing"),
        pytest.param({"title": "Verdict", "description": "..."}, "allows any answer. For", id="only words about it"),
    ],
)
def test_an_example_in_place_of_a_schema_is_refused_when_it_is_written(output, says):
    with pytest.raises(UsageError, match=r"x: Prompt\('asks'\): output= allows any answer") as raised:
        create_scorer(id="x").analyze(Prompt("asks", output=output, create=lambda ctx: "y"))
    assert says in str(raised.value)
    assert "'required': [...]}, or give a pydantic model" in str(raised.value)


@pytest.mark.parametrize(
    "output",
    [
        pytest.param({"properties": {"verdict": PASS}}, id="properties alone"),
        pytest.param({"type": "object", "properties": {"verdict": PASS}}, id="an object"),
        pytest.param({"properties": {"verdict": PASS, "note": {"default": ""}}}, id="one with a default"),
        pytest.param({"$ref": "#/$defs/v", "$defs": {"v": {"properties": {"verdict": PASS}}}}, id="a reference"),
    ],
)
def test_properties_are_required_of_an_object_that_does_not_say_which(output):
    schema = AnswerSchema.of(output)
    assert schema.read({"verdict": "pass"})[0] == {"verdict": "pass"}
    for wrong in ({}, "pass", 3, []):
        with pytest.raises(ReplyProblem):
            schema.read(wrong)


def test_what_is_said_to_be_required_stays_as_it_is():
    schema = AnswerSchema.of({"type": "object", "properties": {"verdict": PASS, "note": {}}, "required": []})
    assert schema.read({})[0] == {}


def test_objects_within_are_completed_and_conditions_are_not():
    claim = {"type": ["object", "null"], "properties": {"text": {}, "type": {"default": 1}}}
    condition = {"type": "object", "properties": {"text": {"const": "x"}}}
    schema = {"properties": {"properties": {"items": claim}}, "anyOf": [{"properties": {"a": {}}}], "not": condition}
    made = completed(schema)
    assert (made["type"], made["required"]) == ("object", ["properties"])
    assert made["properties"]["properties"]["items"]["required"] == ["text"]
    assert (made["anyOf"], made["not"]) == (schema["anyOf"], condition)
