"""What an agent of pydantic-ai is given: earlier turns from where they are kept, and inputs of many parts."""

import asyncio
import base64

import pytest
from pydantic_ai import Agent, BinaryContent, ImageUrl
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import FunctionModel

from proctor import Item, Message, Store, Text, checks, run_evals
from proctor.data.message import File
from proctor.errors import UnknownName, UsageError
from proctor.running.threads import MemoryThreads
from proctor.targets.pydantic_ai import PydanticAITarget

OK = [checks.max_tool_calls(9)]


def parrot(messages, info):
    """Says all that the user said, and how many tools answered."""
    parts = [part for message in messages for part in message.parts]
    said = [part.content for part in parts if isinstance(part, UserPromptPart)]
    if said[-1] == "call" and not isinstance(messages[-1].parts[-1], ToolReturnPart):
        return ModelResponse(parts=[ToolCallPart("clock", {}, tool_call_id=f"c{len(messages)}")])
    ticks = sum(isinstance(part, ToolReturnPart) for part in parts)
    return ModelResponse(parts=[TextPart(f"{' '.join(map(str, said))} [{ticks}]")])


def agent():
    made = Agent(FunctionModel(parrot))

    @made.tool_plain
    def clock() -> str:
        return "noon"

    return made


async def asked(target, thread, said):
    result = await run_evals(
        target=target, data=[Item(said)], scorers=OK, target_options={"memory": {"thread": thread, "resource": "ann"}}
    )
    return result.items[0].replies[0].output[-1].text


@pytest.fixture(params=["here", "memory", "store"])
def target(request, tmp_path):
    memory = {"here": lambda: None, "memory": MemoryThreads, "store": lambda: Store(tmp_path / "t.db").threads()}
    return PydanticAITarget(agent(), memory=memory[request.param]())


async def test_single_questions_on_a_thread_of_the_caller_s_share_it(target):
    assert await asked(target, "t", "one") == "one [0]"
    assert await asked(target, "t", "call") == "one call [1]"
    assert await asked(target, "u", "two") == "two [0]"
    assert await asked(target, "t", "three") == "one call three [1]"


async def test_many_conversations_at_once_keep_apart_in_any_memory(target):
    data = [Item(inputs=[f"{at}-a", "call", f"{at}-b"], id=f"i{at}") for at in range(20)]
    result = await run_evals(target=target, data=data, repeats=2, concurrency=40, scorers=OK)
    for row in result.items:
        at = row.item.id[1:]
        assert row.replies[2].output[0].text == f"{at}-a call {at}-b [1]"


async def test_a_thread_in_a_store_outlives_the_target(tmp_path):
    for said, heard in (("one", "one [0]"), ("call", "one call [1]"), ("two", "one call two [1]")):
        target = PydanticAITarget(agent(), memory=Store(tmp_path / "t.db").threads())
        assert target.durable
        assert await asked(target, "t", said) == heard


async def test_a_thread_that_somebody_else_began_is_gone_on_with():
    memory = MemoryThreads()
    await memory.append("t", [Message("user", (Text("before"),)), Message("assistant", (Text("yes"),))])
    assert await asked(PydanticAITarget(agent(), memory=memory), "t", "now") == "before now [0]"


async def test_a_turn_that_failed_leaves_nothing_in_the_memory():
    def fails(messages, info):
        raise RuntimeError("down")

    memory = MemoryThreads()
    result = await run_evals(
        target=PydanticAITarget(Agent(FunctionModel(fails)), memory=memory), data=[Item(inputs=["a"])], scorers=OK
    )
    assert (result.items[0].status, memory.threads) == ("error", {})


def test_what_is_no_memory_is_refused():
    with pytest.raises(UsageError, match=r"such as Store\(...\).threads\(\)"):
        PydanticAITarget(agent(), memory={})


async def test_an_option_of_memory_that_nothing_takes_is_refused():
    with pytest.raises(UnknownName, match="memory"):
        await run_evals(target=agent(), data=[Item("x")], scorers=OK, target_options={"memory": {"lastMessages": 3}})


async def test_calls_of_tools_in_an_input_are_in_the_history():
    given = [
        {"role": "user", "content": "one"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "x", "type": "function", "function": {"name": "clock", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "x", "content": "noon"},
        {"role": "assistant", "content": "It is noon."},
        {"role": "user", "content": "two"},
    ]
    result = await run_evals(target=agent(), data=[Item(given)], scorers=OK)
    assert result.items[0].replies[0].output[-1].text == "one two [1]"


async def test_files_in_an_input_reach_the_model_in_their_order():
    seen = []

    def look(messages, info):
        seen.extend(messages[-1].parts[-1].content)
        return ModelResponse(parts=[TextPart("a cat")])

    bits = b"\x89PNG"
    said = Message(
        "user",
        (
            Text("What is this?"),
            File(bits, "image/png"),
            File("https://a.example/cat.png", "image/png"),
            File(base64.b64encode(bits).decode(), "image/png"),
            File("data:image/png;base64," + base64.b64encode(bits).decode()),
        ),
    )
    await run_evals(target=Agent(FunctionModel(look)), data=[Item([said], id="i")], scorers=OK)
    assert seen[0] == "What is this?"
    kinds = (BinaryContent, ImageUrl, BinaryContent, BinaryContent)
    assert all(isinstance(it, kind) for it, kind in zip(seen[1:], kinds, strict=True))
    assert [it.data for it in (seen[1], seen[3], seen[4])] == [bits] * 3


async def test_an_agent_that_answers_in_pieces_gives_the_same_reply():
    async def pieces(messages, info):
        for word in ("It ", "is ", "noon."):
            yield word

    made = Agent(FunctionModel(stream_function=pieces))
    result = await run_evals(target=made, data=[Item("Time?")], scorers=OK, target_options={"stream": True})
    assert [message.text for message in result.items[0].replies[0].output] == ["It is noon."]


async def test_what_a_turn_did_before_it_ran_out_of_time_is_kept():
    async def slow(messages, info):
        if len(messages) == 1:
            return ModelResponse(parts=[TextPart("Let me see."), ToolCallPart("clock", {}, tool_call_id="c")])
        await asyncio.sleep(60)
        return ModelResponse(parts=[TextPart("never")])

    made = Agent(FunctionModel(slow))
    made.tool_plain(lambda: "noon", name="clock")
    result = await run_evals(target=made, data=[Item("Time?")], scorers=OK, timeout=0.5)
    (reply,) = result.items[0].replies
    assert (reply.error.code, reply.output[0].text) == ("TIMEOUT", "Let me see.")
    assert (reply.output[0].parts[1].result, reply.usage.output_tokens > 0) == ("noon", True)
