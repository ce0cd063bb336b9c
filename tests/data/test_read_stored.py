"""Messages as the reference stores them, and the AI SDK's UI messages."""

import pytest

from proctor.data.message import Data, Message, Reasoning, Text, ToolCall
from proctor.data.read import read_messages
from proctor.data.value import MISSING
from proctor.errors import UnreadableMessages


def stored(*parts, role="assistant", **body):
    return {"id": "m1", "role": role, "content": {"format": 2, "parts": list(parts), **body}}


def text(words):
    return {"type": "text", "text": words}


def invocation(name="f", *, id="c1", **fields):
    return {"toolCallId": id, "toolName": name, "args": {}, **fields}


def wrapped(name="f", **fields):
    return {"type": "tool-invocation", "toolInvocation": invocation(name, **fields)}


def read_one(message):
    (read,) = read_messages([message])
    return read


def names(message):
    return [part.name if type(part) is ToolCall else part.text for part in read_one(message).parts]


def test_all_text_parts_are_the_text_in_order_with_the_calls():
    message = read_one(stored(text("The secret"), wrapped(state="result", result=1), text(" is out")))
    assert [type(part) for part in message.parts] == [Text, ToolCall, Text]
    assert (message.text, message.id) == ("The secret is out", "m1")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"content": "c", "text": "t"}, "c"),
        ({"content": "", "text": "t"}, "t"),
        ({"text": "t"}, "t"),
        ({}, ""),
    ],
)
def test_legacy_text_stands_in_when_no_part_says_anything(body, words):
    assert read_one(stored(**body)).text == words
    assert read_one(stored(text(""), **body)).text == words
    assert read_one(stored(text("p"), **body)).text == "p"


def test_content_without_parts_and_other_forms_of_content_are_read():
    messages = [
        {"role": "assistant", "content": {"format": 2}},
        {"role": "user", "content": "plain"},
        {"role": "user", "content": [text("x"), text("y")]},
        {"role": "assistant", "content": None},
    ]
    assert [message.text for message in read_messages(messages)] == ["", "plain", "xy", ""]


def test_metadata_is_that_of_the_content():
    assert read_one(stored(text("x"), metadata={"a": 1})).metadata == {"a": 1}


# ── calls ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("word", "state"),
    [
        ("partial-call", "partial"),
        ("input-streaming", "partial"),
        ("call", "called"),
        ("input-available", "called"),
        ("approval-requested", "called"),
        ("approval-responded", "called"),
        ("result", "done"),
        ("output-available", "done"),
        ("output-error", "failed"),
        ("output-denied", "denied"),
    ],
)
def test_states_have_our_names(word, state):
    assert read_one(stored(wrapped(state=word))).parts[0].state == state


@pytest.mark.parametrize(
    ("fields", "state"), [({}, "called"), ({"result": None}, "done"), ({"errorText": "down"}, "failed")]
)
def test_without_a_state_what_is_there_decides(fields, state):
    assert read_one(stored(wrapped(**fields))).parts[0].state == state


def test_a_flagged_result_failed_and_is_kept():
    (call,) = read_one(stored(wrapped(state="result", result="down", isError=True))).parts
    assert call == ToolCall("f", {}, "c1", "down", "down", "failed")
    (call,) = read_one(stored(wrapped(state="output-error", errorText="boom"))).parts
    assert call == ToolCall("f", {}, "c1", MISSING, "boom", "failed")


def test_parts_of_the_ai_sdk_5_are_calls():
    message = stored(
        {
            "type": "tool-get_weather",
            "toolCallId": "1",
            "state": "output-available",
            "input": {"c": 1},
            "output": {"t": 3},
        },
        {"type": "dynamic-tool", "toolName": "mcp", "toolCallId": "2", "state": "input-available", "input": {}},
        {"type": "tool-x", "toolCallId": "3", "state": "output-error", "rawInput": "{", "errorText": "bad"},
    )
    assert read_one(message).parts == (
        ToolCall("get_weather", {"c": 1}, "1", {"t": 3}, None, "done"),
        ToolCall("mcp", {}, "2"),
        ToolCall("x", "{", "3", MISSING, "bad", "failed"),
    )


def test_a_tool_may_be_named_call_or_result():
    message = stored(
        {"type": "tool-call", "toolCallId": "1", "state": "input-available", "input": {}},
        {"type": "tool-result", "toolCallId": "2", "state": "output-available", "input": {}, "output": 1},
    )
    assert [(part.name, part.state) for part in read_one(message).parts] == [("call", "called"), ("result", "done")]


def test_ui_messages_hold_their_parts_themselves():
    message = {"id": "u", "role": "assistant", "parts": [{"type": "step-start"}, text("a"), wrapped(state="call")]}
    assert read_one(message) == Message("assistant", (Text("a"), ToolCall("f", {}, "c1")), "u")


