"""What an answer must be: what is sent, and what is taken."""

import dataclasses
import json
from datetime import date
from decimal import Decimal
from enum import Enum
from types import MappingProxyType
from typing import Annotated, Any, Generic, Literal, TypeVar

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel, Field, RootModel, field_validator
from typing_extensions import TypedDict

from proctor.errors import UsageError
from proctor.judging.answer_schema import AnswerSchema, score_schema
from proctor.judging.structured import ReplyProblem

T = TypeVar("T")


class Verdict(Enum):
    PASS = "pass"
    FAIL = "fail"


class Item(BaseModel):
    id: int
    verdict: Verdict


class Report(BaseModel):
    """Everything that JSON has no word for."""

    items: list[Item]
    on: date
    tags: set[str] = set()
    pair: tuple[int, float] = (0, 0.0)
    how_sure: float = Field(1.0, alias="howSure")
    price: Decimal | None = None


class Node(BaseModel):
    name: str
    below: list["Node"] = []


class Box(BaseModel, Generic[T]):
    value: T


@dataclasses.dataclass
class Pair:
    left: int
    right: str = "r"


class Row(TypedDict):
    score: float


OBJECT = {"type": "object", "properties": {"score": {"type": "number"}}, "required": ["score"]}


def problem(schema, data):
    with pytest.raises(ReplyProblem) as caught:
        schema.read(data)
    return caught.value.message


# ── what is sent ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("output", "name", "wrapper"),
    [
        pytest.param(Report, "Report", None, id="model"),
        pytest.param(Node, "Node", None, id="recursive model"),
        pytest.param(Box[int], "Box_int", None, id="generic model"),
        pytest.param(Pair, "Pair", None, id="dataclass"),
        pytest.param(Row, "Row", None, id="TypedDict"),
        pytest.param(dict[str, int], "dict", None, id="dict"),
        pytest.param(list[Item], "answer", "answer", id="list"),
        pytest.param(list[Node], "answer", "answer", id="list of recursive models"),
        pytest.param(RootModel[list[int]], "answer", "answer", id="root model"),
        pytest.param(Literal["a", "b"], "answer", "answer", id="literal"),
        pytest.param(int, "answer", "answer", id="int"),
        pytest.param(Item | Pair, "answer", "answer", id="union"),
        pytest.param(Annotated[int, Field(ge=1)], "answer", "answer", id="annotated"),
        pytest.param(OBJECT, "answer", None, id="JSON schema"),
        pytest.param(
            MappingProxyType({**OBJECT, "title": "My verdict!"}), "My_verdict", None, id="JSON schema, titled"
        ),
        pytest.param(
            {"type": "object", "properties": {"a": {}}, "required": []}, "answer", None, id="JSON schema of properties"
        ),
        pytest.param({"type": ["string", "number"]}, "answer", "answer", id="JSON schema of text or a number"),
        pytest.param({"type": "array"}, "answer", "answer", id="JSON schema of a list"),
        pytest.param({"type": ["object", "null"]}, "answer", "answer", id="JSON schema of an object or nothing"),
        pytest.param({"$ref": "#/$defs/a", "$defs": {"a": OBJECT}}, "answer", None, id="JSON schema of a reference"),
        pytest.param({"$ref": "#"}, "answer", "answer", id="JSON schema of itself"),
    ],
)
def test_what_is_sent_is_a_schema_of_an_object(output, name, wrapper):
    schema = AnswerSchema.of(output)
    assert (schema.name, schema.wrapper, schema.json["type"]) == (name, wrapper, "object")
    Draft202012Validator.check_schema(schema.json)
    json.dumps(schema.json, allow_nan=False)


def test_references_lead_to_where_things_are_after_wrapping():
    tree = {"type": ["array", "null"], "items": {"$ref": "#"}, "const_like": {"$ref": "#"}}
    assert AnswerSchema.of(tree).json["properties"]["answer"]["items"] == {"$ref": "#/properties/answer"}
    sent = AnswerSchema.of(list[Node]).json
    assert sent["properties"]["answer"]["items"] == {"$ref": "#/$defs/Node"}
    Draft202012Validator(sent).validate({"answer": [{"name": "a", "below": [{"name": "b"}]}]})
    assert list(Draft202012Validator(sent).iter_errors({"answer": [{"name": "a", "below": [{"name": 1}]}]}))


def test_a_type_is_looked_at_once():
    assert AnswerSchema.of(Report) is AnswerSchema.of(Report)
    assert AnswerSchema.of(Literal[1]).read(1)[0] is not AnswerSchema.of(Literal[True]).read(True)[0]
    schema = AnswerSchema.of(Pair)
    assert AnswerSchema.of(schema) is schema


