"""Messages: what is text, what is a call, and what is a tool error."""

import pytest

from proctor.data.message import Data, File, Message, Reasoning, Text, ToolCall
from proctor.data.value import MISSING
from proctor.errors import EncodingError

# ── text ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_message_s_text_is_all_its_text_parts_in_order():
    parts = (Reasoning("hm"), Text("It is "), ToolCall("clock"), File(b"x"), Text("noon."), Data(1, "data-x"))
    assert Message("assistant", parts).text == "It is noon."
    assert Message("assistant").text == ""
    assert Message("assistant", (Text("one"),)).text == "one"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": None}, '{"a":null,"b":1}'),
        ([1, 2], "[1,2]"),
        ("plain", "plain"),
        (None, "null"),
        (0, "0"),
        ("", ""),
    ],
)
def test_a_value_that_is_the_message_is_its_text(value, text):
    assert Message("assistant", (Data(value),)).text == text


def test_an_object_without_a_plain_form_has_no_text():
    with pytest.raises(EncodingError, match="has no plain form"):
        Message("assistant", (Data(object()),)).text  # noqa: B018 - asking for it raises


# ── calls ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("state", "made"), [("partial", False), ("called", True), ("done", True), ("failed", True), ("denied", False)]
)
def test_a_call_counts_when_it_was_made(state, made):
    call = ToolCall("search", state=state)
    assert call.made is made
    assert Message("assistant", (call, Text("x"))).tool_calls == ((call,) if made else ())


def test_a_call_without_a_name_does_not_count():
    assert not ToolCall("", state="done").made


def test_calls_keep_their_order():
    calls = tuple(ToolCall(name) for name in "bab")
    assert Message("assistant", (calls[0], Text("x"), *calls[1:])).tool_calls == calls


def test_none_is_a_result():
    assert ToolCall("f").result is MISSING
    assert ToolCall("f", result=None, state="done").result is None


# ── tool errors ────────────────────────────────────────────────────────────────────────────────────────────────────

SAYS_ERROR = [
    {"error": "no such user"},
    {"error": {"code": 1}},
    {"is_error": True, "content": "x"},
    {"isError": 1},
    '{"error": "no such user"}',
    '  {"isError": true}',
]
SAYS_NONE = [
    MISSING,
    None,
    "",
    "fine",
    "an Error: in the middle",
    "Errors: 0",
    {"error": None, "rows": []},
    {"error": "", "is_error": False, "isError": 0},
    {"errors": ["x"]},
    ["error"],
    '{"error": null}',
    '{"error": broken json',
    '["error"]',
    '{"note": "\\"error\\""}',
    '{"error": ' + "[" * 100_000,
    0,
]
TEXT_ERRORS = ["Error: no such user", "error: x", "ERROR:"]


@pytest.mark.parametrize("result", SAYS_ERROR + TEXT_ERRORS, ids=repr)
def test_a_result_that_says_error_is_a_tool_error(result):
    assert ToolCall("f", result=result, state="done").is_error()


@pytest.mark.parametrize("result", SAYS_NONE, ids=lambda it: repr(it)[:30])
def test_other_results_are_no_tool_errors(result):
    assert not ToolCall("f", result=result, state="done").is_error()


@pytest.mark.parametrize("result", TEXT_ERRORS)
def test_text_that_starts_with_error_can_be_left_out(result):
    assert not ToolCall("f", result=result, state="done").is_error(text=False)


@pytest.mark.parametrize("result", SAYS_ERROR, ids=repr)
def test_what_says_error_in_data_is_never_left_out(result):
    assert ToolCall("f", result=result, state="done").is_error(text=False)


@pytest.mark.parametrize("state", ["called", "failed"])
def test_a_call_that_never_completed_or_failed_is_a_tool_error(state):
    assert ToolCall("f", result="fine", state=state).is_error()
    assert ToolCall("f", state=state).is_error(text=False)
