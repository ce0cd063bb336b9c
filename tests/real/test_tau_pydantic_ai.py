"""Recorded conversations through an agent of pydantic-ai: what Proctor sees of it is what was recorded.

The agent's model says what the recorded assistant said, and its tools give what the recorded tools gave; all that lies
between, from the turns to the joined results, is the real thing.
"""

import json
from dataclasses import replace

import pytest
from pydantic_ai import Agent, Tool
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

from proctor import Item, checks, run_evals
from proctor.data.message import ToolCall
from proctor.data.read import read_messages
from tests.support import shared


def cases(domain):
    with shared(f"data/{domain}/dev.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def turns_of(messages):
    """The user's turns, each with what was said and called until the next one; up to one that breaks off at a tool."""
    turns = []
    for message in messages:
        if message["role"] == "user":
            turns.append((message["content"], []))
        elif turns and message["role"] != "system":
            turns[-1][1].append(message)
    ended = [
        bool(answer) and answer[-1]["role"] == "assistant" and not answer[-1].get("tool_calls") for _, answer in turns
    ]
    return turns[: ended.index(False)] if False in ended else turns


def replaying(case, turns):
    """An agent that does what was recorded, once."""
    said = iter([message for _, answer in turns for message in answer if message["role"] == "assistant"])
    results = iter([message for _, answer in turns for message in answer if message["role"] == "tool"])

    def model(messages, info):
        message = next(said)
        parts = [TextPart(message["content"])] if message.get("content") else []
        for call in message.get("tool_calls") or ():
            function = call["function"]
            parts.append(ToolCallPart(function["name"], function["arguments"], tool_call_id=call["id"]))
        return ModelResponse(parts=parts)

    def tool(schema):
        function = schema["function"]
        return Tool.from_schema(
            lambda **arguments: next(results)["content"],
            name=function["name"],
            description=function.get("description", ""),
            json_schema=function["parameters"],
            sequential=True,
        )

    schemas = json.loads(shared(f"data/{case['domain']}/tools.json").read_text(encoding="utf-8"))
    return Agent(FunctionModel(model), tools=[tool(schema) for schema in schemas])


def bare(messages):
    """What was said and called, in order; how long it took is of this run."""
    return [(message.role, [untimed(part) for part in message.parts]) for message in messages]


def untimed(part):
    return replace(part, state="done", duration_ms=None) if isinstance(part, ToolCall) else part


@pytest.mark.parametrize("domain", ["tau_airline", "tau_retail"])
async def test_what_is_seen_is_what_was_recorded(domain):
    compared = calls = 0
    for case in cases(domain):
        turns = turns_of(case["messages"])
        if not turns:
            continue
        agent = replaying({**case, "domain": domain}, turns)
        item = Item(inputs=[said for said, _ in turns], id=case["id"])
        result = await run_evals(target=agent, data=[item], scorers=[checks.no_tool_errors()])
        (row,) = result.items
        assert row.status == "done", (case["id"], row.error)
        for reply, (_, answer) in zip(row.replies, turns, strict=True):
            recorded = read_messages(answer)
            assert bare(reply.output) == bare(recorded), case["id"]
            compared += 1
            calls += sum(isinstance(part, ToolCall) for message in recorded for part in message.parts)
    assert compared > 100
    assert calls > 100
