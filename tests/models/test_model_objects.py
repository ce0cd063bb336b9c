"""Model objects of pydantic-ai: what tells their cached answers apart, besides their names."""

from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.models.test import TestModel as AnyModel  # pytest would take it for tests
from pydantic_ai.providers.openai import OpenAIProvider

from proctor import Message, Text, run_evals
from proctor.judging.model import ModelCall
from proctor.models.pydantic_ai import PydanticAIModel
from proctor.models.router import resolve
from tests.running.judged import fair


def saying(text):
    return FunctionModel(lambda messages, info: ModelResponse(parts=[TextPart(text)]))


def test_model_objects_of_one_name_are_told_apart():
    one, other = (PydanticAIModel(saying("It is.")) for _ in range(2))
    assert one.id == other.id
    assert one.own_settings != other.own_settings
    either = PydanticAIModel(FallbackModel(saying("It is."), AnyModel()))
    assert len(either.own_settings["models"]) == 2
    assert PydanticAIModel(chat(settings={"temperature": 1})).own_settings == {"settings": {"temperature": 1}}
    assert PydanticAIModel(chat()).own_settings is None
    assert resolve("openai:judge", base_url="http://127.0.0.1:9/v1").own_settings is None


def chat(**options):
    provider = OpenAIProvider(base_url="http://127.0.0.1:9/v1", api_key="none")
    return OpenAIChatModel("judge", provider=provider, **options)


async def test_functions_do_not_answer_for_each_other():
    data = [{"input": "?", "output": "the same for both"}]
    means = []
    for score in (1, 0):
        scorer = fair(saying(f'{{"score": {score}}}'), output_mode="prompted")
        means.append((await run_evals(data=data, scorers=[scorer])).means[0].mean)
    assert means == [1.0, 0.0]


async def test_a_tool_that_nobody_asked_for_is_no_answer():
    def reply(messages, info):
        return ModelResponse(parts=[ToolCallPart("look_up", {"verdict": "pass"}), TextPart("I looked it up.")])

    call = ModelCall(
        messages=(Message("user", (Text("Kind?"),)),), schema={"type": "object"}, mode="tool", name="verdict"
    )
    assert (await PydanticAIModel(FunctionModel(reply)).request(call)).text == "I looked it up."
