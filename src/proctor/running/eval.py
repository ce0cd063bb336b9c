"""What is to be evaluated, and how: every argument and option, declared here once.

`run_evals`, `run_evals_sync`, the command line and test plugins all build an `Eval`.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from proctor.data.value import Value
from proctor.running.record import Recorder

__all__ = ["Eval", "door"]

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Eval(Value):
    """An evaluation that has not been run. At module level of a file, `proctor run FILE` finds it.

    *data*: items, mappings of their fields, or the path of a .jsonl or .json file. *target*: what is under test: a
    callable (def or async def, of one argument, the item's input), or `package.module:name`; None when every item
    carries its output. *gates*: scorers that every item must pass. *scorers*: scorers, alone or with a threshold:
    `(scorer, 0.8)`. *concurrency*: how many items are in flight. *on_item_complete*: called with each `ItemResult`, def
    or async def. *recorder*: where replies and outcomes are put as they come.
    """

    data: Any
    target: Any = None
    gates: Sequence[Any] = ()
    scorers: Sequence[Any] = ()
    concurrency: int = 1
    on_item_complete: Callable[[Any], Any] | None = None
    name: str | None = None
    recorder: Recorder | None = None


def door(
    make: Callable[P, Eval], execute: Callable[[Eval], Coroutine[Any, Any, R]], *, name: str
) -> Callable[P, Coroutine[Any, Any, R]]:
    """An async function that takes the arguments of *make* and executes what it makes."""

    @wraps(make)
    async def opened(*args: P.args, **kwargs: P.kwargs) -> R:
        return await execute(make(*args, **kwargs))

    opened.__name__ = opened.__qualname__ = name
    opened.__module__ = execute.__module__
    opened.__doc__ = execute.__doc__
    return opened
