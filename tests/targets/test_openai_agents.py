"""Agents of the OpenAI Agents SDK, with models of its own kind that say what they are told to."""

import asyncio
import types
import warnings
from collections import Counter
from dataclasses import replace

import pytest
from agents import (
    Agent,
    FunctionTool,
    GuardrailFunctionOutput,
    RunConfig,
    RunContextWrapper,
    RunHooks,
    Runner,
    SQLiteSession,
    function_tool,
    input_guardrail,
    set_tracing_disabled,
)
from agents.testing import ScriptedModel, assistant_message
from openai.types.responses import ResponseFunctionWebSearch
from openai.types.responses.response_function_web_search import ActionSearch
from pydantic import BaseModel

from proctor import Item, Message, Text, ToolCall, Turn, checks, run_evals
from proctor.data.codec import dumps, loads
from proctor.data.message import Reasoning
from proctor.errors import UnknownName, UsageError
from proctor.running.target import as_target
from proctor.targets.openai_agents import OpenAIAgentsTarget
from tests.targets.openai_agents_model import FunctionModel, call, outputs, said_by_user, text, thought

ANY = [checks.max_tool_calls(9)]


class Forecast(BaseModel):
    city: str
    sky: str


@pytest.fixture(autouse=True)
def _nothing_is_traced():
    set_tracing_disabled(True)


def forecaster(items):
    """Calls the tool for the city that was named last, and then tells what came back."""
    back = outputs(items)
    if not back:
        asked = " ".join(said_by_user(items))
        city = max(("Rome", "Paris", "Brooklyn"), key=asked.rfind)
        return [thought("Which city?"), text("Let me see."), call("get_weather", {"city": city}, f"c{len(items)}")]
    return text(f"It is {back[-1]}.")


def agent(weather=lambda city: f"sunny in {city}", *, model=None, tool=None, **options):
    def get_weather(city: str) -> str:
        return weather(city)

    made = function_tool(get_weather, **(tool or {}))
    return Agent(name="Weather", model=model or FunctionModel(forecaster), tools=[made], **options)


def remembering(agent):
    return OpenAIAgentsTarget(agent, session=SQLiteSession)


async def one(target, given="What is the weather in Brooklyn?", **options):
    result = await run_evals(target=target, data=[Item(given, id="i")], scorers=ANY, **options)
    return result.items[0]


def untimed(message):
    return replace(
        message, parts=tuple(replace(it, duration_ms=None) if isinstance(it, ToolCall) else it for it in message.parts)
    )


async def test_an_agent_is_recognised_and_what_it_did_is_seen():
    assert isinstance(as_target(agent()), OpenAIAgentsTarget)
    row = await one(agent())
    (reply,) = row.replies
    assert reply.output[0].parts[2].duration_ms > 0
    assert [untimed(message) for message in reply.output] == [
        Message(
            "assistant",
            (
                Reasoning("Which city?"),
                Text("Let me see."),
                ToolCall("get_weather", {"city": "Brooklyn"}, id="c1", result="sunny in Brooklyn", state="done"),
            ),
        ),
        Message("assistant", (Text("It is sunny in Brooklyn."),)),
    ]
    assert (reply.usage.output_tokens, reply.usage.total_tokens) == (10, reply.usage.input_tokens + 10)


async def test_with_sessions_a_conversation_goes_on_and_is_forgotten_when_it_ends():
    target = remembering(agent())
    turns = [Turn("The weather in Rome?"), Turn("And tomorrow?", gates=[checks.includes("Rome")])]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = await run_evals(target=target, data=[Item(turns=turns)])
    assert result.verdict == "passed"
    first, second = result.items[0].replies
    assert second.usage.input_tokens > first.usage.input_tokens
    assert (len(second.output), target._sessions) == (2, {})


async def test_without_a_session_each_turn_is_on_its_own_and_a_warning_says_so_once():
    echo = FunctionModel(lambda items: text(" ".join(said_by_user(items))))
    data = [Item(inputs=["a", "b"], id="i"), Item(inputs=["c", "d"], id="j")]
    with pytest.warns(UserWarning, match=r"has no memory.*OpenAIAgentsTarget\(agent, session=SQLiteSession") as warned:
        result = await run_evals(target=agent(model=echo), data=data, scorers=ANY)
    assert len(warned) == 1
    assert [reply.output[0].text for row in result.items for reply in row.replies] == ["a", "b", "c", "d"]


async def test_two_hundred_conversations_at_once_see_only_their_own_history():
    seen = Counter()

    async def echo(items):
        await asyncio.sleep(0.001)
        said = said_by_user(items)
        seen[len({word.split("-")[0] for word in said})] += 1
        return text(" ".join(said))

    target = remembering(agent(model=FunctionModel(echo)))
    data = [Item(inputs=[f"{at}-a", f"{at}-b"], id=f"i{at}") for at in range(100)]
    result = await run_evals(target=target, data=data, repeats=2, concurrency=50, scorers=ANY)
    assert all(row.replies[1].output[0].text == f"{row.item.id[1:]}-a {row.item.id[1:]}-b" for row in result.items)
    assert (seen, target._sessions) == ({1: 400}, {})


