"""Calls are paid for once. N01-N04 are cases of a list that several frameworks failed."""

import asyncio
import threading
import warnings
from dataclasses import fields, replace

import pytest
from pydantic import BaseModel

from proctor.data.cached_call import CachedCall
from proctor.data.judge import JudgeExecution
from proctor.data.usage import Cost, Usage
from proctor.data.value import MISSING
from proctor.errors import UsageError
from proctor.judging.cache import Answer, CacheNotes, MemoryCache, answered, cacheable
from proctor.judging.call_cache import NoCache
from proctor.judging.request import CallRequest
from tests.judging.contract import CALL, CacheContract


class TestMemoryCache(CacheContract):
    @pytest.fixture
    def cache(self):
        return MemoryCache()


class Model:
    """Gives the same reply to each call, and counts them."""

    def __init__(self, reply=CALL):
        self.reply = reply
        self.calls = 0

    async def __call__(self):
        self.calls += 1
        if isinstance(self.reply, Exception):
            raise self.reply
        return self.reply


def asked(rubric="Was it fair?", **parts):
    given = {"model": "openai:gpt-5-mini", "messages": [{"role": "user", "content": rubric}]}
    return CallRequest(**(given | parts))


# ── N01, N02: what is one call ─────────────────────────────────────────────────────────────────────────────────────


async def test_repeats_are_calls_of_their_own():
    """N01"""
    cache, model = MemoryCache(), Model()

    async def run():
        before = model.calls
        await asyncio.gather(*(answered(cache, asked(repeat=repeat), call=model) for repeat in range(5)))
        return model.calls - before

    assert [await run(), await run()] == [5, 0]


@pytest.mark.parametrize(
    "other",
    [
        asked("Was it polite?"),
        asked(settings={"temperature": 0.7}),
        asked(settings={"tools": [{"name": "look_up"}]}),
        asked(model="openai:gpt-5-mini-2026-01-01"),
        asked(schema={"type": "object"}),
        asked(extra={"url": "http://127.0.0.1:1"}),
    ],
    ids=["rubric", "temperature", "tools", "version", "schema", "url"],
)
async def test_another_request_is_another_entry(other):
    """N02"""
    cache, model = MemoryCache(), Model()
    for request in (asked(), other):
        answer = await answered(cache, request, call=model)
        assert not answer.cached
    assert (model.calls, len(cache)) == (2, 2)


# ── N03: what a hit says ───────────────────────────────────────────────────────────────────────────────────────────


async def test_a_hit_keeps_what_the_call_took_and_is_not_spent():
    """N03"""
    cache = MemoryCache()
    first, hit = [await answered(cache, asked(), call=Model()) for _ in range(2)]
    assert (first.cached, first.spent_usage, first.spent_cost) == (False, CALL.usage, CALL.cost)
    assert (hit.cached, hit.spent_usage, hit.spent_cost) == (True, None, None)
    assert (hit.call.usage, hit.call.cost, hit.call.duration_ms) == (CALL.usage, CALL.cost, 1234.5)


async def test_a_hit_is_marked_in_the_record():
    """N03"""
    cache = MemoryCache()
    first, hit = [
        (await answered(cache, asked(), call=Model())).execution("Was it fair?", judge_model_id="openai:gpt-5-mini")
        for _ in range(2)
    ]
    assert hit == replace(first, cached=True)
    assert first == JudgeExecution(
        status="success",
        prompt="Was it fair?",
        judge_model_id="openai:gpt-5-mini",
        answered_by="gpt-5-mini-2026-01-01",
        judge_provider="openai",
        duration_ms=1234.5,
        usage=Usage(input_tokens=10, output_tokens=3),
        cost=Cost(amount=0.25, source="genai-prices 1"),
        output={"score": 0.5, "tags": ["a"]},
        raw_output='{"score": 0.5}',
        finish_reason="stop",
        repaired=True,
    )


def test_a_record_takes_everything_that_is_kept():
    given = {it.name for it in fields(JudgeExecution)}
    kept = {{"provider": "judge_provider"}.get(it.name, it.name) for it in fields(CachedCall)}
    assert kept - given == {"made_at"}


def test_other_fields_of_a_record_win():
    made = Answer(CALL).execution("Was it fair?", attempt_count=2, duration_ms=2000.0)
    assert (made.attempt_count, made.duration_ms) == (2, 2000.0)


