"""A recorder over one file of JSON lines: a run that was killed goes on where it was.

Every reply, outcome and row is one line, handed to the operating system in one write as soon as it is there: a killed
process loses nothing that it had put. `flush`, at the end of a run, also brings it to the disk. In memory there is only
where each row's lines are.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from time import perf_counter
from typing import Any, Literal, NoReturn

from proctor.data.column import Column
from proctor.data.outcome import Outcome
from proctor.data.reply import ItemResult, Reply
from proctor.data.result import EvalResult
from proctor.data.value import shown
from proctor.errors import ProctorError, UsageError, safe_message
from proctor.running.plan import Plan
from proctor.running.record import Event, Known, RowId, begun_row, utc_now
from proctor.running.target_fingerprint import is_whole
from proctor.scoring.fingerprint import UNKNOWN
from proctor.storage.file import append, open_alone, reading
from proctor.storage.index import Index, Place
from proctor.storage.lines import end_line, event_line, kind_of, read_event, session_line
from proctor.storage.session import Session, differences, session_of

__all__ = ["JsonlRecorder"]

_FAILED = "RECORDER_FAILED"


class JsonlRecorder:
    """Keeps replies and outcomes in the file *path*; a later run with the same path does only what is missing.

    The file is made when a run begins, and is for one run at a time. *other_target*: what to do when the file's replies
    are known to be of another target, or of other `target_options` or `request_context`: `refuse` the run, or `accept`
    the replies. A scorer known to be another than the file's is run anew.
    """

    def __init__(self, path: str | os.PathLike[str], *, other_target: Literal["refuse", "accept"] = "refuse") -> None:
        if not isinstance(path, str | os.PathLike) or not os.fspath(path):
            raise UsageError(f"JsonlRecorder needs the path of a file, not {shown(path)}")
        if other_target not in ("refuse", "accept"):
            raise UsageError(f"other_target is 'refuse' or 'accept', not {shown(other_target)}")
        self.path = Path(path)
        self._accepts = other_target == "accept"
        self._file: FileIO | None = None
        self._index = Index()
        self._began = 0.0
        self._stale: list[frozenset[Column]] = []

    def __repr__(self) -> str:
        return f"JsonlRecorder({str(self.path)!r})"

    # ── the protocol ───────────────────────────────────────────────────────────────────────────────────────────────

    async def start(self, plan: Plan) -> Known:
        """Take the file, and see in one pass which rows are in it.

        Raises `UsageError` when it cannot be written, is not a recorder's, is being written, or is of another target.
        """
        if self._file is not None:
            self._refuse("a run that has not ended is writing to it")
        self._began, started_at = perf_counter(), utc_now()
        now = session_of(plan.evaluation)
        self._index = Index()
        try:
            self._file = open_alone(self.path)
            self._index.look(self._file, self.path)
            self._settle(now)
            notes = self._notes(now)
            self._index.sessions.append(now)
            append(self._file, session_line(now, started_at=started_at))
        except BaseException as error:
            self._close()
            if isinstance(error, UsageError):
                raise
            if isinstance(error, ProctorError):
                self._refuse(error.message, error, code=error.code)
            if isinstance(error, OSError | ValueError):
                self._refuse(getattr(error, "strerror", None) or safe_message(error), error)
            raise
        index = self._index
        return Known(
            frozenset(index.whole),
            frozenset(index.parts),
            notes,
            started_at=index.started_at or started_at,
            spent_ms=index.spent_ms,
        )

    async def find(self, row: RowId) -> ItemResult | None:
        """A row that ended as it did; of another, or when scorers have changed since, what there is, as `not_run`."""
        places = self._index.places(row)
        if not places:
            return None
        events = [(event, self._stale[session]) for event, session in self._read(places)]
        if len(events) == 1:
            value, stale = events[0][0].value, events[0][1]
            if isinstance(value, ItemResult) and stale.isdisjoint(outcome.column for outcome in value.outcomes):
                return value
        parts = [part for event, stale in events for part in _parts(event, stale)]
        return begun_row(row, parts) if parts else None

    async def put(self, event: Event) -> None:
        """Write an event. What cannot be written ends the run with a `ProctorError`; the file stays whole."""
        line = event_line(event, at=self._elapsed())
        self._index.add(event.row, kind_of(event), offset=self._append(line), length=len(line))

    async def end(self, result: EvalResult) -> None:
        """Write how the run ended, and how long it has taken in all. Raises as `put` does."""
        duration = result.summary.duration_ms
        if duration is None:
            duration = self._index.spent_ms + self._elapsed()
        self._append(end_line(status=result.status, duration_ms=duration))

    async def flush(self) -> None:
        """Bring the file to the disk, and let go of it."""
        try:
            if self._file is not None:
                os.fsync(self._file.fileno())
        except OSError as error:
            message = f"cannot bring {self.path} to the disk: {error.strerror or safe_message(error)}"
            raise ProctorError(message, code=_FAILED) from error
        finally:
            self._close()

    def _elapsed(self) -> float:
        """Milliseconds since the sitting began."""
        return (perf_counter() - self._began) * 1000.0

    def _append(self, line: bytes) -> int:
        if self._file is None:
            raise ProctorError(f"recorder {self.path}: no run has begun: call start() first", code=_FAILED)
        try:
            return append(self._file, line)
        except OSError as error:
            why = error.strerror or safe_message(error)
            message = f"cannot write to {self.path}: {why}. What is done is in it: run again when it can be written"
            raise ProctorError(message, code=_FAILED) from error

    # ── what is in the file ────────────────────────────────────────────────────────────────────────────────────────

    def _read(self, places: list[Place]) -> Iterator[tuple[Event, int]]:
        """The events at these places, each with its run. A damaged one is left out with a warning: it is done again."""
        with reading(self._file, self.path) as file:
            for offset, length, session in places:
                file.seek(offset)
                try:
                    yield read_event(file.read(length)), session
                except ProctorError as error:
                    message = f"{self.path}: the line at byte {offset} is damaged, and is done again: {error}"
                    warnings.warn(message, RuntimeWarning, stacklevel=2)

    # ── whether it is of the same ──────────────────────────────────────────────────────────────────────────────────

    def _settle(self, now: Session) -> None:
        """Refuse replies of another target; find the columns of each earlier run whose scorer was another."""
        sessions = self._index.sessions
        others = differences(sessions, now) if self._index and not self._accepts else []
        if others:
            self._refuse(
                f"its replies are of another run: {', '.join(others)}. Give another path; or, to go on with these "
                "replies, JsonlRecorder(..., other_target='accept')"
            )
        self._stale = [*(then.others(now) for then in sessions), frozenset()]  # the last: of the run that begins

    def _notes(self, now: Session) -> tuple[str, ...]:
        index, notes = self._index, []
        if index.damaged:
            lines = "1 line is" if index.damaged == 1 else f"{index.damaged} lines are"
            notes.append(f"{self.path}: {lines} damaged; what is missing was done again")
        if not index:
            return tuple(notes)
        if self._accepts and differences(index.sessions, now):
            notes.append(f"{self.path}: replies of another target were accepted")
        elif not is_whole(now.target):
            notes.append(f"{self.path}: whether the target is still the same cannot be told; its replies were used")
        in_use = index.in_use() if any(self._stale) else ()
        others = sorted({column.label for session in in_use for column in self._stale[session]})
        if others:
            notes.append(f"{self.path}: changed since, and run anew on the recorded replies: {', '.join(others)}")
        unknown = sorted(column.label for column, one in now.columns.items() if one == UNKNOWN)
        if unknown:
            notes.append(f"{self.path}: whether these are still the same cannot be told: {', '.join(unknown)}")
        return tuple(notes)

    def _close(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            file.close()  # and with it goes the lock

    def _refuse(self, why: str, cause: BaseException | None = None, *, code: str = "RECORDER_UNUSABLE") -> NoReturn:
        raise UsageError(f"recorder {self.path}: {why}", code=code) from cause


def _parts(event: Event, stale: frozenset[Column]) -> Iterator[Event]:
    """An event as replies and outcomes, without those of scorers that were others."""
    value = event.value
    if isinstance(value, ItemResult):
        given: tuple[Any, ...] = (*value.replies, *value.outcomes)
        item: Any = value.item
    else:
        given, item = (value,), event.item
    for part in given:
        if isinstance(part, Reply) or (isinstance(part, Outcome) and part.column not in stale):
            yield Event(event.row, part, event.turn, item)
