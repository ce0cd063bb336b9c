"""Agents of LangChain and graphs of LangGraph, with chat models that say what they are told to."""

import asyncio
import warnings
from collections import Counter
from dataclasses import replace
from typing import TypedDict

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langchain_core.prompts import ChatPromptTemplate
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import interrupt
from pydantic import BaseModel

from proctor import Item, Message, Text, ToolCall, Turn, checks, run_evals
from proctor.data.codec import dumps, loads
from proctor.data.message import File, Reasoning
from proctor.errors import UnknownName, UsageError
from proctor.running.target import as_target
from proctor.targets.langgraph import LangGraphTarget
from tests.targets.langchain_model import FunctionModel, call, outputs, said_by_user

ANY = [checks.max_tool_calls(9)]


class Forecast(BaseModel):
    city: str
    sky: str


def forecaster(messages):
    """Calls the tool for the city that was named last, and then tells what came back."""
    back = outputs(messages)
    if not back:
        asked = " ".join(said_by_user(messages))
        city = max(("Rome", "Paris", "Brooklyn"), key=asked.rfind)
        return call("get_weather", {"city": city}, f"c{len(messages)}", words="Let me see.")
    usage = {"input_tokens": 20, "output_tokens": 5, "total_tokens": 25, "output_token_details": {"reasoning": 2}}
    return AIMessage(f"It is {back[-1]}.", usage_metadata=usage, response_metadata={"finish_reason": "stop"})


def agent(weather=lambda city: f"sunny in {city}", *, answer=forecaster, saver=True, **options):
    def get_weather(city: str) -> str:
        """The weather."""
        return weather(city)

    checkpointer = InMemorySaver() if saver else None
    return create_agent(FunctionModel(answer=answer), tools=[get_weather], checkpointer=checkpointer, **options)


async def one(target, given="What is the weather in Brooklyn?", **options):
    result = await run_evals(target=target, data=[Item(given, id="i")], scorers=ANY, **options)
    return result.items[0]


def untimed(message):
    return replace(
        message, parts=tuple(replace(it, duration_ms=None) if isinstance(it, ToolCall) else it for it in message.parts)
    )


@pytest.mark.parametrize("saver", [True, False], ids=["with a checkpointer", "without"])
async def test_an_agent_is_recognised_and_what_it_did_is_seen(saver):
    assert isinstance(as_target(agent()), LangGraphTarget)
    made = agent(saver=saver)
    row = await one(made)
    (reply,) = row.replies
    assert reply.output[0].parts[1].duration_ms > 0
    assert [untimed(message) for message in reply.output] == [
        Message(
            "assistant",
            (
                Text("Let me see."),
                ToolCall("get_weather", {"city": "Brooklyn"}, id="c1", result="sunny in Brooklyn", state="done"),
            ),
        ),
        Message("assistant", (Text("It is sunny in Brooklyn."),)),
    ]
    usage = reply.usage
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens, usage.reasoning_tokens) == (30, 10, 40, 2)
    assert reply.finish_reason == "stop"
    if saver:
        assert made.checkpointer.storage == {}  # nothing is left of a single question


async def test_with_a_checkpointer_a_conversation_goes_on_and_is_forgotten_when_it_ends():
    made = agent()
    turns = [Turn("The weather in Rome?"), Turn("And tomorrow?", gates=[checks.includes("Rome")])]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = await run_evals(target=made, data=[Item(turns=turns)])
    assert result.verdict == "passed"
    assert [len(reply.output) for reply in result.items[0].replies] == [2, 2]  # of each turn alone
    assert made.checkpointer.storage == {}


async def test_without_a_checkpointer_each_turn_is_on_its_own_and_a_warning_says_so_once():
    def echo(messages):
        return AIMessage(" ".join(said_by_user(messages)))

    data = [Item(inputs=["a", "b"], id="i"), Item(inputs=["c", "d"], id="j")]
    with pytest.warns(UserWarning, match=r"has no memory.*checkpointer=InMemorySaver") as warned:
        result = await run_evals(target=agent(answer=echo, saver=False), data=data, scorers=ANY)
    assert len(warned) == 1
    assert [reply.output[0].text for row in result.items for reply in row.replies] == ["a", "b", "c", "d"]


