"""Conversations as OpenAI's chat API and those who write the same have them."""

import pytest

from proctor.data.message import Data, File, Message, Reasoning, Text, ToolCall
from proctor.data.read import read_messages
from proctor.data.value import MISSING
from proctor.errors import UnreadableMessages


def assistant(*parts):
    return (Message("assistant", parts),)


def calling(*calls, content=None):
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def call(name="f", *, id="c1", arguments="{}"):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def answer(content, **fields):
    return {"role": "tool", "tool_call_id": "c1", "content": content, **fields}


def only_call(*messages):
    (found,) = [part for message in read_messages(list(messages)) for part in message.parts if type(part) is ToolCall]
    return found


def test_roles_have_our_names():
    roles = ["system", "developer", "user", "assistant"]
    messages = read_messages([{"role": role, "content": "x"} for role in roles])
    assert [message.role for message in messages] == ["system", "system", "user", "assistant"]


def test_content_may_be_absent_none_or_empty():
    assert (
        read_messages([{"role": "assistant"}, {"role": "assistant", "content": None}, {"role": "user", "content": ""}])[
            0
        ].parts
        == ()
    )


def test_id_and_metadata_are_kept():
    (message,) = read_messages([{"role": "user", "content": "x", "id": "m1", "metadata": {"a": 1}}])
    assert message == Message("user", (Text("x"),), "m1", {"a": 1})


def test_all_text_parts_are_text():
    parts = [
        "a",
        {"type": "text", "text": "b"},
        {"type": "input_text", "text": "c"},
        {"type": "output_text", "text": "d"},
    ]
    assert read_messages([{"role": "user", "content": parts}])[0].text == "abcd"


def test_a_refusal_is_text_in_the_content_and_beside_it():
    inside = {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}
    beside = {"role": "assistant", "content": None, "refusal": "No."}
    assert [message.text for message in read_messages([inside, beside])] == ["No.", "No."]


def test_what_a_voice_said_is_text():
    message = {"role": "assistant", "content": None, "audio": {"id": "a", "data": "UklG", "transcript": "Hello"}}
    assert read_messages([message]) == assistant(File("UklG"), Text("Hello"))


def test_reasoning_comes_first_and_is_no_text():
    for key in ("reasoning_content", "reasoning"):
        (message,) = read_messages([{"role": "assistant", "content": "4", key: "2 + 2"}])
        assert message.parts == (Reasoning("2 + 2"), Text("4"))
        assert message.text == "4"


def test_thinking_parts_are_reasoning_and_redacted_ones_nothing():
    content = [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "redacted_thinking", "data": "x"},
        {
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": "a"}, {"type": "summary_text", "text": "b"}],
        },
        {"type": "text", "text": "done"},
    ]
    assert read_messages([{"role": "assistant", "content": content}]) == assistant(
        Reasoning("hm"), Reasoning("ab"), Text("done")
    )


@pytest.mark.parametrize(
    ("part", "file"),
    [
        ({"type": "image_url", "image_url": {"url": "https://x/a.png"}}, File("https://x/a.png")),
        ({"type": "input_image", "image_url": "https://x/a.png"}, File("https://x/a.png")),
        ({"type": "image", "image": "aGk=", "mediaType": "image/png"}, File("aGk=", "image/png")),
        (
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
            File("aGk=", "image/png"),
        ),
        ({"type": "input_audio", "input_audio": {"data": "aGk=", "format": "wav"}}, File("aGk=")),
        ({"type": "file", "file": {"file_data": "aGk=", "filename": "a.pdf"}}, File("aGk=", None, "a.pdf")),
        ({"type": "file", "url": "https://x/a", "mediaType": "text/csv"}, File("https://x/a", "text/csv")),
        (
            {"type": "document", "source": {"type": "url", "url": "https://x/a"}, "title": "A"},
            File("https://x/a", None, "A"),
        ),
        ({"type": "image"}, File()),
    ],
)
def test_pictures_sounds_and_documents_are_files(part, file):
    assert read_messages([{"role": "user", "content": [part]}])[0].parts == (file,)


# ── calls and results ──────────────────────────────────────────────────────────────────────────────────────────────


def test_a_result_joins_its_call_and_its_message_is_not_kept():
    messages = read_messages([calling(call(arguments='{"city": "Bern"}')), answer("sunny")])
    assert messages == assistant(ToolCall("f", {"city": "Bern"}, "c1", "sunny", None, "done"))


