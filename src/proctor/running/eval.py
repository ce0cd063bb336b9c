"""What is to be evaluated, and how: every argument and option, declared here once.

`run_evals`, `run_evals_sync`, the command line and test plugins all build an `Eval`.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from os import PathLike
from typing import Any, Literal, ParamSpec, TypeVar

from proctor.data.value import Value, freeze
from proctor.errors import UnknownName
from proctor.running.record import Recorder
from proctor.running.retry import Retry

__all__ = ["Eval", "door"]

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Eval(Value):
    """An evaluation that has not been run. At module level of a file, `proctor run FILE` finds it.

    *data*: items, mappings of their fields, the path of a file, or an iterator (also async).
    *target*: what is under test: a callable (def or async def, of one argument, the item's input), an agent (an object
    with `generate`), or `package.module:name`; None when every item carries its output. *gates*: scorers that every
    item must pass. *scorers*: scorers, alone or with a threshold `(scorer, 0.8)`, or `AgentScorers`. *concurrency*: how
    many items are in flight. *on_item_complete*: called with each `ItemResult`, def or async def, one at a time.
    *recorder*: where replies and outcomes are put as they come. *store*: keep the run: True (in `.proctor/proctor.db`),
    the path of a SQLite file, or `postgresql://user@host/database`. *redact*: called with every text before it is
    written there; gives what is written instead, for personal data. *cache*: answers of judges are taken from the
    store's cache; without a store, from this process's. *budget*: what judges and target may take, in US dollars, or
    `Budget(usd=..., tokens=...)`: reached, it ends the run with what it has.

    *target_options*: for the target; of `{"memory": {"resource": ..., "thread": ...}}` the resource is kept for all
    items, the thread for single questions. *request_context*: for the target and scorers; an item's own wins by key.
    *unmocked*: whether a tool of the target that an item has no mock for is called, `allow`, or the item is an error,
    `deny`; an item's own wins. *record_tools*: the file that the calls of tools are written to, a line for each row;
    *replay_tools*: one that was, which answers every call, so that no tool is called.
    *repeats*: how often each item is run; its score is the mean over them, a gate needs every one.
    *timeout*: seconds for the replies of one item, all tries together; *scorer_timeout*: for one scorer on one item.
    *retries*: further tries of a reply that failed in passing, or a `Retry`.
    *on_error*: `raise` ends the run at the first failure of the target or a scorer, after recording it.
    *stop_after_errors*: ends it when so many items had one. *skip_scorers_after_gate_failure*: no scorers where a gate
    failed. *allow_unscored_gates*: a gate on which every item declined is left out instead of missed.
    *keep*: which rows the result holds: `all`, those with `failures`, or `none`; the means are of all in any case.
    """

    data: Any
    target: Any = None
    gates: Sequence[Any] = ()
    scorers: Any = ()
    concurrency: int = 1
    on_item_complete: Callable[[Any], Any] | None = None
    name: str | None = None
    recorder: Recorder | None = None
    store: Any = None
    redact: Callable[[str], str] | None = None
    cache: bool = True
    budget: Any = None
    target_options: Mapping[str, Any] | None = None
    request_context: Mapping[str, Any] | None = None
    unmocked: Literal["allow", "deny"] = "allow"
    record_tools: str | PathLike[str] | None = None
    replay_tools: str | PathLike[str] | None = None
    repeats: int = 1
    timeout: float | None = None
    scorer_timeout: float | None = None
    retries: int | Retry = 0
    on_error: Literal["record", "raise"] = "record"
    stop_after_errors: int | None = None
    skip_scorers_after_gate_failure: bool = False
    allow_unscored_gates: bool = False
    keep: Literal["all", "failures", "none"] = "all"

    def __post_init__(self) -> None:
        freeze(self, ("gates", "scorers"))


def door(
    make: Callable[P, Eval], execute: Callable[[Eval], Coroutine[Any, Any, R]], *, name: str
) -> Callable[P, Coroutine[Any, Any, R]]:
    """An async function that takes the arguments of *make* and executes what it makes."""

    async def opened(*args: P.args, **kwargs: P.kwargs) -> R:
        return await execute(_made(make, name, *args, **kwargs))

    _dress(opened, make, name=name, like=execute)
    return opened


def sync_door(
    make: Callable[P, Eval], execute: Callable[[Eval], R], *, name: str, like: Callable[..., Any]
) -> Callable[P, R]:
    """The same for an *execute* that is not async. *like*: whose documentation it has."""

    def opened(*args: P.args, **kwargs: P.kwargs) -> R:
        return execute(_made(make, name, *args, **kwargs))

    _dress(opened, make, name=name, like=like)
    return opened


def _made(make: Callable[P, Eval], door_name: str, /, *args: P.args, **kwargs: P.kwargs) -> Eval:
    if len(args) == 1 and isinstance(args[0], Eval) and not kwargs:
        return args[0]  # an evaluation that was made already
    known = signature(make).parameters
    for option in kwargs:
        if option not in known:
            raise UnknownName(f"argument of {door_name}", option, known)
    return make(*args, **kwargs)


def _dress(opened: Any, make: Callable[..., Any], *, name: str, like: Callable[..., Any]) -> None:
    opened.__name__ = opened.__qualname__ = name
    opened.__module__ = like.__module__
    opened.__doc__ = like.__doc__
    opened.__signature__ = signature(make).replace(return_annotation=signature(like).return_annotation)
