"""`proctor prune`: old runs."""

from __future__ import annotations

from typing import Annotated

import typer

from proctor.cli.ago import read_age
from proctor.cli.delete import Yes, agreed, rows_of
from proctor.cli.keeping import StoreOption, in_store, place_of
from proctor.cli.streams import say

__all__ = ["EPILOG", "HELP", "command"]

HELP = """\
Delete the runs that began longer ago than an age. One that is going on now stays.

\b
  proctor prune --older-than 30d --dry-run    which would go
  proctor prune --older-than 12h --yes        without being asked

An age is a number and min, h, d (days) or w (weeks). On a terminal you are asked first.
"""
EPILOG = ""


def command(
    *,
    older_than: Annotated[str, typer.Option("--older-than", metavar="AGE", help="As in 12h, 30d or 2w.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say which would be deleted.")] = False,
    yes: Yes = False,
    store: StoreOption = None,
) -> int:
    """Delete them; gives the exit code."""
    age = read_age(older_than)
    place = place_of(store)
    old = in_store(place, lambda kept: kept.prune(older_than=age, dry_run=True))
    count = f"{len(old)} run{'' if len(old) == 1 else 's'}, {rows_of(sum(info.rows for info in old))}"
    if not old:
        say(f"No run began longer ago than {older_than}.")
    elif dry_run:
        say("\n".join(["Would be deleted:", *(f"  {info.name}" for info in old), count]))
    elif agreed(f"Delete {count}?", yes=yes):
        gone = in_store(place, lambda kept: kept.prune(older_than=age))
        rows = rows_of(sum(info.rows for info in gone))
        say(f"Deleted {len(gone)} run{'' if len(gone) == 1 else 's'}: {rows}")
    return 0
