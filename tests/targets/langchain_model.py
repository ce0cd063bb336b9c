"""A chat model of LangChain that a function of the test answers for."""

from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult

__all__ = ["FunctionModel", "call", "outputs", "said_by_user"]


class FunctionModel(BaseChatModel):
    """*answer*: given the messages, gives an AIMessage; it may be async."""

    answer: Any

    @property
    def _llm_type(self):
        return "function"

    def bind_tools(self, tools, **options):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **options):
        return ChatResult(generations=[ChatGeneration(message=self.answer(messages))])

    async def _agenerate(self, messages, stop=None, run_manager=None, **options):
        given = self.answer(messages)
        if hasattr(given, "__await__"):
            given = await given
        return ChatResult(generations=[ChatGeneration(message=given)])


def call(name, args, id, words=""):
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    return AIMessage(words, tool_calls=[{"name": name, "args": args, "id": id}], usage_metadata=usage)


def said_by_user(messages):
    return [message.text for message in messages if isinstance(message, HumanMessage)]


def outputs(messages):
    """What tools gave since the user's last words."""
    last = max(at for at, message in enumerate(messages) if isinstance(message, HumanMessage))
    return [message.content for message in messages[last:] if isinstance(message, ToolMessage)]