@pytest.mark.parametrize(
    ("output", "says"),
    [
        pytest.param(None, "is no schema", id="None"),
        pytest.param("Report", "is no schema", id="text"),
        pytest.param(3, "is no schema", id="number"),
        pytest.param([int], "is no schema", id="list"),
        pytest.param(Item(id=1, verdict=Verdict.PASS), "its class Item", id="a model's value"),
        pytest.param(Pair(1), "its class Pair", id="a dataclass's value"),
        pytest.param(type(pytest), "is no schema", id="a type that pydantic does not know"),
        pytest.param(list["Nowhere"], "is no schema", id="a type that is not there"),  # noqa: F821 - it is not there
        pytest.param(type(lambda: 0), "is no schema", id="functions"),
        pytest.param({"type": "objekt"}, "no JSON schema: $.type", id="an unknown type"),
        pytest.param({"type": object}, "no JSON schema", id="no JSON"),
        pytest.param({"minimum": float("nan")}, "no JSON schema", id="NaN"),
        pytest.param({"$ref": "#/$defs/a"}, "not in it", id="a reference to nothing"),
        pytest.param({"items": {"$ref": "https://example.com/a"}}, "nothing is fetched", id="a reference to elsewhere"),
    ],
)
def test_what_is_no_schema_is_refused(output, says):
    with pytest.raises(UsageError, match="schema") as caught:
        AnswerSchema.of(output)
    assert says in str(caught.value)


# ── what is taken ──────────────────────────────────────────────────────────────────────────────────────────────────

REPORT = {
    "items": [{"id": 1, "verdict": "pass"}],
    "on": "2026-11-30",
    "tags": ["a"],
    "pair": [1, 2],
    "howSure": 1,
    "price": "0.10",
}


def test_json_becomes_what_the_model_says():
    value, plain = AnswerSchema.of(Report).read(REPORT)
    assert value == Report(
        items=[Item(id=1, verdict=Verdict.PASS)],
        on=date(2026, 11, 30), tags={"a"}, pair=(1, 2.0), howSure=1.0, price=Decimal("0.10"),
    )  # fmt: skip
    assert plain == REPORT


@pytest.mark.parametrize(
    ("output", "data"),
    [
        pytest.param(Report, REPORT, id="model"),
        pytest.param(Pair, {"left": 1}, id="dataclass"),
        pytest.param(Row, {"score": 1}, id="TypedDict"),
        pytest.param(list[Item], [{"id": 1, "verdict": "fail"}], id="list"),
        pytest.param(Verdict, "pass", id="enum"),
        pytest.param(OBJECT, {"score": 1, "more": [None]}, id="JSON schema"),
        pytest.param(Node, {"name": "a", "below": [{"name": "b"}]}, id="recursive"),
    ],
)
def test_values_come_back_from_plain_data(output, data):
    schema = AnswerSchema.of(output)
    value, plain = schema.read(data)
    assert schema.restored(json.loads(json.dumps(plain))) == value
    assert schema.restored(json.loads(json.dumps(schema.plain(value)))) == value


def test_plain_data_that_fits_no_more_is_a_problem():
    with pytest.raises(ReplyProblem, match="left: is missing"):
        AnswerSchema.of(Pair).restored({"right": "r"})


@pytest.mark.parametrize(
    ("output", "data"),
    [
        pytest.param(Annotated[bool, ...], "yes", id="yes is no bool"),
        pytest.param(bool, 1, id="1 is no bool"),
        pytest.param(float, "0.3", id="a number in a text"),
        pytest.param(float, True, id="true is no number"),
        pytest.param(int, "3", id="an int in a text"),
        pytest.param(str, 3, id="a number is no text"),
        pytest.param(list[int], {"0": 1}, id="an object is no list"),
        pytest.param(date, "yesterday", id="no date"),
        pytest.param(Verdict, "PASS", id="another case"),
        pytest.param({"type": "number"}, "0.3", id="JSON schema, a number in a text"),
        pytest.param({"type": "number"}, True, id="JSON schema, true is no number"),
        pytest.param({"type": "boolean"}, "yes", id="JSON schema, yes is no bool"),
    ],
)
def test_types_are_strict(output, data):
    schema = AnswerSchema.of(output)
    assert "does not fit" in problem(schema, data)
    assert "does not fit" in problem(schema, {"answer": data})


def test_a_problem_names_the_place_and_not_the_value():
    data = {"items": [{"id": 1, "verdict": "pass"}, {"id": "SECRET", "verdict": "SECRET"}], "on": "SECRET"}
    said = problem(AnswerSchema.of(Report), data)
    assert "items[1].id: must be a valid integer" in said
    assert "items[1].verdict: must be 'pass' or 'fail'" in said
    assert "SECRET" not in said
    wanted = {"type": "object", "properties": {"items": {"items": {"enum": ["a"], "maxLength": 1}}}, "required": ["x"]}
    said = problem(AnswerSchema.of(wanted), {"items": ["a", "SECRET"]})
    assert 'items[1]: must be one of "a"' in said
    assert "x: is missing (it has the keys 'items')" in said
    assert "SECRET" not in said


