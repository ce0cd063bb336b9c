"""Agents of pydantic-ai, with models of its own that say what they are told to."""

import asyncio
from collections import Counter
from dataclasses import replace

import pytest
from pydantic import BaseModel
from pydantic_ai import Agent, ModelRetry
from pydantic_ai.messages import ModelResponse, TextPart, ThinkingPart, ToolCallPart, UserPromptPart
from pydantic_ai.models.function import FunctionModel

from proctor import Item, Message, Text, ToolCall, Turn, checks, run_evals
from proctor.data.codec import dumps, loads
from proctor.data.message import Reasoning
from proctor.errors import UnknownName, UsageError
from proctor.running.target import as_target
from proctor.targets.pydantic_ai import PydanticAITarget


class Forecast(BaseModel):
    city: str
    sky: str


def said_by_user(messages):
    return [part.content for message in messages for part in message.parts if isinstance(part, UserPromptPart)]


def forecaster(messages, info):
    """Calls the tool for the city that was named last, and then tells what came back."""
    if isinstance(messages[-1].parts[-1], UserPromptPart):
        asked = " ".join(said_by_user(messages))
        city = max(("Rome", "Paris", "Brooklyn"), key=asked.rfind)
        call = ToolCallPart("get_weather", f'{{"city": "{city}"}}', tool_call_id=f"c{len(messages)}")
        return ModelResponse(parts=[ThinkingPart("Which city?"), TextPart("Let me see."), call])
    if info.output_tools:
        made = {"city": "Rome", "sky": "sunny"}
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, made, tool_call_id="out")])
    return ModelResponse(parts=[TextPart(f"It is {messages[-1].parts[0].content}.")], finish_reason="stop")


def agent(weather=lambda city: f"sunny in {city}", **options):
    made = Agent(FunctionModel(forecaster), **options)

    @made.tool_plain(retries=1)
    def get_weather(city: str) -> str:
        return weather(city)

    return made


def untimed(message):
    return replace(
        message, parts=tuple(replace(it, duration_ms=None) if isinstance(it, ToolCall) else it for it in message.parts)
    )


async def test_an_agent_is_recognised_and_what_it_did_is_seen():
    target = as_target(agent())
    assert isinstance(target, PydanticAITarget)
    result = await run_evals(
        target=agent(),
        data=[Item("What is the weather in Brooklyn?")],
        gates=[checks.called_tool("get_weather", args={"city": "Brooklyn"}), checks.no_tool_errors()],
        scorers=[checks.includes("sunny in Brooklyn")],
    )
    assert result.verdict == "passed"
    (reply,) = result.items[0].replies
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
    assert (reply.finish_reason, reply.cost) == ("stop", None)
    assert reply.usage.total_tokens == reply.usage.input_tokens + reply.usage.output_tokens > 0


async def test_a_conversation_goes_on_with_what_was_said_and_is_forgotten_when_it_ends():
    target = PydanticAITarget(agent())
    turns = [Turn("The weather in Rome?"), Turn("And tomorrow?", gates=[checks.includes("Rome")])]
    result = await run_evals(target=agent(), data=[Item(turns=turns)])
    assert result.verdict == "passed"
    first, second = result.items[0].replies
    assert second.usage.input_tokens > first.usage.input_tokens
    assert len(second.output) == 2  # of this turn alone
    assert target._threads == {}


async def test_two_hundred_conversations_at_once_see_only_their_own_history():
    seen = Counter()

    async def echo(messages, info):
        await asyncio.sleep(0.001)
        said = said_by_user(messages)
        seen[len({word.split("-")[0] for word in said})] += 1
        return ModelResponse(parts=[TextPart(" ".join(said))])

    target = PydanticAITarget(Agent(FunctionModel(echo)))
    data = [Item(inputs=[f"{at}-a", f"{at}-b"], id=f"i{at}") for at in range(100)]
    result = await run_evals(target=target, data=data, repeats=2, concurrency=50, scorers=[checks.includes("-")])
    assert all(row.replies[1].output[0].text == f"{row.item.id[1:]}-a {row.item.id[1:]}-b" for row in result.items)
    assert seen == {1: 400}
    assert target._threads == {}


async def test_structured_output_is_the_reply_s_and_no_tool_call():
    result = await run_evals(
        target=agent(output_type=Forecast), data=[Item("Rome?")], scorers=[checks.max_tool_calls(1)]
    )
    (reply,) = result.items[0].replies
    assert reply.structured == {"city": "Rome", "sky": "sunny"}
    assert '"sky":"sunny"' in reply.output[-1].text.replace(" ", "")
    assert result.scores["check-max-tool-calls[1]"].mean == 1.0


