"""Printing that any terminal and any pipe will do for.

A character that the stream's encoding lacks is replaced; a reader that has gone (`| head`) ends the printing but not
the run; warnings are one line each.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from typing import Any, TextIO

from proctor.errors import visible
from proctor.plugins import import_object

__all__ = ["complain", "friendly_streams", "say", "say_bytes"]


@contextmanager
def friendly_streams() -> Iterator[None]:
    """Within it, printing cannot fail for a character, and warnings are one line each."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        yield


def say(text: str) -> None:
    """Print on standard output."""
    try:
        print(text, flush=True)  # noqa: T201 - printing is what this is for
    except BrokenPipeError:
        _forget_reader(sys.stdout)


def say_bytes(content: bytes, stream: TextIO | None) -> bool:
    """Print as it is, whatever the encoding of the stream; nowhere when it was closed. Whether anybody reads it."""
    if stream is None:
        return False
    try:
        stream.flush()
        stream.buffer.write(content)
        stream.flush()
    except BrokenPipeError:
        _forget_reader(stream)
        return False
    return True


def complain(text: str) -> None:
    """Print on standard error, without secrets, what a terminal could obey escaped; nowhere when it was closed."""
    if sys.stderr is None:
        return
    redact_text = import_object("proctor.data.secrets:redact_text")  # not for a help page
    try:
        print(visible(redact_text(text)), file=sys.stderr, flush=True)  # noqa: T201 - as in `say`
    except BrokenPipeError:
        _forget_reader(sys.stderr)


def _forget_reader(stream: TextIO) -> None:
    """Nobody reads this stream any more: what is still written to it, by Python's own last flush too, goes nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _show_warning(message: Warning | str, *_place: Any, **_more: Any) -> None:
    complain(f"Warning: {message}")