# ── what goes wrong ────────────────────────────────────────────────────────────────────────────────────────────────


def broken(city):
    raise ValueError("the line is cut")


@pytest.mark.parametrize("traced", [True, False])
async def test_an_error_that_the_sdk_hides_is_seen_and_the_agent_is_told_what_it_would_be_told(traced):
    made = agent(broken)
    options = {"run_config": RunConfig(tracing_disabled=not traced)}
    row = await one(made, target_options=options)
    bare = await Runner.run(made, "What is the weather in Brooklyn?")
    shot = row.replies[0].output[0].parts[-1]
    assert (row.status, shot.state, shot.error) == ("done", "failed", "ValueError: the line is cut")
    assert "the line is cut" not in shot.result
    assert row.output[-1].text == bare.final_output


async def test_an_error_behind_a_function_of_ones_own_is_seen_too():
    row = await one(agent(broken, tool={"failure_error_function": lambda context, error: "Try later."}))
    shot = row.replies[0].output[0].parts[-1]
    assert (shot.result, shot.error, shot.state) == ("Try later.", "ValueError: the line is cut", "failed")
    assert row.output[-1].text == "It is Try later.."


async def test_a_tool_that_raises_is_an_error_of_the_item_with_what_was_said():
    row = await one(agent(broken, tool={"failure_error_function": None}))
    assert (row.status, "the line is cut" in row.error.message) == ("error", True)
    (reply,) = row.replies
    assert reply.output[0].text == "Let me see."
    assert (reply.output[0].parts[-1].state, reply.output[0].parts[-1].error) == (
        "failed",
        "ValueError: the line is cut",
    )
    assert reply.usage.output_tokens == 5
    assert loads(dumps(row)) == row


async def test_a_tool_that_takes_too_long_is_a_failed_one():
    async def slow(city: str) -> str:
        await asyncio.sleep(30)
        return city

    made = Agent(
        name="a",
        model=FunctionModel(forecaster),
        tools=[function_tool(slow, name_override="get_weather", timeout=0.02)],
    )
    row = await one(made)
    shot = row.replies[0].output[0].parts[-1]
    assert (row.status, shot.state, shot.error) == ("done", "failed", "given up before it ended")


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (call("nothing", {}, "c1"), "nothing"),
        (call("get_weather", {"city": "Rome"}, "c1"), "Max turns"),
    ],
    ids=["a tool that is not there", "turns without end"],
)
async def test_a_run_that_the_sdk_ends_keeps_what_was_said(answer, told):
    row = await one(agent(model=FunctionModel(lambda items: answer)), target_options={"max_steps": 2})
    assert (row.status, told in row.error.message) == ("error", True)
    assert row.replies[0].output[0].parts[0].name == answer.name


async def test_arguments_that_are_no_json_are_kept_as_they_were_written():
    def answer(items):
        return text("Sorry.") if outputs(items) else call("get_weather", '{"city": ', "c1")

    row = await one(agent(model=FunctionModel(answer)))
    shot = row.replies[0].output[0].parts[0]
    assert (row.status, shot.args, shot.state) == ("done", '{"city": ', "failed")
    assert "ModelBehaviorError" in shot.error


async def test_a_guardrail_that_trips_is_an_error_of_the_item():
    @input_guardrail
    async def never(context, agent, given):
        return GuardrailFunctionOutput(output_info=None, tripwire_triggered=True)

    row = await one(agent(input_guardrails=[never]))
    assert (row.status, row.error.type) == ("error", "InputGuardrailTripwireTriggered")


async def test_what_a_turn_did_before_its_model_broke_is_kept_and_a_further_try_begins_where_it_began():
    tries = []

    def answer(items):
        if outputs(items):
            tries.append(items)
            if len(tries) == 1:
                raise ConnectionError("lost")
        return forecaster(items)

    made = agent(model=FunctionModel(answer))
    row = await one(remembering(made), retries=0)
    assert (row.status, row.replies[0].output[0].parts[-1].result) == ("error", "sunny in Brooklyn")
    tries.clear()
    item = Item(inputs=["The weather in Rome?", "And tomorrow?"], id="i")
    retried = await run_evals(target=remembering(made), data=[item], scorers=ANY, retries=1)
    assert [reply.error for reply in retried.items[0].replies] == [None, None]
    assert said_by_user(tries[1]) == ["The weather in Rome?"]


async def test_a_tool_that_a_person_must_approve_of_is_an_error_that_says_so():
    row = await one(agent(tool={"needs_approval": True}))
    assert (row.error.code, "get_weather" in row.error.message) == ("NEEDS_APPROVAL", True)
    assert row.tool_report.not_run[0].name == "get_weather"


# ── what a run is told, and other kinds of answers ─────────────────────────────────────────────────────────────────