async def test_an_answer_is_stamped_when_it_is_kept():
    cache = MemoryCache()
    made = (await answered(cache, asked(), call=Model(replace(CALL, made_at=None)))).call
    assert made.made_at.endswith("+00:00")
    assert (await answered(cache, asked(), call=Model())).call == made


class Grade(BaseModel):
    score: float


async def test_an_output_is_the_same_from_the_model_and_from_the_cache():
    cache, model = MemoryCache(), Model(CachedCall(raw_output="{}", output=Grade(score=0.5)))
    outputs = [(await answered(cache, asked(), call=model)).call.output for _ in range(2)]
    assert outputs == [{"score": 0.5}, {"score": 0.5}]


# ── N04: what is kept ──────────────────────────────────────────────────────────────────────────────────────────────

NOT_KEPT = {
    "nothing": CachedCall(),
    "empty": CachedCall(raw_output="", finish_reason="stop"),
    "blank": CachedCall(raw_output=" \n\t", finish_reason="stop"),
    "empty output": CachedCall(raw_output="", output={}),
    "no output": CachedCall(output=None),
    **{
        reason: replace(CALL, finish_reason=reason)
        for reason in (
            "length", "max_tokens", "MAX_TOKENS", "content_filter", "SAFETY", "refusal", "error", "incomplete",
            "cancelled", "", "something new",
        )
    },
}  # fmt: skip
KEPT = {
    "unknown end": CachedCall(raw_output="yes"),
    "false": CachedCall(output=False),
    "zero": CachedCall(output=0),
    "an empty object, in words": CachedCall(raw_output="{}", output={}),
    **{
        reason: replace(CALL, finish_reason=reason)
        for reason in ("stop", "STOP", "end_turn", "tool_call", "tool_calls", "tool_use", "stop_sequence", "completed")
    },
}


@pytest.mark.parametrize("name", NOT_KEPT)
async def test_empty_and_truncated_replies_are_not_kept(name):
    """N04"""
    cache, model = MemoryCache(), Model(NOT_KEPT[name])
    answers = [await answered(cache, asked(), call=model) for _ in range(2)]
    assert answers == [Answer(NOT_KEPT[name])] * 2
    assert (model.calls, len(cache), cacheable(NOT_KEPT[name])) == (2, 0, False)


@pytest.mark.parametrize("name", KEPT)
async def test_whole_replies_are_kept(name):
    cache, model = MemoryCache(), Model(KEPT[name])
    answers = [await answered(cache, asked(), call=model) for _ in range(2)]
    assert [answer.cached for answer in answers] == [False, True]
    assert (model.calls, cacheable(KEPT[name])) == (1, True)


async def test_errors_are_not_kept():
    """N04"""
    cache, model = MemoryCache(), Model(ConnectionError("reset"))
    for _ in range(2):
        with pytest.raises(ConnectionError, match="reset"):
            await answered(cache, asked(), call=model)
    assert (model.calls, len(cache)) == (2, 0)
    assert not (await answered(cache, asked(), call=Model())).cached


# ── a cache that fails ─────────────────────────────────────────────────────────────────────────────────────────────


class Broken:
    """A cache whose methods raise, as far as they are named."""

    def __init__(self, *methods):
        self.methods = methods
        self.inner = MemoryCache()

    async def get(self, key):
        if "get" in self.methods:
            raise OSError(f"disk gone while reading {key[:4]}")
        return await self.inner.get(key)

    async def put(self, key, call):
        if "put" in self.methods:
            raise OSError("disk full")
        await self.inner.put(key, call)


async def test_a_cache_that_cannot_be_read_costs_a_warning_and_no_answer():
    notes, model = CacheNotes(), Model()
    with pytest.warns(RuntimeWarning, match="cannot be read, so models are asked instead") as warned:
        answers = [await answered(Broken("get"), asked(repeat=n), call=model, notes=notes) for n in range(3)]
    assert [(answer.call, answer.cached) for answer in answers] == [(CALL, False)] * 3
    assert model.calls == 3
    assert [str(it.message) for it in warned] == list(notes.notes)
    assert len(notes.notes) == 1
    assert notes.notes[0].endswith(
        "Broken) cannot be read, so models are asked instead: disk gone while reading 1-" + asked().key[2:4]
    )


