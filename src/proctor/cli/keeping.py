"""Where runs are kept: `--store`, `--no-store` and PROCTOR_STORE, and what is said of it while a run goes on."""

from __future__ import annotations

import os
import shlex
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar

import typer

from proctor.bridge import run_sync
from proctor.cli.streams import complain
from proctor.data.result import EvalResult
from proctor.errors import UsageError
from proctor.plugins import find, import_object
from proctor.running.eval import Eval
from proctor.running.kept import Beginning, stored

if TYPE_CHECKING:
    from proctor.storage.address import Address
    from proctor.storage.store import Store

__all__ = ["Keeper", "NoStore", "Place", "StoreOption", "address_of", "in_store", "make_folder", "place_of"]

T = TypeVar("T")

VARIABLE = "PROCTOR_STORE"
_NOWHERE = "none"

StoreOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="WHERE",
        help="Where runs are kept: the path of a SQLite file, or postgresql://user@host/database. Else what "
        f"{VARIABLE} says; else .proctor/proctor.db in this folder.",
    ),
]
NoStore: TypeAlias = Annotated[
    bool, typer.Option("--no-store", help=f"Keep nothing of the run. {VARIABLE}={_NOWHERE} says so for all runs.")
]


@dataclass(frozen=True, slots=True)
class Place:
    """A store as a command was told of it. *where*: as `store=` has it; None: nothing is kept. *given*: by --store."""

    where: Any
    given: bool = False

    @property
    def option(self) -> str:
        """What another command needs to look at the same place; empty when nothing."""
        if not self.given:
            return ""
        url = "://" in self.where
        return f" --store {shlex.quote(_shown(self.where) if url else self.where)}"


def place_of(store: str | None, *, none: bool = False) -> Place:
    """The store that the options and the environment mean."""
    if none:
        if store is not None:
            raise UsageError("--store and --no-store are opposites: give one of them")
        return Place(None)
    if store is not None:
        return Place(store, given=True)
    said = os.environ.get(VARIABLE)
    return Place(None if said == _NOWHERE else said or True)


def in_store(place: Place, look: Callable[[Store], Awaitable[T]]) -> T:
    """What *look* finds in the open store."""
    if place.where is None:
        raise UsageError(f"{VARIABLE}={_NOWHERE}: there is no store to look into; give --store WHERE")

    async def looked() -> T:
        async with find("store", "sql")(place.where) as store:
            return await look(store)

    return run_sync(looked())


class Keeper:
    """Has runs kept in a place, says what they are called, and how they are gone on with.

    *word*: what is said before the name when a run begins. *goes_on*: whether `proctor resume` can take it up.
    """

    def __init__(self, place: Place, *, word: str = "Run", goes_on: bool = True) -> None:
        self._place = place
        self._word = word
        self._goes_on = goes_on
        self._begun: str | None = None

    def keep(self, evaluation: Eval, *, source: str | None, options: dict[str, Any]) -> Eval:
        """The evaluation, kept where its `store=` says, else in the place; one with its own `recorder=` as it is."""
        place = self.place_for(evaluation)
        if place.where is None:
            return evaluation
        beginning = Beginning(source=source, options=options, announce=self.announcer(place))
        return stored(replace(evaluation, store=place.where), beginning)

    def place_for(self, evaluation: Eval) -> Place:
        """Where it is kept."""
        if evaluation.store is not None:
            own = os.fspath(evaluation.store) if isinstance(evaluation.store, os.PathLike) else evaluation.store
            return Place(own, given=own is not True)
        return Place(None) if evaluation.recorder is not None else self._place

    def announcer(self, place: Place | None = None) -> Callable[[str], None]:
        """What a recorder calls when its run has begun."""
        at = place or self._place

        def announce(name: str) -> None:
            self._begun = f"{name}{at.option}" if self._goes_on else None
            complain(f"{self._word} {name}, kept in {_shown(at.where)}")

        return announce

    def ended(self, result: EvalResult) -> None:
        """Say how a run that is not whole is gone on with."""
        begun, self._begun = self._begun, None
        if begun is None or result.status == "complete":
            return
        complain(f"To go on with it: proctor resume {begun}")
        if result.status == "stopped" and (result.summary.errors or result.summary.outcome_errors):
            complain(f"To do what broke again, too: proctor retry {begun}")

    def broke_off(self) -> None:
        """Say how the run that an error ended is gone on with, if it had begun."""
        if self._begun is not None:
            complain(f"What was done is kept. To go on with it: proctor resume {self._begun}")
            self._begun = None


def make_folder(place: Place) -> None:
    """Make the folder of the default store, which version control is told to leave alone."""
    from pathlib import Path

    folder = Path(".proctor")
    if place.where is not True or folder.exists():
        return
    try:
        folder.mkdir()
        (folder / ".gitignore").write_text("*\n")
    except OSError as problem:
        message = (
            f"the runs cannot be kept: {folder} cannot be made in {Path.cwd()}: {problem.strerror}. "
            "Give --store WHERE, or --no-store"
        )
        raise UsageError(message, code="STORE_UNUSABLE") from problem


def _shown(where: Any) -> str:
    """A store as people see it: no password."""
    return address_of(where).shown


def address_of(where: Any) -> Address:
    """The database that it means; SQLAlchemy is imported here."""
    found: Address = import_object("proctor.storage.address:address_of")(where)
    return found
