"""The model calls of a run: the cache that they go through, what they may cost, and whether more are to be made."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar, TypeVar

from proctor.data.usage import Cost, Usage
from proctor.errors import ProctorError
from proctor.judging.budget import Budget
from proctor.judging.cache import CacheNotes, NotedCache
from proctor.judging.call_cache import CallCache

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Timeout

__all__ = ["CallsStopped", "RunCalls"]

T = TypeVar("T")


class CallsStopped(ProctorError):
    """No more calls are to be made in this run: its budget is spent, or every call would fail."""

    code = "RUN_STOPPED"


class RunCalls(NotedCache):
    """*cost*, *tokens*: what was spent so far, in US dollars and as far as it is known.

    *stopped*: why no more calls are made, None while they are. *on_stop*: told that reason, once. *is_dry*: nothing
    is to be asked at all: a step is recorded as far as it came, and callbacks of judges are not called.
    """

    __slots__ = ("_on_stop", "_waiting", "budget", "cost", "stopped", "tokens")

    is_dry: ClassVar[bool] = False

    def __init__(
        self,
        cache: CallCache,
        notes: CacheNotes,
        *,
        budget: Budget | None = None,
        on_stop: Callable[[str], None] | None = None,
    ) -> None:
        super().__init__(cache, notes)
        self.budget = budget
        self.cost = 0.0
        self.tokens = 0
        self.stopped: str | None = None
        self._on_stop = on_stop
        self._waiting: dict[Timeout, AbstractEventLoop] = {}

    def check(self) -> None:
        """Raise `CallsStopped` when no more calls are to be made."""
        if self.stopped is not None:
            raise CallsStopped(f"not asked: the run was stopped ({self.stopped})")

    async def unless_stopped(self, wait: Awaitable[T]) -> T:
        """What *wait* gives. It is broken off with `CallsStopped` as soon as no more calls are to be made."""
        import asyncio

        try:
            async with asyncio.timeout(None) as limit:
                self._waiting[limit] = asyncio.get_running_loop()
                return await wait
        except TimeoutError:
            if limit.expired():
                self.check()
            raise
        finally:
            self._waiting.pop(limit, None)

    def stop(self, reason: str) -> None:
        """Let no more calls be made. The first reason stands."""
        if self.stopped is None:
            self.stopped = reason
            for limit, loop in list(self._waiting.items()):
                with suppress(RuntimeError):  # its loop is closed
                    loop.call_soon_threadsafe(_end, limit)
            if self._on_stop is not None:
                self._on_stop(reason)

    def spend(self, usage: Usage | None, cost: Cost | None) -> None:
        """Count what a call took; reaching the budget stops the run."""
        self.tokens += (usage.total or 0) if usage is not None else 0
        self.cost += cost.amount if cost is not None and cost.unit == "USD" else 0.0
        budget = self.budget
        if budget is None:
            return
        if budget.usd is not None and self.cost >= budget.usd:
            self.stop(f"budget: {Budget(usd=budget.usd)} are spent (${self.cost:,.4f})")
        elif budget.tokens is not None and self.tokens >= budget.tokens:
            self.stop(f"budget: {budget.tokens:,} tokens are spent ({self.tokens:,})")


def _end(limit: Timeout) -> None:
    with suppress(RuntimeError):  # it was left meanwhile
        limit.reschedule(0.0)