async def test_a_cache_that_cannot_be_written_costs_a_warning_and_no_answer():
    notes, model = CacheNotes(), Model()
    with pytest.warns(RuntimeWarning) as warned:
        answers = [await answered(Broken("put"), asked(), call=model, notes=notes) for _ in range(3)]
    assert [(answer.call, answer.cached) for answer in answers] == [(CALL, False)] * 3
    assert [str(it.message) for it in warned] == list(notes.notes)
    assert notes.notes[0].endswith("Broken) cannot be written, so answers are not kept: disk full")


async def test_each_kind_of_trouble_is_noted():
    notes = CacheNotes()
    with pytest.warns(RuntimeWarning) as warned:
        [await answered(Broken("get", "put"), asked(), call=Model(), notes=notes) for _ in range(2)]
    assert len(warned) == len(notes.notes) == 2


async def test_where_warnings_are_errors_the_answer_is_not_lost():
    notes = CacheNotes()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answer = await answered(Broken("get", "put"), asked(), call=Model(), notes=notes)
    assert answer == Answer(CALL)
    assert len(notes.notes) == 2


async def test_without_notes_of_its_own_a_process_is_warned_once():
    class Mine(Broken):
        pass

    with pytest.warns(RuntimeWarning, match="disk full") as warned:
        [await answered(Mine("put"), asked(), call=Model()) for _ in range(3)]
    assert len(warned) == 1


async def test_a_call_without_key_is_made_and_not_kept():
    notes, cache, model = CacheNotes(), MemoryCache(), Model()
    with pytest.warns(RuntimeWarning) as warned:
        answers = [await answered(cache, asked(schema=Grade), call=model, notes=notes) for _ in range(2)]
    assert answers == [Answer(CALL)] * 2
    assert (model.calls, len(cache), len(warned)) == (2, 0, 1)
    assert notes.notes[0].startswith("a call of openai:gpt-5-mini is not cached: schema: ")


async def test_an_output_that_would_come_back_as_something_else_is_not_kept():
    notes, cache = CacheNotes(), MemoryCache()
    call = CachedCall(raw_output="x", output={"tool": print})
    with pytest.warns(RuntimeWarning, match="tool: a builtins.builtin_function_or_method has no plain form"):
        answer = await answered(cache, asked(), call=Model(call), notes=notes)
    assert answer.call.output == {"tool": print}
    assert len(cache) == 0


async def test_a_cancelled_call_is_cancelled():
    cache, begun = MemoryCache(), asyncio.Event()

    async def forever():
        begun.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(answered(cache, asked(), call=forever))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(cache) == 0


# ── the caches ─────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_no_cache_keeps_nothing():
    cache, model = NoCache(), Model()
    answers = [await answered(cache, asked(), call=model) for _ in range(2)]
    assert (model.calls, [answer.cached for answer in answers]) == (2, [False, False])


async def test_memory_keeps_what_was_used_last():
    cache = MemoryCache(most=2)
    await cache.put("1-a", CALL)
    await cache.put("1-b", CALL)
    await cache.get("1-a")
    await cache.put("1-c", CALL)
    assert [await cache.get(key) is not None for key in ("1-a", "1-b", "1-c")] == [True, False, True]
    await cache.put("1-a", CALL)
    await cache.put("1-d", CALL)
    assert [await cache.get(key) is not None for key in ("1-a", "1-c", "1-d")] == [True, False, True]
    assert len(cache) == 2


@pytest.mark.parametrize("most", [0, -1, True, 2.0, None])
def test_memory_has_room_for_one_or_more(most):
    with pytest.raises(UsageError, match=r"MemoryCache\(most=...\) is a number of answers, 1 or more"):
        MemoryCache(most=most)


def test_memory_serves_several_loops_at_once():
    cache, lost = MemoryCache(most=50), []

    async def work():
        for n in range(500):
            await cache.put(f"1-{n % 40}", CachedCall(output=n % 40))
            found = await cache.get(f"1-{n % 40}")
            if found is None or found.output != n % 40:
                lost.append(n)

    threads = [threading.Thread(target=lambda: asyncio.run(work())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (lost, len(cache)) == ([], 40)


def test_a_call_shows_what_was_given():
    assert repr(CachedCall(raw_output="yes")) == "CachedCall(raw_output='yes')"
    assert CachedCall().output is MISSING
