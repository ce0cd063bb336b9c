import json
import time

import pytest
from pydantic import BaseModel

from proctor import ScorerRunError, UsageError, checks

CITY = {"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}


class Trip(BaseModel):
    city: str
    days: int = 1


def outcome(schema, output, **options):
    return checks.json_schema(schema, **options).run_sync(output=output)


@pytest.mark.parametrize(
    ("output", "score"),
    [
        pytest.param('{"city": "Bern"}', 1, id="it fits"),
        pytest.param(' {"city": "Bern"}\n', 1, id="white space around"),
        pytest.param({"city": "Bern"}, 1, id="a mapping as the output"),
        pytest.param('{"city": 5}', 0, id="another type"),
        pytest.param("{}", 0, id="a key is missing"),
        pytest.param('Sure! {"city": "Bern"}', 0, id="words before it"),
        pytest.param('{"city": "Bern"}{"city": "Bern"}', 0, id="two values"),
        pytest.param("", 0, id="nothing"),
        pytest.param('{"city": "Bern", "days": NaN}', 0, id="NaN is no JSON"),
        pytest.param('{"city": "Bern", "days": 1' + "0" * 5000 + "}", 0, id="a number of too many digits"),
        pytest.param("[" * 100_000, 0, id="nested too deeply"),
        pytest.param('```json\n{"city": "Bern"}\n```', 1, id="fenced"),
        pytest.param('\n```\n{"city":\n "Bern"}\n```\n', 1, id="fenced without a word"),
        pytest.param('```yaml\n{"city": "Bern"}\n```', 0, id="fenced as something else"),
        pytest.param('Here:\n```json\n{"city": "Bern"}\n```', 0, id="words before the fence"),
    ],
)
def test_scores(output, score):
    assert outcome(CITY, output).score == score


def test_a_fence_may_be_refused():
    found = outcome(CITY, '```json\n{"city": "Bern"}\n```', fenced=False)
    assert found.score == 0
    assert "is not JSON" in found.reason


def test_a_pydantic_model_is_a_schema():
    assert outcome(Trip, '{"city": "Bern"}').score == 1
    assert outcome(Trip, '{"city": "Bern", "days": "two"}').score == 0


@pytest.mark.parametrize(
    ("schema", "output", "said"),
    [
        pytest.param(CITY, '{"city": "Bern"}', "the answer is JSON that fits the schema", id="fits"),
        pytest.param(
            CITY,
            '{"city": 5, "days": "two"}',
            "2 problems: $.city: 5 is not of type 'string'; $.days: 'two' is not of type 'integer'",
            id="by path",
        ),
        pytest.param(
            {"type": "array", "items": {"anyOf": [{"properties": {"a": {"type": "string"}}}, {"type": "null"}]}},
            '[null, {"a": 1}]',
            "1 problem: $[1].a: 1 is not of type 'string'",
            id="the nearest branch",
        ),
        pytest.param(CITY, "Bern", 'the answer is not JSON (Expecting value, character 1): "Bern"', id="no JSON"),
        pytest.param(CITY, "", 'the answer is empty: ""', id="empty"),
        pytest.param(CITY, "[NaN]", 'the answer is not JSON (NaN is no JSON): "[NaN]"', id="NaN"),
    ],
)
def test_the_reason(schema, output, said):
    assert outcome(schema, output).reason == said


def test_many_problems_are_counted_and_the_first_told():
    found = outcome({"items": {"type": "string"}}, json.dumps([{"x": "y" * 1000}] * 50))
    assert found.preprocess_step_result["problem_count"] == 50
    assert found.reason.startswith("50 problems: $[0]: ")
    assert len(found.reason) < 500


def test_d06_a_pattern_that_backtracks_without_end_is_stopped():
    check = checks.json_schema({"properties": {"a": {"type": "string", "pattern": "(a|aa)+$"}}})
    began = time.process_time()
    with pytest.raises(ScorerRunError) as caught:
        check.run_sync(output=json.dumps({"a": "a" * 100 + "b"}))
    assert caught.value.__cause__.code == "TIMEOUT"
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("output", "score"),
    [('{"x-a": 1}', 1), ('{"x-a": "1"}', 0), ('{"b": true}', 1), ('{"b": 1}', 0), ("[]", 1), ('{"n": 5}', 1)],
)
def test_patterns_of_keys(output, score):
    schema = {
        "properties": {"n": {}},
        "patternProperties": {"^x-": {"type": "integer"}},
        "additionalProperties": {"type": "boolean"},
    }
    assert outcome(schema, output).score == score
    closed = {**schema, "additionalProperties": False}
    assert outcome(closed, output).score == (score and "b" not in output)


def test_references_within_the_schema():
    schema = {"$defs": {"n": {"type": "integer"}}, "properties": {"a": {"$ref": "#/$defs/n"}}}
    assert outcome(schema, '{"a": "x"}').score == 0
    assert outcome({"$id": "https://x.example/s", **schema}, '{"a": 1}').score == 1
    inner = {
        "$defs": {"n": {"$id": "https://x.example/n", "type": "integer"}},
        "items": {"$ref": "https://x.example/n"},
    }
    assert outcome(inner, "[1]").score == 1


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        pytest.param("{}", "schema must be a mapping or a pydantic model", id="text"),
        pytest.param(Trip(city="x"), "schema must be a mapping or a pydantic model", id="an instance"),
        pytest.param({"type": "strin"}, "this is no schema", id="an unknown type"),
        pytest.param({"a": object()}, "has no plain form", id="an object"),
        pytest.param({"pattern": "("}, "'\\(' is not a 'regex'", id="a broken pattern"),
        pytest.param({"$ref": "https://example.com/s.json"}, "nothing is fetched", id="elsewhere"),
        pytest.param({"$ref": "#/$defs/n"}, "leads nowhere", id="nowhere"),
    ],
)
def test_a_schema_is_refused_when_it_is_written(schema, said):
    with pytest.raises(UsageError, match=said):
        checks.json_schema(schema)


def test_a_reference_that_cannot_be_known_before_is_an_error_and_no_request():
    schema = {"$defs": {"n": {"$id": "https://x.example/n"}}, "$ref": "https://x.example/other"}
    with pytest.raises(ScorerRunError, match="Unresolvable"):
        outcome(schema, "{}")


def test_data_that_looks_like_a_schema_is_left_alone():
    assert outcome({"enum": [{"$ref": "https://example.com"}, {"pattern": "("}]}, '{"pattern": "("}').score == 1


def test_a_long_answer_does_not_hold_the_loop():
    check = checks.json_schema({"items": {"type": "integer"}})
    assert check.run_sync(output=json.dumps(list(range(20_000)))).score == 1


def test_the_key_is_made_of_the_schema():
    assert checks.json_schema({"type": "array"}).key == 'check-json-schema[{"type":"array"}]'
    assert checks.json_schema({"type": "array"}, fenced=False).key == 'check-json-schema[{"type":"array"},fenced=false]'
    assert checks.json_schema(Trip).fingerprint == checks.json_schema(Trip.model_json_schema()).fingerprint
