"""Mocks that stand for tools, in runs of a callable that calls its tools through the toolbox."""

import asyncio
from contextlib import suppress

import pytest

from proctor import (
    Item,
    MemoryRecorder,
    Message,
    Retry,
    Text,
    ToolCall,
    ToolMock,
    Turn,
    UsageError,
    checks,
    run_evals,
)
from proctor.data.codec import dumps, loads
from proctor.running.toolbox import MockedError

ANY = [checks.max_tool_calls(9)]


class Shop:
    """An agent whose model is its input: a list of calls to make. Counts what really happened."""

    durable_threads = True

    def __init__(self):
        self.paid = []

    async def __call__(self, calls, *, toolbox, thread_id=None):
        parts = []
        for at, (name, args) in enumerate(calls):
            try:
                result = await toolbox.call(name, args, id=f"c{at}", live=lambda args=args: self.pay(args))
            except MockedError as error:
                parts.append(ToolCall(name, args, id=f"c{at}", error=str(error), state="failed"))
            else:
                parts.append(ToolCall(name, args, id=f"c{at}", result=result, state="done"))
        return [Message("assistant", (*parts, Text("done")))]

    async def pay(self, args):
        self.paid.append(args)
        if args.get("n") == 13:
            raise RuntimeError("no luck")
        return "paid"


async def run(calls, mocks, shop=None, **options):
    shop = shop or Shop()
    item = Item(calls, id="i", tool_mocks=mocks, unmocked=options.pop("policy", None))
    result = await run_evals(target=shop, data=[item], scorers=ANY, **options)
    return result.items[0], shop


def calls_of(row):
    return [part for reply in row.replies for part in reply.output[0].parts if isinstance(part, ToolCall)]


async def test_mocks_answer_in_their_order_and_the_tool_is_not_called():
    mocks = [ToolMock("pay", {"n": 1}, output="first"), ToolMock("pay", {"n": 1}, output="second")]
    row, shop = await run([("pay", {"n": 1}), ("pay", {"n": 1})], mocks)
    assert [(call.result, call.mock) for call in calls_of(row)] == [("first", 0), ("second", 1)]
    assert shop.paid == []
    assert str(row.tool_report) == "2 calls answered by mocks, 0 live, 0 mocks unused"


async def test_a_tool_without_a_mock_is_called_or_refused():
    row, shop = await run([("pay", {"n": 1})], [ToolMock("other", output=1)])
    assert (row.status, shop.paid, calls_of(row)[0].mock) == ("done", [{"n": 1}], None)
    assert [mock.name for mock in row.tool_report.unused] == ["other"]
    for options in ({"policy": "deny"}, {"unmocked": "deny"}):
        row, shop = await run([("pay", {"n": 1})], [ToolMock("other", output=1)], **options)
        assert (row.status, row.error.code, shop.paid) == ("error", "TOOL_MOCK_NOT_DECLARED", [])
        assert "there are mocks of: other" in row.error.message
    row, shop = await run([("pay", {"n": 1})], [], policy="allow", unmocked="deny")
    assert (row.status, shop.paid) == ("done", [{"n": 1}])


@pytest.mark.parametrize("policy", ["allow", "deny"])
async def test_arguments_that_no_mock_is_for_never_reach_the_tool(policy):
    mocks = [ToolMock("pay", {"n": 1, "to": "ann"}, output="ok"), ToolMock("pay", {"n": 5, "to": "bob"}, output="ok")]
    row, shop = await run([("pay", {"n": 2, "to": "ann"})], mocks, policy=policy)
    assert (row.status, row.error.code, shop.paid) == ("error", "TOOL_MOCK_MISMATCH", [])
    assert row.error.message.endswith("the nearest, tool_mocks[0], has at n 1, not 2")
    assert [outcome.status for outcome in row.outcomes] == ["not_run"]


async def test_a_function_of_a_mock_that_raises_is_an_error_and_no_call():
    row, shop = await run([("pay", {"n": 2})], [ToolMock("pay", output=1, match=lambda args: args["to"])])
    assert (row.error.code, shop.paid) == ("TOOL_MOCK_MISMATCH", [])
    assert "match= of tool_mocks[0] raised KeyError: 'to'" in row.error.message


async def test_a_call_more_than_there_are_mocks_is_an_error_and_is_not_tried_again():
    calls = [("pay", {"n": 1})] * 2
    row, shop = await run(calls, [ToolMock("pay", {"n": 1}, output="ok")], retries=3)
    assert (row.error.code, shop.paid) == ("TOOL_MOCK_EXHAUSTED", [])
    assert "once more than the 1 mock for it" in row.error.message


async def test_a_target_that_swallows_the_refusal_is_an_error_all_the_same():
    class Stubborn(Shop):
        async def __call__(self, calls, *, toolbox):
            for name, args in calls:
                with suppress(Exception):
                    await toolbox.call(name, args, id="c")
            return [Message("assistant", (ToolCall("pay", {}, id="c"), Text("all went well")))]

    row, shop = await run([("refund", {}), ("pay", {})], [ToolMock("pay", output=1)], Stubborn(), policy="deny")
    assert (row.status, row.error.code, shop.paid) == ("error", "TOOL_MOCK_NOT_DECLARED", [])
    assert row.replies[0].output[0].text == "all went well"


