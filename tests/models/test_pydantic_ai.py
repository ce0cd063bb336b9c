"""Models of pydantic-ai, asked over real connections: what is sent, what comes back, and what can go wrong."""

import asyncio
import subprocess
import sys

import pydantic_ai.models.openai  # noqa: F401 - here, so that no test is slow for loading it
import pytest
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import ModelResponse, TextPart, ThinkingPart, ToolCallPart
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.test import TestModel as AnyModel  # pytest would take it for tests
from pydantic_ai.usage import RequestUsage

from proctor.bridge import run_sync
from proctor.data.message import File, Message, Text
from proctor.data.usage import Cost, Usage
from proctor.errors import ModelError, UsageError
from proctor.judging.model import JudgeModel, ModelCall
from proctor.models.pydantic_ai import PydanticAIModel
from proctor.models.router import resolve
from proctor.testing.faults import Plain, Truncated
from proctor.testing.replies import ScriptedReply
from proctor.testing.server import ModelServer
from tests.models.calls import SCHEMA, ask
from tests.support import ROOT

BOTH = pytest.mark.parametrize("provider", ["openai-chat", "openai-responses"])
PASS = {"verdict": "pass"}


async def answer(server, call, provider="openai-chat", model="judge"):
    return await resolve(f"{provider}:{model}", base_url=server.url).request(call)


@BOTH
async def test_a_text_is_asked_for_and_nothing_is_sent_that_was_not_set(provider):
    async with ModelServer("Yes.") as server:
        given = await answer(server, ask("Ist es schön?"), provider)
    assert (given.text, given.finish_reason, given.refusal, given.answered_by) == ("Yes.", "stop", None, "judge")
    assert given.usage.input_tokens > 0
    assert given.usage.reasoning_tokens is None
    assert given.cost is None
    body = dict(server.requests[0].body)
    assert server.requests[0].prompt == "Ist es schön?"
    asked = body.pop("messages", None) or [{"role": "system", "content": body.pop("instructions")}, *body.pop("input")]
    assert asked == [{"role": "system", "content": "Be exact."}, {"role": "user", "content": "Ist es schön?"}]
    assert body == {"model": "judge", "stream": False}


@BOTH
@pytest.mark.parametrize("mode", ["native", "tool"])
async def test_a_schema_is_sent_in_each_way(provider, mode):
    async with ModelServer([PASS]) as server:
        given = await answer(server, ask(schema=SCHEMA, mode=mode, name="grade"), provider)
    assert given.text.replace(" ", "") == '{"verdict":"pass"}'
    request = server.requests[0]
    assert request.mode == mode
    body = request.body
    if mode == "tool":
        assert body["tool_choice"] == "required"
        tool = body["tools"][0]
        sent = {"strict": tool.get("strict"), **tool.get("function", tool)}
        assert (sent["name"], sent["parameters"], sent["strict"]) == ("grade", SCHEMA, True)
    else:
        sent = body["response_format"]["json_schema"] if provider == "openai-chat" else body["text"]["format"]
        assert (sent["name"], sent["schema"], sent["strict"]) == ("grade", SCHEMA, True)


@BOTH
async def test_an_open_schema_is_not_made_strict(provider):
    scores = {"type": "object", "additionalProperties": {"type": "number"}}
    schema = {"type": "object", "properties": {"scores": scores}, "required": ["scores"]}
    async with ModelServer([{"scores": {"a": 1}}]) as server:
        await answer(server, ask(schema=schema, mode="native"), provider)
    body = server.requests[0].body
    sent = body["response_format"]["json_schema"] if provider == "openai-chat" else body["text"]["format"]
    assert not sent.get("strict")
    assert sent["schema"]["properties"]["scores"]["additionalProperties"] == {"type": "number"}


@BOTH
async def test_a_prompted_schema_is_in_the_messages_and_nowhere_else(provider):
    async with ModelServer([PASS]) as server:
        await answer(server, ask(schema=SCHEMA), provider)
    assert server.requests[0].mode == "prompted"


@BOTH
async def test_a_model_that_answers_in_words_is_heard(provider):
    async with ModelServer(Plain("It passes.")) as server:
        assert (await answer(server, ask(schema=SCHEMA, mode="tool"), provider)).text == "It passes."


