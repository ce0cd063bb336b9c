"""What every cache of model calls must do. Subclass `CacheContract`, with a fixture `cache` that gives an empty one."""

import asyncio
import math
from datetime import UTC, datetime

import pytest

from proctor.data.cached_call import CachedCall
from proctor.data.usage import Cost, Usage
from proctor.data.value import MISSING
from proctor.judging.cache import answered
from proctor.judging.request import CallRequest
from tests.data.strategies import same

CALL = CachedCall(
    raw_output='{"score": 0.5}',
    output={"score": 0.5, "tags": ["a"]},
    finish_reason="stop",
    answered_by="gpt-5-mini-2026-01-01",
    provider="openai",
    usage=Usage(input_tokens=10, output_tokens=3),
    cost=Cost(amount=0.25, source="genai-prices 1"),
    duration_ms=1234.5,
    repaired=True,
    made_at="2026-01-02T03:04:05+00:00",
)

OUTPUTS = {
    "missing": MISSING,
    "none": None,
    "false": False,
    "whole float": 1.0,
    "nan": math.nan,
    "huge": 2**70_000,
    "surrogates": "\ud83d and \ud83d\ude00",
    "nul": "a\x00b",
    "bytes": b"\x00\xff",
    "moment": datetime(2026, 1, 2, 3, 4, tzinfo=UTC),
    "nested": {"a": [{"b": None, "$": "bytes"}], 1: [2.5, "ü\u2028"]},
}


class CacheContract:
    async def test_what_was_never_put_is_not_there(self, cache):
        assert await cache.get("1-unknown") is None

    async def test_a_call_comes_back_whole(self, cache):
        await cache.put("1-a", CALL)
        assert same(await cache.get("1-a"), CALL)

    @pytest.mark.parametrize("name", OUTPUTS)
    async def test_any_plain_output_comes_back(self, cache, name):
        call = CachedCall(raw_output="\udc00\x00", output=OUTPUTS[name])
        await cache.put("1-a", call)
        assert same(await cache.get("1-a"), call)

    async def test_keys_do_not_meet(self, cache):
        calls = {f"1-{n}": CachedCall(raw_output=str(n)) for n in range(20)}
        for key, call in calls.items():
            await cache.put(key, call)
        assert {key: await cache.get(key) for key in calls} == calls

    async def test_the_last_put_wins(self, cache):
        for text in ("first", "second", "second"):
            await cache.put("1-a", CachedCall(raw_output=text))
        assert await cache.get("1-a") == CachedCall(raw_output="second")

    async def test_what_is_done_to_an_output_changes_nothing_in_the_cache(self, cache):
        mine = {"score": 0.5, "tags": ["a"]}
        await cache.put("1-a", CachedCall(output=mine))
        mine["tags"].append("mine")
        got = await cache.get("1-a")
        got.output["tags"].append("got")
        assert (await cache.get("1-a")).output == {"score": 0.5, "tags": ["a"]}

    async def test_many_put_and_get_at_once(self, cache):
        async def work(n):
            key = f"1-{n % 10}"
            await cache.put(key, CachedCall(output=n % 10))
            return (await cache.get(key)).output

        assert await asyncio.gather(*map(work, range(100))) == [n % 10 for n in range(100)]

    async def test_a_call_is_made_once(self, cache):
        made = []

        async def call():
            made.append(1)
            return CALL

        request = CallRequest(model="openai:gpt-5-mini", messages=[{"role": "user", "content": "Fair?"}])
        first, second = [await answered(cache, request, call=call) for _ in range(2)]
        assert (len(made), first.cached, second.cached) == (1, False, True)
        assert same(first.call, second.call)
