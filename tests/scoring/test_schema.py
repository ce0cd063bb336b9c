from dataclasses import dataclass

import pytest
from pydantic import BaseModel
from typing_extensions import TypedDict

from proctor import ScorerRunError, UsageError, create_scorer
from proctor.scoring.schema import SchemaMismatch


class Question(BaseModel):
    text: str
    language: str = "en"


class Answer(BaseModel):
    amount: int
    currency: str


@dataclass
class Amount:
    amount: int


class Row(TypedDict):
    amount: int


def typed(input=None, output=None):
    return create_scorer(id="typed", type=(input, output)).preprocess(lambda ctx: ctx.run).generate_score(lambda ctx: 1)


def seen(scorer, **run):
    return scorer.run_sync(**run).preprocess_step_result


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        pytest.param(Amount, Amount(3), id="dataclass"),
        pytest.param(Row, {"amount": 3}, id="TypedDict"),
        pytest.param(dict[str, int], {"amount": 3}, id="generic"),
    ],
)
def test_steps_see_the_output_read_into_the_type(schema, expected):
    assert seen(typed(output=schema), output={"amount": 3}).output == expected


def test_steps_see_models_for_input_and_output():
    run = seen(typed(Question, Answer), input={"text": "How much?"}, output={"amount": "3", "currency": "EUR"})
    assert run.input == Question(text="How much?")
    assert run.output == Answer(amount=3, currency="EUR")


def test_an_object_of_the_type_is_taken_too():
    answer = Answer(amount=3, currency="EUR")
    assert seen(typed(Question, Answer), input=Question(text="?"), output=answer).output == answer


def test_a_side_whose_type_is_none_stays_as_it_is():
    assert seen(typed(None, Answer), input=5, output={"amount": 3, "currency": "EUR"}).input == 5


def test_a_run_without_input_is_checked_only_for_its_output():
    assert seen(typed(Question, Answer), output={"amount": 3, "currency": "EUR"})


def test_a_wrong_output_lists_every_wrong_field_and_no_step_runs():
    ran = []
    scorer = create_scorer(id="typed", type=(None, Answer)).generate_score(lambda ctx: ran.append(1) or 1)
    with pytest.raises(ScorerRunError, match="typed takes another output") as caught:
        scorer.run_sync(output={"amount": "three"})
    assert "output.amount: " in str(caught.value)
    assert "output.currency: " in str(caught.value)
    assert (caught.value.failed_step, caught.value.completed_steps, caught.value.result) == (None, (), None)
    assert isinstance(caught.value.__cause__, SchemaMismatch)
    assert caught.value.__cause__.code == "OUTPUT_SCHEMA_MISMATCH"
    assert ran == []


def test_a_wrong_input_says_so():
    with pytest.raises(ScorerRunError, match=r"input\.text") as caught:
        typed(Question).run_sync(input={}, output=1)
    assert caught.value.__cause__.code == "INPUT_SCHEMA_MISMATCH"


@pytest.mark.parametrize("schema", [object(), 5, "no such name"], ids=["object", "5", "text"])
def test_what_is_no_schema_is_refused_when_it_is_written(schema):
    with pytest.raises(UsageError, match="is no schema"):
        typed(output=schema)


@pytest.mark.parametrize("type", ["workflow", (Answer,), [Question, Answer], Answer, 5], ids=str)
def test_a_type_that_is_no_pair_is_refused(type):
    with pytest.raises(UsageError, match="pair of schemas"):
        create_scorer(id="typed", type=type)
