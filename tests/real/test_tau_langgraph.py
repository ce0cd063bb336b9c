"""Recorded conversations through an agent of LangChain: what Proctor sees of it is what was recorded."""

import json

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver

from tests.real.tau_turns import DOMAINS, replayed_as_recorded
from tests.targets.langchain_model import FunctionModel


def replaying(said, results, schemas):
    def answer(messages):
        message = next(said)
        calls = [
            {"name": it["function"]["name"], "args": json.loads(it["function"]["arguments"]), "id": it["id"]}
            for it in message.get("tool_calls") or ()
        ]
        return AIMessage(message.get("content") or "", tool_calls=calls)

    def given(**arguments):
        return next(results)

    tools = [
        StructuredTool.from_function(
            given, name=it["name"], description=it.get("description") or it["name"], args_schema=it["parameters"]
        )
        for it in (schema["function"] for schema in schemas)
    ]
    return create_agent(FunctionModel(answer=answer), tools=tools, checkpointer=InMemorySaver())


@pytest.mark.parametrize("domain", DOMAINS)
async def test_what_is_seen_is_what_was_recorded(domain):
    await replayed_as_recorded(domain, replaying, target_options={"max_steps": 200})
