"""Which cache the model calls of a run go through."""

from __future__ import annotations

from typing import Final

from proctor.judging.cache import CacheNotes, MemoryCache, NotedCache
from proctor.judging.call_cache import NoCache
from proctor.running.eval import Eval
from proctor.running.record import Known

__all__ = ["calls_of"]

_OF_THIS_PROCESS: Final = MemoryCache()


def calls_of(evaluation: Eval, known: Known, *, notes: CacheNotes) -> NotedCache:
    """The cache of the run's store; this process's when it has none; none at all where `cache=False`."""
    if not evaluation.cache:
        return NotedCache(NoCache(), notes)
    return NotedCache(_OF_THIS_PROCESS if known.calls is None else known.calls, notes)
