"""What several commands have in common: options, and the parts of their help pages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from proctor.data.exit_code import DEFAULT_FAIL_ON, FAIL_ON
from proctor.errors import UnknownName

__all__ = [
    "DEFAULT_WORDS",
    "EXIT_CODES",
    "BudgetText",
    "EnvFile",
    "FailOn",
    "Filters",
    "Json",
    "Limit",
    "NoProgress",
    "fail_on_words",
]

DEFAULT_WORDS = ",".join(DEFAULT_FAIL_ON)

EXIT_CODES = """\
\b
Exit codes; when several apply, the first in this list:
  130  stopped by Ctrl-C
    2  usage: an option, the file or its data cannot be used; nothing was run
    1  a gate missed on a measured score
    4  something could not be measured: errors, no replies, declined items
       where a gate or threshold needed them, nothing ran, or the store failed
    5  not enough evidence (given by later commands)
    6  a judge that may not be believed (given by later commands)
    3  a threshold missed on its measured mean
    0  else: all that was asked is met
   70  a defect: a traceback is printed
"""

FailOn: TypeAlias = Annotated[
    str,
    typer.Option(
        "--fail-on",
        metavar="WORDS",
        help="What gives an exit code other than 0, joined by commas: failed (gates), scored (thresholds), "
        "error (anything that could not be measured), not-scorable (any declined item), or none.",
    ),
]

EnvFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--env-file", metavar="F", help="KEY=value lines for the environment; what is set there already stays."
    ),
]
Limit: TypeAlias = Annotated[
    int | None,
    typer.Option("--limit", metavar="N", min=1, help="Only the first N items (of those that --filter leaves)."),
]
Filters: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--filter",
        metavar="KEY=VALUE",
        help="Only items with this: id=GLOB (as in 'id=refund-*') or tag=NAME. May be repeated: of one key any may "
        "match, of two keys both must.",
    ),
]
Json: TypeAlias = Annotated[
    str | None,
    typer.Option("--json", metavar="OUT", help="Write the results there; - is standard output, without the table."),
]
BudgetText: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--budget",
        metavar="AMOUNT",
        help="End the run when its models took so much: 5 or 0.50usd is US dollars, 200000tokens is tokens.",
    ),
]
NoProgress: TypeAlias = Annotated[
    bool, typer.Option("--no-progress", help="Do not show on a terminal how far the run is.")
]


def fail_on_words(text: str) -> tuple[str, ...]:
    """The words of --fail-on. Raises `UnknownName` before anything is run.

    >>> fail_on_words("failed, error")
    ('failed', 'error')
    """
    words = tuple(word.strip() for word in text.split(","))
    for word in words:
        if word not in FAIL_ON:
            raise UnknownName("--fail-on word", word, FAIL_ON)
    return words
