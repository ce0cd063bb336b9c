"""A result on standard output, at the terminal's width; coloured on terminals only, never under NO_COLOR."""

from __future__ import annotations

import os
import shutil
import sys

from proctor.cli.streams import say
from proctor.data.result import EvalResult
from proctor.data.table import result_table

__all__ = ["say_result"]

_COLOURS = {"passed": "32", "scored": "33", "failed": "31"}
_WIDTH = 100  # where neither a terminal nor COLUMNS says


def say_result(result: EvalResult) -> None:
    """Print the table of a result at the terminal's width."""
    table = result_table(result, width=shutil.get_terminal_size((_WIDTH, 24)).columns)
    say(_coloured(table, result.verdict) if _wants_colour() else table)


def _coloured(table: str, verdict: str | None) -> str:
    """The table with the verdict, the last word of its first line, in its colour."""
    head, _, rest = table.partition("\n")
    if verdict is None or not head.endswith(verdict.upper()):
        return table
    start = len(head) - len(verdict)
    return f"{head[:start]}\x1b[1;{_COLOURS[verdict]}m{head[start:]}\x1b[0m\n{rest}"


def _wants_colour() -> bool:
    terminal = sys.stdout is not None and sys.stdout.isatty()  # None: the process was started with it closed
    return terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
