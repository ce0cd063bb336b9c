"""The model server, asked by the clients that people use."""

import openai
import pytest
from pydantic_ai import ModelHTTPError, ToolDefinition
from pydantic_ai.direct import model_request
from pydantic_ai.messages import ModelRequest, TextPart, ToolCallPart
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.providers.openai import OpenAIProvider

from proctor.data.usage import Usage
from proctor.testing import Drop, Html, Malformed, ModelServer, ScriptedReply, Status, Truncated

pytestmark = pytest.mark.slow

SCHEMA = {"type": "object", "properties": {"verdict": {"type": "string"}}, "required": ["verdict"]}
PASS = '{"verdict": "pass"}'
USED = ScriptedReply(PASS, usage=Usage(input_tokens=100, output_tokens=7), answered_by="m-2026")
KINDS = pytest.mark.parametrize("kind", [OpenAIChatModel, OpenAIResponsesModel])
NATIVE = ModelRequestParameters(
    output_mode="native", output_object=OutputObjectDefinition(name="grade", json_schema=SCHEMA)
)
TOOL = ModelRequestParameters(
    output_mode="tool",
    output_tools=[ToolDefinition(name="grade", parameters_json_schema=SCHEMA)],
    allow_text_output=False,
)


@pytest.fixture
async def ask():
    clients = []

    async def request(server, kind, parameters=None):
        client = openai.AsyncOpenAI(base_url=server.url, api_key="k", max_retries=0, timeout=10)
        clients.append(client)
        model = kind("m", provider=OpenAIProvider(openai_client=client))
        return await model_request(model, [ModelRequest.user_text_prompt("Hi")], model_request_parameters=parameters)

    yield request
    for client in clients:
        await client.close()


@KINDS
async def test_pydantic_ai_reads_text_usage_and_why_it_ended(ask, kind):
    async with ModelServer([USED, Truncated("{")]) as server:
        whole, cut = await ask(server, kind, NATIVE), await ask(server, kind, NATIVE)
    assert [part.content for part in whole.parts if isinstance(part, TextPart)] == [PASS]
    assert (whole.usage.input_tokens, whole.usage.output_tokens) == (100, 7)
    assert (whole.finish_reason, whole.model_name) == ("stop", "m-2026")
    assert cut.finish_reason == "length"
    assert [request.mode for request in server.requests] == ["native", "native"]


@KINDS
async def test_pydantic_ai_reads_the_arguments_of_a_tool(ask, kind):
    async with ModelServer(PASS) as server:
        answer = await ask(server, kind, TOOL)
    (call,) = [part for part in answer.parts if isinstance(part, ToolCallPart)]
    assert (call.tool_name, call.args) == ("grade", PASS)
    assert server.requests[0].mode == "tool"


@KINDS
async def test_pydantic_ai_reads_errors(ask, kind):
    async with ModelServer([Status(429, retry_after=0.25), Status(400, param="temperature")]) as server:
        with pytest.raises(ModelHTTPError) as busy:
            await ask(server, kind)
        with pytest.raises(ModelHTTPError) as rejected:
            await ask(server, kind)
    assert (busy.value.status_code, busy.value.retry_after) == (429, 0.25)
    assert (rejected.value.status_code, rejected.value.body["param"]) == (400, "temperature")


@KINDS
@pytest.mark.parametrize("fault", [Drop(), Drop(amid=True), Html(), Malformed()], ids=["drop", "amid", "html", "half"])
async def test_pydantic_ai_makes_no_answer_of_what_is_none(ask, kind, fault):
    async with ModelServer(fault) as server:
        with pytest.raises(Exception):  # noqa: B017 - which one is its own affair
            await ask(server, kind, NATIVE)
    assert len(server.requests) == 1


async def test_openai_retries_what_it_was_told_to_wait_for():
    async with (
        ModelServer([Status(429, retry_after=0.01), Status(500), "ok"]) as server,
        openai.AsyncOpenAI(base_url=server.url, api_key="k", max_retries=2) as client,
    ):
        answer = await client.chat.completions.create(model="m", messages=[{"role": "user", "content": "Hi"}])
    assert answer.choices[0].message.content == "ok"
    assert (len(server.requests), server.traffic.connections) == (3, 1)


async def test_openai_lists_models():
    async with (
        ModelServer("ok", models=["one", "two"]) as server,
        openai.AsyncOpenAI(base_url=server.url, api_key="k") as client,
    ):
        assert [model.id async for model in client.models.list()] == ["one", "two"]
