"""Agents of the OpenAI Agents SDK whose tools must not fire: mocks answer in their place."""

import pytest
from agents import Agent, FunctionTool, SQLiteSession, WebSearchTool, function_tool, handoff, set_tracing_disabled
from agents.mcp import MCPServer
from mcp.types import CallToolResult, TextContent
from mcp.types import Tool as MCPTool

from proctor import Item, ToolMock, Turn, checks, run_evals
from proctor.targets.openai_agents import OpenAIAgentsTarget
from tests.targets.openai_agents_model import FunctionModel, call, outputs, said_by_user, text

REFUND = {"order": 7, "reason": "broken"}
FIRED = []
ANY = [checks.max_tool_calls(9)]


@pytest.fixture(autouse=True)
def _nothing_fires_and_nothing_is_traced():
    FIRED.clear()
    set_tracing_disabled(True)


@function_tool
def refund(order: int, reason: str) -> str:
    FIRED.append(order)
    return f"refunded {order}"


async def invoked(context, arguments):
    FIRED.append(arguments)
    return "refunded"


SCHEMA = {"type": "object", "properties": {"order": {"type": "integer"}, "reason": {"type": "string"}}}
OWN = FunctionTool("refund", "", SCHEMA, invoked, strict_json_schema=False)


def clerk(items):
    back = outputs(items)
    if back:
        return text(f"Said: {back[-1]}")
    order = int(said_by_user(items)[-1].split()[-1])
    return call("refund", {**REFUND, "order": order}, f"c{len(items)}")


def agent(tool=refund, **options):
    return Agent(name="Desk", model=FunctionModel(clerk), tools=[tool], **options)


async def run(item, made=None, **options):
    target = OpenAIAgentsTarget(made or agent(), session=SQLiteSession)
    result = await run_evals(target=target, data=[item], scorers=ANY, **options)
    return result.items[0]


async def test_mocks_are_served_in_order_over_the_turns():
    mocks = [ToolMock("refund", REFUND, output="done once"), ToolMock("refund", REFUND, output={"ok": [1]})]
    row = await run(Item(turns=[Turn("Refund 7"), Turn("Again 7")], id="i", tool_mocks=mocks, unmocked="deny"))
    assert [reply.output[-1].text for reply in row.replies] == ["Said: done once", "Said: {'ok': [1]}"]
    assert [shot.mock for shot in row.tool_report.served] == [0, 1]
    assert (FIRED, row.tool_report.live, row.tool_report.unused) == ([], (), ())


@pytest.mark.parametrize(
    ("tool", "told"), [(refund, "An error occurred"), (OWN, "the bank is closed")], ids=["of a function", "of its own"]
)
async def test_a_mock_that_fails_is_to_the_agent_what_a_failing_tool_is_and_it_goes_on(tool, told):
    row = await run(Item("Refund 7", tool_mocks=[ToolMock("refund", error="the bank is closed")]), agent(tool))
    (shot,) = row.tool_report.served
    assert (row.status, shot.state, shot.error, FIRED) == ("done", "failed", "the bank is closed", [])
    assert row.output[-1].text.startswith(f"Said: {told}")


@pytest.mark.parametrize("tool", [refund, OWN], ids=["of a function", "of its own"])
@pytest.mark.parametrize(
    ("mocks", "code"),
    [
        ([ToolMock("refund", {"order": 8}, output=1)], "TOOL_MOCK_MISMATCH"),
        ([ToolMock("other", output=1)], "TOOL_MOCK_NOT_DECLARED"),
        ([], "TOOL_MOCK_NOT_DECLARED"),
    ],
)
async def test_a_call_that_nothing_may_answer_ends_the_turn_at_once(mocks, code, tool):
    made = agent(tool)
    row = await run(Item("Refund 7", tool_mocks=mocks, unmocked="deny"), made)
    assert (row.status, row.error.code, FIRED) == ("error", code, [])
    assert [part.name for part in row.replies[0].output[0].parts] == ["refund"]
    assert len(made.model.asked) == 1  # the model is not asked again


async def test_one_call_more_than_there_are_mocks_ends_the_item():
    turns = [Turn("Refund 7"), Turn("Again 7")]
    row = await run(Item(turns=turns, id="i", tool_mocks=[ToolMock("refund", output="once")]))
    assert (row.error.code, FIRED, len(row.replies)) == ("TOOL_MOCK_EXHAUSTED", [], 2)


@pytest.mark.parametrize("wrap", [lambda it: it, handoff], ids=["agent", "handoff"])
async def test_the_tools_of_agents_that_are_handed_over_to_are_mocked_also_in_circles(wrap):
    desk = agent()
    triage = Agent(
        name="Triage", model=FunctionModel(lambda items: call("transfer_to_desk", {}, "h")), handoffs=[wrap(desk)]
    )
    desk.handoffs = [triage]
    desk.model = FunctionModel(lambda items: text("Done.") if "paid" in str(items) else call("refund", REFUND, "c1"))
    row = await run(Item("Refund 7", tool_mocks=[ToolMock("refund", output="paid")], unmocked="allow"), triage)
    assert (row.output[-1].text, FIRED, len(row.tool_report.served)) == ("Done.", [], 1)


