"""The seam to storage: what a run tells as it goes, and asks when it begins again.

Events are values: a `Reply` when the target has answered, an `Outcome` when a scorer has, an `ItemResult` when an item
has ended. Each comes with its row: (item id, repeat).
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

from proctor.data.item import Item
from proctor.data.outcome import Outcome, Outcomes
from proctor.data.reply import ItemResult, Reply
from proctor.data.value import Value

if TYPE_CHECKING:
    from proctor.running.eval import Eval

__all__ = ["Event", "Known", "MemoryRecorder", "NoRecorder", "Recorder", "RowId"]

RowId: TypeAlias = tuple[str, int]
"""An item's id and the number of the repeat."""


@dataclass(frozen=True, slots=True, repr=False)
class Event(Value):
    """Something that ended. *value*: a Reply, an Outcome (with its column), or the ItemResult that closes the row.

    *turn*: of a reply in a conversation, which one; None for the reply to a whole item.
    """

    row: RowId
    value: Reply | Outcome | ItemResult
    turn: int | None = None


class Known(NamedTuple):
    """The rows that a recorder has: those that ended, and those that were begun and did not."""

    finished: Set[RowId] = frozenset()
    begun: Set[RowId] = frozenset()


class Recorder(Protocol):
    """Keeps what is done, so that it is done once. `put` is called as soon as a thing has ended."""

    async def start(self, evaluation: Eval) -> Known:
        """Make ready; give the rows that are there already."""
        ...

    async def find(self, row: RowId) -> ItemResult | None:
        """What is there of a row that `start` gave: all of a finished one; of a begun one, replies and outcomes."""
        ...

    async def put(self, event: Event) -> None:
        """Keep an event."""
        ...

    async def flush(self) -> None:
        """Return when everything put is safe. Called at the end of a run, whatever ended it."""
        ...


class NoRecorder:
    """Keeps nothing: the result is all there is."""

    async def start(self, evaluation: Eval) -> Known:
        """There is never anything."""
        return Known()

    async def find(self, row: RowId) -> ItemResult | None:
        """Nothing was kept."""
        return None

    async def put(self, event: Event) -> None:
        """Forget it."""

    async def flush(self) -> None:
        """Nothing is waiting."""


class MemoryRecorder:
    """Keeps everything in this process: for tests, and to run only what is missing after a run that broke off.

    *finished*: the rows that ended, in the order they did.
    """

    def __init__(self) -> None:
        self.finished: dict[RowId, ItemResult] = {}
        self._begun: dict[RowId, list[Reply | Outcome]] = {}

    async def start(self, evaluation: Eval) -> Known:
        """The rows that are there, whatever the evaluation."""
        return Known(frozenset(self.finished), frozenset(self._begun))

    async def find(self, row: RowId) -> ItemResult | None:
        """A finished row, or what has been put of one that did not end, as a row that is `not_run`."""
        if row in self.finished:
            return self.finished[row]
        return _begun_row(row, self._begun[row]) if row in self._begun else None

    async def put(self, event: Event) -> None:
        """Keep an event; a row's end takes the place of its parts, and so does a conversation that begins anew."""
        if isinstance(event.value, ItemResult):
            self.finished[event.row] = event.value
            self._begun.pop(event.row, None)
        elif isinstance(event.value, Reply) and not event.turn:
            self._begun[event.row] = [event.value]
        else:
            self._begun.setdefault(event.row, []).append(event.value)

    async def flush(self) -> None:
        """Memory needs no flushing."""


def _begun_row(row: RowId, parts: list[Reply | Outcome]) -> ItemResult:
    outcomes = [part for part in parts if isinstance(part, Outcome)]
    return ItemResult(
        item=Item(id=row[0]),
        item_id=row[0],
        repeat=row[1],
        status="not_run",
        replies=tuple(part for part in parts if isinstance(part, Reply)),
        gates=Outcomes(outcome for outcome in outcomes if outcome.column.position == "gate"),
        scorers=Outcomes(outcome for outcome in outcomes if outcome.column.position == "scorer"),
    )
