"""What the model calls of a run go through: which cache, and within which budget."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from proctor.judging.budget import as_budget
from proctor.judging.cache import CacheNotes, MemoryCache
from proctor.judging.call_cache import CallCache, NoCache
from proctor.judging.run_calls import RunCalls
from proctor.running.eval import Eval
from proctor.running.record import Known

__all__ = ["calls_of"]

_OF_THIS_PROCESS: Final = MemoryCache()


def calls_of(evaluation: Eval, known: Known, *, notes: CacheNotes, on_stop: Callable[[str], None]) -> RunCalls:
    """The cache is that of the run's store; this process's when it has none; none at all where `cache=False`.

    *on_stop*: told why no more calls are made, once.
    """
    cache: CallCache = NoCache()
    if evaluation.cache:
        cache = _OF_THIS_PROCESS if known.calls is None else known.calls
    return RunCalls(cache, notes, budget=as_budget(evaluation.budget), on_stop=on_stop)
