"""Graphs of LangGraph whose tools must not fire: mocks answer in their place."""

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import wrap_tool_call
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

from proctor import Item, ToolMock, Turn, checks, run_evals
from proctor.targets.langgraph import LangGraphTarget
from tests.targets.langchain_model import FunctionModel, call, outputs, said_by_user

REFUND = {"order": 7, "reason": "broken"}
FIRED = []
ANY = [checks.max_tool_calls(9)]


@pytest.fixture(autouse=True)
def _nothing_fires():
    FIRED.clear()


@tool
def refund(order: int, reason: str) -> str:
    """Pay back."""
    FIRED.append(order)
    return f"refunded {order}"


def clerk(messages):
    back = outputs(messages)
    if back:
        return AIMessage(f"Said: {back[-1]}")
    order = int(said_by_user(messages)[-1].split()[-1])
    return call("refund", {**REFUND, "order": order}, f"c{len(messages)}")


def agent(**options):
    return create_agent(FunctionModel(answer=clerk), tools=[refund], checkpointer=InMemorySaver(), **options)


def nested():
    """The agent as a node of another graph."""
    builder = StateGraph(MessagesState)
    builder.add_node("desk", create_agent(FunctionModel(answer=clerk), tools=[refund]))
    builder.add_edge(START, "desk")
    return builder.compile(checkpointer=InMemorySaver())


async def run(item, made=None, **options):
    result = await run_evals(target=made or agent(), data=[item], scorers=ANY, **options)
    return result.items[0]


@pytest.mark.parametrize("make", [agent, nested])
async def test_mocks_are_served_in_order_over_the_turns(make):
    mocks = [ToolMock("refund", REFUND, output="done once"), ToolMock("refund", REFUND, output={"ok": ["é"]})]
    row = await run(Item(turns=[Turn("Refund 7"), Turn("Again 7")], id="i", tool_mocks=mocks, unmocked="deny"), make())
    assert [reply.output[-1].text for reply in row.replies] == ["Said: done once", 'Said: {"ok": ["é"]}']
    assert [shot.mock for shot in row.tool_report.served] == [0, 1]
    assert (FIRED, row.tool_report.live, row.tool_report.unused) == ([], (), ())


async def test_a_mock_that_fails_is_a_failed_tool_to_the_agent_which_goes_on():
    row = await run(Item("Refund 7", tool_mocks=[ToolMock("refund", error="the bank is closed")]))
    (shot,) = row.tool_report.served
    assert (row.status, shot.state, shot.error, FIRED) == ("done", "failed", "the bank is closed", [])
    assert row.output[-1].text == "Said: the bank is closed"


@pytest.mark.parametrize("make", [agent, nested])
@pytest.mark.parametrize(
    ("mocks", "code"),
    [
        ([ToolMock("refund", {"order": 8}, output=1)], "TOOL_MOCK_MISMATCH"),
        ([ToolMock("other", output=1)], "TOOL_MOCK_NOT_DECLARED"),
        ([], "TOOL_MOCK_NOT_DECLARED"),
    ],
)
async def test_a_call_that_nothing_may_answer_ends_the_item(mocks, code, make):
    row = await run(Item("Refund 7", tool_mocks=mocks, unmocked="deny"), make())
    assert (row.status, row.error.code, FIRED) == ("error", code, [])


async def test_what_was_said_before_a_call_that_nothing_may_answer_is_kept():
    row = await run(Item("Refund 7", unmocked="deny"))
    assert [part.name for part in row.replies[0].output[0].parts] == ["refund"]
    assert row.tool_report.not_run[0].name == "refund"


async def test_one_call_more_than_there_are_mocks_ends_the_item():
    turns = [Turn("Refund 7"), Turn("Again 7")]
    row = await run(Item(turns=turns, id="i", tool_mocks=[ToolMock("refund", output="once")]))
    assert (row.error.code, FIRED, len(row.replies)) == ("TOOL_MOCK_EXHAUSTED", [], 2)


