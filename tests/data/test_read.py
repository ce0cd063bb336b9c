"""Any value as messages, and where errors point."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor import ScorerRun, checks, run_evals_sync
from proctor.data.message import Data, Message, Text
from proctor.data.read import read_input, read_messages
from proctor.data.value import MISSING
from proctor.errors import UnreadableMessages
from tests.support import shared

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
KEYS = st.sampled_from([
    "args", "content", "details", "errorText", "function", "id", "input", "inputMessages", "isError", "messages",
    "metadata", "name", "output", "parts", "reasoning", "result", "role", "signal", "state", "systemMessages",
    "taggedSystemMessages", "text", "toolCallId", "toolInvocation", "toolInvocations", "toolName", "tool_call_id",
    "tool_calls", "type",
])  # fmt: skip
WORDS = st.sampled_from([
    "assistant", "call", "dynamic-tool", "file", "image_url", "output-error", "reasoning", "result", "signal", "text",
    "tool", "tool-call", "tool-invocation", "tool-result", "tool-w", "tool_result", "tool_use", "user", "data-x", "{}",
])  # fmt: skip
NEARLY_MESSAGES = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=30,
)


def said(value, **options):
    return [(message.role, message.text) for message in read_messages(value, **options)]


def test_text_is_one_message():
    assert said("hello") == [("assistant", "hello")]
    assert [(m.role, m.text) for m in read_input("hello")] == [("user", "hello")]


def test_empty_text_is_a_message_without_parts():
    assert read_messages("") == (Message("assistant"),)


def test_a_list_of_texts_is_that_many_messages():
    assert said(["a", "b"], role="user") == [("user", "a"), ("user", "b")]


def test_an_empty_list_is_no_message():
    assert read_messages([]) == ()


def test_messages_stay_as_they_are():
    message = Message("user", (Text("hi"),))
    assert read_messages(message) == (message,)
    assert read_messages([message])[0] is message


@pytest.mark.parametrize("value", [{"a": 1}, [1, "b"], [{"a": 1}], 0, False, 1.5, [None]])
def test_any_other_value_is_one_message_that_holds_it(value):
    (message,) = read_messages(value)
    assert message == Message("assistant", (Data(value),))


@pytest.mark.parametrize(
    ("value", "said"),
    [
        pytest.param(b"x", "bytes are not read as text", id="bytes"),
        pytest.param(object(), "a builtins.object has no plain form", id="object"),
        pytest.param(ValueError("x"), "a builtins.ValueError has no plain form", id="exception"),
        pytest.param({"choices": [{"message": {}}]}, "this is a chat completion", id="completion"),
        pytest.param([{"type": "ai", "content": "x"}], r"output\[0\]: this is a LangChain message", id="langchain"),
        pytest.param({"kind": "response", "parts": []}, "this is a pydantic-ai message", id="pydantic-ai"),
        pytest.param([{"type": "function_call", "call_id": "1"}], "an item of OpenAI's Responses", id="responses"),
    ],
)
def test_what_could_hide_a_call_is_unreadable(value, said):
    with pytest.raises(UnreadableMessages, match=said):
        read_messages(value)


def test_the_messages_of_a_state_are_read():
    state = {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}], "step": 3}
    assert [message.text for message in read_messages(state)] == ["hi", "hello"]


def test_such_a_value_reads_as_its_canonical_json():
    assert said({"b": 1, "a": None}) == [("assistant", '{"a":null,"b":1}')]


@pytest.mark.parametrize(
    ("value", "advice"),
    [
        pytest.param({"type": "human", "content": "x"}, "convert_to_openai_messages", id="langchain"),
        pytest.param({"type": "AIMessageChunk", "content": "x"}, "convert_to_openai_messages", id="langchain chunk"),
        pytest.param([{"kind": "request", "parts": []}], "give OpenAI chat messages", id="pydantic-ai"),
        pytest.param({"type": "function_call_output", "call_id": "1"}, "give OpenAI chat", id="responses"),
        pytest.param([{"a": 1}, {"choices": []}], r'give its \["choices"\]\[0\]\["message"\]', id="completion"),
    ],
)
def test_an_unread_dialect_comes_with_what_to_give_instead(value, advice):
    with pytest.raises(UnreadableMessages, match=f"which is not read here; .*{advice}"):
        read_messages(value)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"type": "ai"}, id="a type alone"),
        pytest.param({"type": "note", "content": "x"}, id="another type"),
        pytest.param({"kind": "request"}, id="a kind alone"),
        pytest.param({"type": "function_call"}, id="no call_id"),
        pytest.param({"choices": "a or b"}, id="choices that are no list"),
    ],
)
def test_what_only_looks_like_a_dialect_is_a_value(value):
    assert read_messages(value) == (Message("assistant", (Data(value),)),)
    assert read_messages([value]) == (Message("assistant", (Data([value]),)),)


def test_an_unread_dialect_in_an_output_is_an_error_of_the_outcome():
    result = run_evals_sync(
        data=[{"output": [{"type": "ai", "content": "x", "tool_calls": []}]}], gates=[checks.used_no_tools()]
    )
    (outcome,) = result.items[0].gates
    assert (outcome.status, outcome.error.code) == ("error", "UNREADABLE_OUTPUT")
    assert "output[0]: this is a LangChain message" in outcome.error.message


CALL = {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "pay", "arguments": "{}"}}]}


@pytest.mark.parametrize(
    "state",
    [
        pytest.param({"messages": [CALL]}, id="messages alone"),
        pytest.param({"messages": [CALL], "step": 3, "next": None}, id="among others"),
    ],
)
def test_calls_in_the_messages_of_a_state_are_calls(state):
    assert [call.name for call in ScorerRun(output=state).tool_calls] == ["pay"]
    assert checks.called_tool("pay").run_sync(output=state).score == 1.0


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"messages": []}, id="no messages"),
        pytest.param({"messages": ["hi"]}, id="texts"),
        pytest.param({"messages": [{"content": "hi"}]}, id="no role"),
        pytest.param({"messages": "hi"}, id="text"),
    ],
)
def test_a_mapping_whose_messages_are_none_is_a_value(value):
    assert read_messages(value) == (Message("assistant", (Data(value),)),)


def test_errors_in_the_messages_of_a_state_name_the_place():
    with pytest.raises(UnreadableMessages, match=r"^output\.messages\[1\]"):
        read_messages({"messages": [CALL, {"role": "assistant", "content": 5}]})


@pytest.mark.parametrize("value", [None, MISSING])
def test_nothing_is_unreadable(value):
    with pytest.raises(UnreadableMessages, match=r"^output: there is nothing to read: it is (None|MISSING)$") as caught:
        read_messages(value)
    assert caught.value.code == "UNREADABLE_OUTPUT"


def test_input_may_be_missing_but_not_none():
    assert read_input(MISSING) == ()
    with pytest.raises(UnreadableMessages, match=r"^input: there is nothing"):
        read_input(None)


def test_one_message_needs_no_list():
    assert said({"role": "user", "content": "hi"}) == [("user", "hi")]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([{"role": "user", "content": "x"}, {"content": "y"}], "output[1]: no role"),
        ([{"role": "user"}, None], "output[1]: must be a message (a mapping with a role), got None"),
        (["x", {"role": "user"}], "output[0]: must be a message (a mapping with a role), got str"),
        ([Message("user"), {"role": "user"}], "output[0]: must be a message (a mapping with a role), got Message"),
        ([Message("user"), 5], "output[1]: must be a Message, as others in the list are, got int"),
        ([{"role": "asistant"}], "output[0].role: unknown role 'asistant'. Did you mean 'assistant'?"),
        ([{"role": 5}], "output[0].role: must be text, got int"),
        ({"role": "user", "content": 5}, "output.content: must be text, a list of parts or a stored message, got int"),
    ],
)
def test_errors_name_index_and_key(value, message):
    with pytest.raises(UnreadableMessages) as caught:
        read_messages(value)
    assert str(caught.value) == message


def test_errors_call_the_value_as_the_caller_does():
    with pytest.raises(UnreadableMessages, match=r"^turns\[2\]\.output\[0\]\.role: "):
        read_messages([{"role": "robot"}], where="turns[2].output")


def test_the_dialect_is_decided_for_the_list_as_a_whole():
    stored = {"role": "assistant", "content": {"parts": []}}
    signal = {"role": "signal", "type": "user", "content": "hi"}
    assert said([stored, signal]) == [("assistant", ""), ("user", "hi")]
    with pytest.raises(UnreadableMessages, match=r"\[0\]\.role: unknown role 'signal'"):
        read_messages([signal])


def test_an_agents_input_comes_in_the_order_in_which_a_model_sees_it():
    value = {
        "inputMessages": [{"role": "user", "content": {"parts": [{"type": "text", "text": "now"}]}}],
        "rememberedMessages": [{"role": "user", "content": "before"}, {"role": "assistant", "content": "yes"}],
        "systemMessages": [{"role": "system", "content": "rules"}],
        "taggedSystemMessages": {"memory": [{"role": "system", "content": "facts"}], "other": ["more"]},
    }
    assert [(m.role, m.text) for m in read_input(value)] == [
        ("system", "rules"),
        ("system", "facts"),
        ("system", "more"),
        ("user", "before"),
        ("assistant", "yes"),
        ("user", "now"),
    ]


def test_part_of_an_agents_input_is_enough():
    assert [m.text for m in read_input({"systemMessages": ["rules"]})] == ["rules"]


def test_errors_in_an_agents_input_name_the_section():
    with pytest.raises(UnreadableMessages, match=r"^input\.rememberedMessages\[1\]: must be a message"):
        read_input({"inputMessages": [], "rememberedMessages": [{"role": "user"}, None]})
    with pytest.raises(
        UnreadableMessages, match=r"^input\.taggedSystemMessages\.m: must be a list of messages, got str$"
    ):
        read_input({"taggedSystemMessages": {"m": "x"}})
    with pytest.raises(UnreadableMessages, match=r"^input\.taggedSystemMessages: must be a mapping"):
        read_input({"taggedSystemMessages": ["x"]})


def test_a_chat_request_is_read_by_its_messages():
    request = {"model": "m", "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]}
    assert [(m.role, m.text) for m in read_input(request)] == [("system", "s"), ("user", "u")]


def test_other_mappings_are_what_the_user_gave():
    assert read_input({"city": "Bern"}) == (Message("user", (Data({"city": "Bern"}),)),)


@given(
    JSON | NEARLY_MESSAGES | st.lists(st.fixed_dictionaries({"role": WORDS, "content": NEARLY_MESSAGES}), max_size=4)
)
def test_reading_fails_only_with_its_own_error(value):
    for read in (read_messages, read_input):
        try:
            messages = read(value)
        except UnreadableMessages:
            continue
        assert all(isinstance(message.text, str) for message in messages)


@given(st.lists(st.sampled_from(["call", "answer", "text"]), max_size=20), st.lists(st.sampled_from("ab"), max_size=20))
def test_no_call_and_no_result_is_lost(kinds, ids):
    """Whatever the order: every call is there once, and every result is in a call or on its own."""
    value = []
    for number, (kind, id) in enumerate(zip(kinds, ids, strict=False)):
        call = {"id": id, "function": {"name": "f", "arguments": "{}"}}
        value.append({
            "call": {"role": "assistant", "content": None, "tool_calls": [call]},
            "answer": {"role": "tool", "tool_call_id": id, "content": str(number)},
            "text": {"role": "user", "content": str(number)},
        }[kind])  # fmt: skip
    parts = [part for message in read_messages(value) for part in message.parts if not isinstance(part, Text)]
    results = sorted(part.result for part in parts if part.result is not MISSING)
    assert results == sorted(m["content"] for m in value if m["role"] == "tool")
    assert sum(part.name == "f" for part in parts) == sum(m["role"] == "assistant" for m in value)


@pytest.mark.parametrize("domain", ["tau_airline", "tau_retail"])
def test_real_conversations_are_read_whole(domain):
    """Ids repeat within 19 of the 80 airline conversations; each call still gets the result that follows it."""
    repeated = 0
    for line in shared(f"data/{domain}/dev.jsonl").read_text(encoding="utf-8").splitlines():
        given = json.loads(line)["messages"]
        messages = read_messages(given)
        calls = [call for message in messages for call in message.tool_calls]
        asked = [call for message in given for call in message.get("tool_calls") or ()]
        answers = [message["content"] for message in given if message["role"] == "tool"]
        assert [call.name for call in calls] == [call["function"]["name"] for call in asked]
        assert [call.result for call in calls if call.state == "done"] == answers
        assert all(isinstance(call.args, dict) for call in calls)
        assert not any(message.role == "tool" for message in messages)
        assert [m.text for m in messages] == [m["content"] or "" for m in given if m["role"] != "tool"]
        repeated += len({call.id for call in calls}) < len(calls)
    assert domain != "tau_airline" or repeated == 19
