"""`proctor run`: the evaluations of a Python file."""

from __future__ import annotations

from collections.abc import Iterator, Sized
from os import PathLike
from typing import Annotated

import typer

from proctor.bridge import run_sync
from proctor.cli.options import DEFAULT_WORDS, EXIT_CODES, FailOn, fail_on_words
from proctor.cli.show import say_result
from proctor.cli.streams import complain, say
from proctor.data.exit_code import first_of
from proctor.running.eval import Eval
from proctor.running.eval_file import load_evals
from proctor.running.plan import make_plan
from proctor.running.run_evals import execute
from proctor.running.source import read_items

__all__ = ["EPILOG", "HELP", "command"]

HELP = """\
Run the evaluations of a Python file: every Eval(...) that stands at its module level, in order.

\b
  proctor run examples/refunds.py                 all of them
  proctor run examples/refunds.py::refund_desk    one, by variable or by name

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
    fail_on: FailOn = DEFAULT_WORDS,
) -> int:
    """Run each Eval and show its table; gives the exit code."""
    words = fail_on_words(fail_on)
    codes = []
    evaluations = load_evals(file)
    for evaluation in evaluations[1:]:
        if not isinstance(evaluation.data, Iterator):
            make_plan(evaluation)  # a mistake in a later one is told before the first is paid for
    for place, evaluation in enumerate(evaluations):
        if place:
            say("")
        _hint(evaluation)
        result = run_sync(execute(evaluation))
        say_result(result)
        codes.append(result.exit_code(words))
    return first_of(codes)


def _hint(evaluation: Eval) -> None:
    if evaluation.target is None or evaluation.concurrency != 1:
        return
    data = evaluation.data
    count = (
        len(read_items(data).items) if isinstance(data, str | PathLike) else len(data) if isinstance(data, Sized) else 0
    )
    if count > _MANY:
        complain(f"Hint: {evaluation.name}: {count} items, one at a time; Eval(..., concurrency=8) runs 8 at once")