def test_calls_beside_plain_content_are_seen():
    message = {"role": "assistant", "content": "Sure.", "toolInvocations": [invocation(state="result", result=1)]}
    assert names(message) == ["Sure.", "f"]
    message = {"role": "assistant", "content": [text("Sure.")], "toolInvocations": [invocation()]}
    assert names(message) == ["Sure.", "f"]


def test_parts_win_over_the_legacy_list():
    message = stored(wrapped("new", state="result", result=1), toolInvocations=[invocation("old", state="call")])
    assert names(message) == ["new"]


@pytest.mark.parametrize(
    ("in_parts", "legacy", "order"),
    [
        ("2", "123", "123"),
        ("31", "123", "231"),
        ("", "12", "12"),
        ("12", "", "12"),
        ("3", "123", "123"),
        ("1", "123", "123"),
    ],
)
def test_what_only_the_legacy_list_has_keeps_its_place(in_parts, legacy, order):
    parts = [wrapped(name, id=name) for name in in_parts]
    assert "".join(names(stored(*parts, toolInvocations=[invocation(name, id=name) for name in legacy]))) == order


def test_legacy_calls_come_after_the_text_when_no_part_is_shared():
    assert names(stored(text("t"), toolInvocations=[invocation("a", id="1"), invocation("b", id="2")])) == [
        "t",
        "a",
        "b",
    ]


def test_calls_without_ids_are_all_kept():
    message = stored(wrapped("a", id=None), toolInvocations=[invocation("b", id=None)])
    assert names(message) == ["a", "b"]


def test_a_later_result_joins_a_stored_call():
    result = {"type": "tool-result", "toolCallId": "c1", "result": "r"}
    (message,) = read_messages([stored(wrapped(state="call")), {"role": "tool", "content": [result]}])
    assert message.parts[0].result == "r"
    (message,) = read_messages([stored(toolInvocations=[invocation(state="call")]), stored(result, role="tool")])
    assert message.parts[0].result == "r"


# ── reasoning and roles ────────────────────────────────────────────────────────────────────────────────────────────


def test_reasoning_is_the_contents_else_that_of_the_parts():
    part = {
        "type": "reasoning",
        "reasoning": "",
        "details": [text("d1"), text("d2"), {"type": "redacted", "data": "x"}],
    }
    assert read_one(stored(part)).parts == (Reasoning("d1d2"),)
    assert read_one(stored(part, text("t"), reasoning="whole")).parts == (Reasoning("whole"), Text("t"))
    assert read_one(stored({"type": "reasoning", "text": "r"})).parts == (Reasoning("r"),)
    assert read_one(stored({"type": "reasoning", "details": [{"type": "redacted", "data": "x"}]})).parts == ()


@pytest.mark.parametrize(
    ("signal", "kind", "role"),
    [
        ({"tagName": "user", "type": "state"}, "assistant", "user"),
        ({"type": "user"}, "assistant", "user"),
        (None, "assistant", "assistant"),
        ({"tagName": "reminder"}, "user", "reminder"),
        (None, None, "signal"),
    ],
)
def test_a_signal_has_the_role_that_it_names(signal, kind, role):
    message = stored(text("x"), role="signal", metadata={"signal": signal})
    assert read_one({**message, "type": kind}).role == role


def test_data_parts_have_no_text():
    message = read_one(stored({"type": "data-chart", "data": [1]}, text("see")))
    assert message.parts == (Data([1], "data-chart"), Text("see"))
    assert message.text == "see"


# ── what we do not know ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("message", "error"),
    [
        (stored() | {"content": {"parts": "no"}}, ".content.parts: must be a list, got str"),
        (stored(5), ".content.parts[0]: must be a part (a mapping with a type) or text, got int"),
        (stored({"type": "toool"}), ".content.parts[0].type: unknown part type 'toool'."),
        (stored({"type": "tool-invocation"}), ".content.parts[0].toolInvocation: must be a mapping, got None"),
        (
            stored(text("a"), wrapped(state="resultt")),
            ".content.parts[1].toolInvocation.state: unknown state of a tool call 'resultt'. Did you mean 'result'?",
        ),
        (stored(toolInvocations={}), ".content.toolInvocations: must be a list, got dict"),
        (stored(toolInvocations=[5]), ".content.toolInvocations[0]: must be a mapping, got int"),
        (stored(content=5), ".content.content: must be text, got int"),
        (stored(role="sgnal"), ".role: unknown role 'sgnal'. Did you mean 'signal'?"),
        ({"role": "user", "parts": 5}, ".parts: must be a list, got int"),
    ],
)
def test_errors_name_index_and_key(message, error):
    with pytest.raises(UnreadableMessages) as caught:
        read_messages([stored(text("fine")), message])
    assert str(caught.value).startswith(f"output[1]{error}")


def test_other_content_beside_stored_messages_is_an_error():
    with pytest.raises(UnreadableMessages) as caught:
        read_messages([stored(), {"role": "user", "content": 5}])
    assert str(caught.value) == "output[1].content: must be text, a list of parts or a stored message, got int"