async def test_two_hundred_conversations_at_once_see_only_their_own_history():
    seen = Counter()

    async def echo(messages):
        await asyncio.sleep(0.001)
        said = said_by_user(messages)
        seen[len({word.split("-")[0] for word in said})] += 1
        return AIMessage(" ".join(said))

    made = agent(answer=echo)
    data = [Item(inputs=[f"{at}-a", f"{at}-b"], id=f"i{at}") for at in range(100)]
    result = await run_evals(target=made, data=data, repeats=2, concurrency=50, scorers=ANY)
    assert all(row.replies[1].output[0].text == f"{row.item.id[1:]}-a {row.item.id[1:]}-b" for row in result.items)
    assert (seen, made.checkpointer.storage) == ({1: 400}, {})


# ── what goes wrong ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("saver", [True, False], ids=["with a checkpointer", "without"])
async def test_a_tool_that_raises_is_an_error_of_the_item_with_what_was_said(saver):
    def broken(city):
        raise ValueError("the line is cut")

    row = await one(agent(broken, saver=saver))
    assert (row.status, row.error.type, row.error.message) == ("error", "ValueError", "the line is cut")
    (reply,) = row.replies
    assert reply.output[0].text == "Let me see."
    assert (reply.output[0].parts[1].state, reply.output[0].parts[1].error) == ("failed", "ValueError: the line is cut")
    assert reply.usage.output_tokens == 5
    assert loads(dumps(row)) == row


async def test_an_error_that_a_node_of_tools_handles_is_a_failed_call():
    def get_weather(city: str) -> str:
        """The weather."""
        raise ValueError("the line is cut")

    row = await one(graph_of(ToolNode([get_weather], handle_tool_errors=True)))
    shot = row.output[0].parts[-1]
    assert (row.status, shot.state, "the line is cut" in shot.error) == ("done", "failed", True)


def graph_of(tools, *, answer=forecaster, saver=None):
    """An agent built by hand: a node that asks the model, and a node of tools."""
    model = FunctionModel(answer=answer)

    async def ask(state: MessagesState):
        return {"messages": [await model.ainvoke(state["messages"])]}

    builder = StateGraph(MessagesState)
    builder.add_node("ask", ask)
    builder.add_node("tools", tools)
    builder.add_edge(START, "ask")
    builder.add_conditional_edges("ask", lambda state: "tools" if state["messages"][-1].tool_calls else END)
    builder.add_edge("tools", "ask")
    return builder.compile(checkpointer=saver)


async def test_arguments_that_are_no_json_are_kept_as_they_were_written():
    invalid = {"name": "get_weather", "args": '{"city": ', "id": "c1", "error": "no JSON", "type": "invalid_tool_call"}
    row = await one(agent(answer=lambda messages: AIMessage("Hm.", invalid_tool_calls=[invalid])))
    shot = row.output[0].parts[1]
    assert (shot.name, shot.args, shot.error, shot.state) == ("get_weather", '{"city": ', "no JSON", "failed")


async def test_a_graph_without_end_is_an_error_of_the_item_with_what_was_said():
    def again(messages):
        return call("get_weather", {"city": "Rome"}, f"c{len(messages)}")

    row = await one(agent(answer=again), target_options={"max_steps": 4})
    assert (row.status, row.error.type) == ("error", "GraphRecursionError")
    assert [part.result for part in row.replies[0].output[0].parts] == ["sunny in Rome"]


async def test_what_a_turn_did_before_its_model_broke_is_kept_and_a_further_try_begins_where_it_began():
    tries = []

    def answer(messages):
        if outputs(messages):
            tries.append(said_by_user(messages))
            if len(tries) in {1, 3}:
                raise ConnectionError("lost")
        return forecaster(messages)

    row = await one(agent(answer=answer))
    assert (row.status, row.replies[0].output[0].parts[-1].result) == ("error", "sunny in Brooklyn")
    tries.clear()
    item = Item(inputs=["The weather in Rome?", "And tomorrow?"], id="i")
    result = await run_evals(target=agent(answer=answer), data=[item], scorers=ANY, retries=1)
    assert [reply.error for reply in result.items[0].replies] == [None, None]
    first, both = ["The weather in Rome?"], ["The weather in Rome?", "And tomorrow?"]
    assert tries == [first, first, both, both]


