"""What was asked, as judges read it."""

import pytest

from proctor import ScorerRun
from proctor.scorers.actions import has_request
from proctor.scorers.judged.prompt_alignment import prompt_alignment
from proctor.scorers.material import question_of, truth_of
from proctor.scoring.steps import Declined
from proctor.testing import ScriptedModel
from tests.scorers.judged.asked import fenced

TALK = [
    {"role": "user", "content": "hi"},
    {"role": "assistant", "content": "hello"},
    {"role": "user", "content": "capital?"},
    {"role": "user", "content": "of France"},
]
CALL = {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]}


@pytest.mark.parametrize("given", [TALK, {"messages": TALK}, {"inputMessages": TALK}], ids=["list", "chat", "agent"])
def test_the_question_is_the_first_of_the_last_messages_that_stand_together(given):
    assert question_of(ScorerRun(input=given, output="Paris")) == "capital?"


def test_a_last_message_without_text_hides_no_earlier_question():
    image = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://x.test/a.png"}}]}
    assert question_of(ScorerRun(input=[*TALK[:2], image], output="Paris")) == ""


@pytest.mark.parametrize("given", [TALK, {"messages": TALK}, {"inputMessages": TALK}], ids=["list", "chat", "agent"])
def test_there_is_a_request_though_the_agent_only_acted(given):
    assert has_request(ScorerRun(input=given, output=[CALL]))
    assert not has_request(ScorerRun(input={"messages": []}, output=[CALL]))


@pytest.mark.parametrize("given", [TALK, {"messages": TALK}, {"inputMessages": TALK}], ids=["list", "chat", "agent"])
async def test_what_was_said_before_the_question_is_its_history(given):
    model = ScriptedModel(["no verdict"])
    scorer = prompt_alignment(model=model, include_conversation_history=True, evaluation_mode="user")
    with pytest.raises(Exception, match="prompt-alignment"):
        await scorer.run(input=given, output="Paris")
    shown = fenced(model.calls[0])
    assert [text for label, text in shown.items() if label.startswith("history")] == ["hi", "hello"]
    assert shown["user-prompt"] == "capital?"


@pytest.mark.parametrize(
    ("truth", "text"), [(0, "0"), (False, "false"), (" a ", "a"), ({"b": 1, "a": 2}, '{"a":2,"b":1}'), (b"a", "a")]
)
def test_a_truth_is_a_text_in_one_form(truth, text):
    assert truth_of(ScorerRun(output="x", ground_truth=truth)) == text


@pytest.mark.parametrize("given", [{}, {"ground_truth": None}, {"ground_truth": " "}])
def test_no_truth_is_declined(given):
    assert isinstance(truth_of(ScorerRun(output="x", **given)), Declined)
