"""`proctor show`: a run that is kept, what failed in it, or one item of it."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from proctor.cli.ago import ago
from proctor.cli.grid import grid, terminal_width
from proctor.cli.keeping import Place, StoreOption, in_store, place_of
from proctor.cli.resume import RunName
from proctor.cli.row import row_text
from proctor.cli.runs import info_json
from proctor.cli.show import say_result
from proctor.cli.streams import say
from proctor.data.codec import dumps
from proctor.data.failures import each_failure
from proctor.data.reply import ItemResult
from proctor.data.result import EvalResult
from proctor.data.stored import Page, RunInfo
from proctor.data.width import printable, wrapped
from proctor.errors import UsageError

if TYPE_CHECKING:
    from proctor.storage.store import Store

__all__ = ["EPILOG", "HELP", "command"]

HELP = """\
Show a run again: its table; or each row that failed; or all of one item: scores, evidence, input, replies, tool calls.

\b
  proctor show                                  the latest run
  proctor show calm-otter-42 --failed
  proctor show latest --item lamp-opened
  proctor show latest~1 --item '#3' --repeat 2  by its place in the data

A run that goes on, or that was killed, is shown as far as it is.
"""
EPILOG = ""

_ROWS = 20
_PLACE = re.compile(r"#(\d+)")


def command(
    run: RunName = "latest",
    *,
    item: Annotated[
        str | None, typer.Option("--item", metavar="ID", help="All of this item; #N: the Nth, from 0.")
    ] = None,
    repeat: Annotated[int, typer.Option("--repeat", metavar="N", min=0, help="Which repeat of it, from 0.")] = 0,
    prompts: Annotated[
        bool, typer.Option("--prompts", help="With --item: what judges were asked, also when it is long.")
    ] = False,
    failed: Annotated[bool, typer.Option("--failed", help="Each row that fell short or broke, and why.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as one JSON document.")] = False,
    store: StoreOption = None,
) -> int:
    """Print it; gives the exit code."""
    place = place_of(store)
    if item is not None:
        row = in_store(place, lambda kept: _row(kept, run, item, repeat))
        say(dumps(row) if as_json else row_text(row, width=terminal_width(), prompts=prompts))
        return 0
    found = in_store(place, lambda kept: _look(kept, run, failed=failed))
    if found.result is None or found.info.status in {"running", "interrupted"}:
        _show_so_far(found, place, as_json=as_json)
    elif as_json:
        say(dumps(found.result.failures() if failed else found.result))
    elif failed:
        _show_failures(found.result)
    else:
        say_result(found.result)
        _say_lines(_about(found.info))
        if found.info.status in {"cancelled", "stopped"}:
            _say_how_to_go_on(found.info, place)
    return 0


@dataclass(frozen=True, slots=True)
class _Found:
    info: RunInfo
    result: EvalResult | None
    page: Page


async def _look(kept: Store, run: str, *, failed: bool) -> _Found:
    info = await kept.run(run)
    try:
        result = await kept.result(info.eval_id)
    except UsageError as problem:
        if problem.code != "NO_RESULT_YET":
            raise
        result = None
    return _Found(info, result, await kept.rows(info.eval_id, failed=failed, order="failures", limit=_ROWS))


async def _row(kept: Store, run: str, item: str, repeat: int) -> ItemResult:
    info = await kept.run(run)
    place = _PLACE.fullmatch(item)
    if place is not None:
        page = await kept.rows(info.eval_id, after=(int(place[1]), -1), limit=1)
        if page.rows and page.rows[0].index == int(place[1]):
            item = page.rows[0].item_id
    return await kept.row(info.name, item, repeat=repeat)


def _show_failures(result: EvalResult) -> None:
    shown = 0
    for row in each_failure(result):
        say(str(row))
        shown += 1
    if not shown:
        say("nothing failed")


def _show_so_far(found: _Found, place: Place, *, as_json: bool) -> None:
    """A run that has not ended: how far it is, and rows of it, those that failed first."""
    info = found.info
    if as_json:
        rows = [{"item_id": r.item_id, "repeat": r.repeat, "status": r.status, "failed": r.failed, "errors": r.errors,
                 "worst": r.worst} for r in found.page.rows]  # fmt: skip
        say(json.dumps({**info_json(info), "first_rows": rows}, indent=1))
        return
    name = f"{printable(info.eval_name)}: " if info.eval_name else ""
    _say_lines(f"{name}{info.status.upper()}")
    _say_lines(f"{info.finished} of {info.rows} rows that were begun have ended")
    if found.page.rows:
        heads = ("item", "status", "fell short", "errors", "worst")
        cells = [
            [
                row.item_id + (f" (repeat {row.repeat})" if row.repeat else ""),
                row.status,
                str(row.failed or ""),
                str(row.errors or ""),
                "" if row.worst is None else f"{row.worst:.2f}",
            ]
            for row in found.page.rows
        ]
        more = "\nand more: `proctor export`, when it has ended" if found.page.after else ""
        say(f"\n{grid(heads, cells, elastic=0, numbers=(2, 3, 4))}{more}\n")
    _say_lines(_about(info))
    if info.status == "interrupted":
        _say_how_to_go_on(info, place)


def _say_how_to_go_on(info: RunInfo, place: Place) -> None:
    if info.source is not None and "::" in info.source:
        _say_lines(f"To go on with it: proctor resume {info.name}{place.option}")
    elif info.source is None and info.kind == "run":
        _say_lines(f"To go on with it, in Python: resume({info.name!r}, evaluation)")


def _about(info: RunInfo) -> str:
    what = f"the replies of {info.parent or 'a run that was deleted'}, scored again" if info.kind == "rescore" else ""
    source = "" if info.source is None else f"of {_near(info.source)}"
    sittings = f"{info.sittings} sittings" if info.sittings > 1 else ""
    parts = [f"{info.name}: begun {ago(info.started_at)}", what, source, sittings]
    return printable(", ".join(part for part in parts if part))


def _near(source: str) -> str:
    """A place as one reaches it from here, when that is no longer."""
    file, colons, name = source.partition("::")
    try:
        relative = os.path.relpath(file)
    except ValueError:  # another drive
        return source
    return f"{relative if not relative.startswith('..') else file}{colons}{name}"


def _say_lines(text: str) -> None:
    say("\n".join(wrapped(text, terminal_width())))
