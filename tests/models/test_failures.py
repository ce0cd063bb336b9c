"""What goes wrong with a request, by its kind, over real connections."""

import asyncio

import pydantic_ai.models.openai  # noqa: F401 - here, so that no test is slow for loading it
import pytest
from pydantic_ai.exceptions import FallbackExceptionGroup, ModelHTTPError, UserError

from proctor.errors import ModelError
from proctor.models.failures import failed
from proctor.models.router import resolve
from proctor.testing.faults import Drop, Html, Malformed, Slow, Status
from proctor.testing.server import ModelServer
from tests.models.calls import SCHEMA, ask

BOTH = pytest.mark.parametrize("provider", ["openai-chat", "openai-responses"])


async def error(server, provider, call=None):
    with pytest.raises(ModelError) as raised:
        await resolve(f"{provider}:judge", base_url=server.url).request(call or ask())
    assert raised.value.message.startswith(f"{provider}:judge: ")
    assert len(raised.value.message) < 450
    return raised.value


FAULTS = {
    "busy": (Status(429, retry_after=1.5), "busy"),
    "quota": (Status(429, code="insufficient_quota"), "quota"),
    "unpaid": (Status(402), "quota"),
    "key": (Status(401), "unauthorized"),
    "forbidden": (Status(403), "unauthorized"),
    "unknown": (Status(404), "not_found"),
    "context": (Status(400, code="context_length_exceeded", param="messages"), "context"),
    "too long": (Status(400, message="the request exceeds the available context size (4096 tokens)"), "context"),
    "rejected": (Status(400), "rejected"),
    "unprocessable": (Status(422), "rejected"),
    "failed": (Status(500), "unavailable"),
    "bad gateway": (Status(502), "unavailable"),
    "overloaded": (Status(529), "unavailable"),
    "dropped": (Drop(), "unavailable"),
    "dropped amid": (Drop(amid=True), "unavailable"),
    "html": (Html(), "unreadable"),
    "half": (Malformed(), "unreadable"),
}


@BOTH
@pytest.mark.parametrize("fault", FAULTS)
async def test_every_fault_has_its_kind_and_is_met_once(provider, fault):
    reply, kind = FAULTS[fault]
    async with ModelServer(reply) as server:
        found = await error(server, provider)
        assert len(server.requests) == 1
    assert found.kind == kind
    if isinstance(reply, Status):
        assert found.status == reply.status
        assert f"status {reply.status}" in found.message
    if kind == "busy":
        assert found.retry_after == pytest.approx(1.5)
    if kind == "context":
        assert found.parameter is None


@BOTH
async def test_the_deadline_is_for_all_of_the_call(provider):
    async with ModelServer(Slow(30)) as server:
        found = await error(server, provider, ask(timeout=0.2))
    assert (found.kind, found.message) == ("timeout", f"{provider}:judge: took longer than the 0.2 s of timeout=")


@BOTH
async def test_nobody_there_is_unavailable(provider):
    with ModelServer("ok") as server:
        pass
    found = await error(server, provider)
    assert found.kind == "unavailable"
    assert f"judge: no connection to {server.url}: " in found.message
    assert found.message.endswith("; is the server running there?")


async def test_an_address_without_its_version_is_asked_after():
    async with ModelServer(Status(404)) as server:
        assert (await error(server, "openai-chat")).message.endswith(f"; asked at {server.url}")
        with pytest.raises(ModelError) as raised:
            await resolve("openai:judge", base_url=server.url.removesuffix("/v1")).request(ask())
    assert raised.value.message.endswith(f"; asked at {server.url.removesuffix('/v1')}: does it lack /v1?")


async def test_a_key_that_is_not_accepted_is_named_by_where_it_came_from(monkeypatch):
    async with ModelServer(Status(401)) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "my-own-key")
        assert (await error(server, "openai-chat")).message.endswith("; the key is that of OPENAI_API_KEY")
        monkeypatch.delenv("OPENAI_API_KEY")
        assert (await error(server, "openai-chat")).message.endswith("; OPENAI_API_KEY is not set")


@BOTH
async def test_a_rejected_setting_is_named(provider):
    async with ModelServer(
        "ok", rejects_parameters=["temperature", "max_completion_tokens", "max_output_tokens"]
    ) as server:
        assert (await error(server, provider, ask(settings={"temperature": 0}))).parameter == "temperature"
        assert (await error(server, provider, ask(settings={"max_tokens": 9}))).parameter == "max_tokens"
    async with ModelServer(Status(400, message="seed: not supported")) as server:
        if provider == "openai-chat":
            assert (await error(server, provider, ask(settings={"seed": 1, "temperature": 0}))).parameter == "seed"
        assert (await error(server, provider)).parameter is None


@BOTH
@pytest.mark.parametrize("mode", ["native", "tool"])
async def test_a_rejected_schema_is_named(provider, mode):
    async with ModelServer("ok", rejects=[mode]) as server:
        found = await error(server, provider, ask(schema=SCHEMA, mode=mode))
    assert found.kind == "rejected"
    assert found.parameter in {"response_format", "text.format", "tools"}


async def test_no_key_is_repeated(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "my-own-key-of-no-known-form")
    async with ModelServer(
        Status(401, message="wrong key my-own-key-of-no-known-form or sk-proj-abcdefghijklmnop1234567890")
    ) as server:
        message = (await error(server, "openai-chat")).message
    assert "wrong key ***" in message
    assert "abcdefghijklmnop" not in message


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"error": {"message": "inner"}}, "inner"),
        ({"detail": "plain"}, "plain"),
        ("a\n  b", "a b"),
        ("<html><p>gone</p></html>", "a page of HTML: gone"),
        (None, ""),
    ],
)
def test_the_servers_own_words(body, said):
    found = failed(ModelHTTPError(500, "m", body), ask(), model="p:m")
    assert found.message == "p:m: the server failed, status 500" + (said and f": {said}")


def test_long_words_are_cut():
    assert len(failed(ModelHTTPError(500, "m", "x" * 9000), ask(), model="p:m").message) < 350


def test_of_several_models_the_last_one_tells():
    group = FallbackExceptionGroup("all", [ModelHTTPError(500, "a"), ModelHTTPError(429, "b")])
    assert failed(group, ask(), model="p:m").kind == "busy"


async def serve(body):
    """A server that gives this body to the one request that it gets."""

    async def answer(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\nconnection: close"
        writer.write(head.encode() + b"\r\n\r\n" + body)
        await writer.drain()
        writer.close()

    return await asyncio.start_server(answer, "127.0.0.1", 0)


@BOTH
@pytest.mark.parametrize(
    "body", [b"[]", b"{}", b"null", b'{"choices": [{}]}', b'{"output": [{"type": "message"}]}', b""]
)
async def test_json_that_is_no_reply_is_unreadable(provider, body):
    server = await serve(body)
    async with server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        with pytest.raises(ModelError, match="what came back is no reply of a model") as raised:
            await resolve(f"{provider}:judge", base_url=url).request(ask())
    assert raised.value.kind == "unreadable"
    assert "NoneType" not in raised.value.message


def test_what_pydantic_ai_refuses_is_rejected_and_a_defect_is_none():
    assert failed(UserError("no such thing"), ask(), model="p:m").kind == "rejected"
    assert failed(ZeroDivisionError(), ask(), model="p:m") is None