@BOTH
async def test_settings_are_sent_as_set(provider):
    async with ModelServer("ok") as server:
        await answer(server, ask(settings={"temperature": 0, "max_tokens": 7, "extra_body": {"x": 1}}), provider)
    body = server.requests[0].body
    assert (body["temperature"], body["x"]) == (0, 1)
    assert body.get("max_output_tokens" if provider == "openai-responses" else "max_completion_tokens") == 7


@BOTH
async def test_refusals_and_cuts_are_told(provider):
    async with ModelServer(
        [ScriptedReply(refusal="I will not."), Truncated('{"ver'), ScriptedReply(usage=None)]
    ) as server:
        refused, cut, unmeasured = [await answer(server, ask(), provider) for _ in range(3)]
    assert (refused.refusal, refused.text) == ("I will not.", "")
    assert (cut.finish_reason, cut.text) == ("length", '{"ver')
    assert unmeasured.usage is None


async def test_a_conversation_keeps_its_order():
    words = [("system", "One."), ("system", "Two."), ("user", "Hi"), ("assistant", "Yes?"), ("user", "Judge.")]
    call = ModelCall(messages=tuple(Message(role, (Text(text),)) for role, text in words))
    async with ModelServer("ok") as server:
        await answer(server, call)
    sent = [(it["role"], it["content"]) for it in server.requests[0].body["messages"]]
    assert sent == [("system", "One.\n\nTwo."), ("user", "Hi"), ("assistant", "Yes?"), ("user", "Judge.")]


@BOTH
async def test_half_a_character_is_sent_as_an_escape(provider):
    async with ModelServer("ok") as server:
        await answer(server, ask("It said \udc00 ü.", system="\ud800"), provider)
    assert server.requests[0].prompt == "It said \\udc00 ü."


async def test_images_go_as_bytes_base64_or_a_url():
    files = (
        File(b"\x89PNG", "image/png"),
        File("iVBORw==", name="a.png"),
        File("data:image/png;base64,iVBORw=="),
        File("https://example.com/a.png"),
    )
    async with ModelServer("ok") as server:
        await answer(server, ask("Look.", *files))
    sent = [it["image_url"]["url"] for it in server.requests[0].body["messages"][1]["content"][1:]]
    assert sent == ["data:image/png;base64,iVBORw=="] * 3 + ["https://example.com/a.png"]


@pytest.mark.parametrize(
    ("file", "said"),
    [
        (File(b"x"), "has no media_type"),
        (File("?!", "image/png"), "neither a URL nor base64"),
        (File(3, "image/png"), "no bytes or URL"),
        (File(media_type="image/png"), "is empty"),
    ],
)
async def test_a_file_that_cannot_be_sent_is_named(file, said):
    model = resolve("openai:judge", base_url="http://127.0.0.1:9/v1")
    with pytest.raises(ModelError, match=said) as raised:
        await model.request(ask("Look.", file))
    assert raised.value.kind == "rejected"


def test_which_files_a_model_takes_is_known():
    assert {"image", "document"} <= resolve("openai:judge", base_url="http://127.0.0.1:9/v1").accepts


@BOTH
async def test_a_setting_that_would_be_dropped_is_named_and_nothing_is_sent(provider):
    async with ModelServer("ok") as server:
        for _ in range(2):
            with pytest.raises(ModelError, match="does not take temperature") as raised:
                await answer(server, ask(settings={"temperature": 0}), provider, model="gpt-5-mini")
            assert (raised.value.kind, raised.value.parameter) == ("rejected", "temperature")
        with pytest.raises(ModelError, match="does not take top_k"):
            await answer(server, ask(settings={"top_k": 1}), provider)
        assert not server.requests
        await answer(server, ask(settings={"thinking": "low"}), provider, model="gpt-5-mini")
        assert "reasoning.encrypted_content" not in server.requests[0].body.get("include", ())


@pytest.mark.slow
async def test_many_at_once_share_connections_that_are_kept():
    async with ModelServer(ScriptedReply("ok", delay=0.05)) as server:
        model = resolve("openai:judge", base_url=server.url)
        for _ in range(2):
            given = await asyncio.gather(*(model.request(ask(str(n))) for n in range(64)))
            assert {one.text for one in given} == {"ok"}
        assert server.traffic.most_in_flight > 8
        assert server.traffic.connections <= 64


def test_one_model_serves_several_loops_and_closes_what_each_opened():
    with ModelServer("ok") as server:
        model = resolve("openai:judge", base_url=server.url)
        for _ in range(2):
            assert asyncio.run(model.request(ask())).text == "ok"
            assert not model._per_loop._held
        assert run_sync(model.request(ask())).text == "ok"
        assert run_sync(model.request(ask())).text == "ok"
        assert server.traffic.connections == 3