async def test_options_and_context_reach_the_run():
    seen, started = [], []

    class Hooks(RunHooks):
        async def on_tool_start(self, context, agent, tool):
            started.append(tool.name)

    @function_tool
    def get_weather(context: RunContextWrapper, city: str) -> str:
        seen.append(context.context)
        return city

    model = FunctionModel(forecaster)
    made = Agent(name="a", instructions="old", tools=[get_weather])
    options = {"model": model, "model_settings": {"temperature": 0.0}, "instructions": "Be brief.", "hooks": Hooks()}
    await run_evals(
        target=made,
        data=[Item("Rome?", request_context={"tenant": "acme"})],
        target_options=options,
        scorers=ANY,
    )
    instructions, settings, _ = model.asked[0]
    assert (instructions, settings.temperature, seen, started) == (
        "Be brief.",
        0.0,
        [{"tenant": "acme"}],
        ["get_weather"],
    )


async def test_an_option_that_nothing_takes_is_refused_before_anything_runs():
    with pytest.raises(UnknownName, match="Did you mean 'max_steps'"):
        await one(agent(), target_options={"max_step": 1})
    with pytest.raises(UnknownName, match="Did you mean 'temperature'"):
        await one(agent(), target_options={"model_settings": {"temprature": 0}})
    with pytest.raises(UsageError, match=r"max_steps'\] is a whole number, 1 or more, not '3'"):
        await one(agent(), target_options={"max_steps": "3"})
    with pytest.raises(UsageError, match=r"stream'\] is True or False"):
        await one(agent(), target_options={"stream": "yes"})
    with pytest.raises(UsageError, match=r"give OpenAIAgentsTarget\(agent, session=...\)"):
        await one(agent(), target_options={"session": SQLiteSession("x")})
    with pytest.raises(UsageError, match="which all conversations would share"):
        OpenAIAgentsTarget(agent(), session=SQLiteSession("x"))


def test_an_object_of_another_package_of_that_name_is_refused():
    kind = types.new_class("Desk")
    kind.__module__ = "agents.desk"
    with pytest.raises(UsageError, match="target is a Desk of a package `agents`, and no Agent of the OpenAI"):
        as_target(kind())


async def test_an_agent_that_answers_in_pieces_gives_the_same_reply():
    made = Agent(name="a", model=ScriptedModel([[assistant_message("It is noon.")]]))
    row = await one(made, target_options={"stream": True})
    assert [message.text for message in row.output] == ["It is noon."]


async def test_structured_output_is_the_reply_s():
    model = FunctionModel(lambda items: text('{"city": "Rome", "sky": "sunny"}'))
    row = await one(Agent(name="a", model=model, output_type=Forecast))
    assert row.replies[0].structured == {"city": "Rome", "sky": "sunny"}
    assert row.output[0].text == '{"city": "Rome", "sky": "sunny"}'


async def test_calls_at_the_provider_are_seen():
    search = ResponseFunctionWebSearch(
        id="w1", type="web_search_call", status="completed", action=ActionSearch(type="search", query="sun")
    )
    row = await one(Agent(name="a", model=FunctionModel(lambda items: [search, text("Sunny.")])))
    shot, said = row.output[0].parts
    assert (shot.name, shot.id, shot.state, shot.args["action"]["query"]) == ("web_search", "w1", "done", "sun")
    assert said == Text("Sunny.")


async def test_an_input_of_messages_is_the_history():
    model = FunctionModel(lambda items: text("ok"))
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
    await one(Agent(name="a", model=model), given)
    assert model.asked[0][2] == [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Let me see."},
        {"type": "function_call", "call_id": "x", "name": "clock", "arguments": '{"a": 1}'},
        {"type": "function_call_output", "call_id": "x", "output": "noon"},
        {"role": "user", "content": "Bye"},
    ]


async def test_handing_over_is_a_call_and_the_other_agent_is_gone_on_with():
    def first(items):
        return call("transfer_to_weather", {}, "h1")

    made = Agent(name="Triage", model=FunctionModel(first), handoffs=[agent(model=FunctionModel(after_handoff))])
    row = await one(made)
    handed, asked, said = row.output
    assert (handed.parts[0].name, handed.parts[0].state) == ("transfer_to_weather", "done")
    assert (asked.parts[-1].name, said.text) == ("get_weather", "It is sunny in Brooklyn.")


def after_handoff(items):
    back = [it["output"] for it in items if it.get("type") == "function_call_output" and "sunny" in str(it["output"])]
    return text(f"It is {back[-1]}.") if back else call("get_weather", {"city": "Brooklyn"}, "c9")


async def test_what_a_run_came_to_is_read_when_a_function_gives_it():
    made = agent()

    async def asked(question):
        return await Runner.run(made, question)

    result = await run_evals(target=asked, data=[Item("Rome?")], gates=[checks.called_tool("get_weather")])
    assert (result.verdict, result.items[0].replies[0].usage.output_tokens) == ("passed", 10)


async def test_the_agent_of_the_user_is_left_as_it_is():
    made = agent()
    tools, invoke = made.tools, made.tools[0].on_invoke_tool
    await one(made, unmocked="allow")
    assert made.tools is tools
    assert made.tools[0].on_invoke_tool is invoke
    assert isinstance(made.tools[0], FunctionTool)
