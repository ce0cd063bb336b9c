"""A model of the OpenAI Agents SDK that a function of the test answers for."""

import json

from agents import Model, ModelResponse, Usage
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
from openai.types.responses.response_reasoning_item import ResponseReasoningItem, Summary

__all__ = ["FunctionModel", "call", "said_by_user", "text", "thought"]


class FunctionModel(Model):
    """*answer*: given the items of the input, gives an output item, or several; it may be async."""

    def __init__(self, answer):
        self.answer = answer
        self.asked = []

    async def get_response(self, system_instructions, input, model_settings, *rest, **more):
        items = [{"role": "user", "content": input}] if isinstance(input, str) else list(input)
        self.asked.append((system_instructions, model_settings, items))
        given = self.answer(items)
        if hasattr(given, "__await__"):
            given = await given
        usage = Usage(requests=1, input_tokens=10 * len(items), output_tokens=5, total_tokens=10 * len(items) + 5)
        return ModelResponse(output=given if isinstance(given, list) else [given], usage=usage, response_id=None)

    def stream_response(self, *args, **kwargs):
        raise NotImplementedError


def text(words):
    part = ResponseOutputText(type="output_text", text=words, annotations=[])
    return ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[part])


def call(name, args, id):
    written = args if isinstance(args, str) else json.dumps(args)
    return ResponseFunctionToolCall(type="function_call", name=name, arguments=written, call_id=id)


def thought(words):
    return ResponseReasoningItem(id="r", type="reasoning", summary=[Summary(type="summary_text", text=words)])


def said_by_user(items):
    return [item["content"] for item in items if item.get("role") == "user"]


def outputs(items):
    """What tools gave since the user's last words."""
    last = max(at for at, item in enumerate(items) if item.get("role") == "user")
    return [item["output"] for item in items[last:] if item.get("type") == "function_call_output"]
