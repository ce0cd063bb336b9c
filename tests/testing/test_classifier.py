"""The classifier that answers what it is told to."""

import asyncio

import pytest

from proctor import UsageError
from proctor.errors import UnknownName
from proctor.scoring.classifier_parts import ClassifierAnswer, ClassifierQuestion
from proctor.testing.classifier import ClassifierCall, ScriptedClassifier

QUESTIONS = {"urgent": ClassifierQuestion("boolean"), "kind": ClassifierQuestion("choice", choices=["spam", "ham"])}


async def values(classifier, *states, questions=("urgent",)):
    replies = [await classifier.classify(state, questions=questions) for state in states]
    return [{name: answer.value for name, answer in reply.items()} for reply in replies]


async def test_a_list_is_taken_in_the_order_of_the_calls_and_its_last_answer_repeats():
    classifier = ScriptedClassifier(QUESTIONS, {"urgent": [0.9, 0.1]})
    assert await values(classifier, "a", "b", "c") == [{"urgent": 0.9}, {"urgent": 0.1}, {"urgent": 0.1}]


async def test_each_question_has_a_list_of_its_own():
    classifier = ScriptedClassifier(QUESTIONS, {"urgent": [0.9, 0.1], "kind": ["spam", "ham"]})
    assert await values(classifier, "a") == [{"urgent": 0.9}]
    assert await values(classifier, "a", questions=["kind", "urgent"]) == [{"kind": "spam", "urgent": 0.1}]


async def later(state):
    await asyncio.sleep(0)
    return "ham" if "you" in state else "spam"


@pytest.mark.parametrize("answer", [lambda state: "ham" if "you" in state else "spam", later], ids=["def", "async def"])
async def test_a_function_answers_by_the_state(answer):
    classifier = ScriptedClassifier(QUESTIONS, {"kind": answer})
    assert await values(classifier, "thank you", "buy", questions=["kind"]) == [{"kind": "ham"}, {"kind": "spam"}]


async def test_a_question_without_answers_is_left_out():
    assert await values(ScriptedClassifier(QUESTIONS, {"urgent": 0.5}), "a", questions=["kind"]) == [{}]


async def test_an_exception_is_raised_each_time_and_the_call_is_kept():
    classifier = ScriptedClassifier(QUESTIONS, {"urgent": ConnectionError("down")})
    for _ in range(2):
        with pytest.raises(ConnectionError, match="down"):
            await classifier.classify("a", questions=["urgent"])
    assert len(classifier.calls) == 2


async def test_an_answer_that_says_what_it_took_is_given_as_it_is():
    answer = ClassifierAnswer(0.5, model_id="tiny-1")
    assert await ScriptedClassifier(QUESTIONS, {"urgent": answer}).classify("a", questions=["urgent"]) == {
        "urgent": answer
    }


async def test_it_keeps_what_it_was_asked():
    classifier = ScriptedClassifier(QUESTIONS, {})
    await classifier.classify({"text": "a"}, questions=["urgent"], max_retries=2)
    assert classifier.calls == [ClassifierCall(state={"text": "a"}, questions=("urgent",), options={"max_retries": 2})]


def test_answers_to_a_question_that_it_does_not_have_are_refused():
    with pytest.raises(UnknownName, match=r"no question of mail 'urgnt'\. Did you mean 'urgent'"):
        ScriptedClassifier(QUESTIONS, {"urgnt": 0.5}, id="mail")


def test_no_answers_at_all_are_refused():
    with pytest.raises(UsageError, match="at least one answer to 'urgent'"):
        ScriptedClassifier(QUESTIONS, {"urgent": []})