async def test_a_mock_that_fails_waits_or_answers_with_a_megabyte():
    mocks = [
        ToolMock("pay", {"n": 1}, error="the bank is closed"),
        ToolMock("pay", {"n": 2}, output="x" * 1_000_000, delay=0.02),
        ToolMock("pay", {"n": 3}, output="An error occurred.", error="KeyError: 'card'"),
    ]
    row, shop = await run([("pay", {"n": 1}), ("pay", {"n": 2}), ("pay", {"n": 3})], mocks)
    failed, long, hidden = calls_of(row)
    assert (row.status, shop.paid) == ("done", [])
    assert (failed.state, failed.error) == ("failed", "the bank is closed")
    assert (len(long.result), long.duration_ms >= 20) == (1_000_000, True)
    assert (hidden.result, hidden.error, hidden.state) == ("An error occurred.", "KeyError: 'card'", "failed")
    row, _ = await run([("pay", {"n": 2})], [ToolMock("pay", output=1, delay=30)], timeout=0.05)
    assert (row.status, row.error.code) == ("error", "TIMEOUT")


async def test_what_a_tool_raises_is_seen_with_the_call():
    class Told(Shop):
        async def __call__(self, calls, *, toolbox):
            parts = []
            for at, (name, args) in enumerate(calls):
                try:
                    await toolbox.call(name, args, id=f"c{at}", live=lambda args=args: self.pay(args))
                except RuntimeError:  # as a framework does that hides it
                    parts.append(ToolCall(name, args, id=f"c{at}", result="Something happened.", state="done"))
            return [Message("assistant", tuple(parts))]

    row, _ = await run([("pay", {"n": 13})], [], Told())
    (call,) = calls_of(row)
    assert (call.state, call.error, call.result) == ("failed", "RuntimeError: no luck", "Something happened.")
    assert call.duration_ms >= 0


async def test_mocks_are_served_over_the_turns_of_a_conversation_and_anew_in_each_repeat():
    item = Item(
        turns=[Turn([("pay", {"n": 1})]), Turn([("pay", {"n": 1})])],
        id="i",
        tool_mocks=[ToolMock("pay", output="a"), ToolMock("pay", output="b"), ToolMock("pay", output="c", repeat=1)],
    )
    result = await run_evals(target=Shop(), data=[item], scorers=ANY, repeats=2)
    for row in result.items:
        assert [call.result for call in calls_of(row)] == ["a", "b"]
    assert [len(row.tool_report.unused) for row in result.items] == [0, 1]
    assert loads(dumps(result)).items[0].tool_report == result.items[0].tool_report


async def test_a_try_that_failed_uses_up_nothing():
    class Shaky(Shop):
        tries = 0

        async def __call__(self, calls, *, toolbox):
            self.tries += 1
            if self.tries == 1:
                await toolbox.call("look", {}, id="c0", live=lambda: asyncio.sleep(0.05))
            made = await super().__call__(calls, toolbox=toolbox)
            if self.tries == 1:
                raise ConnectionError("lost")
            return made

    row, _ = await run([("pay", {})], [ToolMock("pay", output="ok")], Shaky(), retries=Retry(times=1, first_wait=0))
    assert (row.status, [call.result for call in calls_of(row)]) == ("done", ["ok"])
    assert calls_of(row)[0].duration_ms < 50


async def test_a_conversation_that_is_gone_on_with_knows_which_mocks_are_used_up():
    reached = asyncio.Event()

    class Slow(Shop):
        async def __call__(self, calls, *, toolbox, thread_id):
            if calls == [("pay", {"turn": 2})] and not reached.is_set():
                reached.set()
                await asyncio.sleep(60)
            return await super().__call__(calls, toolbox=toolbox)

    recorder, shop = MemoryRecorder(), Slow()
    item = Item(
        turns=[Turn([("pay", {"turn": 1})]), Turn([("pay", {"turn": 2})])],
        id="i",
        tool_mocks=[ToolMock("pay", output="a"), ToolMock("pay", output="b")],
    )
    task = asyncio.create_task(run_evals(target=shop, data=[item], scorers=ANY, recorder=recorder))
    await reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    result = await run_evals(target=shop, data=[item], scorers=ANY, recorder=recorder)
    assert [call.result for call in calls_of(result.items[0])] == ["a", "b"]


async def test_an_item_with_other_mocks_is_asked_again():
    recorder, shop = MemoryRecorder(), Shop()
    for answer in ("a", "b"):
        item = Item([("pay", {})], id="i", tool_mocks=[ToolMock("pay", output=answer)])
        result = await run_evals(target=shop, data=[item], scorers=ANY, recorder=recorder)
        assert calls_of(result.items[0])[0].result == answer


async def test_a_target_whose_tools_cannot_be_kept_from_being_called_is_refused_before_it_is_asked():
    asked = []
    mocked = Item("x", tool_mocks=[ToolMock("pay", output=1)])
    for options in (
        {"data": [mocked]},
        {"data": [Item("x", unmocked="deny")]},
        {"data": [Item("x")], "unmocked": "deny"},
        {"data": [Item("x")], "record_tools": "calls.jsonl"},
    ):
        with pytest.raises(UsageError, match="tools cannot be kept from being called"):
            await run_evals(target=asked.append, scorers=ANY, **options)
    assert asked == []