async def test_a_tool_that_asks_to_be_called_again_is_a_tool_error():
    def weather(city):
        raise ModelRetry("no such city")

    def twice(messages, info):
        if len(messages) < 3:
            return forecaster(messages, info)
        return ModelResponse(parts=[TextPart("I could not find out.")])

    made = agent(weather)
    result = await run_evals(target=made, data=[Item("Rome?")], scorers=[checks.no_tool_errors()],
                             target_options={"model": FunctionModel(twice)})  # fmt: skip
    (reply,) = result.items[0].replies
    call = reply.output[0].parts[-1]
    assert (call.state, "no such city" in call.error) == ("failed", True)
    assert result.scores["check-no-tool-errors"].mean == 0.0


async def test_a_tool_that_raises_is_an_error_of_the_item():
    def weather(city):
        raise ValueError("the line is cut")

    result = await run_evals(target=agent(weather), data=[Item("Rome?")], scorers=[checks.includes("x")])
    (row,) = result.items
    assert (row.status, "the line is cut" in row.error.message) == ("error", True)
    (reply,) = row.replies
    assert reply.output[0].text == "Let me see."
    assert (reply.output[0].parts[-1].name, reply.output[0].parts[-1].state) == ("get_weather", "failed")
    assert reply.output[0].parts[-1].error == "ValueError: the line is cut"
    assert reply.usage.output_tokens > 0
    assert loads(dumps(result)).items == result.items


async def test_options_and_context_reach_the_run():
    seen = []

    async def look(messages, info):
        seen.append((info.instructions, info.model_settings))
        return ModelResponse(parts=[TextPart("ok")])

    made = Agent(FunctionModel(look), deps_type=dict)

    @made.instructions
    def who(ctx):
        return f"You serve {ctx.deps['tenant']}."

    await run_evals(
        target=made,
        data=[Item("Hi", request_context={"tenant": "acme"})],
        target_options={"instructions": "Be brief.", "model_settings": {"temperature": 0.0}},
        scorers=[checks.includes("ok")],
    )
    ((instructions, settings),) = seen
    assert "You serve acme." in instructions
    assert "Be brief." in instructions
    assert settings["temperature"] == 0.0


async def test_max_steps_is_the_most_requests_of_a_turn():
    result = await run_evals(target=agent(), data=[Item("Rome?")], target_options={"max_steps": 1},
                             scorers=[checks.includes("x")])  # fmt: skip
    assert "request_limit" in result.items[0].error.message


async def test_an_unknown_option_is_refused_before_anything_runs():
    with pytest.raises(UnknownName, match="Did you mean 'max_steps'"):
        await run_evals(
            target=agent(), data=[Item("Rome?")], target_options={"max_step": 1}, scorers=[checks.includes("x")]
        )


def test_what_is_no_agent_is_refused_with_what_to_give():
    with pytest.raises(UsageError, match="FunctionModel of pydantic-ai, which is no agent"):
        as_target(FunctionModel(forecaster))


async def test_an_input_of_messages_is_the_history_and_the_last_of_them_the_prompt():
    seen = []

    async def look(messages, info):
        seen.append([(type(message).__name__, [part.content for part in message.parts]) for message in messages])
        return ModelResponse(parts=[TextPart("ok")])

    given = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello!"},
        {"role": "user", "content": "Bye"},
    ]
    await run_evals(target=Agent(FunctionModel(look)), data=[Item(given)], scorers=[checks.includes("ok")])
    assert seen == [
        [
            ("ModelRequest", ["Be kind.", "Hi"]),
            ("ModelResponse", ["Hello!"]),
            ("ModelRequest", ["Bye"]),
        ]
    ]


async def test_of_a_turn_that_fails_only_what_it_did_itself_is_kept():
    def weather(city):
        if city == "Paris":
            raise ValueError("the line is cut")
        return "sunny"

    given = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Yes?"},
    ]
    turns = [Turn([*given, {"role": "user", "content": "Rome?"}]), Turn("And Paris?"), Turn("And Brooklyn?")]
    result = await run_evals(target=agent(weather), data=[Item(turns=turns)], scorers=[checks.includes("x")])
    first, second = result.items[0].replies
    assert first.error is None
    assert [message.text for message in second.output] == ["Let me see."]
    assert second.output[0].parts[-1].args == {"city": "Paris"}