def test_a_call_without_result_stays_called():
    assert only_call(calling(call())) == ToolCall("f", {}, "c1", state="called")


@pytest.mark.parametrize(
    ("arguments", "args"),
    [('{"a": 1}', {"a": 1}), ({"a": 1}, {"a": 1}), ('{"a": ', '{"a": '), ("", {}), ("[" * 100_000, "[" * 100_000)],
)
def test_arguments_are_parsed_when_they_are_json_and_kept_when_not(arguments, args):
    assert only_call(calling(call(arguments=arguments))).args == args


def test_arguments_that_were_not_recorded_are_missing():
    assert only_call(calling({"id": "c1", "function": {"name": "f"}})).args is MISSING


def test_flat_calls_and_custom_tools_are_calls():
    flat = {"name": "f", "args": {"a": 1}, "id": "c1", "type": "tool_call"}
    custom = {"id": "c1", "type": "custom", "custom": {"name": "f", "input": "SELECT 1"}}
    assert only_call(calling(flat)).args == {"a": 1}
    assert only_call(calling(custom)) == ToolCall("f", "SELECT 1", "c1")


def test_camel_case_calls_are_calls():
    asked = {"role": "assistant", "toolCalls": [call()]}
    assert only_call(asked, {"role": "tool", "toolCallId": "c1", "content": "r"}).result == "r"


def test_a_legacy_function_is_joined_by_its_name():
    asked = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": '{"a": 1}'}}
    assert only_call(asked, {"role": "function", "name": "f", "content": "r"}) == ToolCall(
        "f", {"a": 1}, None, "r", None, "done"
    )


def test_without_ids_calls_of_one_message_are_answered_in_order():
    asked = calling(
        {"function": {"name": "f", "arguments": {"n": 1}}}, {"function": {"name": "f", "arguments": {"n": 2}}}
    )
    answers = [{"role": "tool", "tool_name": "f", "content": text} for text in ("one", "two")]
    (message,) = read_messages([asked, *answers])
    assert [(part.args["n"], part.result) for part in message.parts] == [(1, "one"), (2, "two")]


def test_an_id_that_repeats_is_answered_by_the_result_that_follows():
    messages = read_messages([calling(call("a")), answer("1"), calling(call("b")), answer("2")])
    assert [part.result for message in messages for part in message.parts] == ["1", "2"]


def test_a_result_joins_the_nearest_earlier_call_that_has_none():
    messages = read_messages([calling(call("a")), calling(call("b")), answer("1"), answer("2"), answer("3", name="a")])
    a, b, orphan = (part for message in messages for part in message.parts)
    assert (a.result, b.result) == ("2", "1")
    assert messages[-1].role == "tool"
    assert orphan == ToolCall("a", MISSING, "c1", "3", None, "done")


def test_a_result_before_its_call_is_on_its_own():
    messages = read_messages([answer("1"), calling(call())])
    assert [message.role for message in messages] == ["tool", "assistant"]
    assert messages[0].tool_calls == ()  # it has no name
    assert messages[1].tool_calls[0].state == "called"


@pytest.mark.parametrize(
    ("content", "result"),
    [
        ("text", "text"),
        ("", ""),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "ab"),
        ([], []),
        ([{"type": "image_url", "image_url": "x"}], [{"type": "image_url", "image_url": "x"}]),
        ({"temp": 3}, {"temp": 3}),
        ([1, 2], [1, 2]),
        (None, None),
        (5, 5),
    ],
)
def test_a_result_may_be_any_value(content, result):
    found = only_call(calling(call()), answer(content))
    assert (found.result, found.state) == (result, "done")


@pytest.mark.parametrize("fields", [{"status": "error"}, {"is_error": True}, {"isError": True}])
def test_a_result_may_say_that_the_call_failed(fields):
    assert only_call(calling(call()), answer("no such user", **fields)) == ToolCall(
        "f", {}, "c1", "no such user", "no such user", "failed"
    )


