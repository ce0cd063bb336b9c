"""Judged steps without a judge: how far they come, and what they would ask."""

from __future__ import annotations

from typing import ClassVar

from proctor.judging.cache import CacheNotes, NotedCache
from proctor.judging.call_cache import CallCache, NoCache
from proctor.judging.run_calls import RunCalls

__all__ = ["DryCalls"]


class DryCalls(RunCalls):
    """Calls that are not made: an answer that the *cache* has is taken, any other step ends as in a run that stopped.

    Nothing is written into the cache.
    """

    __slots__ = ()

    is_dry: ClassVar[bool] = True

    def __init__(self, cache: CallCache) -> None:
        notes = CacheNotes()
        # In a wrapper of its own, so that no flight of a run that goes on in this process is waited for.
        super().__init__(cache if isinstance(cache, NoCache) else NotedCache(cache, notes), notes)
        self.stop("dry run")
