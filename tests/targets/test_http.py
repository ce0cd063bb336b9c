"""Agents behind an address: servers on the loopback address, of OpenAI's chat completions and of any other JSON."""

import asyncio
import gzip
import json
import re
import warnings

import pytest

from proctor import (
    MISSING,
    Eval,
    Item,
    Message,
    Retry,
    Text,
    ToolCall,
    Turn,
    checks,
    resume,
    run_evals,
    run_evals_sync,
)
from proctor.data.message import Reasoning
from proctor.errors import UnknownName, UsageError
from proctor.running.target import as_target
from proctor.targets.http import HttpTarget
from proctor.testing import ModelServer
from tests.targets.loopback import answer, serving

ANY = [checks.max_tool_calls(9)]


def chat(words, **message):
    usage = {
        "prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13, "cost": 0.002,
        "completion_tokens_details": {"reasoning_tokens": 2},
    }  # fmt: skip
    return {
        "choices": [{"message": {"role": "assistant", "content": words, **message}, "finish_reason": "stop"}],
        "usage": usage,
    }


async def one(target, given="Hi", **options):
    result = await run_evals(target=target, data=[Item(given, id="i")], scorers=ANY, **options)
    return result.items[0]


def said_by_user(asked):
    return [message["content"] for message in asked.body["messages"] if message["role"] == "user"]


# ── chat completions ───────────────────────────────────────────────────────────────────────────────────────────────


async def test_an_address_is_a_target_and_its_answer_is_read():
    asked = []

    def tell(request):
        asked.append(request)
        call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"a": 1}'}}
        return answer(chat("It is sunny.", reasoning_content="Hm.", tool_calls=[call]))

    async with serving(tell) as url:
        assert isinstance(as_target(url), HttpTarget)
        row = await one(HttpTarget(f"{url}/v1", model="weather"))
    (reply,) = row.replies
    assert reply.output[0].parts == (Reasoning("Hm."), Text("It is sunny."), ToolCall("look", {"a": 1}, id="c1"))
    assert (reply.finish_reason, reply.cost.amount, reply.cost.source) == ("stop", 0.002, "the server")
    assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.reasoning_tokens) == (9, 4, 2)
    (request,) = asked
    assert request.line.startswith("POST /v1/chat/completions ")
    assert request.body == {"model": "weather", "messages": [{"role": "user", "content": "Hi"}]}
    trace = request.headers["traceparent"].split("-")
    assert (reply.origin.trace_id, reply.origin.span_id, reply.origin.source) == (trace[1], trace[2], "http")


async def test_two_hundred_conversations_at_once_see_only_their_own_history():
    async def tell(request):
        await asyncio.sleep(0.001)
        return answer(chat(" ".join(said_by_user(request))))

    async with serving(tell) as url:
        target = HttpTarget(url)
        data = [Item(inputs=[f"{at}-a", f"{at}-b"], id=f"i{at}") for at in range(100)]
        result = await run_evals(target=target, data=data, repeats=2, concurrency=50, scorers=ANY)
    assert all(row.replies[1].output[0].text == f"{row.item.id[1:]}-a {row.item.id[1:]}-b" for row in result.items)
    assert target._threads == {}
    traces = {reply.origin.trace_id for row in result.items for reply in row.replies}
    assert len(traces) == 400


def test_a_target_is_used_from_one_loop_after_the_other():
    with ModelServer({"*": "It is sunny."}) as server:
        target = HttpTarget(server.url, model="m")
        for _ in range(2):
            result = run_evals_sync(target=target, data=[Item("Hi")], scorers=[checks.includes("sunny")])
            assert result.means[0].mean == 1.0
            asyncio.run(run_evals(target=target, data=[Item("Hi")], scorers=[checks.includes("sunny")]))
    assert len(server.requests) == 4


def pieces(*chunks, done=True, line="\r\n\r\n"):
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
    data = [f"data: {json.dumps(chunk, ensure_ascii=False)}{line}".encode() for chunk in chunks]
    whole = b": keep-alive" + line.encode() + b"".join(data) + (b"data: [DONE]" + line.encode() if done else b"")
    return [head, *(whole[at : at + 7] for at in range(0, len(whole), 7))]  # cut within letters, too