@pytest.mark.slow
def test_a_process_ends_without_a_word():
    """Its background loop has connections that are open, and is not ended by anybody."""
    code = """
import sys
from proctor.bridge import run_sync
from proctor.models.router import resolve
from tests.models.calls import ask
print(run_sync(resolve("openai:judge", base_url=sys.argv[1]).request(ask(settings={"temperature": 0}))).text)
"""
    with ModelServer("ok") as server:
        command = [sys.executable, "-X", "dev", "-W", "error", "-c", code, server.url]
        done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)
    assert (done.stdout, done.stderr) == ("ok\n", "")


def test_uvloop_is_a_loop_too():
    uvloop = pytest.importorskip("uvloop")
    with ModelServer("ok") as server:
        model = resolve("openai:judge", base_url=server.url)
        assert uvloop.run(model.request(ask())).text == "ok"
        assert not model._per_loop._held


async def test_a_cancelled_request_is_cancelled():
    async with ModelServer(ScriptedReply("ok", delay=30)) as server:
        task = asyncio.ensure_future(answer(server, ask(settings={"seed": 1})))
        while not server.requests:  # noqa: ASYNC110 - the server is another thread's
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


# ── models that the user made ──────────────────────────────────────────────────────────────────────────────────────


async def test_a_model_object_is_asked_as_it_is():
    parts = [ThinkingPart("hm"), TextPart("It "), TextPart("is.")]

    def say(messages, info):
        said.append((messages, info))
        return ModelResponse(parts=parts, usage=RequestUsage(input_tokens=3, output_tokens=4, cost=0.5))

    said = []
    model = PydanticAIModel(FunctionModel(say, model_name="mine"))
    assert isinstance(model, JudgeModel)
    assert (model.id, model.provider) == ("function:mine", "function")
    given = await model.request(ask(schema=SCHEMA, mode="tool"))
    assert (given.text, given.cost) == ("It is.", Cost(amount=0.5, source="provider"))
    assert given.usage == Usage(input_tokens=3, output_tokens=4, total_tokens=7)
    assert said[0][1].output_tools[0].parameters_json_schema == SCHEMA


async def test_what_a_users_function_raises_is_its_own():
    def broken(messages, info):
        raise KeyError("mine")

    with pytest.raises(KeyError):
        await PydanticAIModel(FunctionModel(broken)).request(ask())


async def test_the_arguments_of_a_tool_are_json_however_they_came():
    for args in ({"verdict": "pass"}, '{"verdict":"pass"}'):
        model = PydanticAIModel(
            FunctionModel(lambda m, i, args=args: ModelResponse(parts=[ToolCallPart("answer", args)]))
        )
        assert (await model.request(ask(schema=SCHEMA, mode="tool"))).text == '{"verdict":"pass"}'


async def test_the_test_model_of_pydantic_ai_works():
    assert (await PydanticAIModel(AnyModel(custom_output_text="ok")).request(ask())).text == "ok"


def test_models_that_are_called_the_same_and_answer_as_they_like_share_no_kept_answers():
    def made():
        return FunctionModel(lambda messages, info: ModelResponse(parts=[TextPart("ok")]))

    for make in (made, AnyModel, lambda: FallbackModel(made(), AnyModel())):
        one, other = PydanticAIModel(make()), PydanticAIModel(make())
        assert one.id == other.id
        assert one.address != other.address


async def test_a_model_that_asks_others_is_one_too():
    def busy(messages, info):
        raise ModelHTTPError(429, "busy", {"message": "later"})

    def ready(messages, info):
        return ModelResponse(parts=[TextPart("ok")])

    model = PydanticAIModel(FallbackModel(FunctionModel(busy), FunctionModel(ready)))
    assert model.modes == ("tool", "prompted")
    assert (await model.request(ask(schema=SCHEMA, mode="tool"))).text == "ok"
    with pytest.raises(ModelError, match="status 429: later") as raised:
        await PydanticAIModel(FallbackModel(FunctionModel(busy), FunctionModel(busy))).request(ask())
    assert raised.value.kind == "busy"


def test_anything_else_is_refused():
    with pytest.raises(UsageError, match="a model of pydantic-ai is asked, not"):
        PydanticAIModel(3)