def test_every_missing_key_is_named_once_with_its_place():
    inner = {"type": "object", "required": ["a", "b"]}
    wanted = AnswerSchema.of({"type": "object", "properties": {"x": inner}, "required": ["x", "y"]})
    message = problem(wanted, {})
    assert message == "the answer does not fit: x: is missing; y: is missing (it is an empty object)"
    message = problem(wanted, {"x": {"c": 1}, "y": 1})
    assert message == "the answer does not fit: x.a: is missing; x.b: is missing"


def test_many_problems_are_told_as_few():
    said = problem(AnswerSchema.of(list[int]), ["x"] * 1000)
    assert said.count("must be a valid integer") == 5
    said = problem(AnswerSchema.of({"type": "array", "items": {"type": "integer"}}), ["x"] * 1000)
    assert said.count("must be a whole number") == 5


def test_what_a_validator_of_the_users_says_is_told():
    class Even(BaseModel):
        number: int

        @field_validator("number")
        @classmethod
        def even(cls, value):
            if value % 2:
                raise ValueError("odd numbers are not allowed")
            return value

    assert "number: Value error, odd numbers are not allowed" in problem(AnswerSchema.of(Even), {"number": 3})


def test_more_than_was_asked_for_is_no_problem():
    assert AnswerSchema.of(Pair).read({"left": 1, "why": "x"})[0] == Pair(1)
    assert AnswerSchema.of(OBJECT).read({"score": 1, "why": "x"})[0] == {"score": 1, "why": "x"}
    assert score_schema(0, 1).read({"score": 1, "why": "x"}) == (1.0, 1.0)
    with pytest.raises(ReplyProblem, match="has a key that is not allowed"):
        AnswerSchema.of({**OBJECT, "additionalProperties": False}).read({"score": 1, "why": "x"})


def test_a_value_may_be_an_object_with_the_key_of_the_wrapper():
    schema = AnswerSchema.of(dict[str, Any] | list[int])
    assert schema.read({"answer": {"answer": 1}})[0] == {"answer": 1}
    assert schema.read({"other": 1})[0] == {"other": 1}


# ── keys ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("output", "known", "unknown"),
    [
        pytest.param(Report, REPORT, {"how_sure": 1}, id="alias"),
        pytest.param(Report, REPORT, {"items": [{"id": 1, "why": 2}]}, id="in a list"),
        pytest.param(
            Node, {"name": "a", "below": [{"below": [{"name": "b"}]}]}, {"below": [{"nam": 1}]}, id="recursive"
        ),
        pytest.param(Item | Pair, {"answer": {"id": 1}}, {"answer": {"middle": 1}}, id="union"),
        pytest.param(list[Pair], [{"left": 1}], [{"middle": 1}], id="bare list"),
        pytest.param(OBJECT, {"score": 1}, {"why": 1}, id="JSON schema"),
        pytest.param(
            Box[dict[str, Pair]], {"value": {"any": {"left": 1}}}, {"value": {"any": {"middle": 1}}}, id="dict"
        ),
        pytest.param(Box[dict[str, Any]], {"value": {"any": {"x": 1}}}, {"other": {}}, id="dict of anything"),
    ],
)
def test_a_schema_knows_its_keys(output, known, unknown):
    schema = AnswerSchema.of(output)
    assert schema.knows(known)
    assert not schema.knows(unknown)


# ── scores ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_score_is_a_float_within_its_bounds():
    schema = score_schema(1, 5)
    assert schema.json["properties"] == {"score": {"type": "number", "minimum": 1, "maximum": 5}}
    value, plain = schema.read({"score": 5})
    assert (value, type(value), plain, schema.restored(plain)) == (5.0, float, 5.0, 5.0)
    assert problem(schema, {"score": 5.5}) == "score: must be from 1 to 5, and is 5.5"
    assert problem(schema, {"score": "5"}) == "score: must be a number from 1 to 5, not text"
    assert "not true" in problem(schema, {"score": True})
    assert "key 'score'; it is a number" in problem(schema, 5)
    with pytest.raises(ReplyProblem):
        schema.restored(7)


@pytest.mark.parametrize(
    "bounds", [(0, 0), (1, 0), (0, float("inf")), (float("nan"), 1), ("0", 1), (False, 1)], ids=range(6)
)
def test_bounds_of_a_score_are_numbers_in_order(bounds):
    with pytest.raises(UsageError):
        score_schema(*bounds)
