"""What is to be evaluated, and how: every argument and option, declared here once.

`run_evals`, `run_evals_sync`, the command line and test plugins all build an `Eval`.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any, Literal, ParamSpec, TypeVar

from proctor.data.value import Value, freeze
from proctor.errors import UnknownName
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
    or async def, one at a time. *recorder*: where replies and outcomes are put as they come. *on_error*: `raise` ends
    the run at the first failure of the target or a scorer, after recording it. *allow_unscored_gates*: a gate on which
    every item declined is left out instead of missed.
    """

    data: Any
    target: Any = None
    gates: Sequence[Any] = ()
    scorers: Sequence[Any] = ()
    concurrency: int = 1
    on_item_complete: Callable[[Any], Any] | None = None
    name: str | None = None
    recorder: Recorder | None = None
    on_error: Literal["record", "raise"] = "record"
    allow_unscored_gates: bool = False

    def __post_init__(self) -> None:
        freeze(self, ("gates", "scorers"))


def door(
    make: Callable[P, Eval], execute: Callable[[Eval], Coroutine[Any, Any, R]], *, name: str
) -> Callable[P, Coroutine[Any, Any, R]]:
    """An async function that takes the arguments of *make* and executes what it makes."""
    known = signature(make).parameters

    async def opened(*args: P.args, **kwargs: P.kwargs) -> R:
        for option in kwargs:
            if option not in known:
                raise UnknownName(f"argument of {name}", option, known)
        return await execute(make(*args, **kwargs))

    opened.__name__ = opened.__qualname__ = name
    opened.__module__ = execute.__module__
    opened.__doc__ = execute.__doc__
    returns = signature(execute).return_annotation
    opened.__signature__ = signature(make).replace(return_annotation=returns)  # type: ignore[attr-defined]  # it has one
    return opened
