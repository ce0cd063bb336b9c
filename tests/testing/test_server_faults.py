"""What the model server does wrong when it is told to, as a client sees it."""

import asyncio
import time

import httpx2
import pytest

from proctor.testing import (
    Drop,
    Html,
    Malformed,
    ModelServer,
    Plain,
    ScriptedReply,
    Slow,
    Status,
    Truncated,
)

CHAT = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
RESPONSES = {"model": "m", "input": "Hi"}
APIS = pytest.mark.parametrize("api", ["chat/completions", "responses"])


def ask(server, api="chat/completions", **other):
    body = {**(RESPONSES if api == "responses" else CHAT), **other}
    return httpx2.post(f"{server.url}/{api}", json=body, timeout=10)


def message(answer):
    return answer.json()["choices"][0]["message"]


@APIS
@pytest.mark.parametrize(
    ("fault", "status", "error"),
    [
        (Status(400), 400, {"type": "invalid_request_error", "code": None, "param": None}),
        (Status(401), 401, {"type": "invalid_request_error", "code": "invalid_api_key", "param": None}),
        (Status(403), 403, {"type": "invalid_request_error", "code": None, "param": None}),
        (Status(404), 404, {"type": "invalid_request_error", "code": "model_not_found", "param": None}),
        (Status(429), 429, {"type": "requests", "code": "rate_limit_exceeded", "param": None}),
        (Status(500), 500, {"type": "server_error", "code": None, "param": None}),
        (Status(529), 529, {"type": "server_error", "code": None, "param": None}),
        (
            Status(429, code="insufficient_quota"),
            429,
            {"type": "insufficient_quota", "code": "insufficient_quota", "message": "insufficient quota"},
        ),
        (
            Status(400, code="context_length_exceeded", message="too long", param="messages"),
            400,
            {"code": "context_length_exceeded", "message": "too long", "param": "messages"},
        ),
    ],
    ids=["400", "401", "403", "404", "429", "500", "529", "quota", "context"],
)
def test_errors_have_the_form_of_openai(api, fault, status, error):
    with ModelServer(fault) as server:
        answer = ask(server, api)
    assert answer.status_code == status
    said = answer.json()["error"]
    assert set(said) == {"message", "type", "param", "code"}
    assert said["message"]
    assert said | error == said


def test_how_long_to_wait_is_said_in_whole_seconds_and_exactly():
    with ModelServer([Status(429, retry_after=1.25), Status(429)]) as server:
        given, none = ask(server), ask(server)
    assert (given.headers["retry-after"], given.headers["retry-after-ms"]) == ("2", "1250")
    assert "retry-after" not in none.headers


def test_a_connection_is_dropped_before_the_answer_or_amid_it():
    with ModelServer([Drop(), Drop(amid=True), "ok"]) as server:
        with pytest.raises(httpx2.RemoteProtocolError, match="disconnected"):
            ask(server)
        with pytest.raises(httpx2.RemoteProtocolError, match="without sending complete"):
            ask(server)
        assert message(ask(server))["content"] == "ok"
    assert (server.traffic.served, server.traffic.failed) == (1, 2)


def test_a_page_and_half_an_answer_come_with_status_200():
    with ModelServer([Html(), Html("<p>Maintenance</p>"), Malformed()]) as server:
        page, own, half = ask(server), ask(server), ask(server)
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "<html>" in page.text
    assert own.text == "<p>Maintenance</p>"
    assert (half.status_code, half.headers["content-type"]) == (200, "application/json")
    with pytest.raises(ValueError, match="line 1"):
        half.json()


def test_a_cut_answer_says_so():
    with ModelServer(Truncated('{"verdict": "pa')) as server:
        chat, responses = ask(server).json()["choices"][0], ask(server, "responses").json()
        tool = ask(server, tools=[{"type": "function", "function": {"name": "grade"}}]).json()["choices"][0]
    assert (chat["finish_reason"], chat["message"]["content"]) == ("length", '{"verdict": "pa')
    assert responses["status"] == "incomplete"
    assert responses["incomplete_details"] == {"reason": "max_output_tokens"}
    assert tool["finish_reason"] == "length"
    assert tool["message"]["tool_calls"][0]["function"]["arguments"] == '{"verdict": "pa'


def test_a_refusal_is_in_words_whatever_was_asked():
    with ModelServer(ScriptedReply(refusal="I will not.")) as server:
        chat = message(ask(server, tools=[{"type": "function", "function": {"name": "grade"}}]))
        responses = ask(server, "responses").json()["output"][0]["content"]
    assert (chat["refusal"], chat["content"]) == ("I will not.", None)
    assert responses == [{"type": "refusal", "refusal": "I will not."}]


def test_a_model_that_does_not_call_its_tool():
    with ModelServer(Plain("I would say: pass.")) as server:
        chat = message(ask(server, tools=[{"type": "function", "function": {"name": "grade"}}]))
    assert chat["content"] == "I would say: pass."
    assert "tool_calls" not in chat


@pytest.mark.parametrize(
    "late", [Slow(0.05, Slow(0.01, "late")), ScriptedReply("late", delay=0.05)], ids=["slow", "delay"]
)
def test_a_late_answer(late):
    with ModelServer(late) as server:
        began = time.monotonic()
        assert message(ask(server))["content"] == "late"
        assert time.monotonic() - began >= 0.05


def test_a_fault_can_be_late_and_come_from_a_function():
    with ModelServer(lambda request: Slow(0.01, Status(503))) as server:
        assert ask(server).status_code == 503


def test_an_exception_of_the_script_is_told():
    with ModelServer([OSError("disk"), "ok"]) as server:
        answer = ask(server)
        assert (answer.status_code, answer.json()["error"]["message"]) == (500, "OSError: disk")
        assert message(ask(server))["content"] == "ok"


async def test_requests_that_come_before_the_last_one_is_answered():
    """Several on one connection, whole or in pieces, are answered in their order."""
    body = b'{"model": "m", "messages": [{"role": "user", "content": "%d"}]}'
    whole = b"".join(
        b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n%b" % (len(body % n), body % n)
        for n in range(3)
    )
    with ModelServer(lambda request: Slow(0.01, f"said {request.prompt}")) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        for start in range(0, len(whole), 50):
            writer.write(whole[start : start + 50])
            await writer.drain()
        got = b""
        while b"said 2" not in got:
            got += await asyncio.wait_for(reader.read(4096), 10)
        writer.close()
        await writer.wait_closed()
    assert got.index(b"said 0") < got.index(b"said 1") < got.index(b"said 2")


@pytest.mark.parametrize(
    "sent",
    [
        b"POST /v1/responses HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"POST /v1/responses HTTP/1.1\r\nContent-Length: many\r\n\r\n",
        b"GET / HTTP/1.1\r\nX: " + b"x" * 70_000,
    ],
    ids=["chunked", "length", "long"],
)
async def test_what_it_cannot_read_is_refused_and_the_connection_closed(sent):
    with ModelServer("ok") as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(sent)
        assert (await asyncio.wait_for(reader.read(), 10)).startswith(b"HTTP/1.1 400 Bad Request\r\n")
        writer.close()
        await writer.wait_closed()
