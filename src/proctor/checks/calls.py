"""What the checks of tool calls share: views of a run that are worked out once, and how calls are told."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from proctor.data.shown import plural
from proctor.errors import UsageError, cut
from proctor.scoring.run import ScorerRun
from proctor.scoring.steps import StepContext

__all__ = ["called", "passed", "times_told", "told_calls", "tool_name"]

_SHOWN_CALLS = 5


def tool_name(name: Any, *, check: str) -> str:
    """*name* when it is text that is not empty, else a `UsageError`."""
    if not isinstance(name, str) or not name:
        raise UsageError(f"{check}: the name of a tool is text that is not empty, not {name!r}")
    return name


def called(run: ScorerRun) -> tuple[str, ...]:
    """The names of the tools that were called, in order."""
    return tuple(call.name for call in run.tool_calls)


def told_calls(run: ScorerRun) -> str:
    """`4 calls: a, b x2, c`, neighbours of one name put together, the first few."""
    names = run.once(called)
    if not names:
        return "no tool was called"
    groups = [(name, len(list(same))) for name, same in groupby(names)]
    shown = [cut(name if count == 1 else f"{name} x{count}", 40) for name, count in groups[:_SHOWN_CALLS]]
    more = ", ..." if len(groups) > _SHOWN_CALLS else ""
    return f"{plural(len(names), 'call')}: {', '.join(shown)}{more}"


def passed(ctx: StepContext) -> Any:
    """The score of a check whose findings say whether it passed."""
    return ctx.preprocess["passed"]


def times_told(count: int) -> str:
    """`once`, `twice`, `3 times`."""
    return {0: "0 times", 1: "once", 2: "twice"}.get(count, f"{count} times")
