"""Agents of pydantic-ai whose tools must not fire: mocks answer in their place."""

import pytest
from pydantic import BaseModel
from pydantic_ai import Agent, RunContext, ToolOutput
from pydantic_ai.capabilities import NativeTool
from pydantic_ai.messages import (
    ModelResponse,
    NativeToolCallPart,
    NativeToolReturnPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.native_tools import WebSearchTool

from proctor import Item, ToolMock, Turn, checks, rescore, run_evals

REFUND = {"order": 7, "reason": "broken"}
FIRED = []


class Decision(BaseModel):
    paid: bool


def clerk(messages, info):
    """Refunds what the user names, and says what came of it."""
    last = messages[-1].parts[-1]
    if not isinstance(last, ToolReturnPart):
        order = int(last.content.split()[-1])
        return ModelResponse(
            parts=[ToolCallPart("refund", {**REFUND, "order": order}, tool_call_id=f"c{len(messages)}")]
        )
    if info.output_tools:
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, {"paid": True})])
    return ModelResponse(parts=[TextPart(f"{last.outcome}: {last.content}")])


def agent(**options):
    made = Agent(FunctionModel(clerk), deps_type=dict, **options)

    @made.tool
    def refund(ctx: RunContext[dict], order: int, reason: str, note: str = "") -> str:
        FIRED.append(order)
        return f"refunded {order}"

    return made


@pytest.fixture(autouse=True)
def _nothing_fires():
    FIRED.clear()


async def run(item, **options):
    result = await run_evals(target=agent(**options), data=[item], scorers=[checks.max_tool_calls(9)])
    return result.items[0]


async def test_mocks_are_served_in_order_over_the_turns():
    mocks = [ToolMock("refund", REFUND, output="done once"), ToolMock("refund", REFUND, output={"ok": [1]})]
    row = await run(Item(turns=[Turn("Refund 7"), Turn("Again 7")], id="i", tool_mocks=mocks, unmocked="deny"))
    assert [reply.output[-1].text for reply in row.replies] == ["success: done once", "success: {'ok': [1]}"]
    assert [call.mock for call in row.tool_report.served] == [0, 1]
    assert (FIRED, row.tool_report.live, row.tool_report.unused) == ([], (), ())


async def test_the_arguments_are_compared_as_the_model_wrote_them():
    row = await run(Item("Refund 7", tool_mocks=[ToolMock("refund", {**REFUND, "note": ""}, output="x")]))
    assert (row.error.code, FIRED) == ("TOOL_MOCK_MISMATCH", [])


async def test_a_mock_that_fails_is_a_failed_tool_to_the_agent_which_goes_on():
    row = await run(Item("Refund 7", tool_mocks=[ToolMock("refund", error="the bank is closed")]))
    (call,) = row.tool_report.served
    assert (row.status, call.state, call.error, FIRED) == ("done", "failed", "the bank is closed", [])
    assert row.replies[0].output[-1].text == "failed: the bank is closed"


@pytest.mark.parametrize(
    ("mocks", "code"),
    [
        ([ToolMock("refund", {"order": 8}, output=1)], "TOOL_MOCK_MISMATCH"),
        ([ToolMock("other", output=1)], "TOOL_MOCK_NOT_DECLARED"),
        ([], "TOOL_MOCK_NOT_DECLARED"),
    ],
)
async def test_a_call_that_nothing_may_answer_ends_the_item_with_what_was_said(mocks, code):
    row = await run(Item("Refund 7", tool_mocks=mocks, unmocked="deny"))
    assert (row.status, row.error.code, FIRED) == ("error", code, [])
    assert row.replies[0].output[0].parts[0].name == "refund"
    assert {outcome.status for outcome in row.outcomes} == {"not_run"}


async def test_one_call_more_than_there_are_mocks_ends_the_item():
    turns = [Turn("Refund 7"), Turn("Again 7")]
    row = await run(Item(turns=turns, id="i", tool_mocks=[ToolMock("refund", output="once")]))
    assert (row.error.code, FIRED, len(row.replies)) == ("TOOL_MOCK_EXHAUSTED", [], 2)


async def test_a_tool_without_a_mock_is_live_where_it_may_be():
    row = await run(Item("Refund 7", tool_mocks=[ToolMock("other", output=1)]))
    assert (FIRED, [call.result for call in row.tool_report.live]) == ([7], ["refunded 7"])


