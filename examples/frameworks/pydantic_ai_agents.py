"""Agents of pydantic-ai under test: `proctor run examples/frameworks/pydantic_ai_agents.py`.

It needs `pydantic-ai-slim` and no key: the model is a script. With a model of your own, such as openai:gpt-5-mini:

    PROCTOR_AGENT_MODEL=openai:gpt-5-mini proctor run examples/frameworks/pydantic_ai_agents.py
"""

import os

from conversations import refunds, weather
from pydantic_ai import Agent
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import FunctionModel
from script import get_weather, issue_refund, next_step


def scripted(messages, info):
    """The script as a model of pydantic-ai."""
    parts = [part for message in messages if isinstance(message, ModelRequest) for part in message.parts]
    users = [at for at, part in enumerate(parts) if isinstance(part, UserPromptPart)]
    results = [part.content for part in parts[users[-1] :] if isinstance(part, ToolReturnPart)]
    step = next_step([parts[at].content for at in users], results)
    return ModelResponse(parts=[TextPart(step) if isinstance(step, str) else ToolCallPart(*step)], finish_reason="stop")


model = os.environ.get("PROCTOR_AGENT_MODEL") or FunctionModel(scripted)

weather_agent = Agent(model, instructions="You tell the weather, by get_weather.", tools=[get_weather])
refund_agent = Agent(
    model,
    instructions="You are a refund desk. Goods can be sent back within 30 days of delivery; then pay by issue_refund.",
    tools=[issue_refund],
)

weather_eval = weather(weather_agent, name="Weather agent of pydantic-ai")
refund_eval = refunds(refund_agent, name="Refund desk of pydantic-ai")
