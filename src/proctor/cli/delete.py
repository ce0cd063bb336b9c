"""`proctor delete`: a run and all that is kept of it."""

from __future__ import annotations

import sys
from typing import Annotated, TypeAlias

import typer

from proctor.cli.ago import ago
from proctor.cli.keeping import StoreOption, in_store, place_of
from proctor.cli.resume import RunName
from proctor.cli.streams import complain, say
from proctor.data.stored import RunInfo
from proctor.data.width import printable

__all__ = ["EPILOG", "HELP", "Yes", "agreed", "command", "rows_of"]

HELP = """\
Delete a run: its items, replies and scores. Nothing brings them back.

\b
  proctor delete calm-otter-42
  proctor delete latest --yes     without being asked

On a terminal you are asked first.
"""
EPILOG = ""

Yes: TypeAlias = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


def command(
    run: RunName,
    *,
    force: Annotated[
        bool, typer.Option("--force", help="Also a run that is going on now; it then breaks off.")
    ] = False,
    yes: Yes = False,
    store: StoreOption = None,
) -> int:
    """Delete the run; gives the exit code."""
    place = place_of(store)
    info = in_store(place, lambda kept: kept.run(run))
    if not agreed(f"Delete {_called(info)}, {rows_of(info.rows)}?", yes=yes):
        return 0
    in_store(place, lambda kept: kept.delete(info.eval_id, force=force))
    say(f"Deleted {_called(info)}: {rows_of(info.rows)}")
    return 0


def agreed(question: str, *, yes: bool) -> bool:
    """Whether to go on: a person at a terminal is asked, unless they said so before."""
    terminal = sys.stdin is not None and sys.stdin.isatty() and sys.stderr is not None and sys.stderr.isatty()
    if yes or not terminal or typer.confirm(printable(question), err=True):
        return True
    complain("Nothing was deleted.")
    return False


def rows_of(count: int) -> str:
    """A number of rows, in words."""
    return f"{count:,} row{'' if count == 1 else 's'}"


def _called(info: RunInfo) -> str:
    of = f" of {printable(info.eval_name)}" if info.eval_name else ""
    return f"{info.name}{of}, begun {ago(info.started_at)}"