def delta(reason=None, **parts):
    return {"choices": [{"delta": parts, "finish_reason": reason}]}


@pytest.mark.parametrize("line", ["\r\n\r\n", "\n\n"])
async def test_an_answer_in_pieces_is_the_same_reply(line):
    first = {"index": 0, "id": "c1", "function": {"name": "look", "arguments": '{"a"'}}
    told = pieces(
        delta(role="assistant", content="Es ist schön"),
        delta(content=" – heiß."),
        delta(tool_calls=[first]),
        delta(tool_calls=[{"index": 0, "function": {"arguments": ": 1}"}}]),
        delta("tool_calls"),
        {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}},
        line=line,
    )
    asked = []

    def tell(request):
        asked.append(request.body)
        return told

    async with serving(tell) as url:
        row = await one(HttpTarget(url, stream=True))
    (reply,) = row.replies
    assert reply.output[0].parts == (Text("Es ist schön – heiß."), ToolCall("look", {"a": 1}, id="c1"))
    assert (reply.finish_reason, reply.usage.output_tokens) == ("tool_calls", 2)
    assert (asked[0]["stream"], asked[0]["stream_options"]) == (True, {"include_usage": True})


@pytest.mark.parametrize(
    "told",
    [
        pieces(delta(content="Half a"), done=False),
        pieces(delta(content="Half a"), {"error": {"message": "overloaded"}}, done=False),
    ],
    ids=["the connection ends", "an error"],
)
async def test_an_answer_that_breaks_off_is_an_error_with_what_came(told):
    async with serving(lambda request: told) as url:
        row = await one(HttpTarget(url, stream=True))
    assert (row.status, row.error.code, row.replies[0].output[0].text) == ("error", "UNREADABLE_ANSWER", "Half a")


async def test_a_server_that_does_not_stream_when_it_should_is_read_all_the_same():
    async with serving(lambda request: answer(chat("whole"))) as url:
        assert (await one(HttpTarget(url, stream=True))).output[0].text == "whole"
    async with serving(lambda request: answer({"error": "no"}, status=400)) as url:
        row = await one(HttpTarget(url, stream=True))
    assert ("answered 400" in row.error.message, row.replies[0].output) == (True, MISSING)


async def test_options_reach_the_body_and_others_are_refused():
    asked = []

    def tell(request):
        asked.append(request)
        return answer(chat("ok"))

    options = {"model": "m", "instructions": "Be brief.", "model_settings": {"temperature": 0}, "headers": {"x-a": "1"}}
    async with serving(tell) as url:
        await one(HttpTarget(url), target_options=options, request_context={"x-tenant": "acme", "x-turn": 3})
        with pytest.raises(UnknownName, match="Did you mean 'model_settings'"):
            await one(HttpTarget(url), target_options={"model_setting": {}})
    (request,) = asked
    assert request.body == {
        "model": "m",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}],
        "temperature": 0,
    }
    assert [request.headers[name] for name in ("x-a", "x-tenant", "x-turn")] == ["1", "acme", "3"]


async def test_cookies_of_one_conversation_are_not_sent_in_another():
    asked = []

    def tell(request):
        asked.append(request.headers.get("cookie"))
        return answer(chat("ok"), headers="set-cookie: session=1; Path=/\r\n")

    async with serving(tell) as url:
        await run_evals(target=url, data=[Item(inputs=["a", "b"], id="i"), Item("c")], scorers=ANY)
    assert asked == [None, None, None]