async def test_middleware_sees_a_mocked_call_as_it_would_a_live_one():
    seen = []

    @wrap_tool_call
    async def watch(request, handler):
        made = await handler(request)
        seen.append((request.tool_call["name"], made.content))
        return made

    row = await run(Item("Refund 7", tool_mocks=[ToolMock("refund", output="paid")]), agent(middleware=[watch]))
    assert (seen, row.output[-1].text, FIRED) == ([("refund", "paid")], "Said: paid", [])


def by_hand():
    def pay(state: MessagesState):
        return {"messages": [AIMessage(refund.invoke(REFUND))]}

    async def pay_async(state: MessagesState):
        return {"messages": [AIMessage(await refund.ainvoke(REFUND))]}

    graphs = []
    for node in (pay, pay_async):
        builder = StateGraph(MessagesState)
        builder.add_node("pay", node)
        builder.add_edge(START, "pay")
        graphs.append(builder.compile())
    return graphs


@pytest.mark.parametrize("way", [0, 1], ids=["sync", "async"])
async def test_a_tool_that_a_node_calls_by_itself_is_refused_where_a_mock_should_have_answered(way):
    for item in (Item("x", unmocked="deny"), Item("x", tool_mocks=[ToolMock("refund", output="paid")])):
        row = await run(item, by_hand()[way])
        assert (row.status, row.error.code, FIRED) == ("error", "TOOL_MOCK_NOT_DECLARED", [])
        assert "refund was called past the mocks" in row.error.message
    assert (await run(Item("x"), by_hand()[way])).output[0].text == "refunded 7"


async def test_a_recorded_run_is_made_again_without_the_tool(tmp_path):
    data = [Item(turns=[Turn("Refund 7"), Turn("And 8")], id="i"), Item("Refund 9", id="j")]
    options = {"data": data, "scorers": [checks.includes("refunded")], "repeats": 2}
    live = await run_evals(target=agent(), record_tools=tmp_path / "t.jsonl", **options)
    assert len(FIRED) == 6
    again = await run_evals(target=agent(), replay_tools=tmp_path / "t.jsonl", **options)
    assert len(FIRED) == 6
    assert [row.output[-1].text for row in again.items] == [row.output[-1].text for row in live.items]


async def test_the_graph_of_the_user_is_left_as_it_is():
    made = agent()
    bound, wrapper = made.nodes["tools"].bound, made.nodes["tools"].bound._awrap_tool_call
    await run(Item("Refund 7", tool_mocks=[ToolMock("refund", output="paid")]), made)
    assert made.nodes["tools"].bound is bound
    assert bound._awrap_tool_call is wrapper


@wrap_tool_call
def loud(request, handler):
    made = handler(request)
    made.content = made.content.upper()
    return made


class OnlySync(InMemorySaver):
    """A checkpointer without its async side, as SqliteSaver is."""

    async def aget_tuple(self, config):
        raise NotImplementedError("this saver is not async")


async def test_a_graph_that_is_not_async_is_run_on_a_thread_and_mocked_there_too():
    made = create_agent(FunctionModel(answer=clerk), tools=[refund], checkpointer=OnlySync(), middleware=[loud])
    mocks = [ToolMock("refund", output="paid"), ToolMock("refund", error="closed")]
    item = Item(turns=[Turn("Refund 7"), Turn("Again 8")], id="i", tool_mocks=mocks, unmocked="deny")
    row = await run(item, LangGraphTarget(made, sync=True))
    assert [reply.output[-1].text for reply in row.replies] == ["Said: PAID", "Said: CLOSED"]
    assert (FIRED, [shot.mock for shot in row.tool_report.served]) == ([], [0, 1])
    live = await run(Item("Refund 9"), LangGraphTarget(made, sync=True))
    assert (live.output[-1].text, FIRED, live.tool_report.live[0].duration_ms > 0) == ("Said: REFUNDED 9", [9], True)
    denied = await run(Item("Refund 9", unmocked="deny"), LangGraphTarget(made, sync=True))
    assert (denied.error.code, FIRED) == ("TOOL_MOCK_NOT_DECLARED", [9])
    assert "target=LangGraphTarget(graph, sync=True)" in (await run(Item("Refund 9"), made)).error.message
