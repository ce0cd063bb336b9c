"""Recorded conversations through an agent of pydantic-ai: what Proctor sees of it is what was recorded.

The agent's model says what the recorded assistant said, and its tools give what the recorded tools gave; all that lies
between, from the turns to the joined results, is the real thing.
"""

import pytest
from pydantic_ai import Agent, Tool
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

from tests.real.tau_turns import DOMAINS, replayed_as_recorded


def replaying(said, results, schemas):
    def model(messages, info):
        message = next(said)
        parts = [TextPart(message["content"])] if message.get("content") else []
        for call in message.get("tool_calls") or ():
            function = call["function"]
            parts.append(ToolCallPart(function["name"], function["arguments"], tool_call_id=call["id"]))
        return ModelResponse(parts=parts)

    def tool(function):
        return Tool.from_schema(
            lambda **arguments: next(results),
            name=function["name"],
            description=function.get("description", ""),
            json_schema=function["parameters"],
            sequential=True,
        )

    return Agent(FunctionModel(model), tools=[tool(schema["function"]) for schema in schemas])


@pytest.mark.parametrize("domain", DOMAINS)
async def test_what_is_seen_is_what_was_recorded(domain):
    await replayed_as_recorded(domain, replaying)
