"""Cases J01 to J06, J19 and J24: what a judge's reply says, and when it says nothing."""

from typing import Literal

import pytest
from pydantic import BaseModel

from proctor.judging.answer_schema import AnswerSchema
from proctor.judging.structured import ReplyProblem, read_reply, read_text


class Grade(BaseModel):
    score: float
    reason: str = ""


class Claims(BaseModel):
    claims: list[str]


class Letter(BaseModel):
    grade: Literal["C", "I"]


GRADE = AnswerSchema.of(Grade)


def graded(text, **more):
    return read_reply(text, GRADE, **more).value


def problem(text, schema=GRADE, **more):
    with pytest.raises(ReplyProblem) as caught:
        read_reply(text, schema, **more)
    return caught.value


def test_j01_a_fence_and_a_greeting():
    reading = read_reply('```json\n{"score":0.8,"reason":"ok"}\n```\nHope this helps!', GRADE)
    assert (reading.value, reading.repaired) == (Grade(score=0.8, reason="ok"), False)


def test_j02_braces_in_the_reason():
    text = '{"reason":"uses {x: {y}} syntax","score":1}'
    for reply in (text, f"Mind {{x: {{y}}}}! {text} So.", f"```\n{text}\n```"):
        assert graded(reply) == Grade(score=1, reason="uses {x: {y}} syntax")


def test_j03_a_comment_or_raw_line_breaks_are_mended():
    for text, grade in (
        ('{"score": 1.0 // fully right\n}', Grade(score=1)),
        ('{"score": 1, "reason": "one\ntwo\r\n\nthree"}', Grade(score=1, reason="one\ntwo\r\n\nthree")),
    ):
        reading = read_reply(text, GRADE)
        assert (reading.value, reading.repaired) == (grade, True)


def test_j04_what_the_model_thought_never_wins():
    assert graded('<think>maybe {"score":0}</think>{"score":1,"reason":"r"}') == Grade(score=1, reason="r")
    assert graded('Reasoning: []{"score":1,"reason":"r"}') == Grade(score=1, reason="r")
    for unclosed in ("<think>", '<think>{"score":0}', '<think>{"score":0} so {"score":1}'):
        assert problem(unclosed).code == "STRUCTURED_OUTPUT_OBJECT_UNDEFINED"


def test_j05_half_a_reply_is_no_score():
    text = '{"score": 1, "reason": "it is ri'
    assert problem(text, finish_reason="length").code == "STRUCTURED_OUTPUT_TRUNCATED"
    assert "cut" in problem(text, finish_reason="length").message
    assert "ends within its JSON" in problem(text).message


def test_j06_other_keys_are_named():
    message = problem('{"Score":"0.7","explanation":"x"}').message
    assert message == "the answer does not fit: score: is missing (it has the keys 'Score', 'explanation')"


def test_j10_a_word_where_json_was_asked_for_is_no_grade():
    schema = AnswerSchema.of(Letter)
    for text in ("GRADE: C", "**Answer: C**", "C", '"C"', '{"grade": "CI"}', '{"grade": "c"}'):
        problem(text, schema)


def test_j19_an_object_without_the_list_names_it():
    schema = AnswerSchema.of(Claims)
    assert "claims: is missing" in problem("{}", schema).message
    assert "claims: is missing (it has the keys 'statements')" in problem('{"statements": ["a"]}', schema).message


def test_j24_no_answer_has_distinct_reasons():
    said = {
        problem(""),
        problem(" \n\t"),
        problem("<think>Hm.</think>"),
        problem("I'm sorry, but I can't help with that."),
        problem("", refusal="I can't help with that."),
        problem("", finish_reason="content_filter"),
    }
    assert len({found.message for found in said}) == 6
    assert sorted({found.code for found in said}) == [
        "MODEL_REFUSED",
        "STRUCTURED_OUTPUT_OBJECT_UNDEFINED",
        "STRUCTURED_OUTPUT_SCHEMA_VALIDATION_FAILED",
    ]
    with pytest.raises(ReplyProblem, match="empty"):
        read_text("")