async def test_a_turn_that_failed_before_it_began_takes_nothing_back_of_the_turns_before():
    class Refuses(InMemorySaver):
        refuses = 0

        async def aget_tuple(self, config):
            Refuses.refuses += 1
            if Refuses.refuses == 2:
                raise ConnectionError("lost")
            return await super().aget_tuple(config)

    def echo(messages):
        return AIMessage(" ".join(said_by_user(messages)))

    made = create_agent(FunctionModel(answer=echo), tools=[], checkpointer=Refuses())
    result = await run_evals(target=made, data=[Item(inputs=["a", "b"], id="i")], scorers=ANY, retries=1)
    assert [reply.output[0].text for reply in result.items[0].replies] == ["a", "a b"]


async def test_what_a_turn_did_before_it_ran_out_of_time_is_kept():
    async def slow(messages):
        if outputs(messages):
            await asyncio.sleep(60)
        return forecaster(messages)

    row = await one(agent(answer=slow), timeout=0.5)
    assert (row.error.code, row.replies[0].output[0].parts[1].result) == ("TIMEOUT", "sunny in Brooklyn")


async def test_a_graph_that_waits_for_a_person_is_an_error_that_says_for_what():
    def get_weather(city: str) -> str:
        """The weather."""
        return interrupt(f"May I look at {city}?")

    made = create_agent(FunctionModel(answer=forecaster), tools=[get_weather], checkpointer=InMemorySaver())
    row = await one(made)
    assert (row.error.code, row.error.message) == (
        "NEEDS_APPROVAL",
        "the graph waits for a person: May I look at Brooklyn?",
    )
    assert row.replies[0].output[0].text == "Let me see."


# ── what a run is told, and other kinds of graphs ──────────────────────────────────────────────────────────────────


class Tenant(TypedDict):
    tenant: str


async def test_options_and_context_reach_the_run():
    seen = []

    def look(state: MessagesState, config, runtime):
        seen.append((config["configurable"], runtime.context, config["tags"]))
        return {"messages": [AIMessage("ok")]}

    look.__annotations__.update(config=__import__("langchain_core.runnables").runnables.RunnableConfig)
    look.__annotations__.update(runtime=__import__("langgraph.runtime").runtime.Runtime)
    builder = StateGraph(MessagesState, context_schema=Tenant)
    builder.add_node("look", look)
    builder.add_edge(START, "look")
    await run_evals(
        target=builder.compile(checkpointer=InMemorySaver()),
        data=[Item(inputs=["Hi"], request_context={"tenant": "acme"})],
        target_options={"configurable": {"model": "m"}, "tags": ["t"], "memory": {"resource": "ann"}},
        scorers=ANY,
    )
    ((configurable, context, tags),) = seen
    assert (configurable["tenant"], configurable["model"], configurable["resource_id"]) == ("acme", "m", "ann")
    assert (len(configurable["thread_id"]), context, tags) == (36, {"tenant": "acme"}, ["t"])


async def test_an_option_that_nothing_takes_is_refused_before_anything_runs():
    with pytest.raises(UnknownName, match="Did you mean 'max_steps'"):
        await one(agent(), target_options={"max_step": 1})
    with pytest.raises(UsageError, match="a compiled graph has its own"):
        await one(agent(), target_options={"model": "m"})


def test_what_is_no_graph_is_refused_with_what_to_give():
    with pytest.raises(UsageError, match=r"not compiled: give the graph that its .compile\(\) makes"):
        as_target(StateGraph(MessagesState))
    for thing in (FunctionModel(answer=forecaster), ChatPromptTemplate([("user", "{x}")])):
        with pytest.raises(UsageError, match="neither an agent nor a compiled graph"):
            as_target(thing)