# ── any other endpoint ─────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_template_says_what_is_sent_and_paths_what_comes_back():
    asked = []

    def tell(request):
        asked.append(request)
        return answer({"data": [{"answer": "Sunny.", "why": "stop"}], "took": {"input_tokens": 7}, "price": 0.5})

    target_options = {"memory": {"resource": "ann"}}
    async with serving(tell) as url:
        target = HttpTarget(
            f"{url}/ask",
            request={
                "q": "{input}", "who": {"user": "{resource_id}", "at": "{request_context.place.city}"},
                "line": "turn {turn} of {thread_id}: {input}", "braces": "{{input}}", "n": 3,
            },
            response={"output": "data[0].answer", "finish_reason": "data[0].why", "usage": "took", "cost": "price"},
        )  # fmt: skip
        data = [Item(inputs=[{"text": "Hi"}], id="i", request_context={"place": {"city": "Rome"}})]
        result = await run_evals(target=target, data=data, scorers=ANY, target_options=target_options)
    (reply,) = result.items[0].replies
    assert (reply.output, reply.finish_reason, reply.cost.amount, reply.usage.input_tokens) == (
        "Sunny.",
        "stop",
        0.5,
        7,
    )
    (request,) = asked
    thread = reply.origin.thread_id
    assert request.body == {
        "q": {"text": "Hi"}, "who": {"user": "ann", "at": "Rome"},
        "line": f'turn 0 of {thread}: {{"text":"Hi"}}', "braces": "{input}", "n": 3,
    }  # fmt: skip
    assert request.line.startswith("POST /ask ")


async def test_an_endpoint_of_messages_is_sent_the_conversation_and_one_of_neither_forgets():
    asked = []

    def tell(request):
        asked.append(request.body)
        return answer({"text": f"answer {len(asked)}"})

    talk = [Item(inputs=["a", "b"], id="i")]
    async with serving(tell) as url:
        target = HttpTarget(url, request={"messages": "{messages}"}, response="text")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            await run_evals(target=target, data=talk, scorers=ANY)
        with pytest.warns(UserWarning, match=r"has no memory.*\{messages\}"):
            await run_evals(target=HttpTarget(url, request={"q": "{input}"}, response="text"), data=talk, scorers=ANY)
    assert asked[1]["messages"] == [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "answer 1"},
        {"role": "user", "content": "b"},
    ]
    assert asked[2:] == [{"q": "a"}, {"q": "b"}]


async def test_functions_make_the_request_and_read_the_answer():
    async with serving(lambda request: answer({"echo": request.body})) as url:
        target = HttpTarget(
            url,
            request=lambda call: {"asked": call.input, "thread": call.thread_id is not None},
            response=lambda body: [Message("assistant", (Text(str(body["echo"])),))],
        )
        row = await one(target)
    assert row.output[0].text == "{'asked': 'Hi', 'thread': False}"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"request": {"q": "{question}"}}, r"no placeholder of request= 'question'"),
        ({"request": {"q": "{inputs}"}}, "Did you mean 'input'"),
        ({"response": "data..answer"}, "is no path"),
        ({"response": {"text": "a"}}, "no field of response= 'text'"),
        ({"response": {"usage": "a"}}, "no path of the output"),
        ({"response": 5}, "response is a path, a mapping of them, or a function"),
        ({"response": "a", "model": "m"}, "are of chat completions"),
        ({"headers": {"a b": "c"}}, "cannot be the name of a header"),
        ({"headers": {"x": "a\nb"}}, "the value of x cannot be a header"),
        ({"headers": {"Host": "x"}}, "'Host' cannot be the name of a header"),
    ],
)
def test_what_cannot_be_sent_or_read_is_refused_when_it_is_written(options, message):
    with pytest.raises(UsageError, match=message):
        HttpTarget("http://127.0.0.1:1", **options)


@pytest.mark.parametrize("url", ["ftp://a.example", "http://", "127.0.0.1:80", "http:///v1"])
def test_what_is_no_address_is_refused(url):
    with pytest.raises(UsageError, match="is no address of an endpoint"):
        HttpTarget(url)


# ── what goes wrong ────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_busy_server_is_asked_again_when_it_asks_for_it():
    asked = []

    def tell(request):
        asked.append(asyncio.get_running_loop().time())
        if len(asked) == 1:
            return answer({"error": "busy"}, status=429, headers="retry-after: 0.2\r\n")
        return answer(chat("ok"))

    async with serving(tell) as url:
        row = await one(HttpTarget(url), retries=Retry(times=1, first_wait=0, jitter=0))
    assert (row.status, asked[1] - asked[0] >= 0.2) == ("done", True)


