"""`proctor runs`: the runs that are kept."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Annotated, Any

import typer

from proctor.cli.ago import ago
from proctor.cli.grid import grid
from proctor.cli.keeping import StoreOption, in_store, place_of
from proctor.cli.streams import complain, say
from proctor.data.stored import RunInfo

__all__ = ["EPILOG", "HELP", "command", "info_json"]

HELP = """\
List the runs that are kept, newest first: what they are called, how they ended, and what failed in them.

\b
  proctor runs                        the last 20
  proctor runs --eval refund_desk     those of one Eval
  proctor runs --json | jq '.[0].verdict'

Status is complete, running, cancelled (Ctrl-C), stopped (by an error) or interrupted (its process is gone: killed).
"""
EPILOG = ""

_HEADS = ("name", "eval", "began", "status", "verdict", "rows", "failures", "errors")
_NUMBERS = (5, 6, 7)


def command(
    *,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="How many.")] = 20,
    name: Annotated[
        str | None, typer.Option("--eval", metavar="NAME", help="Only runs of the Eval of this name.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list of all that is known of each.")] = False,
    store: StoreOption = None,
) -> int:
    """Print the list; gives the exit code."""
    found = in_store(place_of(store), lambda kept: kept.runs(limit=limit + 1, eval_name=name))
    shown = found[:limit]
    if as_json:
        say(json.dumps([info_json(info) for info in shown], indent=1))
    elif shown:
        say(grid(_HEADS, [_cells(info) for info in shown], elastic=1, numbers=_NUMBERS))
    else:
        say("no runs" if name is None else f"no runs of {name}")
    if len(found) > limit and not as_json:
        complain(f"There are more: --limit {4 * limit}")
    return 0


def info_json(info: RunInfo) -> dict[str, Any]:
    """What is known of a run, as plain JSON."""
    return {field.name: getattr(info, field.name) for field in fields(info)}


def _cells(info: RunInfo) -> list[str]:
    what = info.eval_name or ""
    return [
        info.name,
        f"{info.parent or 'a deleted run'} again: {what}" if info.kind == "rescore" else what,
        ago(info.started_at),
        info.status,
        info.verdict or "",
        f"{info.finished}" if info.finished == info.rows else f"{info.finished} of {info.rows}",
        "" if info.failures is None else str(info.failures),
        "" if info.errors is None else str(info.errors),
    ]
