"""The model that says what it is told."""

import asyncio
from dataclasses import dataclass
from threading import Thread

import pytest
from pydantic import BaseModel

from proctor import Message, Text, UsageError
from proctor.data.usage import Cost, Usage
from proctor.errors import ModelError, UnknownName
from proctor.judging.model import JudgeModel, ModelCall, Price
from proctor.testing import ScriptedModel, ScriptedReply, Status


def call(text, **other):
    return ModelCall(messages=(Message("system", (Text("Judge."),)), Message("user", (Text(text),))), **other)


async def answers(model, *texts):
    return [(await model.request(call(text))).text for text in texts]


class Verdict(BaseModel):
    verdict: str


@dataclass
class Graded:
    score: float


def test_it_is_a_judge_model_and_says_of_itself_what_it_was_told():
    price = Price(input_token=1e-6, output_token=2e-6, source="set")
    model = ScriptedModel("ok", name="small", modes=("tool",), accepts=["image"], window=4096, price=price)
    assert isinstance(model, JudgeModel)
    assert (model.id, model.provider) == ("test:small", "test")
    assert model.address != ScriptedModel("ok", name="small").address
    assert ScriptedModel("ok", address="here").address == "here"
    assert (model.modes, model.accepts, model.window, model.price) == (("tool",), {"image"}, 4096, price)
    assert ScriptedModel("ok").modes == ("native", "tool", "prompted")


async def test_replies_in_the_order_of_the_calls_whose_last_repeats():
    assert await answers(ScriptedModel(["one", "two"]), "a", "b", "c") == ["one", "two", "two"]
    assert await answers(ScriptedModel("always"), "a", "b") == ["always", "always"]


async def test_replies_by_a_piece_of_a_user_message_of_the_last_one_first():
    model = ScriptedModel({"refund": "yes", "*": "no"})
    assert await answers(model, "Was the refund fair?", "Was it polite?") == ["yes", "no"]
    asked = (Message("user", (Text("the refund"),)), Message("assistant", (Text("?"),)), Message("user", (Text("x"),)))
    assert (await model.request(ModelCall(messages=asked))).text == "yes"  # the one before the last, then
    model = ScriptedModel({"refund": "yes", "polite": "no"})
    asked = (*asked[:2], Message("user", (Text("Was it polite?"),)))
    assert (await model.request(ModelCall(messages=asked))).text == "no"


async def test_a_prompt_that_it_has_no_reply_to():
    with pytest.raises(UsageError, match=r"ScriptedModel has no reply to 'Bye', and none for '\*'.* write \[\{...\}\]"):
        await answers(ScriptedModel({"Hi": "Hello!"}), "Bye")


async def test_replies_from_a_function_of_the_call():
    async def later(call):
        await asyncio.sleep(0)
        return {"asked": call.name}

    assert await answers(ScriptedModel(lambda call: call.messages[-1].text.upper()), "a") == ["A"]
    assert await answers(ScriptedModel(later), "a") == ['{"asked": "answer"}']


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ({"verdict": "bestanden ✓"}, '{"verdict": "bestanden ✓"}'),
        ([1, 2], "[1, 2]"),
        (Verdict(verdict="pass"), '{"verdict": "pass"}'),
        (Graded(0.5), '{"score": 0.5}'),
        (0.5, "0.5"),
        (ScriptedReply(json=None), "null"),
        (ScriptedReply(refusal="I will not."), ""),
    ],
    ids=["mapping", "list", "pydantic", "dataclass", "number", "none", "refusal"],
)
async def test_values_are_sent_as_json(reply, text):
    assert await answers(ScriptedModel([reply]), "x") == [text]


