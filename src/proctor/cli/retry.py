"""`proctor retry`: what broke in a run that is kept, once more."""

from __future__ import annotations

from proctor.cli.keeping import StoreOption
from proctor.cli.options import DEFAULT_WORDS, EXIT_CODES, BudgetText, EnvFile, FailOn, Json, NoProgress
from proctor.cli.resume import AllowChanges, RunName, go_on

__all__ = ["EPILOG", "HELP", "command"]

HELP = """\
Do again what broke in a run: replies and scores that are errors. What else is missing is done as by `proctor resume`.

\b
  proctor retry                  the latest run
  proctor retry calm-otter-42    by its name

What went well is neither asked nor paid for again. To run what failed as a new run: `proctor run FILE --last-failed`.
"""
EPILOG = EXIT_CODES


def command(
    run: RunName = "latest",
    *,
    allow_changes: AllowChanges = False,
    env_file: EnvFile = None,
    budget: BudgetText = None,
    store: StoreOption = None,
    json_out: Json = None,
    no_progress: NoProgress = False,
    fail_on: FailOn = DEFAULT_WORDS,
) -> int:
    """Retry the run and show its table; gives the exit code."""
    return go_on(
        run,
        anew="errors",
        word="Retrying what broke in", allow_changes=allow_changes, env_file=env_file, budget=budget,
        store=store, json_out=json_out, no_progress=no_progress, fail_on=fail_on,
    )  # fmt: skip
