"""The seam to storage: what a run tells as it goes, and asks when it begins again.

Events are values: a `Reply` when the target has answered, an `Outcome` when a scorer has, an `ItemResult` when an item
has ended. Each comes with its row: (item id, repeat).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from proctor.data.item import Item
from proctor.data.outcome import Outcome, Outcomes
from proctor.data.reply import ItemResult, Reply
from proctor.data.value import Value

if TYPE_CHECKING:
    from proctor.running.eval import Eval

__all__ = ["Event", "MemoryRecorder", "Recorder", "RowId"]

RowId: TypeAlias = tuple[str, int]
"""An item's id and the number of the repeat."""


@dataclass(frozen=True, slots=True, repr=False)
class Event(Value):
    """Something that ended. *value*: a Reply, an Outcome (with its column), or the ItemResult that closes the row."""

    row: RowId
    value: Reply | Outcome | ItemResult


class Recorder(Protocol):
    """Keeps what is done, so that it is done once. `put` is called when a thing has ended, before the next begins."""

    async def start(self, evaluation: Eval) -> set[RowId]:
        """Make ready; give the rows that need nothing more."""
        ...

    async def find(self, row: RowId) -> ItemResult | None:
        """What is there of a row that was begun and not finished: its replies and outcomes; None when nothing is."""
        ...

    async def put(self, event: Event) -> None:
        """Keep an event."""
        ...

    async def flush(self) -> None:
        """Return when everything put is safe."""
        ...


class MemoryRecorder:
    """Keeps everything in this process: for tests, and to look at a run from a callback.

    *finished*: the rows that ended, in the order they did. A second run with the same recorder runs only the rest.
    """

    def __init__(self) -> None:
        self.finished: dict[RowId, ItemResult] = {}
        self._open: dict[RowId, list[Reply | Outcome]] = {}

    async def start(self, evaluation: Eval) -> set[RowId]:
        """The rows that have ended, whatever the evaluation."""
        return set(self.finished)

    async def find(self, row: RowId) -> ItemResult | None:
        """A finished row, or what has been put of one that did not end, as a row that is `not_run`."""
        if row in self.finished:
            return self.finished[row]
        return _begun(row, self._open[row]) if row in self._open else None

    async def put(self, event: Event) -> None:
        """Keep an event; a row's end takes the place of its parts."""
        if isinstance(event.value, ItemResult):
            self.finished[event.row] = event.value
            self._open.pop(event.row, None)
        else:
            self._open.setdefault(event.row, []).append(event.value)

    async def flush(self) -> None:
        """Memory needs no flushing."""


def _begun(row: RowId, parts: list[Reply | Outcome]) -> ItemResult:
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