async def test_an_agent_as_a_tool_is_one_tool():
    outer = Agent(name="Boss", model=FunctionModel(asks), tools=[agent().as_tool("desk", "The desk")])
    row = await run(Item("Refund 7", tool_mocks=[ToolMock("desk", output="paid")], unmocked="deny"), outer)
    assert (row.output[-1].text, FIRED) == ("Said: paid", [])
    denied = await run(Item("Refund 7", unmocked="deny"), outer)
    assert (denied.error.code, FIRED) == ("TOOL_MOCK_NOT_DECLARED", [])


def asks(items):
    return text(f"Said: {outputs(items)[-1]}") if outputs(items) else call("desk", {"input": "Refund 7"}, "d1")


async def test_tools_that_run_elsewhere_are_refused_where_only_mocks_may_answer():
    made = Agent(name="a", model=FunctionModel(lambda items: text("ok")), tools=[WebSearchTool()])
    row = await run(Item("x", unmocked="deny"), made)
    assert row.error.code == "TOOL_MOCK_NOT_DECLARED"
    assert "web_search: no mock can answer" in row.error.message
    assert (await run(Item("x"), made)).status == "done"


@pytest.mark.parametrize("wrap", [lambda it: it, handoff], ids=["agent", "handoff"])
async def test_so_are_those_of_an_agent_that_is_handed_over_to(wrap):
    searcher = Agent(name="Search", model=FunctionModel(lambda items: text("ok")), tools=[WebSearchTool()])
    triage = FunctionModel(lambda items: call("transfer_to_search", {}, "h"))
    made = Agent(name="Triage", model=triage, handoffs=[wrap(searcher)])
    row = await run(Item("x", unmocked="deny"), made)
    assert (row.status, row.error.code) == ("error", "TOOL_MOCK_NOT_DECLARED")
    assert (await run(Item("x"), made)).output[-1].text == "ok"


async def test_a_recorded_run_is_made_again_without_the_tool(tmp_path):
    data = [Item(turns=[Turn("Refund 7"), Turn("And 8")], id="i"), Item("Refund 9", id="j")]
    options = {"data": data, "scorers": [checks.includes("refunded")], "repeats": 2}
    target = OpenAIAgentsTarget(agent(), session=SQLiteSession)
    live = await run_evals(target=target, record_tools=tmp_path / "t.jsonl", **options)
    assert len(FIRED) == 6
    again = await run_evals(target=target, replay_tools=tmp_path / "t.jsonl", **options)
    assert len(FIRED) == 6
    assert [row.output[-1].text for row in again.items] == [row.output[-1].text for row in live.items]


async def test_what_the_sdk_hid_is_hidden_from_the_agent_again_when_it_is_replayed(tmp_path):
    @function_tool(name_override="refund")
    def broken(order: int, reason: str) -> str:
        FIRED.append(order)
        raise KeyError("card")

    path = tmp_path / "t.jsonl"
    live = await run(Item("Refund 7", id="i"), agent(broken), record_tools=path)
    again = await run(Item("Refund 7", id="i"), agent(broken), replay_tools=path)
    assert again.output[-1].text == live.output[-1].text
    for row in (live, again):
        shot = row.output[0].parts[0]
        assert (shot.error, shot.state, "card" in shot.result) == ("KeyError: 'card'", "failed", False)
    assert FIRED == [7]


class Desk(MCPServer):
    """A server of one tool, in this process."""

    name = "desk"
    session_id = None

    async def connect(self): ...

    async def cleanup(self): ...

    async def list_prompts(self): ...

    async def get_prompt(self, name, arguments=None): ...

    async def list_tools(self, run_context=None, agent=None):
        return [MCPTool(name="refund", description="Pay back", inputSchema=SCHEMA)]

    async def call_tool(self, tool_name, arguments, meta=None):
        FIRED.append(arguments["order"])
        return CallToolResult(content=[TextContent(type="text", text="refunded by the server")])


async def test_the_tools_of_a_server_of_tools_are_mocked_too():
    made = Agent(name="Desk", model=FunctionModel(clerk), mcp_servers=[Desk()])
    row = await run(Item("Refund 7", tool_mocks=[ToolMock("refund", REFUND, output="paid")], unmocked="deny"), made)
    assert (row.output[-1].text, FIRED) == ("Said: paid", [])
    row = await run(Item("Refund 7"), made)
    assert (FIRED, row.tool_report.live[0].name) == ([7], "refund")
    assert "refunded by the server" in row.output[-1].text
