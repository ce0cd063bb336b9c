"""Where each row's lines are in a recorder's file: learnt in one pass, which parses only how each line begins."""

from __future__ import annotations

from io import FileIO
from pathlib import Path
from typing import TypeAlias

from proctor.errors import ProctorError, UsageError, cut
from proctor.running.record import RowId
from proctor.storage.file import append, reading
from proctor.storage.lines import HEAD, begins_like_head, is_end, read_end, read_event, read_head, read_label
from proctor.storage.session import Session

__all__ = ["Index", "Place"]


Place: TypeAlias = tuple[int, int, int]
"""Where a line begins, how long it is, and in which run it was written. Bare tuples: there may be a million."""


class Index:
    """What is in a file, without what it says.

    *whole*: the rows that ended. *parts*: what came after that, or of rows that did not end. *sessions*: the runs,
    one for each sitting. *started_at*: the first start. *spent_ms*: wall time of the sittings that ended or were
    killed. *damaged*: how many lines are not ours.
    """

    def __init__(self) -> None:
        self.whole: dict[RowId, Place] = {}
        self.parts: dict[RowId, list[Place]] = {}
        self.sessions: list[Session] = []
        self.started_at: str | None = None
        self.spent_ms = 0.0
        self.damaged = 0
        self._at: bytes | None = None  # of the last line of a sitting that has not ended

    def __bool__(self) -> bool:
        return bool(self.whole or self.parts)

    def places(self, row: RowId) -> list[Place]:
        """All that there is of a row, in order."""
        whole, parts = self.whole.get(row), self.parts.get(row, [])
        return parts if whole is None else [whole, *parts]

    def in_use(self) -> set[int]:
        """The runs of which something still counts."""
        return {place[2] for row in {*self.whole, *self.parts} for place in self.places(row)}

    def add(self, row: RowId, kind: str, *, offset: int, length: int) -> None:
        """Take in an event's line. The end of a row stands for all of it; a first reply begins it anew."""
        place = (offset, length, len(self.sessions) - 1)
        if kind == "row":
            self.whole[row] = place
            self.parts.pop(row, None)
        elif kind == "begin":
            self.whole.pop(row, None)
            self.parts[row] = [place]
        else:
            self.parts.setdefault(row, []).append(place)

    def look(self, file: FileIO, path: Path) -> None:
        """Learn where everything is, and mend the end, where a process was killed as it wrote.

        Raises `UsageError` for a file that no recorder wrote.
        """
        offset = 0
        with reading(file, path) as lines:
            lines.seek(0)
            for line in lines:
                is_whole = line.endswith(b"\n")
                if offset == 0 and not (line.startswith(HEAD) or (begins_like_head(line) and not is_whole)):
                    begins = cut(ascii(line[:80].decode(errors="replace").strip()), 60)
                    message = f"recorder {path}: it is not a recorder's file: it begins with {begins}"
                    raise UsageError(message, code="RECORDER_UNUSABLE")
                if is_whole:
                    self._take(line, offset)
                elif _lacks_only_its_end(line):
                    append(file, b"\n")
                    self._take(line + b"\n", offset)
                else:
                    file.truncate(offset)
                offset += len(line)
        self._killed()

    def _take(self, line: bytes, offset: int) -> None:
        label = read_label(line) if line.endswith(b"}\n") else None
        if label is not None and self.sessions:
            row, kind, at = label
            self._at = at or self._at
            self.add(row, kind, offset=offset, length=len(line))
        elif line.startswith(HEAD):
            self._killed()
            try:
                session, started_at = read_head(line)
            except ProctorError as error:
                if offset == 0 or error.code == "SCHEMA_TOO_NEW":
                    raise
                self.damaged += 1
            else:
                self.sessions.append(session)
                self.started_at = self.started_at or started_at
        elif is_end(line):
            try:
                self.spent_ms, self._at = read_end(line), None
            except ProctorError:
                self.damaged += 1
        elif line.strip():
            self.damaged += 1

    def _killed(self) -> None:
        """A sitting whose end is not in the file took as long as its last line says."""
        self.spent_ms += float(self._at or 0)
        self._at = None


def _lacks_only_its_end(line: bytes) -> bool:
    try:
        if line.startswith(HEAD):
            read_head(line)
        elif is_end(line):
            read_end(line)
        else:
            read_event(line)
    except ProctorError as error:
        if error.code == "SCHEMA_TOO_NEW":
            raise
        return False
    return True
