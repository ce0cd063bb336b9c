"""Model calls that were paid for once are not paid for again.

A call is known by what decides its answer (`request.py`). Finished answers are kept, never errors, empty or
truncated ones (`cacheable`). `answered` is the one way through: it asks the cache, then the model. Whatever a cache
does wrong, no answer is lost by it.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine, Hashable
from contextlib import suppress
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, Final

from proctor.data.cached_call import CachedCall
from proctor.data.judge import JudgeExecution
from proctor.data.opaque import name_of
from proctor.data.plain import canonical_json, copied, plain
from proctor.data.usage import Cost, Usage
from proctor.data.value import MISSING, Value, shown
from proctor.errors import EncodingError, UsageError, safe_message
from proctor.judging.call_cache import CallCache, NoCache
from proctor.judging.flight import once
from proctor.judging.request import CallRequest

__all__ = [
    "OF_THIS_PROCESS",
    "Answer",
    "CacheNotes",
    "MemoryCache",
    "NotedCache",
    "answered",
    "cacheable",
]

_FINISHED: Final = {
    "complete",
    "completed",
    "end_turn",
    "eos",
    "eos_token",
    "function_call",
    "stop",
    "stop_sequence",
    "tool_call",
    "tool_calls",
    "tool_use",
}
"""How providers say that a reply is whole. Any other word may mean that it is cut, filtered or broken."""


# ── what is kept ───────────────────────────────────────────────────────────────────────────────────────────────────


def cacheable(call: CachedCall) -> bool:
    """Whether an answer is worth keeping: it says something, and as far as the provider says, it is whole.

    >>> cacheable(CachedCall(raw_output="yes", finish_reason="stop"))
    True
    >>> cacheable(CachedCall(raw_output='{"score": 0.', finish_reason="length"))
    False
    """
    if call.finish_reason is not None and call.finish_reason.casefold() not in _FINISHED:
        return False
    return not (_is_blank(call.raw_output) and _is_blank(call.output))


def _is_blank(value: Any) -> bool:
    if isinstance(value, str):
        return not value.strip()
    return value is None or value is MISSING or (isinstance(value, dict | list) and not value)


class MemoryCache:
    """Keeps the *most* answers that were used last, in this process. For several loops and threads at once."""

    def __init__(self, *, most: int = 10_000) -> None:
        if not isinstance(most, int) or isinstance(most, bool) or most < 1:
            raise UsageError(f"MemoryCache(most=...) is a number of answers, 1 or more, not {shown(most)}")
        self._most = most
        self._calls: OrderedDict[str, CachedCall] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._calls)

    async def get(self, key: str, /) -> CachedCall | None:
        """A copy: what is done to its output changes nothing here."""
        with self._lock:
            call = self._calls.get(key)
            if call is None:
                return None
            self._calls.move_to_end(key)
        return _apart(call)

    async def put(self, key: str, call: CachedCall, /) -> None:
        """Keep a copy; the one that was used longest ago may go for it."""
        call = _apart(call)
        with self._lock:
            self._calls[key] = call
            self._calls.move_to_end(key)
            if len(self._calls) > self._most:
                self._calls.popitem(last=False)


def _apart(call: CachedCall) -> CachedCall:
    return replace(call, output=copied(call.output))


# ── asking ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, repr=False)
class Answer(Value):
    """An answer, and whether the cache gave it. The call keeps what it took when it was made; `spent_*` is of now."""

    call: CachedCall
    cached: bool = False

    @property
    def spent_usage(self) -> Usage | None:
        """The tokens that this answer took now: None for one from the cache."""
        return None if self.cached else self.call.usage

    @property
    def spent_cost(self) -> Cost | None:
        """The money that this answer took now: None for one from the cache."""
        return None if self.cached else self.call.cost

    def execution(self, prompt: str, **others: Any) -> JudgeExecution:
        """The record of this call; *others* are further fields of it, and win."""
        call = self.call
        fields = {
            "status": "success",
            "answered_by": call.answered_by,
            "judge_provider": call.provider,
            "duration_ms": call.duration_ms,
            "usage": call.usage,
            "cost": call.cost,
            "output": call.output,
            "raw_output": call.raw_output,
            "finish_reason": call.finish_reason,
            "cached": self.cached,
            "repaired": call.repaired,
        }
        return JudgeExecution(prompt=prompt, **(fields | others))


class CacheNotes:
    """What went wrong with caches: each kind of trouble is noted, and warned of, once. A run has its own."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, ...], str] = {}

    @property
    def notes(self) -> tuple[str, ...]:
        """One sentence for each kind of trouble."""
        return tuple(self._found.values())

    def add(self, note: str, *, kind: tuple[str, ...]) -> None:
        """Note it, unless one of its *kind* is there."""
        if kind in self._found:
            return
        self._found[kind] = note
        with suppress(RuntimeWarning):  # where warnings are errors the note must do: the answer is paid for
            warnings.warn(note, RuntimeWarning, stacklevel=2)


