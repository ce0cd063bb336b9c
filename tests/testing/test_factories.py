"""Messages and runs made by hand read as what they say."""

import pytest

from proctor.data.message import ToolCall
from proctor.data.read import read_messages
from proctor.data.value import MISSING
from proctor.scoring.run import ScorerRun
from proctor.testing import (
    create_agent_test_run,
    create_test_message,
    create_test_run,
    create_tool_invocation,
    create_trajectory_test_run,
)


def test_a_message_reads_as_what_it_was_given():
    (message,) = read_messages([create_test_message(role="user", content="Hi", id="m7")])
    assert (message.role, message.text, message.id) == ("user", "Hi", "m7")


def test_calls_come_after_the_text():
    invocation = create_tool_invocation(tool_call_id="1", tool_name="clock", args={"zone": "UTC"}, result="noon")
    (message,) = read_messages([create_test_message(role="assistant", content="It is", tool_invocations=[invocation])])
    assert message.text == "It is"
    assert message.tool_calls == (ToolCall("clock", {"zone": "UTC"}, "1", "noon", None, "done"),)


def test_parts_stand_in_for_the_one_text_part():
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert read_messages([create_test_message(role="user", content="whole", parts=parts)])[0].text == "ab"


@pytest.mark.parametrize(
    ("options", "call"),
    [
        ({"result": None}, ToolCall("f", {}, "1", None, None, "done")),
        ({"state": "call"}, ToolCall("f", {}, "1")),
        ({"state": "output-error", "error_text": "down"}, ToolCall("f", {}, "1", MISSING, "down", "failed")),
        ({"result": {}, "is_error": True}, ToolCall("f", {}, "1", {}, None, "failed")),
    ],
)
def test_an_invocation_reads_as_the_call_that_it_says(options, call):
    invocation = create_tool_invocation(tool_call_id="1", tool_name="f", args={}, **options)
    (message,) = read_messages([create_test_message(role="assistant", content="", tool_invocations=[invocation])])
    assert message.parts == (call,)


def test_a_run_of_one_question_and_one_answer():
    run = ScorerRun.of(create_test_run("Q", "A", additional_context={"a": 1}, request_context={"r": 2}))
    assert (run.user_text, run.text, run.request_context) == ("Q", "A", {"r": 2})


def test_an_agents_run_holds_all_that_it_was_given():
    made = create_agent_test_run(
        input_messages=[create_test_message(role="user", content="now")],
        remembered_messages=[create_test_message(role="user", content="before")],
        system_messages=[{"role": "system", "content": "rules"}],
        tagged_system_messages={"memory": [{"role": "system", "content": "facts"}]},
        output=[create_test_message(role="assistant", content="answer")],
        run_id="r1",
    )
    run = ScorerRun.of(made)
    assert (run.system_text, run.user_text, run.text) == ("rules\n\nfacts", "before now", "answer")
    assert made["run_id"] == "r1"


def test_runs_have_ids_of_their_own():
    assert create_agent_test_run(output=[])["run_id"] != create_agent_test_run(output=[])["run_id"]


def test_a_trajectory_run_has_it_as_its_output():
    run = create_trajectory_test_run(
        trajectory={"steps": []}, expected_trajectory={"steps": [{"name": "a"}]}, run_id="r"
    )
    assert (run["output"], run["expected_trajectory"]) == ({"steps": []}, {"steps": [{"name": "a"}]})
    assert "expected_trajectory" not in create_trajectory_test_run(trajectory={"steps": []})
