"""A line of those who wait, from several event loops in several threads: the first in line goes first.

Whether the first may go, and what it is given when it goes, is the owner's to say. Nothing is asked at intervals:
the owner says when something changed, and one timer rings when the first may go by the clock alone.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Future, TimerHandle

__all__ = ["Line"]

W = TypeVar("W")
G = TypeVar("G")

_LONGEST_TIMER = 3600.0  # loops refuse timers of years; this one is set anew


class _Waiter(Generic[W, G]):
    """One in line: what it wants, and what it was given once it may go. Told apart by identity."""

    __slots__ = ("future", "given", "left", "loop", "want")

    def __init__(self, want: W, loop: AbstractEventLoop) -> None:
        self.want = want
        self.loop = loop
        self.future: Future[None] = loop.create_future()
        self.given: list[G] = []
        self.left = False


class Line(Generic[W, G]):
    """Who waits, in order. All that the owner passes is called under *lock*, from any thread.

    *ready_at(want, now)*: the moment at which it may go, *now* or before for at once, infinity for "not until something
    changes". *give(want, now)*: it goes. *take_back(given)*: it was cancelled before it knew that it could go.

    *lock* is an `RLock`: Python may close an abandoned coroutine at any moment, also on the thread that holds it. So
    whatever is begun here can be interrupted by the end of a wait.
    """

    def __init__(
        self,
        lock: AbstractContextManager[Any],
        *,
        clock: Callable[[], float],
        ready_at: Callable[[W, float], float],
        give: Callable[[W, float], G],
        take_back: Callable[[G], None],
    ) -> None:
        self._lock = lock
        self._clock = clock
        self._ready_at = ready_at
        self._give = give
        self._take_back = take_back
        self._waiting: OrderedDict[_Waiter[W, G], None] = OrderedDict()
        self._moving = False
        self._again = False
        self._timer: tuple[AbstractEventLoop, float, TimerHandle] | None = None

    def __len__(self) -> int:
        return len(self._waiting)

    async def wait(self, want: W) -> G:
        """Queue up; what was given, when it is time. A cancelled wait leaves the line, and gives back what it had."""
        from asyncio import get_running_loop

        waiter = _Waiter[W, G](want, get_running_loop())
        try:
            with self._lock:
                self._waiting[waiter] = None
                self.move()
            await waiter.future
        except BaseException:
            with self._lock:
                waiter.left = True
                self._waiting.pop(waiter, None)
                self._give_back(waiter)
                self.move()
            raise
        return waiter.given[0]

    def move(self) -> None:
        """Something changed: let go whoever may, in order, and set the timer for the first who may not yet."""
        with self._lock:
            self._again = True
            if self._moving:
                return  # interrupted by itself, on this thread: it will look again
            self._moving = True
            try:
                while self._again:
                    self._again = False
                    self._let_go()
            finally:
                self._moving = False

    def _let_go(self) -> None:
        while self._waiting:
            waiter = next(iter(self._waiting))
            if waiter.left or waiter.loop.is_closed() or waiter.future.done():
                self._waiting.pop(waiter, None)
                continue
            if not waiter.loop.is_running():
                # It holds nobody up, and is first again when its loop goes on.
                self._waiting.pop(waiter, None)
                _call(waiter.loop, self._rejoin, waiter)
                continue
            now = self._clock()
            at = self._ready_at(waiter.want, now)
            if at > now:
                self._set_timer(waiter.loop, at=at, now=now)
                return
            self._waiting.pop(waiter, None)
            waiter.given.append(self._give(waiter.want, now))
            if waiter.left or not _call(waiter.loop, _wake, waiter.future):
                self._give_back(waiter)
        self._clear_timer()

    def _give_back(self, waiter: _Waiter[W, G]) -> None:
        while waiter.given:
            self._take_back(waiter.given.pop())

    def _rejoin(self, waiter: _Waiter[W, G]) -> None:
        with self._lock:
            if not (waiter.left or waiter.future.done()):
                self._waiting[waiter] = None
                self._waiting.move_to_end(waiter, last=False)
            self.move()

    # ── the timer ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _set_timer(self, loop: AbstractEventLoop, *, at: float, now: float) -> None:
        """In the loop of the first in line. One that rings too early is let be: it is set anew when it rings."""
        if self._timer is not None and self._timer[0] is loop and self._timer[1] <= at:
            return
        self._clear_timer()
        if at == float("inf"):
            return
        if _is_current(loop):
            self._timer = (loop, at, loop.call_later(min(at - now, _LONGEST_TIMER), self._ring))
        else:
            _call(loop, self.move)  # it sets the timer over there

    def _clear_timer(self) -> None:
        timer, self._timer = self._timer, None
        if timer is not None:
            _call(timer[0], timer[2].cancel)

    def _ring(self) -> None:
        with self._lock:
            self._timer = None
            self.move()


def _wake(future: Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def _is_current(loop: AbstractEventLoop) -> bool:
    """Whether this code runs in that loop."""
    from asyncio import _get_running_loop

    return _get_running_loop() is loop


def _call(loop: AbstractEventLoop, function: Callable[..., Any], *args: Any) -> bool:
    """Have the loop call it, from whichever thread. False: the loop is closed, nobody will."""
    if _is_current(loop):
        function(*args)
        return True
    try:
        loop.call_soon_threadsafe(function, *args)
    except RuntimeError:
        return False
    return True
