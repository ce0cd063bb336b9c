"""The model server, asked over real connections: what it answers and what it counts."""

import asyncio
import gc
import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx2
import pytest

from proctor import UsageError
from proctor.data.usage import Cost, Usage
from proctor.testing import ModelServer, ScriptedReply, Slow, Status
from proctor.testing.traffic import Traffic

SCHEMA = {"type": "object", "properties": {"verdict": {"type": "string"}}}
CHAT_TOOL = {"type": "function", "function": {"name": "grade", "parameters": SCHEMA}}
CHAT_NATIVE = {"type": "json_schema", "json_schema": {"name": "grade", "schema": SCHEMA}}
TOOL = {"type": "function", "name": "grade", "parameters": SCHEMA}
NATIVE = {"format": {"type": "json_schema", "name": "grade", "schema": SCHEMA}}


@pytest.fixture
async def client():
    async with httpx2.AsyncClient(timeout=10) as client:
        yield client


async def chat(client, server, text="Hi", **other):
    body = {"model": "m", "messages": [{"role": "user", "content": text}], **other.pop("body", {})}
    return await client.post(f"{server.url}/chat/completions", json=body, **other)


async def respond(client, server, text="Hi", **body):
    return await client.post(f"{server.url}/responses", json={"model": "m", "input": text, **body})


def said(answer):
    return answer.json()["choices"][0]["message"]["content"]


def test_it_is_where_it_says_for_as_long_as_it_is_open():
    before = threading.active_count()
    with ModelServer("ok") as server:
        assert server.url == f"http://127.0.0.1:{server.port}/v1"
        assert httpx2.get(f"{server.url}/models").json()["data"][0]["id"] == "scripted"
        assert threading.active_count() == before + 1
    with pytest.raises(httpx2.ConnectError):
        httpx2.get(f"{server.url}/models")
    assert threading.active_count() == before


async def test_both_apis_give_the_scripted_replies(client):
    async with ModelServer({"refund": {"verdict": "pass"}, "*": "Pardon?"}) as server:
        assert said(await chat(client, server, "the refund")) == '{"verdict": "pass"}'
        assert said(await chat(client, server)) == "Pardon?"
        answer = (await respond(client, server, "the refund")).json()
    assert answer["output"][0]["content"][0] == {
        "type": "output_text",
        "text": '{"verdict": "pass"}',
        "annotations": [],
    }
    assert (answer["status"], answer["model"]) == ("completed", "m")


async def test_the_prompt_is_the_last_user_message_whatever_its_form(client):
    parts = [{"role": "user", "content": [{"type": "text", "text": "the "}, {"type": "text", "text": "refund"}]}]
    items = [
        {"role": "user", "content": [{"type": "input_text", "text": "the refund"}]},
        {"role": "assistant", "content": "?"},
    ]
    async with ModelServer({"the refund": "yes"}) as server:
        assert said(await chat(client, server, body={"messages": parts})) == "yes"
        assert (await respond(client, server, items)).status_code == 200
    assert [request.prompt for request in server.requests] == ["the refund", "the refund"]
    assert [request.api for request in server.requests] == ["chat", "responses"]


async def test_a_function_gets_the_request(client):
    async def reply(request):
        await asyncio.sleep(0)
        return {"asked": request.body["temperature"], "mode": request.mode}

    async with ModelServer(reply) as server:
        answer = await chat(client, server, body={"temperature": 0.5, "response_format": CHAT_NATIVE})
    assert json.loads(said(answer)) == {"asked": 0.5, "mode": "native"}


async def test_a_tool_to_call_gets_the_reply_as_its_arguments(client):
    async with ModelServer([{"verdict": "pass"}]) as server:
        choice = (await chat(client, server, body={"tools": [CHAT_TOOL]})).json()["choices"][0]
        call = (await respond(client, server, tools=[TOOL])).json()["output"][0]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["content"] is None
    assert choice["message"]["tool_calls"][0]["function"] == {"name": "grade", "arguments": '{"verdict": "pass"}'}
    assert (call["type"], call["name"], call["arguments"]) == ("function_call", "grade", '{"verdict": "pass"}')


