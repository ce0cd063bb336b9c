"""Where sync and async meet, and the only place where threads are made.

`in_thread` runs a user's `def` on a daemon thread of ours, with the caller's context variables, so that it cannot hold
the event loop, nor keep the process alive. `sync_twin` makes the `_sync` form of an async function: it works in a
script, under a running loop and in a plain thread, since the work is done by one background loop of the process.

Nothing here imports asyncio, or makes threads, until a function needs it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from proctor.errors import UsageError

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Future, Task
    from contextvars import Context

__all__ = ["cancel_requests", "in_thread", "recordable", "run_sync", "sync_twin"]

P = ParamSpec("P")
R = TypeVar("R")

_IDLE_SECONDS = 5.0


# ── a def, away from the loop ──────────────────────────────────────────────────────────────────────────────────────


class _Job:
    """One call: where it came from, and how its result gets back there."""

    __slots__ = ("args", "context", "function", "future", "loop", "returns")

    def __init__(self, loop: AbstractEventLoop, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
        from contextvars import copy_context

        self.loop = loop
        self.returns = _process.returns_to(loop)
        self.future: Future[Any] = loop.create_future()
        self.context: Context = copy_context()
        self.function = function
        self.args = args

    def run(self) -> None:
        try:
            result, error = self.context.run(self.function, *self.args), None
        except BaseException as raised:  # noqa: BLE001 - whatever a user's function raises belongs to its caller
            result, error = None, raised
        self.returns.give(self.loop, self.future, result, error)


class _Returns:
    """The results on their way back to one loop. It is woken once for all that wait: waking it costs a system call."""

    __slots__ = ("_given", "_woken")

    def __init__(self) -> None:
        from collections import deque

        self._given: deque[tuple[Future[Any], Any, BaseException | None]] = deque()
        self._woken = False

    def give(self, loop: AbstractEventLoop, future: Future[Any], result: Any, error: BaseException | None) -> None:
        """From any thread."""
        self._given.append((future, result, error))
        if self._woken:
            return  # `_settle_all` has not begun to look: it will find this one
        self._woken = True
        try:
            loop.call_soon_threadsafe(self._settle_all)
        except RuntimeError:
            self._given.clear()  # the loop is closed: nobody waits any more
            self._woken = False

    def _settle_all(self) -> None:
        self._woken = False  # before it looks, so that what comes from now on wakes the loop again
        while self._given:
            _settle(*self._given.popleft())


def _settle(future: Future[Any], result: Any, error: BaseException | None) -> None:
    if future.done():
        return  # cancelled while the thread was still at work
    if error is None:
        future.set_result(result)
    elif isinstance(error, StopIteration):
        # A future cannot hold StopIteration: it would end the coroutine that awaits it.
        future.set_exception(RuntimeError("the function raised StopIteration"))
    else:
        future.set_exception(error)


class _Threads:
    """Daemon threads, made when none is idle, ended when idle for a while."""

    def __init__(self) -> None:
        from queue import SimpleQueue

        self._jobs: SimpleQueue[_Job] = SimpleQueue()
        self._idle = 0
        self._lock = threading.Lock()

    def submit(self, job: _Job) -> None:
        with self._lock:
            claimed = self._idle > 0
            self._idle -= claimed  # taken here, so that two jobs do not count on one idle thread
        if claimed:
            self._jobs.put(job)
        else:
            threading.Thread(target=self._work, args=([job],), name="proctor-worker", daemon=True).start()

    def _work(self, first: list[_Job]) -> None:
        job: _Job | None = first.pop()  # a thread keeps what it was started with for as long as it lives
        while job is not None:
            job.run()
            del job  # results must not live on in an idle thread
            with self._lock:
                self._idle += 1
            job = self._next()

    def _next(self) -> _Job | None:
        """The next job for an idle thread; None when it was idle for too long."""
        from queue import Empty

        while True:
            try:
                return self._jobs.get(timeout=_IDLE_SECONDS)
            except Empty:
                with self._lock:
                    if self._idle:
                        self._idle -= 1
                        return None
                # Every idle thread is claimed, this one too: its job is about to be put.


def in_thread(function: Callable[..., R], *args: Any) -> Future[R]:
    """A future, on the running loop, of *function* called on a thread of its own with the caller's context."""
    import asyncio

    job = _Job(asyncio.get_running_loop(), function, args)
    _process.threads.submit(job)
    return job.future