def test_anthropic_parts_are_joined_across_messages():
    messages = read_messages([
        {"role": "assistant", "content": [{"type": "text", "text": "Let me see."},
                                          {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "is_error": True,
                                      "content": [{"type": "text", "text": "down"}]}]},
        {"role": "user", "content": [{"type": "text", "text": "Well?"}]},
    ])  # fmt: skip
    assert messages == (
        Message("assistant", (Text("Let me see."), ToolCall("f", {"a": 1}, "t1", "down", "down", "failed"))),
        Message("user", (Text("Well?"),)),
    )


def test_calls_that_stand_in_content_and_beside_it_are_one():
    used = [{"type": "text", "text": "a"}, {"type": "tool_use", "id": "c1", "name": "f", "input": {}}]
    asked = {"role": "assistant", "content": used, "tool_calls": [{"name": "f", "args": {}, "id": "c1"}]}
    assert only_call(asked, answer("r")).result == "r"


def test_text_beside_a_result_is_kept():
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "r"}
    messages = read_messages([{"role": "user", "content": [result, {"type": "text", "text": "and?"}]}])
    assert [(message.role, message.text) for message in messages] == [("tool", ""), ("user", "and?")]


def test_a_server_tool_answers_within_its_message():
    content = [
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "q"}},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"url": "https://x"}]},
        {"type": "text", "text": "found"},
    ]
    assert read_messages([{"role": "assistant", "content": content}]) == assistant(
        ToolCall("web_search", {"query": "q"}, "s1", [{"url": "https://x"}], None, "done"), Text("found")
    )


@pytest.mark.parametrize(
    ("output", "result", "state"),
    [
        ({"type": "json", "value": {"a": 1}}, {"a": 1}, "done"),
        ({"type": "text", "value": "r"}, "r", "done"),
        ({"type": "error-text", "value": "down"}, "down", "failed"),
        ({"type": "execution-denied", "reason": "no"}, "no", "denied"),
        ({"a": 1}, {"a": 1}, "done"),
    ],
)
def test_ai_sdk_model_messages_are_joined(output, result, state):
    found = only_call(
        {"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "1", "toolName": "f", "input": {}}]},
        {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "1", "toolName": "f", "output": output}]},
    )
    assert (found.result, found.state) == (result, state)


# ── what we do not know ────────────────────────────────────────────────────────────────────────────────────────────


def test_an_unknown_part_is_an_error_since_it_could_hide_a_call():
    content = [{"type": "text", "text": "a"}, {"type": "tool_uze", "name": "f"}]
    with pytest.raises(UnreadableMessages) as caught:
        read_messages([{"role": "user"}, {"role": "assistant", "content": content}])
    assert str(caught.value) == "output[1].content[1].type: unknown part type 'tool_uze'. Did you mean 'tool_use'?"


@pytest.mark.parametrize(
    ("message", "error"),
    [
        ({"content": [5]}, ".content[0]: must be a part (a mapping with a type) or text, got int"),
        ({"content": [{"text": "x"}]}, ".content[0].type: must be text, got None"),
        ({"content": [{"type": "text", "text": 5}]}, ".content[0].text: must be text, got int"),
        ({"tool_calls": {}}, ".tool_calls: must be a list, got dict"),
        ({"tool_calls": ["f"]}, ".tool_calls[0]: must be a mapping, got str"),
        ({"tool_calls": [{"function": {"name": 5}}]}, ".tool_calls[0].name: must be text, got int"),
        ({"function_call": "f"}, ".function_call: must be a mapping, got str"),
        ({"id": [1]}, ".id: must be text, got list"),
    ],
)
def test_errors_name_the_key(message, error):
    with pytest.raises(UnreadableMessages) as caught:
        read_messages([{"role": "assistant", **message}])
    assert str(caught.value) == f"output[0]{error}"


def test_sources_and_data_are_kept_without_text():
    content = [
        {"type": "data-weather", "data": {"t": 3}},
        {"type": "source-url", "url": "https://x"},
        {"type": "step-start"},
    ]
    (message,) = read_messages([{"role": "assistant", "content": content}])
    assert message.parts == (Data({"t": 3}, "data-weather"), Data(content[1], "source-url"))
    assert message.text == ""


@pytest.mark.slow
def test_a_very_long_conversation_with_one_id_is_read_in_a_moment():
    """Anything that is not linear in the number of messages takes minutes here."""
    asked, answered = [calling(call())] * 20_000, [answer("r")] * 20_000
    assert all(message.tool_calls[0].state == "done" for message in read_messages(asked + answered))