async def test_of_several_tools_the_chosen_one_is_called_and_none_when_none_may_be(client):
    other = {"type": "function", "function": {"name": "other", "parameters": {}}}
    chosen = {"type": "function", "function": {"name": "grade"}}
    async with ModelServer("{}") as server:
        call = (await chat(client, server, body={"tools": [other, CHAT_TOOL], "tool_choice": chosen})).json()
        none = await chat(client, server, body={"tools": [other], "tool_choice": "none"})
    assert call["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "grade"
    assert said(none) == "{}"


async def test_tokens_are_words_unless_the_reply_says_what_it_used(client):
    used = Usage(input_tokens=100, output_tokens=7, cached_input_tokens=60, reasoning_tokens=4)
    replies = ["two words", ScriptedReply("x", usage=used, cost=Cost(amount=0.25)), ScriptedReply("x", usage=None)]
    async with ModelServer(replies) as server:
        rough, exact, none = [(await chat(client, server, "one two three")).json().get("usage") for _ in range(3)]
    assert (rough["prompt_tokens"], rough["completion_tokens"], rough["total_tokens"]) == (3, 2, 5)
    assert (exact["prompt_tokens"], exact["completion_tokens"], exact["total_tokens"]) == (100, 7, 107)
    assert exact["prompt_tokens_details"] == {"cached_tokens": 60}
    assert exact["completion_tokens_details"] == {"reasoning_tokens": 4}
    assert exact["cost"] == 0.25
    assert none is None


async def test_what_came_is_kept_without_secrets(client):
    async with ModelServer("ok") as server:
        await chat(client, server, headers={"Authorization": "Bearer sk-secret", "X-Api-Key": "k", "X-Trace": "t"})
    (request,) = server.requests
    assert request.path == "/v1/chat/completions"
    assert (request.headers["authorization"], request.headers["x-api-key"]) == ("***", "***")
    assert request.headers["x-trace"] == "t"
    assert request.body["messages"] == [{"role": "user", "content": "Hi"}]


async def test_connections_are_kept_and_64_requests_are_served_at_once():
    together = asyncio.Barrier(64)

    async def wait(request):
        await together.wait()
        return request.prompt

    limits = httpx2.Limits(max_keepalive_connections=64)
    async with ModelServer(wait) as server, httpx2.AsyncClient(limits=limits, timeout=30) as client:
        for _ in range(2):
            answers = await asyncio.gather(*[chat(client, server, str(number)) for number in range(64)])
            assert [said(answer) for answer in answers] == [str(number) for number in range(64)]
    assert (server.traffic.served, server.traffic.most_in_flight, server.traffic.in_flight) == (128, 64, 0)
    assert server.traffic.connections == 64
    assert server.traffic.busy_seconds > 0


async def test_requests_above_the_rate_are_refused_until_the_next_second(client, monkeypatch):
    now = [50.0]
    monkeypatch.setattr("proctor.testing.traffic.monotonic", lambda: now[0])
    async with ModelServer(["one", "two", "three", "four"], rate=3) as server:
        now[0] = 60.25
        answers = [await chat(client, server) for _ in range(5)]
        now[0] = 61.0
        assert said(await chat(client, server)) == "four"
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
    assert (answers[-1].headers["retry-after"], answers[-1].headers["retry-after-ms"]) == ("1", "750")
    assert answers[-1].json()["error"]["code"] == "rate_limit_exceeded"
    assert (server.traffic.served, server.traffic.refused) == (4, 2)
    assert [(window.second, window.admitted, window.refused) for window in server.traffic.windows] == [
        (10, 3, 2),
        (11, 1, 0),
    ]


def test_how_busy_a_server_was_is_said_of_full_seconds(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("proctor.testing.traffic.monotonic", lambda: now[0])
    traffic = Traffic(2)
    for at in (0.9, 1.0, 1.1, 1.2, 3.5, 3.6, 4.0):
        now[0] = at
        traffic.admit()
    assert [window.admitted for window in traffic.windows] == [1, 2, 0, 2, 1]
    assert traffic.busy == 4 / 6
    assert Traffic(None).busy is None


async def test_what_it_counted_can_be_asked_from_another_process(client):
    async with ModelServer("ok") as server:
        await chat(client, server)
        counted = (await client.get(server.url.replace("/v1", "/traffic"))).json()
    assert (counted["served"], counted["refused"], counted["most_in_flight"]) == (1, 0, 1)


async def test_ways_to_send_a_schema_can_be_rejected(client):
    async with ModelServer(["one", "two"], rejects=("native", "tool")) as server:
        native = await chat(client, server, body={"response_format": CHAT_NATIVE})
        tool = await chat(client, server, body={"tools": [CHAT_TOOL]})
        other = await client.post(f"{server.url}/responses", json={"model": "m", "input": "Hi", "text": NATIVE})
        assert said(await chat(client, server)) == "one"
    assert [it.status_code for it in (native, tool, other)] == [400, 400, 400]
    named = [it.json()["error"]["param"] for it in (native, tool, other)]
    assert named == ["response_format", "tools", "text.format"]


async def test_parameters_models_and_keys_can_be_rejected(client):
    key = {"Authorization": "Bearer right"}
    async with ModelServer("ok", rejects_parameters=["temperature"], models=["m"], key="right") as server:
        setting = await chat(client, server, headers=key, body={"temperature": 0})
        model = await chat(client, server, headers=key, body={"model": "n"})
        none = await chat(client, server)
        fine = await chat(client, server, headers=key)
    assert (setting.status_code, setting.json()["error"]["param"]) == (400, "temperature")
    assert (model.status_code, model.json()["error"]["code"]) == (404, "model_not_found")
    assert (none.status_code, none.json()["error"]["code"]) == (401, "invalid_api_key")
    assert said(fine) == "ok"
    assert len(server.requests) == 4


async def test_what_is_no_request_for_an_answer(client):
    async with ModelServer("ok") as server:
        assert (await client.get(f"{server.url}/chat/completions")).status_code == 404
        assert (await client.post(f"{server.url}/chat/completions", content=b"{")).status_code == 400
        assert (await client.post(f"{server.url}/chat/completions", json=[])).status_code == 400
        assert (await chat(client, server, body={"stream": True})).json()["error"]["param"] == "stream"


async def test_a_script_that_fails_is_an_error_of_the_server(client):
    async with ModelServer({"Hi": "Hello"}) as server:
        answer = await chat(client, server, "Bye")
    assert answer.status_code == 500
    assert "ModelServer has no reply to 'Bye'" in answer.json()["error"]["message"]
    assert (server.traffic.served, server.traffic.failed) == (0, 1)


async def test_it_ends_at_once_though_answers_are_due(client):
    came, loop = asyncio.Event(), asyncio.get_running_loop()

    def reply(request):
        loop.call_soon_threadsafe(came.set)
        return Slow(60)

    before = threading.active_count()
    server = ModelServer(reply)
    server.start()
    asked = asyncio.create_task(chat(client, server))
    await came.wait()
    began = time.monotonic()
    server.stop()
    server.stop()
    assert time.monotonic() - began < 5
    assert threading.active_count() == before
    assert (server.traffic.in_flight, server.traffic.failed) == (0, 1)
    with pytest.raises(httpx2.TransportError):
        await asked


async def test_an_answer_that_nobody_waits_for_is_given_up(client):
    given_up, loop = asyncio.Event(), asyncio.get_running_loop()

    async def reply(request):
        try:
            await asyncio.sleep(60)
        finally:
            loop.call_soon_threadsafe(given_up.set)

    async with ModelServer(reply) as server:
        with pytest.raises(httpx2.ReadTimeout):
            await chat(client, server, timeout=0.05)
        await asyncio.wait_for(given_up.wait(), 10)
    assert server.traffic.failed == 1


def test_servers_leave_no_files_open():
    def open_files():
        gc.collect()
        return len(list(listed.iterdir()))

    listed = Path("/proc/self/fd")
    if not listed.is_dir():
        pytest.skip("no list of open files here")
    with ModelServer("ok") as server:
        httpx2.get(f"{server.url}/models")
    before = open_files()
    for _ in range(5):
        with ModelServer("ok") as server, httpx2.Client() as client:
            client.get(f"{server.url}/models")
    assert open_files() == before


def test_what_is_no_server():
    with pytest.raises(UsageError, match="ModelServer needs at least one reply"):
        ModelServer([])
    with pytest.raises(UsageError, match=r"rate=\.\.\.\) is a number of requests in a second, not 0"):
        ModelServer("ok", rate=0)
    with pytest.raises(UsageError, match="an error of HTTP, 400 to 599, not 200"):
        Status(200)
    with ModelServer("ok") as server:
        with pytest.raises(UsageError, match="started before"):
            server.start()
        with pytest.raises(UsageError, match=f"cannot listen on port {server.port}"):
            ModelServer("ok", port=server.port).start()
    with pytest.raises(UsageError, match="cannot listen on port 70000"):
        ModelServer("ok", port=70000).start()


@pytest.mark.parametrize("end", ["input", "signal"])
@pytest.mark.slow
def test_the_command_prints_its_url_and_what_it_counted(end):
    command = [sys.executable, "-W", "error", "-m", "proctor.testing.server", "--reply", '{"a": 1}', "--rate", "2"]
    with subprocess.Popen(
        [*command, "--delay-ms", "1", "--rejects", "tool"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        url = process.stdout.readline().strip()
        body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
        assert said(httpx2.post(f"{url}/chat/completions", json=body)) == '{"a": 1}'
        assert httpx2.post(f"{url}/chat/completions", json={**body, "tools": [CHAT_TOOL]}).status_code == 400
        if end == "input":
            process.stdin.close()
        else:
            process.send_signal(signal.SIGTERM)
        counted = json.loads(process.stdout.readline())
        assert process.wait(10) == 0
    assert (counted["rate"], counted["served"], counted["failed"]) == (2, 1, 1)
