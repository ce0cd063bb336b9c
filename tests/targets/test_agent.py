"""An agent as a target: what it is asked, what it may give, and what it may not."""

import warnings

import pytest

from proctor import Item, ToolMock, checks, run_evals, scorer
from proctor.data.agent_reply import AgentReply
from proctor.data.message import Message, Text, ToolCall
from proctor.data.outcome import Origin
from proctor.data.reply import Reply
from proctor.data.usage import Cost, Usage
from proctor.testing import Scripted, ScriptedAgent


class Giving:
    """An agent that gives this, whatever it is asked."""

    def __init__(self, given):
        self.given = given

    async def generate(self, messages, **place):
        return self.given


@scorer(id="says")
def says(run):
    return run.text == "ok"


async def row(target, data=({"input": "x"},), **options):
    result = await run_evals(target=target, data=data, gates=[says], **options)
    return result.items[0]


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(AgentReply([Message("assistant", (Text("ok"),))]), id="a reply"),
        pytest.param(AgentReply("ok"), id="a reply of text"),
        pytest.param(AgentReply({"role": "assistant", "content": "ok"}), id="a reply of one mapping"),
        pytest.param(Reply(output="ok"), id="a reply as a callable gives it"),
        pytest.param([{"role": "assistant", "content": "ok"}], id="messages alone"),
        pytest.param("ok", id="text alone"),
    ],
)
async def test_an_agent_gives_a_reply_or_messages(given):
    assert (await row(Giving(given))).gates["says"].score == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        pytest.param(None, "Giving.generate gave None; return AgentReply", id="None"),
        pytest.param(AgentReply(None), "Giving.generate gave an AgentReply without messages", id="a reply of None"),
        pytest.param(AgentReply("ok", usage=5), "usage", id="a usage that is none"),
    ],
)
async def test_what_is_no_reply_is_an_error_of_the_item(given, message):
    found = await row(Giving(given))
    assert found.status == "error"
    assert message in found.error.message
    assert found.gates["says"].status == "not_run"


@pytest.mark.parametrize("given", [5, object(), AgentReply([{"role": "assistant", "content": 5}]), {"a": object()}])
async def test_garbage_is_an_outcome_of_whoever_reads_it(given):
    result = await run_evals(target=Giving(given), data=[{"input": "x"}], scorers=[checks.includes("ok")])
    (outcome,) = result.items[0].scorers
    assert result.items[0].status == "done"
    assert outcome.status == "error" or outcome.score == 0


async def test_a_reply_keeps_what_the_agent_says_of_it():
    given = AgentReply(
        "ok",
        Usage(input_tokens=1, output_tokens=2),
        Cost(amount=0.5, unit="USD", source="set"),
        {"a": 1},
        "stop",
        Origin(thread_id="own"),
    )
    (reply,) = (await row(Giving(given))).replies
    assert (reply.usage, reply.cost, reply.finish_reason) == (given.usage, given.cost, "stop")
    assert (reply.structured, reply.origin.thread_id) == ({"a": 1}, "own")


async def test_a_single_question_is_asked_on_the_callers_thread_with_the_callers_options():
    agent = ScriptedAgent("ok")
    memory = {"thread": "t", "resource": "r", "options": {"last": 5}}
    await row(agent, target_options={"memory": memory, "max_steps": 3}, request_context={"user": 1, "plan": "a"})
    (call,) = agent.calls
    assert (call.thread_id, call.resource_id) == ("t", "r")
    assert call.options == {"max_steps": 3, "memory": {"options": {"last": 5}}}
    assert call.request_context == {"user": 1, "plan": "a"}


async def test_a_single_question_has_no_thread_unless_one_is_named():
    agent = ScriptedAgent("ok")
    await row(agent)
    (call,) = agent.calls
    assert (call.thread_id, call.resource_id, call.options, call.request_context) == (None, None, None, None)


async def test_an_items_own_context_wins_by_key():
    agent = ScriptedAgent("ok")
    data = [Item("x", request_context={"plan": "b"})]
    await row(agent, data, request_context={"user": 1, "plan": "a"})
    assert agent.calls[0].request_context == {"user": 1, "plan": "b"}


async def test_an_agent_is_given_messages():
    agent = ScriptedAgent("ok")
    await row(agent, [Item([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}])])
    assert [(message.role, message.text) for message in agent.calls[0].messages] == [
        ("system", "Be brief."),
        ("user", "Hi"),
    ]


async def test_an_input_that_says_nothing_is_an_error_of_the_item():
    found = await row(ScriptedAgent("ok"), [Item(None)])
    assert (found.status, found.error.code) == ("error", "UNREADABLE_OUTPUT")


async def test_what_an_agent_raises_is_an_error_of_the_item():
    found = await row(ScriptedAgent([Scripted(throw=ConnectionError("down"))]))
    assert (found.status, found.error.type, found.error.message) == ("error", "ConnectionError", "down")


class Remembering:
    def __init__(self, memory):
        self.memory = memory

    async def generate(self, messages, **place):
        return AgentReply("ok")


@pytest.mark.parametrize("memory", [{}, [], True, "db"], ids=repr)
async def test_a_memory_that_is_empty_is_a_memory(memory):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        await row(Remembering(memory), [Item(inputs=["a", "b"])])


@pytest.mark.parametrize("memory", [None, False], ids=repr)
async def test_an_agent_without_memory_is_warned_of_where_there_are_conversations(memory):
    with pytest.warns(UserWarning, match="the target has no memory"):
        await row(Remembering(memory), [Item(inputs=["a", "b"])])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        await row(Remembering(memory))


async def test_an_agent_that_takes_the_toolbox_can_be_mocked():
    class Desk:
        async def generate(self, messages, *, toolbox, **told):
            result = await toolbox.call("pay", {"n": 1}, id="c1")
            call = ToolCall("pay", {"n": 1}, id="c1", result=result, state="done")
            return AgentReply([Message("assistant", (call,))])

    item = Item("Pay", tool_mocks=[ToolMock("pay", output="paid")], unmocked="deny")
    result = await run_evals(target=Desk(), data=[item], scorers=[checks.no_tool_errors()])
    assert [call.result for call in result.items[0].tool_report.served] == ["paid"]
    unmocked = await run_evals(target=Desk(), data=[Item("Pay")], scorers=[checks.no_tool_errors()])
    assert "there is no tool behind it" in unmocked.items[0].error.message
