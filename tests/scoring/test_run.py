import pytest

from proctor import MISSING, Message, ScorerRun, Text, ToolCall, UsageError
from proctor.errors import UnreadableMessages
from proctor.scoring.run import TurnRun

CONVERSATION = [
    {"role": "assistant", "content": "I will look.", "tool_calls": [
        {"id": "1", "function": {"name": "get_weather", "arguments": '{"city": "Brooklyn"}'}},
        {"id": "2", "function": {"name": "get_time", "arguments": "{}"}},
    ]},
    {"role": "tool", "tool_call_id": "1", "content": "sunny"},
    {"role": "user", "content": "And?"},
    {"role": "assistant", "content": "It is sunny."},
]  # fmt: skip


# ── one rule for every shape ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("output", "text"),
    [
        pytest.param("It is sunny.", "It is sunny.", id="text"),
        pytest.param(["It is", "sunny."], "It is sunny.", id="list of texts"),
        pytest.param({"role": "assistant", "content": "It is sunny."}, "It is sunny.", id="one message"),
        pytest.param(CONVERSATION, "I will look. It is sunny.", id="messages"),
        pytest.param(Message("assistant", (Text("It is sunny."),)), "It is sunny.", id="a Message"),
        pytest.param({"b": 1, "a": "é"}, '{"a":"é","b":1}', id="mapping"),
        pytest.param(42, "42", id="number"),
        pytest.param([], "", id="no messages"),
        pytest.param("", "", id="empty text"),
        pytest.param([{"role": "user", "content": "Hi"}], "", id="only the user spoke"),
    ],
)
def test_text_is_what_the_assistant_said(output, text):
    assert ScorerRun(output=output).text == text


def test_calls_are_those_of_the_output_with_what_came_back():
    assert ScorerRun(output=CONVERSATION).tool_calls == (
        ToolCall("get_weather", {"city": "Brooklyn"}, "1", "sunny", state="done"),
        ToolCall("get_time", {}, "2"),
    )


@pytest.mark.parametrize("view", ["text", "texts", "tool_calls", "output_messages", "messages", "reasoning"])
@pytest.mark.parametrize("output", [None, MISSING], ids=repr)
def test_none_is_unreadable_rather_than_empty(output, view):
    with pytest.raises(UnreadableMessages) as caught:
        getattr(ScorerRun(output=output), view)
    assert caught.value.code == "UNREADABLE_OUTPUT"


def test_what_went_in_and_out_are_told_apart():
    run = ScorerRun(input=[{"role": "system", "content": "Be kind."}, "Hi"][:1], output=CONVERSATION)
    assert (run.system_text, run.user_text) == ("Be kind.", "And?")
    assert ScorerRun(input="Weather?", output=CONVERSATION).user_text == "Weather? And?"
    assert [message.role for message in ScorerRun(input="Weather?", output="Sunny.").messages] == ["user", "assistant"]


def test_a_run_without_input_has_no_input_messages():
    assert ScorerRun(output="x").input_messages == ()


def test_a_conversations_messages_are_those_of_all_turns():
    run = ScorerRun(input="a", output=["b", "d"], turns=(TurnRun("a", "b"), TurnRun("c", "d")))
    assert run.transcript() == "user: a\nassistant: b\nuser: c\nassistant: d"
    assert run.text == "b d"


def test_a_transcript_has_the_roles_asked_for():
    run = ScorerRun(input=[{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hi"}], output="Yo")
    assert run.transcript(roles=("system", "assistant")) == "system: Be kind.\nassistant: Yo"
    assert run.transcript(roles="user") == "user: Hi"


# ── one object for all scorers ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("view", ["text", "texts", "tool_calls", "output_messages", "input_messages"])
def test_a_view_is_worked_out_once(view):
    run = ScorerRun(input="Hi", output=CONVERSATION)
    assert getattr(run, view) is getattr(run, view)


def test_replace_gives_a_run_with_views_of_its_own():
    run = ScorerRun(output="a", input="i", extra={"k": 1})
    assert run.text == "a"
    changed = run.replace(output="b")
    assert (changed.text, run.text) == ("b", "a")
    assert (changed.input, changed.extra) == ("i", {"k": 1})


def test_replace_refuses_a_field_that_is_not_there():
    with pytest.raises(UsageError, match="no field 'outputs'"):
        ScorerRun(output="a").replace(outputs="b")


@pytest.mark.parametrize("value", [None, 0, False, ""], ids=repr)
def test_empty_values_are_values(value):
    run = ScorerRun(output=value, input=value, ground_truth=value)
    assert (run.output, run.input, run.ground_truth) == (value, value, value)
    assert ScorerRun(output="x").ground_truth is MISSING


# ── from a mapping ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_mapping_in_either_spelling_makes_a_run():
    given = {"output": "o", "groundTruth": 1, "expectedTrajectory": [2], "requestContext": {"a": 3}, "durationMs": 4.0}
    run = ScorerRun.of(given)
    assert (run.output, run.ground_truth, run.expected_trajectory) == ("o", 1, [2])
    assert (run.request_context, run.duration_ms, run.extra) == ({"a": 3}, 4.0, {})


@pytest.mark.parametrize(
    ("given", "extra"),
    [
        pytest.param({"additionalContext": 1}, {"additionalContext": 1}, id="other keys"),
        pytest.param({"extra": {"a": 1}, "b": 2}, {"a": 1, "b": 2}, id="extra and other keys"),
        pytest.param({"extra": "kept"}, {"extra": "kept"}, id="extra as a key of the user's"),
    ],
)
def test_other_keys_are_extra(given, extra):
    assert ScorerRun.of({"output": "o", **given}).extra == extra


def test_the_mapping_is_not_changed():
    given = {"output": "o", "extra": {"a": 1}, "b": 2}
    ScorerRun.of(given)
    assert given == {"output": "o", "extra": {"a": 1}, "b": 2}


def test_a_repr_shows_what_was_given_and_is_short():
    shown = repr(ScorerRun(output="x" * 1000, input="Hi"))
    assert shown.startswith("ScorerRun(output='xxx")
    assert "input='Hi'" in shown
    assert "ground_truth" not in shown
    assert len(shown) < 200
