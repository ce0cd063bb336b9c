"""The agent that says what it is told."""

import pytest

from proctor import ToolCall, UsageError
from proctor.data.message import Message, Text
from proctor.data.usage import Cost, Usage
from proctor.testing import Scripted, ScriptedAgent


def said(text):
    return [Message("user", (Text(text),))]


async def answers(agent, *texts, **place):
    return [(await agent.generate(said(text), **place)).messages[0].text for text in texts]


async def test_replies_by_the_text_of_the_last_message():
    agent = ScriptedAgent({"Hi": "Hello!", "*": "Pardon?"})
    assert await answers(agent, "Hi", "Bye", "Hi") == ["Hello!", "Pardon?", "Hello!"]
    assert (await agent.generate([*said("Bye"), *said("Hi")])).messages[0].text == "Hello!"


async def test_replies_in_the_order_of_the_calls_whose_last_repeats():
    assert await answers(ScriptedAgent(["one", "two"]), "a", "b", "c") == ["one", "two", "two"]
    assert await answers(ScriptedAgent("always"), "a", "b") == ["always", "always"]


async def test_a_question_it_has_no_reply_to():
    with pytest.raises(UsageError, match="no reply to 'Bye', and none for '\\*'"):
        await answers(ScriptedAgent({"Hi": "Hello!"}), "Bye")


async def test_a_reply_says_all_that_a_reply_can_say():
    usage, cost = Usage(input_tokens=1, output_tokens=2), Cost(amount=0.5, unit="USD", source="set")
    scripted = Scripted("ok", usage=usage, cost=cost, structured={"a": 1}, finish_reason="stop")
    reply = await ScriptedAgent([scripted]).generate(said("x"))
    assert (reply.usage, reply.cost, reply.structured, reply.finish_reason) == (usage, cost, {"a": 1}, "stop")


async def test_tool_calls_come_before_the_text_and_are_in_the_state_they_ended_in():
    calls = [ToolCall("a", result=1), ToolCall("b", error="broke"), ToolCall("c"), ToolCall("d", state="denied")]
    (message,) = (await ScriptedAgent([Scripted("ok", calls)]).generate(said("x"))).messages
    assert [part.state for part in message.parts[:4]] == ["done", "failed", "called", "denied"]
    assert message.parts[4] == Text("ok")


@pytest.mark.parametrize(
    "reply", [ConnectionError("down"), Scripted(throw=ConnectionError("down"))], ids=["bare", "throw"]
)
async def test_an_exception_is_raised_and_the_call_is_remembered_as_a_call(reply):
    agent = ScriptedAgent([reply])
    with pytest.raises(ConnectionError, match="down"):
        await answers(agent, "x", thread_id="t")
    assert len(agent.calls) == 1
    assert not agent.threads


async def test_an_exception_that_is_raised_often_holds_only_the_last_time():
    agent = ScriptedAgent([ConnectionError("down")])
    lengths = []
    for _ in range(3):
        with pytest.raises(ConnectionError) as caught:
            await agent.generate(said("x"))
        lengths.append(len(caught.traceback))
    assert lengths[0] == lengths[2]


async def test_it_remembers_by_thread():
    agent = ScriptedAgent("ok")
    await answers(agent, "a", "b", thread_id="t1")
    await answers(agent, "c", thread_id="t2")
    await answers(agent, "d")
    assert {name: [one.text for one in thread] for name, thread in agent.threads.items()} == {
        "t1": ["a", "ok", "b", "ok"],
        "t2": ["c", "ok"],
    }


async def test_without_memory_it_remembers_nothing():
    agent = ScriptedAgent("ok", memory=False)
    await answers(agent, "a", thread_id="t1")
    assert not agent.threads


async def test_it_tells_what_it_was_asked():
    agent = ScriptedAgent("ok")
    await agent.generate(said("a"), thread_id="t", resource_id="r", options={"o": 1}, request_context={"c": 1})
    (call,) = agent.calls
    assert (call.messages[0].text, call.thread_id, call.resource_id) == ("a", "t", "r")
    assert (call.options, call.request_context) == ({"o": 1}, {"c": 1})


@pytest.mark.parametrize(
    ("replies", "message"),
    [
        pytest.param([], "needs at least one reply", id="no replies"),
        pytest.param({}, "needs at least one reply", id="an empty mapping"),
        pytest.param(None, "takes a list or mapping of replies, or one text, not None", id="None"),
        pytest.param(["a", 5], "reply 1 is a Scripted, a text or an exception to raise, not 5", id="a number"),
        pytest.param({"Hi": None}, "reply 'Hi' is a Scripted, a text or an exception", id="None as a reply"),
        pytest.param([ValueError], "reply 0 is a Scripted, a text or an exception", id="a class"),
    ],
)
def test_replies_that_cannot_be_given_are_refused_when_it_is_made(replies, message):
    with pytest.raises(UsageError, match=message):
        ScriptedAgent(replies)
