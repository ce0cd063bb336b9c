"""Mocks of tools: what they answer, and what is refused."""

import pytest

from proctor import Item, ToolCall, ToolMock, UsageError
from proctor.data.codec import dumps, loads
from proctor.data.item import item_from_mapping
from proctor.data.message import Message
from proctor.data.opaque import Opaque
from proctor.data.reply import ItemResult, Reply
from proctor.data.value import MISSING


@pytest.mark.parametrize(
    ("mock", "args", "answers"),
    [
        (ToolMock("t", {"a": 1, "b": [1, 2]}, output=0), {"b": [1, 2], "a": 1}, True),
        (ToolMock("t", {"b": [1, 2]}, output=0), {"b": [2, 1]}, False),
        (ToolMock("t", {"a": 1}, output=0), {"a": 1.0}, False),
        (ToolMock("t", {"a": 1}, output=0), {"a": True}, False),
        (ToolMock("t", {"a": 1}, output=0), {"a": 1, "b": 2}, False),
        (ToolMock("t", {}, output=0), {}, True),
        (ToolMock("t", {}, output=0), {"a": 1}, False),
        (ToolMock("t", output=0), {"a": 1}, True),
        (ToolMock("t", {"a": 1}, output=0, match="ignore"), {"a": 2}, True),
        (ToolMock("t", output=0, match=lambda args: args["a"] > 1), {"a": 2}, True),
        (ToolMock("t", output=0, match=lambda args: args["a"] > 1), {"a": 1}, False),
        (ToolMock("t", {"a": 1}, output=0), "no JSON", False),
    ],
)
def test_which_calls_a_mock_answers(mock, args, answers):
    assert (mock.apart(args) == []) is answers


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"name": "", "output": 1}, "name is the name of a tool"),
        ({"name": "pay"}, "ToolMock of pay: give output= (None is one) or error="),
        ({"name": "pay", "args": [1], "output": 1}, "args is a mapping"),
        ({"name": "pay", "error": 5}, "error is a text, not 5"),
        ({"name": "pay", "output": 1, "delay": -1}, "delay is a number of seconds"),
        ({"name": "pay", "output": 1, "delay": True}, "delay is a number of seconds"),
        ({"name": "pay", "output": 1, "match": "fuzzy"}, "match is 'strict', 'ignore' or a function"),
        ({"name": "pay", "args": {}, "output": 1, "match": bool}, "leave out args="),
        ({"name": "pay", "output": 1, "repeat": -1}, "repeat is the number of a repeat"),
        ({"name": "pay", "outputs": 1}, "no field of tool_mocks[0] 'outputs'. Did you mean 'output'?"),
        ({"output": 1}, "tool_mocks[0] has no name"),
        ("pay", "tool_mocks[0] must be a ToolMock or a mapping"),
    ],
)
def test_a_mock_that_cannot_be_right_is_refused(given, message):
    with pytest.raises(UsageError) as refused:
        item_from_mapping({"input": "x", "tool_mocks": [given, {"name": "a", "output": 1}]})
    assert message in str(refused.value)
    assert refused.value.code == "INVALID_DATA_ITEM"


def test_a_data_file_may_use_the_documents_names():
    row = {"input": "x", "toolMocks": [{"toolName": "pay", "args": {"n": 1}, "output": None, "matchArgs": "ignore"}]}
    assert item_from_mapping(row).tool_mocks == (ToolMock("pay", {"n": 1}, output=None, match="ignore"),)
    with pytest.raises(UsageError, match="Name it unmocked"):
        item_from_mapping({"input": "x", "unmockedToolPolicy": "deny"})


def test_a_mock_is_written_and_read_but_for_its_function():
    mock = ToolMock("pay", {"n": [1, None]}, error="down", delay=0.5, repeat=2)
    assert loads(dumps(mock)) == mock
    assert isinstance(loads(dumps(ToolMock("pay", output=1, match=lambda args: True))).match, Opaque)


def test_a_function_that_changes_the_arguments_changes_no_record():
    args = {"list": [1]}
    ToolMock("pay", output=1, match=lambda given: given["list"].append(2)).apart(args)
    assert args == {"list": [1]}


def test_the_report_says_what_was_served_what_was_live_and_what_was_left():
    mocks = [ToolMock("a", output=1), ToolMock("b", output=2), ToolMock("c", output=3, repeat=1)]
    served, live = (
        ToolCall("a", {}, result=1, state="done", mock=0),
        ToolCall("d", {}, result=4, state="done", duration_ms=2.0),
    )
    refused = ToolCall("e", {})
    row = ItemResult(
        item=Item("x", tool_mocks=mocks),
        item_id="x",
        replies=(Reply(output=[Message("assistant", (served, live, refused))]),),
    )
    report = row.tool_report
    assert (report.served, report.live, report.unused) == ((served,), (live,), (mocks[1],))
    assert report.not_run == (refused,)
    assert str(report) == "1 call answered by mocks, 1 live, 1 mock unused (b), 1 call not run"
    assert ItemResult(item=Item("x"), item_id="x", replies=(Reply(output=MISSING),)).tool_report.unused == ()
