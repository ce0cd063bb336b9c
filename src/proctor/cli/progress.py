"""How far a run is, on standard error while it goes on, and gone when it ends. Silent where there is no terminal.

refund_desk  412/1000  3 failed  1 error  12.4/s  0:47 left  0.3120 USD
  order-17  8 s                      when five or fewer are left: those that take long
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from time import perf_counter
from typing import Any, TextIO

from proctor.data.secrets import redact_text
from proctor.errors import cut, visible
from proctor.running.progress import Progress

__all__ = ["progress_text", "shows_progress"]

_A_SECOND = 10  # how often it is drawn
_FEW = 5  # so many items left are named
_LONG_S = 1.0  # when they have taken so long


def shows_progress(name: str | None, *, wanted: bool) -> Callable[[Progress], AbstractContextManager[Any]]:
    """What makes of a run's progress a context that shows it, when that is wanted and can be."""
    stream = sys.stderr  # None: the process was started with it closed
    if not wanted or stream is None or not stream.isatty() or os.environ.get("TERM") in {"dumb", "unknown"}:
        return lambda progress: nullcontext()
    return lambda progress: _live(name or "", progress)


@contextmanager
def _live(name: str, progress: Progress) -> Iterator[None]:
    try:
        from rich.console import Console
        from rich.live import Live
        from rich.text import Text
    except ImportError:
        yield
        return
    began = perf_counter()

    def drawn() -> Text:
        return Text(progress_text(progress, name=name, began=began), no_wrap=True, overflow="crop")

    live = Live(
        get_renderable=drawn,
        console=Console(stderr=True, force_terminal=True, markup=False, emoji=False, highlight=False),
        refresh_per_second=_A_SECOND,
        transient=True,
        redirect_stdout=sys.stdout is not None and sys.stdout.isatty(),  # else what a target prints would come here
    )
    with suppress(OSError):  # the terminal has gone: the run goes on
        live.start(refresh=True)
    try:
        yield
    finally:
        with suppress(OSError):
            _flush(sys.stdout, sys.stderr)  # a line that a target began and did not end
            live.stop()


def _flush(*streams: TextIO | None) -> None:
    for stream in streams:
        if stream is not None:
            stream.flush()


def progress_text(progress: Progress, *, name: str, began: float, now: float | None = None) -> str:
    """The lines for a run that began at *began*, of the clock that `Progress.in_flight` uses."""
    now = perf_counter() if now is None else now
    total, done = progress.total, progress.done
    rate = done / (now - began) if now > began else 0.0
    parts = [_one_line(name), f"{done}" if total is None else f"{done}/{total}"]
    parts += [f"{progress.failed} failed"] if progress.failed else []
    parts += [f"{progress.errors} error{'s' if progress.errors > 1 else ''}"] if progress.errors else []
    parts += [f"{progress.not_scorable} not scorable"] if progress.not_scorable else []
    parts += [_rate(rate)] if rate else []
    left = (total - done) / rate if rate and total is not None else 0.0
    parts += [f"{_duration(left)} left"] if left >= 1 else []
    cost = progress.cost
    if cost is not None:
        parts.append(f"{cost.amount:.4f} {_one_line(cost.unit)}")
    lines = ["  ".join(part for part in parts if part)]
    if total is not None and total - done <= _FEW:
        running = sorted(list(progress.in_flight.items()), key=lambda one: one[1])  # noqa: C414 - it changes meanwhile
        lines += [f"  {_one_line(item)}  {now - since:.0f} s" for item, since in running if now - since >= _LONG_S]
    return "\n".join(lines)


def _one_line(text: str) -> str:
    return cut(" ".join(visible(redact_text(text)).split()), 40)


def _rate(rate: float) -> str:
    return f"{rate:.0f}/s" if rate >= 10 else f"{rate:.1f}/s" if rate >= 1 else f"{60 * rate:.1f}/min"


def _duration(seconds: float) -> str:
    minutes, left = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"
