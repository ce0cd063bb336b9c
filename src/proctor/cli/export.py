"""`proctor export`: the rows of a run that is kept, for other programs."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from proctor.cli.keeping import StoreOption, in_store, place_of
from proctor.cli.resume import RunName
from proctor.cli.streams import complain, say_bytes
from proctor.data.codec import dumps
from proctor.data.records import RECORD_KEYS, each_record
from proctor.data.result import EvalResult
from proctor.errors import ProctorError, UnknownName
from proctor.files.output import OutputFile

__all__ = ["EPILOG", "HELP", "command", "csv_lines", "json_lines"]

HELP = """\
Write the rows of a run as JSON lines, or its scores as CSV; to standard output, or a file.

\b
  proctor export latest --format csv -o scores.csv
  proctor export calm-otter-42 | jq .value.item_id

jsonl: a line for each row, whole. csv: a line for each score, with the columns of EvalResult.to_records(). Texts that
a spreadsheet would take for a formula stand behind a single quote.
"""
EPILOG = ""

_RISKY = ("=", "+", "-", "@", "\t", "\r")


def command(
    run: RunName,
    *,
    form: Annotated[str, typer.Option("--format", metavar="jsonl|csv", help="Which of them.")] = "jsonl",
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where to; - is standard output.")
    ] = "-",
    store: StoreOption = None,
) -> int:
    """Write them; gives the exit code."""
    if form not in _FORMS:
        raise UnknownName("--format", form, list(_FORMS))
    place = None if output == "-" else OutputFile(Path(output))
    result = in_store(place_of(store), lambda kept: kept.result(run))
    lines = _FORMS[form](result)
    if place is None:
        for line in lines:
            if not say_bytes(line, sys.stdout):
                break
        return 0
    try:
        place.write_all(lines)
    except OSError as problem:
        raise ProctorError(f"{place.shown!r} could not be written: {problem.strerror}") from problem
    complain(f"{result.run}: written to {place.shown}")
    return 0


def json_lines(result: EvalResult) -> Iterator[bytes]:
    """A line of JSON for each row, with the version of its form."""
    for row in result.items:
        yield f"{dumps(row)}\n".encode()


def csv_lines(result: EvalResult) -> Iterator[bytes]:
    """The heads, and a line for each outcome."""
    yield _line(RECORD_KEYS)
    for record in each_record(result):
        yield _line(map(_cell, record.values()))


def _cell(value: Any) -> Any:
    """A value that no spreadsheet takes for a formula; numbers stay numbers."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_RISKY) else value


def _line(cells: Iterable[Any]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerow(cells)
    return text.getvalue().encode(errors="backslashreplace")


_FORMS: dict[str, Callable[[EvalResult], Iterator[bytes]]] = {"jsonl": json_lines, "csv": csv_lines}
