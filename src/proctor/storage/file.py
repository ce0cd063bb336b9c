"""A file that one process has for itself, and that grows by whole lines."""

from __future__ import annotations

import os
import stat
from io import FileIO
from pathlib import Path
from typing import IO

__all__ = ["append", "open_alone", "reading"]


def open_alone(path: Path) -> FileIO:
    """The file, made if need be, for this process alone until it is closed. Raises `OSError`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and not stat.S_ISREG(path.stat().st_mode):
        raise OSError(None, "it is not a file")  # to open a pipe would wait for its other end
    file = path.open("a+b", buffering=0)
    try:
        _lock(file)
    except BaseException:
        file.close()
        raise
    return file


def _lock(file: FileIO) -> None:
    """The system gives the lock back when the file is closed or the process ends, however it ends."""
    try:
        import fcntl
    except ImportError:
        return  # a system without these locks
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise OSError(None, "another run is writing to it: wait for its end, or give another path") from None
    except OSError:
        return  # a file system without them


def append(file: FileIO, line: bytes) -> int:
    """Write a line at the end; gives where it begins. Nothing of it stays when it cannot be written whole."""
    offset = file.seek(0, os.SEEK_END)
    left = memoryview(line)
    try:
        while left:
            left = left[file.write(left) :]
    except OSError:
        file.truncate(offset)
        raise
    return offset


def reading(file: FileIO | None, path: Path) -> IO[bytes]:
    """For reading from any place: the file that is open, which stays so; else the one at *path*."""
    return open(file.fileno() if file else path, "rb", closefd=file is None)