OF_THIS_PROCESS: Final = CacheNotes()
"""The notes of calls that belong to no run."""


class NotedCache:
    """A cache, and the notes that `answered` makes of it where it is given no others."""

    __slots__ = ("cache", "notes")

    def __init__(self, cache: CallCache, notes: CacheNotes) -> None:
        self.cache = cache
        self.notes = notes

    async def get(self, key: str, /) -> CachedCall | None:
        """What the cache has."""
        return await self.cache.get(key)

    async def put(self, key: str, call: CachedCall, /) -> None:
        """Keep it there."""
        await self.cache.put(key, call)


async def answered(
    cache: CallCache,
    request: CallRequest,
    *,
    call: Callable[[], Awaitable[CachedCall]],
    notes: CacheNotes | None = None,
    fits: Callable[[Any], Awaitable[bool]] | None = None,
    patience: Hashable = None,
) -> Answer:
    """The answer of the cache; else that of *call*, kept when it is `cacheable`.

    While a call is in flight, others who ask the same wait for its answer, which is `cached` for them. *call* raises
    for a reply that cannot be used: nothing is kept then. A request without a key, a cache that cannot be read and one
    that cannot be written cost a note in *notes*, never the answer. *fits*: whether the output of another call is
    an answer here; *call* is made when it is not, as when validators changed that are no part of the request.
    *patience*: how long *call* waits and tries, and by what it takes answers: others do not share its failures.
    """
    if isinstance(cache, NotedCache):
        notes, cache = notes or cache.notes, cache.cache
    guarded = _Guarded(cache, notes or OF_THIS_PROCESS)
    key = None if isinstance(cache, NoCache) else guarded.key(request)
    if key is None:
        return Answer(await call())

    async def fetch() -> Answer:
        found = await guarded.get(key)
        if found is not None and (fits is None or await fits(found.output)):
            return Answer(found, cached=True)
        made = await call()
        return Answer(await _unbroken(guarded.put(key, made)) if cacheable(made) else made)

    answer, is_anothers = await once((id(cache), key, patience), fetch)
    if not is_anothers:
        return answer
    if fits is not None and not await fits(answer.call.output):
        return Answer(await call())
    return Answer(_apart(answer.call), cached=True)


async def _unbroken(put: Coroutine[Any, Any, CachedCall]) -> CachedCall:
    """Keep what was paid for, also when nobody waits for it any more."""
    import asyncio

    task = asyncio.create_task(put)
    _PUTTING.add(task)
    task.add_done_callback(_PUTTING.discard)
    return await asyncio.shield(task)


_PUTTING: set[Any] = set()  # loops hold their tasks weakly


@dataclass(frozen=True, slots=True)
class _Guarded:
    """A cache whose failures are notes."""

    cache: CallCache
    notes: CacheNotes

    def key(self, request: CallRequest) -> str | None:
        try:
            return request.key
        except EncodingError as error:
            self.notes.add(f"a call of {request.model} is not cached: {error}", kind=("key",))
            return None

    async def get(self, key: str) -> CachedCall | None:
        try:
            return await self.cache.get(key)
        except Exception as error:  # noqa: BLE001 - a cache may be anybody's
            self._note("read", error, "models are asked instead")
            return None

    async def put(self, key: str, call: CachedCall) -> CachedCall:
        """Keep the call; back comes the form that was to be kept."""
        try:
            call = replace(call, output=plain(call.output), made_at=call.made_at or _now())
            canonical_json(call.output)  # refuses what would come back as something else
            await self.cache.put(key, call)
        except Exception as error:  # noqa: BLE001 - a cache may be anybody's
            self._note("written", error, "answers are not kept")
        return call

    def _note(self, what: str, error: Exception, outcome: str) -> None:
        whose = name_of(self.cache)
        note = f"the cache of model calls ({whose}) cannot be {what}, so {outcome}: {safe_message(error)}"
        self.notes.add(note, kind=(whose, what, type(error).__name__))


def _now() -> str:
    from datetime import UTC, datetime

    return datetime.now(UTC).isoformat()
