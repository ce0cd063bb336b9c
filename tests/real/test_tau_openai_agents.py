"""Recorded conversations through an agent of the OpenAI Agents SDK: what Proctor sees of it is what was recorded."""

import pytest
from agents import Agent, FunctionTool, SQLiteSession, set_tracing_disabled

from proctor.targets.openai_agents import OpenAIAgentsTarget
from tests.real.tau_turns import DOMAINS, replayed_as_recorded
from tests.targets.openai_agents_model import FunctionModel, call, text


def replaying(said, results, schemas):
    def answer(items):
        message = next(said)
        words = [text(message["content"])] if message.get("content") else []
        calls = [it["function"] | {"id": it["id"]} for it in message.get("tool_calls") or ()]
        return [*words, *(call(it["name"], it["arguments"], it["id"]) for it in calls)]

    async def given(context, arguments):
        return next(results)

    tools = [
        FunctionTool(it["name"], it.get("description", ""), it["parameters"], given, strict_json_schema=False)
        for it in (schema["function"] for schema in schemas)
    ]
    agent = Agent(name="Recorded", model=FunctionModel(answer), tools=tools)
    return OpenAIAgentsTarget(agent, session=SQLiteSession)


@pytest.mark.parametrize("domain", DOMAINS)
async def test_what_is_seen_is_what_was_recorded(domain):
    set_tracing_disabled(True)
    options = {"max_steps": 40}  # some turns have many calls
    await replayed_as_recorded(domain, replaying, unique_ids=True, target_options=options)  # the SDK refuses others
