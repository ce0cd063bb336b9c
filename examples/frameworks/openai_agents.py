"""Agents of the OpenAI Agents SDK under test: `proctor run examples/frameworks/openai_agents.py`.

It needs `openai-agents` and no key: the model is a script. With a model of your own, such as gpt-5-mini:

    PROCTOR_AGENT_MODEL=gpt-5-mini proctor run examples/frameworks/openai_agents.py
"""

import json
import os

from agents import Agent, Model, ModelResponse, SQLiteSession, Usage, function_tool, set_tracing_disabled
from conversations import refunds, weather
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
from script import get_weather, issue_refund, next_step

from proctor.targets.openai_agents import OpenAIAgentsTarget


class Scripted(Model):
    """The script as a model of the SDK."""

    async def get_response(self, system_instructions, input, *rest, **more):
        items = [{"role": "user", "content": input}] if isinstance(input, str) else input
        users = [at for at, item in enumerate(items) if item.get("role") == "user"]
        results = [item["output"] for item in items[users[-1] :] if item.get("type") == "function_call_output"]
        step = next_step([items[at]["content"] for at in users], results)
        if isinstance(step, str):
            text = ResponseOutputText(type="output_text", text=step, annotations=[])
            said = ResponseOutputMessage(
                id=f"m{len(items)}", type="message", role="assistant", status="completed", content=[text]
            )
        else:
            name, args = step
            said = ResponseFunctionToolCall(
                type="function_call", name=name, arguments=json.dumps(args), call_id=f"c{len(items)}"
            )
        return ModelResponse(output=[said], usage=Usage(), response_id=None)

    def stream_response(self, *args, **kwargs):
        raise NotImplementedError("the script does not stream")


set_tracing_disabled(not os.environ.get("OPENAI_API_KEY"))  # the SDK sends what it traces to OpenAI
model = os.environ.get("PROCTOR_AGENT_MODEL") or Scripted()

weather_agent = Agent(
    name="Weather",
    model=model,
    instructions="You tell the weather, by get_weather.",
    tools=[function_tool(get_weather)],
)
refund_agent = Agent(
    name="Refunds",
    model=model,
    instructions="You are a refund desk. Goods can be sent back within 30 days of delivery; then pay by issue_refund.",
    tools=[function_tool(issue_refund)],
)

weather_eval = weather(
    OpenAIAgentsTarget(weather_agent, session=SQLiteSession), name="Weather agent of the OpenAI Agents SDK"
)
refund_eval = refunds(
    OpenAIAgentsTarget(refund_agent, session=SQLiteSession), name="Refund desk of the OpenAI Agents SDK"
)