def recordable(error: BaseException) -> bool:
    """Whether an exception is the doing of the code that raised it, and not a request to stop this task or the program.

    A `CancelledError` can be either: an inner task that somebody cancelled raises one too.
    """
    if isinstance(error, Exception):
        return True
    if isinstance(error, KeyboardInterrupt | GeneratorExit):
        return False
    import asyncio

    return not (isinstance(error, asyncio.CancelledError) and cancel_requests() > 0)


def cancel_requests() -> int:
    """How often the running task was asked to stop, whatever the code in it made of that; 0 on a thread of ours."""
    import asyncio

    try:
        task = asyncio.current_task()
    except RuntimeError:
        return 0  # no loop runs here
    return task.cancelling() if task is not None else 0


# ── async, from anywhere ───────────────────────────────────────────────────────────────────────────────────────────


class _Background:
    """One event loop on one daemon thread, made when first needed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def loop(self) -> AbstractEventLoop:
        """The loop. Raises on its own thread, which cannot wait for it, and when there is no room for a thread."""
        import asyncio

        if threading.current_thread() is self._thread:
            raise UsageError(
                "a _sync function was called from inside an async one that it is running: await the async form"
            )
        with self._lock:
            if self._loop is None or self._thread is None or not self._thread.is_alive():
                loop = asyncio.new_event_loop()
                thread = threading.Thread(target=_serve, args=(loop,), name="proctor-loop", daemon=True)
                try:
                    thread.start()
                except BaseException:
                    loop.close()
                    raise
                self._loop, self._thread = loop, thread
            return self._loop


def _serve(loop: AbstractEventLoop) -> None:
    """Run the loop for as long as the process lives. What would end the program goes on to whoever awaits the task."""
    while True:
        try:
            loop.run_forever()
        except (SystemExit, KeyboardInterrupt):
            continue


class _Process:
    """What a process has one of. A fork gets its own: threads do not come along, and locks may be held."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Start with nothing: no thread, no loop, locks that nobody holds."""
        self._threads: _Threads | None = None
        self._returns: WeakKeyDictionary[AbstractEventLoop, _Returns] = WeakKeyDictionary()  # loops come and go
        self._lock = threading.Lock()
        self.background = _Background()

    @property
    def threads(self) -> _Threads:
        """The threads for a `def`, made when first needed."""
        with self._lock:
            self._threads = self._threads or _Threads()
            return self._threads

    def returns_to(self, loop: AbstractEventLoop) -> _Returns:
        """The way back to a loop. Called on that loop's thread, so two are never made for one."""
        found = self._returns.get(loop)
        if found is None:
            found = self._returns[loop] = _Returns()
        return found


_process = _Process()
if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_process.begin)


def run_sync(work: Coroutine[Any, Any, R], *, interrupted: Callable[[], R] | None = None) -> R:
    """Run a coroutine to its end on the background loop and give what it gives.

    Interrupted (Ctrl-C), it cancels the work and waits until that has cleaned up; then it raises `KeyboardInterrupt`,
    or gives what *interrupted* gives (what the work itself came to, if it had ended). A second interrupt stops waiting.
    """
    try:
        loop = _process.background.loop()
    except BaseException:
        work.close()  # nobody will await it
        raise
    tasks: list[Task[R]] = []
    ended = threading.Event()

    def begin() -> None:
        if not tasks:
            tasks.append(loop.create_task(work))
            tasks[0].add_done_callback(lambda _: ended.set())

    try:
        loop.call_soon_threadsafe(begin)
        ended.wait()
    except BaseException as error:
        loop.call_soon_threadsafe(begin)  # again: it may have been interrupted before the loop was asked to
        loop.call_soon_threadsafe(lambda: tasks[0].cancel())  # noqa: PLW0108 - there is no task before `begin` has run
        ended.wait()
        if interrupted is None or not isinstance(error, KeyboardInterrupt):
            raise
        if tasks[0].cancelled():
            return interrupted()
    return tasks[0].result()


def sync_twin(function: Callable[P, Coroutine[Any, Any, R]]) -> Callable[P, R]:
    """The sync form of an async function: same arguments, same result.

    >>> async def double(x: int) -> int:
    ...     return 2 * x
    >>> sync_twin(double)(21)
    42
    """

    @wraps(function)
    def twin(*args: P.args, **kwargs: P.kwargs) -> R:
        return run_sync(function(*args, **kwargs))

    twin.__name__ = f"{function.__name__}_sync"
    twin.__qualname__ = f"{function.__qualname__}_sync"
    twin.__doc__ = f"`{function.__name__}`, for code that is not async: same arguments, same result."
    return twin
