"""The story of a run: plan it, carry it out, decide. The doors over it are at the end."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import TYPE_CHECKING, Any

from proctor.bridge import run_sync
from proctor.data.result import EvalResult
from proctor.errors import UsageError
from proctor.running.eval import Eval, door, sync_door
from proctor.running.plan import Plan, make_plan
from proctor.running.progress import Progress
from proctor.running.run import Run

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Task

__all__ = ["RunHandle", "execute", "run_evals", "run_evals_sync", "run_plan", "run_plan_sync", "start_evals"]


async def execute(evaluation: Eval) -> EvalResult:
    """Run an evaluation: every item through the target, every scorer over every reply, and a verdict.

    Takes the arguments of `Eval`. Raises `UsageError` before anything runs when something cannot be right. After that
    nothing that goes wrong with an item or a scorer is raised: it is an outcome of that item, and the run goes on.
    Cancelled, it records what is done and raises `CancelledError`; `start_evals` gives the part that was done.
    """
    return await run_plan(make_plan(evaluation))


async def run_plan(plan: Plan) -> EvalResult:
    """Carry out what was planned. Rows are folded as they end; the verdict reads only the means."""
    return await Run(plan).go()


def run_plan_sync(
    plan: Plan, *, watched: Callable[[Progress], AbstractContextManager[Any]] = nullcontext
) -> EvalResult:
    """The same for code that is not async. Ctrl-C once ends the run and gives what was done; twice raises at once.

    *watched*: makes of the run's progress a context that the run goes on in, to show it.
    """
    run = Run(plan)
    with watched(run.progress):
        return run_sync(run.go(), interrupted=run.cancelled)


class RunHandle:
    """A run under way. Await it for its result: the whole, or what was done when it was cancelled.

    Cancelling whoever awaits it does not stop the run; `cancel` does.
    """

    def __init__(self, run: Run) -> None:
        import asyncio

        self._run = run
        self._loop = asyncio.get_running_loop()
        self._task: Task[EvalResult] = self._loop.create_task(run.go())
        self._task.add_done_callback(_seen)
        self._cancelled = False

    @property
    def progress(self) -> Progress:
        """How far it is."""
        return self._run.progress

    def partial(self) -> EvalResult:
        """The result of what is done so far; its verdict is None unless it is decided already."""
        return self._run.partial()

    def cancel(self) -> None:
        """Stop what is in flight and end the run with status `cancelled`. What is done is recorded. From any thread."""
        self._cancelled = True
        if _running_loop() is self._loop:
            self._task.cancel()
            return
        with suppress(RuntimeError):  # the loop is closed: the run has ended with it
            self._loop.call_soon_threadsafe(self._task.cancel)

    def done(self) -> bool:
        """Whether it has ended."""
        return self._task.done()

    def __await__(self) -> Generator[Any, Any, EvalResult]:
        return self._ended().__await__()

    async def _ended(self) -> EvalResult:
        import asyncio

        await asyncio.wait([self._task])
        if self._cancelled and self._task.cancelled():
            return self._run.cancelled()
        return self._task.result()


def _started(evaluation: Eval) -> RunHandle:
    """Start a run and go on: gives a handle with `partial()`, `cancel()` and `progress`, to be awaited for the result.

    Takes the arguments of `Eval`. Called inside a running event loop.
    """
    if _running_loop() is None:
        raise UsageError("start_evals needs a running event loop; without one, call run_evals_sync")
    return RunHandle(Run(make_plan(evaluation)))


def _running_loop() -> AbstractEventLoop | None:
    import asyncio

    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _seen(task: Task[EvalResult]) -> None:
    """Look at how it ended: Python complains of errors that nobody awaited, and nobody has to await a handle."""
    if not task.cancelled():
        task.exception()


run_evals = door(Eval, execute, name="run_evals")
run_evals_sync = sync_door(
    Eval, lambda evaluation: run_plan_sync(make_plan(evaluation)), name="run_evals_sync", like=execute
)
start_evals = sync_door(Eval, _started, name="start_evals", like=_started)