async def test_an_agent_that_answers_in_pieces_gives_the_same_reply():
    row = await one(agent(), target_options={"stream": True})
    assert row.output[-1].text == "It is sunny in Brooklyn."
    assert row.tool_report.live[0].result == "sunny in Brooklyn"


async def test_structured_output_is_the_reply_s_and_no_tool_call():
    def answer(messages):
        back = outputs(messages)
        return call("Forecast", {"city": "Rome", "sky": "sunny"}, "f1") if back else forecaster(messages)

    row = await one(agent(answer=answer, response_format=Forecast))
    assert row.replies[0].structured == {"city": "Rome", "sky": "sunny"}
    assert [part.name for message in row.output for part in message.tool_calls] == ["get_weather"]
    assert '"sky":"sunny"' in row.output[-1].text.replace(" ", "")


async def test_a_graph_of_another_state_takes_and_gives_that():
    class Sum(TypedDict):
        a: int
        total: int

    builder = StateGraph(Sum)
    builder.add_node("add", lambda state: {"total": state["a"] + 1})
    builder.add_edge(START, "add")
    result = await run_evals(target=builder.compile(), data=[Item({"a": 2})], scorers=[checks.includes('"total":3')])
    assert result.items[0].output == {"a": 2, "total": 3}
    assert result.means[0].mean == 1.0


async def test_messages_that_a_graph_takes_out_again_were_said_all_the_same():
    def speak(state: MessagesState):
        return {"messages": [AIMessage("first", id="a1")]}

    def cut(state: MessagesState):
        gone = [RemoveMessage(id=message.id) for message in state["messages"]]
        return {"messages": [*gone, AIMessage("second", id="a2")]}

    builder = StateGraph(MessagesState)
    builder.add_node("speak", speak)
    builder.add_node("cut", cut)
    builder.add_edge(START, "speak")
    builder.add_edge("speak", "cut")
    row = await one(builder.compile())
    assert [message.text for message in row.output] == ["first", "second"]


async def test_contents_of_several_parts_come_in_their_order():
    content = [
        {"type": "reasoning", "reasoning": "Hm."},
        {"type": "text", "text": "See "},
        {"type": "image", "url": "https://a.example/x.png", "mime_type": "image/png"},
        {"type": "text", "text": "this."},
    ]
    row = await one(agent(answer=lambda messages: AIMessage(content=content)))
    assert row.output[0].parts == (
        Reasoning("Hm."),
        Text("See "),
        File("https://a.example/x.png", "image/png"),
        Text("this."),
    )


async def test_an_input_of_messages_is_the_history():
    asked = []

    def look(messages):
        asked.append([(message.type, message.content, getattr(message, "tool_calls", None)) for message in messages])
        return AIMessage("ok")

    given = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Hi"},
        {
            "role": "assistant",
            "content": "Let me see.",
            "tool_calls": [{"id": "x", "type": "function", "function": {"name": "clock", "arguments": '{"a": 1}'}}],
        },
        {"role": "tool", "tool_call_id": "x", "content": "noon"},
        {"role": "user", "content": "Bye"},
    ]
    row = await one(agent(answer=look), given)
    assert [(kind, text) for kind, text, _ in asked[0]] == [
        ("system", "Be kind."),
        ("human", "Hi"),
        ("ai", "Let me see."),
        ("tool", "noon"),
        ("human", "Bye"),
    ]
    assert asked[0][2][2][0]["args"] == {"a": 1}
    assert [message.text for message in row.output] == ["ok"]


@pytest.mark.parametrize("give", [lambda state: state, lambda state: state["messages"]], ids=["the state", "messages"])
async def test_what_a_graph_came_to_is_read_when_a_function_gives_it(give):
    made = agent(saver=False)

    async def asked(question):
        return give(await made.ainvoke({"messages": [HumanMessage(question)]}))

    result = await run_evals(target=asked, data=[Item("Rome?")], gates=[checks.called_tool("get_weather")])
    assert (result.verdict, result.items[0].replies[0].usage.output_tokens) == ("passed", 10)
    assert [message.text for message in result.items[0].output] == ["Let me see.", "It is sunny in Rome."]