async def test_the_tool_by_which_structured_output_comes_needs_no_mock():
    row = await run(
        Item("Refund 7", tool_mocks=[ToolMock("refund", output="ok")], unmocked="deny"), output_type=Decision
    )
    assert (row.status, row.replies[0].structured) == ("done", {"paid": True})


async def test_a_recorded_run_is_made_again_without_the_tool(tmp_path):
    data = [Item(turns=[Turn("Refund 7"), Turn("And 8")], id="i"), Item("Refund 9", id="j")]
    options = {"data": data, "scorers": [checks.includes("refunded")], "repeats": 2}
    live = await run_evals(target=agent(), record_tools=tmp_path / "t.jsonl", **options)
    assert len(FIRED) == 6
    again = await run_evals(target=agent(), replay_tools=tmp_path / "t.jsonl", **options)
    assert len(FIRED) == 6
    assert [row.output[-1].text for row in again.items] == [row.output[-1].text for row in live.items]
    assert (again.verdict, again.means[0].mean) == (live.verdict, live.means[0].mean)


async def test_an_agent_with_a_tool_of_the_provider_is_refused_where_only_mocks_may_answer():
    def searched(messages, info):
        call = NativeToolCallPart("web_search", {"query": "x"}, tool_call_id="n", provider_name="function")
        back = NativeToolReturnPart("web_search", "found", tool_call_id="n", provider_name="function")
        return ModelResponse(parts=[call, back, TextPart("done")])

    made = Agent(FunctionModel(searched), capabilities=[NativeTool(WebSearchTool())])
    options = {"target": made, "data": [Item("x")], "scorers": [checks.max_tool_calls(9)]}
    refused = await run_evals(**options, unmocked="deny")
    assert refused.items[0].error.code == "TOOL_MOCK_NOT_DECLARED"
    assert "web_search: no mock can answer" in refused.items[0].error.message
    (call,) = (await run_evals(**options)).items[0].output[0].tool_calls
    assert (call.name, call.args, call.result, call.state) == ("web_search", {"query": "x"}, "found", "done")


@pytest.mark.parametrize("wrap", [lambda it: it, lambda it: [it, str], ToolOutput], ids=["itself", "a list", "a tool"])
async def test_a_function_that_makes_the_output_is_refused_where_only_mocks_may_answer(wrap):
    def ship(order: int) -> str:
        FIRED.append(order)
        return "shipped"

    def out(messages, info):
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, {"order": 3})])

    made = Agent(FunctionModel(out), output_type=wrap(ship))
    options = {"target": made, "data": [Item("x")], "scorers": [checks.max_tool_calls(9)]}
    refused = await run_evals(**options, unmocked="deny")
    assert ("ship: no mock can answer" in refused.items[0].error.message, FIRED) == (True, [])
    await run_evals(**options)
    assert FIRED == [3]


@pytest.mark.parametrize("where", ["agent", "tool"])
async def test_a_mock_that_takes_longer_than_the_tool_may_fails_as_the_tool_would(where):
    made = Agent(FunctionModel(clerk), tool_timeout=0.02 if where == "agent" else None)
    made.tool_plain(lambda order, reason: "late", name="refund", timeout=0.02 if where == "tool" else None)
    item = Item("Refund 7", tool_mocks=[ToolMock("refund", output="late", delay=30)])
    result = await run_evals(target=made, data=[item], scorers=[checks.max_tool_calls(9)], timeout=10)
    (row,) = result.items
    assert (row.status, row.output[-1].text) == ("done", "failed: Timed out after 0.02 seconds.")
    assert row.tool_report.served[0].error == "Timed out after 0.02 seconds."


async def test_a_run_with_mocks_is_kept_scored_again_and_shown_with_its_report(tmp_path):
    store = str(tmp_path / "s.db")
    mocks = [
        ToolMock("refund", match=lambda args: args["order"] == 7, output="by a function"),
        ToolMock("other", output=1),
    ]
    data = [Item(turns=[Turn("Refund 7")], id="i", tool_mocks=mocks, unmocked="deny")]
    first = await run_evals(target=agent(), data=data, scorers=[checks.includes("function")], store=store)
    again = await rescore(first.run, scorers=[checks.called_tool("refund")], store=store)
    (row,) = again.items
    assert (again.means[0].mean, FIRED) == (1.0, [])
    assert ([call.mock for call in row.tool_report.served], [it.name for it in row.tool_report.unused]) == (
        [0],
        ["other"],
    )
