"""Agents of LangChain and LangGraph under test: `proctor run examples/frameworks/langgraph_agents.py`.

It needs `langchain` and no key: the model is a script. With a model of your own, such as openai:gpt-5-mini (and
`langchain-openai`):

    PROCTOR_AGENT_MODEL=openai:gpt-5-mini proctor run examples/frameworks/langgraph_agents.py
"""

import os

from conversations import refunds, weather
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver
from script import get_weather, issue_refund, next_step


class Scripted(BaseChatModel):
    """The script as a chat model of LangChain."""

    @property
    def _llm_type(self):
        return "script"

    def bind_tools(self, tools, **options):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **options):
        users = [at for at, message in enumerate(messages) if isinstance(message, HumanMessage)]
        results = [message.content for message in messages[users[-1] :] if isinstance(message, ToolMessage)]
        step = next_step([messages[at].text for at in users], results)
        if isinstance(step, str):
            said = AIMessage(step)
        else:
            name, args = step
            said = AIMessage("", tool_calls=[{"name": name, "args": args, "id": f"c{len(messages)}"}])
        return ChatResult(generations=[ChatGeneration(message=said)])


model = os.environ.get("PROCTOR_AGENT_MODEL") or Scripted()

weather_agent = create_agent(
    model,
    tools=[get_weather],
    system_prompt="You tell the weather, by get_weather.",
    checkpointer=InMemorySaver(),  # without one the agent forgets each turn at once
)
refund_agent = create_agent(
    model,
    tools=[issue_refund],
    system_prompt="You are a refund desk. Goods can be sent back within 30 days of delivery; then pay by issue_refund.",
    checkpointer=InMemorySaver(),
)

weather_eval = weather(weather_agent, name="Weather agent of LangChain")
refund_eval = refunds(refund_agent, name="Refund desk of LangChain")
