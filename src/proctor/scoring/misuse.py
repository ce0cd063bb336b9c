"""What to write instead, when a step asked its context for what it does not have. Looked at once a step has failed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from proctor.data.value import MISSING
from proctor.errors import did_you_mean
from proctor.scoring.run import ScorerRun
from proctor.scoring.steps import StepContext

__all__ = ["misuse_of"]

_CONTEXT: Final = ("run", "preprocess", "analyze", "score", "fence")
_SUBSCRIPT: Final = re.compile(r"'([\w.]+)' object is not subscriptable")
_OF_RUN: Final[Mapping[str, str]] = {
    **dict.fromkeys(("answer", "completion", "reply", "response"), "text"),
    **dict.fromkeys(("prompt", "query", "question"), "user_text"),
    **dict.fromkeys(("expected", "expected_output", "label", "reference"), "ground_truth"),
    **dict.fromkeys(("conversation", "history"), "messages"),
    **dict.fromkeys(("meta", "metadata"), "extra"),
    **dict.fromkeys(("duration", "latency"), "duration_ms"),
    "tokens": "usage",
    "tools": "tool_calls",
}


def misuse_of(error: BaseException, ctx: StepContext) -> str | None:
    """The message for an error of Python's that the use of the context explains; None for any other."""
    try:
        if type(error) is AttributeError and isinstance(error.name, str):
            return _no_attribute(error.name, error.obj, ctx)
        found = _SUBSCRIPT.search(str(error)) if type(error) is TypeError else None
        return _no_subscript(found[1], ctx) if found else None
    except Exception:  # noqa: BLE001 - a value of the user's may raise anything, and the first error is the one to tell
        return None


def _no_attribute(name: str, of: Any, ctx: StepContext) -> str | None:
    if of is ctx:
        there = _in_run(name, ctx.run)
        guess = f" Did you mean ctx.run.{there}?" if there else did_you_mean(name, _CONTEXT)
        return f"ctx has no {name!r}.{guess} It has {', '.join(_CONTEXT)}"
    if isinstance(of, ScorerRun):
        there = _in_run(name, of)
        guess = f" Did you mean run.{there}?" if there else did_you_mean(name, _names_of_runs())
        return f"the run has no {name!r}.{guess}"
    if of is MISSING:
        return f"MISSING has no {name!r}: {_missing(ctx)}"
    if isinstance(of, Mapping) and name in of:
        where = next((at for at, value in _steps(ctx) if value is of), None)
        return where and f"{where} is a {type(of).__name__}: write {where}[{name!r}]"
    return None


def _no_subscript(kind: str, ctx: StepContext) -> str | None:
    if kind == type(ctx).__name__:
        return f"ctx is no mapping: write ctx.run and the like. It has {', '.join(_CONTEXT)}"
    if kind == ScorerRun.__name__:
        return "the run is no mapping: write run.text, run.ground_truth, run.extra['name'] and the like"
    if kind == type(MISSING).__name__:
        return f"MISSING holds nothing: {_missing(ctx)}"
    for where, value in _steps(ctx):
        names = getattr(type(value), "model_fields", None) or getattr(type(value), "__dataclass_fields__", None)
        if type(value).__name__ == kind and names:
            return f"{where} is a {kind}: write {where}.{next(iter(names))}, not {where}[{next(iter(names))!r}]"
    return None


def _steps(ctx: StepContext) -> Iterator[tuple[str, Any]]:
    yield "ctx.preprocess", ctx.preprocess
    yield "ctx.analyze", ctx.analyze


def _in_run(name: str, run: ScorerRun) -> str | None:
    if name in _names_of_runs():
        return name
    return f"extra[{name!r}]" if name in run.extra else _OF_RUN.get(name)


def _names_of_runs() -> list[str]:
    return [name for name in dir(ScorerRun) if not name.startswith("_")]


def _missing(ctx: StepContext) -> str:
    """What a step may have taken for something that is there."""
    steps = [f"the scorer has no {where[4:]} step before this one" for where, value in _steps(ctx) if value is MISSING]
    names = ("input", "ground_truth")
    fields = [f"the item has no {name}" for name in names if getattr(ctx.run, name) is MISSING]
    return ", and ".join(steps + fields) or "nothing was given there"
