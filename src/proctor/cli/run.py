"""`proctor run`: the evaluations of a Python file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from proctor.cli.options import DEFAULT_WORDS, EXIT_CODES, FailOn, Filters, Json, Limit, NoProgress, fail_on_words
from proctor.cli.results import results_to
from proctor.cli.streams import complain
from proctor.errors import UsageError
from proctor.files.env import load_env
from proctor.running.choice import NOTHING_LEFT, choose, read_filters
from proctor.running.eval import Eval
from proctor.running.eval_file import load_evals
from proctor.running.plan import Plan, make_plan

__all__ = ["EPILOG", "HELP", "command"]

HELP = """\
Run the evaluations of a Python file: every Eval(...) that stands at its module level, in order.

\b
  proctor run examples/refunds.py                 all of them
  proctor run examples/refunds.py::refund_desk    one, by variable or by name
  proctor run examples/refunds.py --filter 'id=lamp-*'   some items

\b
An Eval says what is tried, on what, and what is asked of it:
  from proctor import Eval, checks
  greeting = Eval(
      data=[{"input": "Hello"}, {"input": "Good evening"}],  # or "cases.jsonl"
      target=my_agent,                       # def or async def of one argument
      gates=[checks.excludes("error")],      # every item must pass
      scorers=[
          (checks.similarity("Hello!"), 0.5),  # the mean must reach 0.5
          checks.includes("hello"),            # measured, decides nothing
      ],
  )

A file path in data= is relative to the folder you stand in; Path(__file__).with_name("cases.jsonl") is beside the file.
"""
EPILOG = EXIT_CODES

_MANY = 20


def command(
    file: Annotated[str, typer.Argument(metavar="FILE.py[::NAME]", help="The file, and which Eval of it.")],
    *,
    limit: Limit = None,
    filters: Filters = None,
    concurrency: Annotated[
        int | None, typer.Option("--concurrency", metavar="N", min=1, help="How many items are run at once.")
    ] = None,
    repeats: Annotated[
        int | None, typer.Option("--repeats", metavar="N", min=1, help="How often each item is run.")
    ] = None,
    env_file: Annotated[
        Path | None,
        typer.Option(
            "--env-file", metavar="F", help="KEY=value lines for the environment; what is set there already stays."
        ),
    ] = None,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Ask judges anew, also where an answer to the same question is kept.")
    ] = False,
    json_out: Json = None,
    no_progress: NoProgress = False,
    fail_on: FailOn = DEFAULT_WORDS,
) -> int:
    """Run each Eval and show its table; gives the exit code."""
    words = fail_on_words(fail_on)
    choice = read_filters(filters or (), limit=limit)
    given = {"concurrency": concurrency, "repeats": repeats, "cache": False if no_cache else None}
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    with results_to(json_out, inputs=(file.partition("::")[0], env_file)) as results:
        if env_file is not None:
            load_env(env_file)
        evals = [choose(replace(evaluation, **options), choice) for evaluation in load_evals(file)]
        results.several = len(evals) > 1
        plans = _plans(evals, file)  # a mistake in any is told before one runs
        for plan in plans:
            _hint(plan)
        return results.carry_out(plans, fail_on=words, progress=not no_progress)


def _plans(evals: Sequence[Eval], file: str) -> list[Plan]:
    """Of the evals that --filter leaves items of; those it empties are told."""
    plans, emptied = [], []
    for evaluation in evals:
        try:
            plans.append(_planned(evaluation, file))
        except UsageError as problem:
            if problem.code != NOTHING_LEFT:
                raise
            emptied.append(problem.message)
    if not plans:
        raise UsageError("\n".join(emptied), code=NOTHING_LEFT)
    for message in emptied:
        complain(f"Left out: {message}")
    return plans


def _planned(evaluation: Eval, file: str) -> Plan:
    try:
        return make_plan(evaluation)
    except UsageError as problem:
        raise UsageError(f"{file.partition('::')[0]}::{evaluation.name}: {problem}", code=problem.code) from problem


def _hint(plan: Plan) -> None:
    count = sum(row.reply is None for row in plan.rows)
    if plan.evaluation.concurrency == 1 and count > _MANY:
        name = plan.evaluation.name
        complain(
            f"Hint: {name}: {count} items, one at a time; --concurrency 8, or Eval(..., concurrency=8), runs 8 at once"
        )