@pytest.mark.parametrize(
    ("told", "message"),
    [
        (answer("<html>Login</html>", type="text/html"), "answered no JSON: <html>Login"),
        (answer(b"", type="application/json"), "answered no JSON: nothing"),
        (answer({"detail": "x"}), r"no chat completion: no choices\[0\].message in detail"),
        (answer({"choices": [{}]}), "no chat completion"),
        (answer("no", status=404), "answered 404: no"),
        (answer("", status=302, headers="location: http://127.0.0.1:9/\r\n"), "answered 302"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{", ""),
    ],
    ids=["html", "nothing", "another answer", "no message", "404", "redirect", "half an answer"],
)
async def test_an_answer_that_is_none_is_an_error_of_the_item(told, message):
    async with serving(lambda request: [told]) as url:
        row = await one(HttpTarget(url))
    assert row.status == "error"
    assert re.search(message, row.error.message)


async def test_a_path_that_is_not_there_says_what_is():
    async with serving(lambda request: answer({"data": {"text": "x"}})) as url:
        row = await one(HttpTarget(url, response="data.answer"))
    assert row.error.message == "the answer has no data.answer: data has text"


async def test_nobody_there_is_an_error_that_may_pass():
    row = await one(HttpTarget("http://127.0.0.1:9"), retries=Retry(times=1, first_wait=0))
    assert (row.status, row.error.type) == ("error", "ConnectError")


async def test_an_answer_without_end_is_given_up():
    def tell(request):
        return [b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n", *[b"x" * 1000] * 50]

    async with serving(tell) as url:
        row = await one(HttpTarget(url, most_bytes=10_000))
    assert (row.error.code, "more than 10,000 bytes" in row.error.message) == ("ANSWER_TOO_LONG", True)


async def test_a_megabyte_and_a_zipped_answer_arrive_whole():
    zipped = gzip.compress(json.dumps(chat("x" * 1_000_000)).encode())
    async with serving(lambda request: answer(zipped, headers="content-encoding: gzip\r\n")) as url:
        assert len((await one(HttpTarget(url))).output[0].text) == 1_000_000


async def test_secrets_are_sent_and_shown_to_nobody(monkeypatch):
    asked = []

    def tell(request):
        asked.append(request.headers)
        return answer(f"bad key {request.headers['x-api-key']}", status=401, type="text/plain")

    monkeypatch.setenv("AGENT_KEY", "Bearer sk-agent-0123456789abcdef0123456789")
    async with serving(tell) as url:
        address = url.replace("http://", "http://ann:hunter22@") + "/v1?token=abcdefgh12345678"
        target = HttpTarget(address, headers={"x-api-key": "env:AGENT_KEY"})
        row = await one(target)
        monkeypatch.delenv("AGENT_KEY")
        with pytest.raises(UsageError, match="AGENT_KEY is not set"):
            await one(target)
    assert "sk-agent" in asked[0]["x-api-key"]
    assert asked[0]["authorization"].startswith("Basic ")
    for shown in (repr(target), row.error.message):
        assert not any(secret in shown for secret in ("hunter22", "sk-agent", "abcdefgh12345678"))
    assert "answered 401" in row.error.message


async def test_a_run_of_an_address_is_kept_and_gone_on_with_without_its_secrets(tmp_path):
    asked = []

    def tell(request):
        asked.append(request)
        return answer(chat("ok"))

    async with serving(tell) as url:
        address = url.replace("http://", "http://ann:hunter22@") + "/v1?token=abcdefgh12345678"
        options = {"target": address, "scorers": ANY, "store": str(tmp_path / "s.db")}
        result = await run_evals(data=[Item("a", id="a")], **options)
        assert result.summary.provenance["target"]["name"] == f"{url}/v1"
        again = await resume(result.run, Eval(data=[Item("a", id="a")], **options), store=options["store"])
        assert again.status == "complete"
    assert len(asked) == 1
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert not any(secret in kept for secret in (b"hunter22", b"abcdefgh12345678"))


async def test_mocks_are_refused_for_an_address():
    with pytest.raises(UsageError, match="tools cannot be kept from being called"):
        await one(HttpTarget("http://127.0.0.1:9"), unmocked="deny")


async def test_turns_of_a_conversation_and_what_is_asked_of_them():
    async with serving(lambda request: answer(chat(" ".join(said_by_user(request))))) as url:
        turns = [Turn("Brooklyn?"), Turn("And tomorrow?", gates=[checks.includes("Brooklyn")])]
        result = await run_evals(target=url, data=[Item(turns=turns)])
    assert result.verdict == "passed"
