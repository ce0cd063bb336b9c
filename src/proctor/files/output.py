"""A file that is written at the end of a long run: known to be writable at the beginning, and never half there.

The text goes to a file beside it that then takes its name. What is no regular file (a pipe, a device) is written into.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from proctor.errors import UsageError

__all__ = ["OutputFile"]

_SQLITE = b"SQLite format 3\0"


class OutputFile:
    """A place for a text. Raises `UsageError` when made, if nothing can be written there.

    *inputs*: files that are read, and must not be written over.
    """

    def __init__(self, path: Path, *, inputs: tuple[Path, ...] = ()) -> None:
        self.shown = str(path)
        try:
            self._into = path.exists() and not path.is_file() and not path.is_dir()
            # The run may change folders; of a link, what it points at is written. A name as /dev/stdout has no other.
            self._path = path.absolute() if self._into else Path(os.path.realpath(path))
            self._beside = self._path.with_name(f".proctor-{os.getpid()}.part")
            self._try(inputs)
        except OSError as problem:
            raise UsageError(f"{self.shown!r} cannot be written: {problem.strerror}") from problem

    def write(self, text: str) -> None:
        """Write the file, whole or not at all."""
        self.write_all([text.encode()])

    def write_all(self, parts: Iterable[bytes]) -> None:
        """The same with a content that comes in parts."""
        if self._into:
            with self._path.open("wb") as file:
                file.writelines(parts)
            return
        try:
            with self._opened() as file:
                file.writelines(parts)
                file.flush()
                os.fsync(file.fileno())
            if self._path.exists():
                self._spare_database()  # it may have become one since
                self._beside.chmod(stat.S_IMODE(self._path.stat().st_mode))
            self._beside.replace(self._path)
        except BaseException:
            with suppress(OSError):
                self._beside.unlink()
            raise

    def _try(self, inputs: tuple[Path, ...]) -> None:
        if self._path.is_dir():
            raise UsageError(f"{self.shown!r} is a folder; give a file")
        if not self._path.parent.is_dir():
            raise UsageError(f"{self.shown!r} cannot be written: there is no folder {str(self._path.parent)!r}")
        if self._path.exists() and not os.access(self._path, os.W_OK):
            raise UsageError(f"{self.shown!r} cannot be written: it is read-only")
        if any(self._path.exists() and given.exists() and self._path.samefile(given) for given in inputs):
            raise UsageError(f"{self.shown!r} is read by this run, and would be written over")
        if not self._into:
            self._spare_database()
            self._opened().close()
            self._beside.unlink()

    def _spare_database(self) -> None:
        """A store of runs is worth more than any report: who writes over one has mistaken the name."""
        if not self._path.is_file():
            return
        with self._path.open("rb") as file:
            if file.read(len(_SQLITE)) == _SQLITE:
                raise UsageError(f"{self.shown!r} is a SQLite database, and would be written over; give another file")

    def _opened(self) -> BinaryIO:
        with suppress(FileNotFoundError):
            self._beside.unlink()  # of a process of this number that was killed
        return self._beside.open("xb")
