"""Runs that are kept: what a run asks of a store, whatever implements it, and how its recorder begins."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Literal, Protocol, Self

from proctor.data.item import Item
from proctor.data.stored import RunInfo
from proctor.plugins import find
from proctor.running.eval import Eval
from proctor.running.record import Recorder

__all__ = ["Beginning", "Kept", "open_store", "stored"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Beginning:
    """How a recorder begins: with a new run, or with one that is there.

    *source*: the eval file and the name in it, of a new run; *options*: what was changed of that Eval, as plain data,
    to make it again. *resume*: the `eval_id` of a run to be gone on with.
    *allow_changes*: also when it is of another target, dataset, scorer or option. *anew*: of that run, which rows are
    done again although they ended: those that broke. *parent*: the `eval_id` of the run whose replies are scored again,
    *times*: how often each. *announce*: called with the run's name when it has begun.
    """

    source: str | None = None
    options: Mapping[str, Any] | None = None
    resume: str | None = None
    allow_changes: bool = False
    anew: Literal["errors"] | None = None
    parent: str | None = None
    times: int = 1
    announce: Callable[[str], None] | None = None


class Kept(Protocol):
    """A store that is open."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, place: TracebackType | None
    ) -> None: ...

    def recorder(self, beginning: Beginning | None = None) -> Recorder:
        """A recorder for one run, with a connection of its own."""
        ...

    async def run(self, name: str) -> RunInfo:
        """The run that a name means. Raises `UnknownName`."""
        ...

    async def items(self, name: str) -> tuple[Sequence[Item], int]:
        """The items of a run of which there is a reply, in the order of the input; and how many there are without."""
        ...


def open_store(where: Any, *, redact: Callable[[str], str] | None = None) -> Kept:
    """The store that `store=` means, to be entered. Raises `UsageError` for what is none."""
    return find("store", "sql")(where, redact=redact)  # type: ignore[no-any-return]  # the table says what it is


def stored(evaluation: Eval, beginning: Beginning | None = None) -> Eval:
    """The evaluation with the recorder of its store, if it has one. Nothing is opened yet."""
    if evaluation.store is None:
        return evaluation
    store = open_store(evaluation.store, redact=evaluation.redact)
    return replace(evaluation, store=None, redact=None, recorder=store.recorder(beginning))