async def test_a_reply_says_all_that_a_reply_can_say():
    usage, cost = Usage(input_tokens=1, output_tokens=2), Cost(amount=0.5)
    reply = ScriptedReply(
        "half", finish_reason="length", refusal="no", usage=usage, cost=cost, answered_by="small-2026"
    )
    answer = await ScriptedModel([reply]).request(call("x"))
    assert (answer.text, answer.finish_reason, answer.refusal) == ("half", "length", "no")
    assert (answer.usage, answer.cost, answer.answered_by) == (usage, cost, "small-2026")


async def test_what_was_used_is_said_unless_the_reply_says_that_it_is_not():
    usual = await ScriptedModel("x").request(call("x"))
    assert usual.usage == Usage(input_tokens=10, output_tokens=5, total_tokens=15)
    assert usual.finish_reason == "stop"
    assert (await ScriptedModel(ScriptedReply("x", usage=None)).request(call("x"))).usage is None


@pytest.mark.parametrize("wrap", [lambda it: it, lambda it: ScriptedReply(throw=it)], ids=["bare", "throw"])
async def test_an_exception_is_raised_and_the_call_counts(wrap):
    model = ScriptedModel([wrap(ModelError("later", kind="busy", retry_after=2.0)), "ok"])
    with pytest.raises(ModelError, match="later") as raised:
        await answers(model, "x")
    assert (raised.value.kind, raised.value.retry_after) == ("busy", 2.0)
    assert await answers(model, "x") == ["ok"]
    assert model.calls == [call("x"), call("x")]


async def test_a_reply_later_than_the_timeout_of_the_call():
    model = ScriptedModel(ScriptedReply("late", delay=60))
    with pytest.raises(ModelError, match=r"test:scripted did not answer within 0.01 s") as raised:
        await model.request(call("x", timeout=0.01))
    assert raised.value.kind == "timeout"


async def test_a_timeout_that_the_script_raises_stays_what_it_is():
    with pytest.raises(TimeoutError, match="mine"):
        await answers(ScriptedModel(TimeoutError("mine")), "x")


async def test_it_counts_the_calls_that_it_has_at_once():
    together = asyncio.Barrier(5)

    async def wait(call):
        await together.wait()
        return "ok"

    model = ScriptedModel(wait)
    await asyncio.gather(*[model.request(call("x")) for _ in range(5)])
    assert model.most_in_flight == 5
    assert len(model.calls) == 5


def test_several_loops_ask_it_and_each_reply_is_given_once():
    model = ScriptedModel([str(number) for number in range(200)])
    got = []
    threads = [Thread(target=lambda: got.extend(asyncio.run(answers(model, *"x" * 50)))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(got, key=int) == [str(number) for number in range(200)]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: ScriptedModel([]), "ScriptedModel needs at least one reply"),
        (lambda: ScriptedModel({}), "ScriptedModel needs at least one reply"),
        (lambda: ScriptedModel({1: "x"}), "by a piece of the prompt, a text, not 1"),
        (lambda: ScriptedModel([None]), "a text, a value for JSON or a ScriptedReply, not None"),
        (lambda: ScriptedModel([Status(429)]), r"a ScriptedReply, not Status\(status=429\)"),
        (lambda: ScriptedReply(throw="x"), "is an exception, not 'x'"),
        (lambda: ScriptedModel([object()]), "has no plain form"),
        (lambda: ScriptedModel("x", modes=()), "at least one mode"),
        (lambda: ScriptedReply("x", json=1), "a text or json=, not both"),
        (lambda: ScriptedReply({"a": 1}), "json= takes any value"),
        (lambda: ScriptedReply("x", delay=-1), "0 or more seconds"),
        (lambda: ScriptedReply("x", cost=0.01), "is a Cost, not 0.01"),
    ],
    ids=["no list", "no mapping", "key", "none", "fault", "throw", "object", "modes", "both", "text", "delay", "cost"],
)
def test_what_is_no_script(make, says):
    with pytest.raises(Exception, match=says):
        make()


def test_an_unknown_mode_is_named():
    with pytest.raises(UnknownName, match="Did you mean 'native'"):
        ScriptedModel("x", modes=("nativ",))
