import pytest
from pydantic import BaseModel, Field

from proctor import Prompt, create_scorer
from proctor.errors import UsageError
from proctor.judging.answer_schema import AnswerSchema

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
    ("output", "lacks"),
    [
        ({"properties": {"verdict": PASS}}, "'type' and no 'required'"),
        ({"type": "object", "properties": {"verdict": PASS}}, "'required'"),
        ({"properties": {"verdict": PASS}, "required": ["verdict"]}, "'type'"),
    ],
    ids=["neither", "no required", "no type"],
)
def test_properties_that_may_all_be_missing_are_refused_when_they_are_written(output, lacks):
    with pytest.raises(UsageError, match=rf"has properties and no {lacks}, so that answers without them fit"):
        create_scorer(id="x").analyze(Prompt("asks", output=output, create=lambda ctx: "y"))


def test_what_is_said_to_be_required_stays_as_it_is():
    schema = AnswerSchema.of({"type": "object", "properties": {"verdict": PASS, "note": {}}, "required": []})
    assert schema.read({})[0] == {}


class Part(BaseModel):
    tags: list[str] = Field(default_factory=list)


class Whole(BaseModel):
    verdict: str
    parts: list[Part] = Field(default_factory=list)


@pytest.mark.parametrize("output", [Whole, Whole.model_json_schema()], ids=["model", "its schema"])
def test_what_a_model_leaves_out_may_be_missing_also_from_its_schema(output):
    assert AnswerSchema.of(output).read({"verdict": "pass", "parts": [{}]})[1] == {"verdict": "pass", "parts": [{}]}


def test_an_object_within_itself_ends_somewhere():
    node = {"type": "object", "properties": {"value": {"type": "integer"}, "next": {"$ref": "#/$defs/N"}}}
    output = {
        "type": "object",
        "properties": {"root": {"$ref": "#/$defs/N"}},
        "required": ["root"],
        "$defs": {"N": node},
    }
    answer = {"root": {"value": 1, "next": {"value": 2}}}
    assert AnswerSchema.of(output).read(answer)[0] == answer


def test_a_condition_says_something():
    output = {"if": {"type": "string"}, "then": {"enum": ["pass"]}, "else": False}
    assert AnswerSchema.of(output).read("pass")[0] == "pass"
