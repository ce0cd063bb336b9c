"""The seam to storage: what a run tells as it goes, and asks when it begins again.

Events are values: a `Reply` when the target has answered, an `Outcome` when a scorer has, an `ItemResult` when an item
has ended. Each comes with its row: (item id, repeat). A run may have several sittings: each goes on where the one
before ended, or was killed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from proctor.data.column import Column
from proctor.data.item import Item
from proctor.data.outcome import Outcome, Outcomes
from proctor.data.reply import ItemResult, Reply
from proctor.data.value import Value

if TYPE_CHECKING:
    from proctor.data.result import EvalResult
    from proctor.judging.call_cache import CallCache
    from proctor.running.plan import Plan

__all__ = ["Event", "Known", "MemoryRecorder", "NoRecorder", "Recorder", "RowId", "begun_row", "utc_now"]

RowId: TypeAlias = tuple[str, int]
"""An item's id and the number of the repeat."""


@dataclass(frozen=True, slots=True, repr=False)
class Event(Value):
    """Something that ended. *value*: a Reply, an Outcome (with its column), or the ItemResult that closes the row.

    *turn*: of a reply in a conversation, which one; None for the reply to a whole item. *item*: with a reply, what it
    is the reply to, in plain data. *index*: with a reply, the item's place in the data.
    """

    row: RowId
    value: Reply | Outcome | ItemResult
    turn: int | None = None
    item: Item | None = None
    index: int = 0

    @property
    def begins(self) -> bool:
        """Whether its row begins here: what there was of it before counts no more."""
        return isinstance(self.value, Reply) and not self.turn


class Known(NamedTuple):
    """The rows that a recorder has: those that ended, and those that were begun and did not.

    A row that ended may be in both: something has been added to it since. *notes*: what a reader of the result should
    know of what is there. *started_at*: when the first sitting began, in the form of `utc_now`; None when there was
    none, though a recorder that reads the clock itself may give its time of the one that begins. *spent_ms*: wall time
    of the earlier sittings. *eval_id*: of the run, when it has one; *run*: what people call it there. *rows*: where the
    rows can be read when the run has ended, so that nobody need keep them. *paid_before*: whether the replies that are
    there were paid for by another run, so that this one does not count what they cost. *calls*: where the answers of
    model calls are kept, when that is in the same place. *redacted*: what the recorder makes of an encoded value before
    it keeps it, when that is more than to take out secrets.
    """

    finished: Set[RowId] = frozenset()
    begun: Set[RowId] = frozenset()
    notes: tuple[str, ...] = ()
    started_at: str | None = None
    spent_ms: float = 0.0
    eval_id: str | None = None
    run: str | None = None
    rows: Sequence[ItemResult] | None = None
    paid_before: bool = False
    redacted: Callable[[Any], Any] | None = None
    calls: CallCache | None = None


class Recorder(Protocol):
    """Keeps what is done, so that it is done once. `put` is called as soon as a thing has ended."""

    async def start(self, plan: Plan) -> Known:
        """Make ready; give the rows that are there already."""
        ...

    async def find(self, row: RowId) -> ItemResult | None:
        """What is there of a row that `start` gave: all of a finished one; of a begun one, replies and outcomes."""
        ...

    async def put(self, event: Event) -> None:
        """Keep an event."""
        ...

    async def end(self, result: EvalResult) -> None:
        """The run ended, however: its result, `items` only those kept. Its time and cost are of all sittings.

        Called once, before the last `flush`; not when the process is killed.
        """
        ...

    async def flush(self) -> None:
        """Return when everything put is safe. Called at the end of a run, whatever ended it."""
        ...


class NoRecorder:
    """Keeps nothing: the result is all there is."""

    async def start(self, plan: Plan) -> Known:
        """There is never anything."""
        return Known()

    async def find(self, row: RowId) -> ItemResult | None:
        """Nothing was kept."""
        return None

    async def put(self, event: Event) -> None:
        """Forget it."""

    async def end(self, result: EvalResult) -> None:
        """Nobody will ask."""

    async def flush(self) -> None:
        """Nothing is waiting."""


class MemoryRecorder:
    """Keeps everything in this process: for tests, and to run only what is missing after a run that broke off.

    *finished*: the rows that ended, in the order they did.
    """

    def __init__(self) -> None:
        self.finished: dict[RowId, ItemResult] = {}
        self._parts: dict[RowId, list[Event]] = {}
        self._started_at: str | None = None
        self._spent_ms = 0.0

    async def start(self, plan: Plan) -> Known:
        """The rows that are there, whatever the plan."""
        return Known(
            frozenset(self.finished), frozenset(self._parts), started_at=self._started_at, spent_ms=self._spent_ms
        )

    async def find(self, row: RowId) -> ItemResult | None:
        """A finished row, or what has been put of one that did not end, as a row that is `not_run`."""
        whole, parts = self.finished.get(row), self._parts.get(row)
        return whole if parts is None else begun_row(row, parts, whole=whole)

    async def put(self, event: Event) -> None:
        """Keep an event; a row's end takes the place of its parts, and so does a conversation that begins anew."""
        if isinstance(event.value, ItemResult):
            self.finished[event.row] = event.value
            self._parts.pop(event.row, None)
        elif event.begins:
            self.finished.pop(event.row, None)
            self._parts[event.row] = [event]
        else:
            self._parts.setdefault(event.row, []).append(event)

    async def end(self, result: EvalResult) -> None:
        """Keep when the run began, and how long it has taken."""
        self._started_at = result.summary.started_at
        self._spent_ms = result.summary.duration_ms or 0.0

    async def flush(self) -> None:
        """Memory needs no flushing."""


def utc_now() -> str:
    """The wall clock, as `Known.started_at` and a result's summary have it: 2026-11-30T19:20:01.123456+00:00."""
    from datetime import UTC, datetime

    return datetime.now(UTC).isoformat(timespec="microseconds")


def _is_before(column: Column, turn: int) -> bool:
    """Whether a column is of an earlier turn: what was said in it stands whatever comes now."""
    return column.turn is not None and column.turn < turn


def begun_row(row: RowId, parts: Iterable[Event], *, whole: ItemResult | None = None) -> ItemResult:
    """What there is of a row that did not end, for the run to go on from: status `not_run`, each column once.

    *whole*: the row as it ended before, when *parts* were added to it. A turn's reply puts an end to what there was of
    that turn and those after it; one whose turn before is missing is left out.
    """
    item = None if whole is None else whole.item
    replies = [] if whole is None else list(whole.replies)
    outcomes = {} if whole is None else {outcome.column: outcome for outcome in whole.outcomes}
    for part in parts:
        item = item or part.item
        if isinstance(part.value, Reply):
            if part.turn is not None and part.turn > len(replies):
                continue  # the reply before it is lost: what follows is not of one conversation
            if part.turn is not None:
                del replies[part.turn :]
                outcomes = {column: it for column, it in outcomes.items() if _is_before(column, part.turn)}
            replies.append(part.value)
        elif isinstance(part.value, Outcome):
            outcomes[part.value.column] = part.value
    return ItemResult(
        item=item or Item(id=row[0]),
        item_id=row[0],
        repeat=row[1],
        status="not_run",
        replies=tuple(replies),
        gates=Outcomes(outcome for column, outcome in outcomes.items() if column.position == "gate"),
        scorers=Outcomes(outcome for column, outcome in outcomes.items() if column.position != "gate"),
    )
