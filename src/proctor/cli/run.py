"""`proctor run`: the evaluations of a Python file."""

from __future__ import annotations

from typing import Annotated

import typer

from proctor.cli.options import DEFAULT_WORDS, EXIT_CODES, FailOn, fail_on_words
from proctor.cli.show import say_result
from proctor.cli.streams import complain, say
from proctor.data.exit_code import first_of
from proctor.errors import UsageError
from proctor.running.eval import Eval
from proctor.running.eval_file import load_evals
from proctor.running.plan import Plan, make_plan
from proctor.running.run_evals import run_plan_sync

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
    plans = [_planned(evaluation, file) for evaluation in load_evals(file)]  # a mistake in any is told before one runs
    codes = []
    for place, plan in enumerate(plans):
        if place:
            say("")
        _hint(plan)
        result = run_plan_sync(plan)
        say_result(result)
        codes.append(result.exit_code(words))
    return first_of(codes)


def _planned(evaluation: Eval, file: str) -> Plan:
    try:
        return make_plan(evaluation)
    except UsageError as problem:
        raise UsageError(f"{file.partition('::')[0]}::{evaluation.name}: {problem}", code=problem.code) from problem


def _hint(plan: Plan) -> None:
    count = sum(row.reply is None for row in plan.rows)
    if plan.evaluation.concurrency == 1 and count > _MANY:
        name = plan.evaluation.name
        complain(f"Hint: {name}: {count} items, one at a time; Eval(..., concurrency=8) runs 8 at once")
