"""`proctor rescore`: the replies of a run that is kept, scored again; the target is not asked."""

from __future__ import annotations

from typing import Annotated

import typer

from proctor.bridge import run_sync
from proctor.cli.keeping import Keeper, StoreOption, in_store, place_of
from proctor.cli.options import (
    DEFAULT_WORDS,
    EXIT_CODES,
    BudgetText,
    EnvFile,
    FailOn,
    Json,
    NoProgress,
    fail_on_words,
)
from proctor.cli.results import results_to
from proctor.cli.resume import RunName
from proctor.errors import UsageError
from proctor.files.env import load_env
from proctor.judging.budget_text import budget_from
from proctor.running.eval import Eval
from proctor.running.eval_file import load_evals
from proctor.running.kept import Beginning
from proctor.running.rescore import asked_run, rescore_plan

__all__ = ["EPILOG", "HELP", "command"]

HELP = """\
Score the replies of a run again, with the gates and scorers of an Eval. Its target is not asked, nor is its data read.

\b
  proctor rescore latest --scorers evals.py::strict
  proctor rescore calm-otter-42 --scorers evals.py::strict --repeats 3

The scores are a new run beside the old one, of a name of its own. --repeats scores each reply several times, which
shows how steady a judge is.
"""
EPILOG = EXIT_CODES

_TAKEN = (
    "budget", "cache", "concurrency", "redact", "request_context", "scorer_timeout", "on_error", "stop_after_errors",
    "skip_scorers_after_gate_failure", "allow_unscored_gates", "keep", "on_item_complete",
)  # fmt: skip


def command(
    run: RunName,
    *,
    scorers: Annotated[
        str, typer.Option("--scorers", metavar="FILE.py[::NAME]", help="The Eval whose gates and scorers are used.")
    ],
    repeats: Annotated[int, typer.Option("--repeats", metavar="N", min=1, help="How often each reply is scored.")] = 1,
    concurrency: Annotated[
        int | None, typer.Option("--concurrency", metavar="N", min=1, help="How many replies are scored at once.")
    ] = None,
    env_file: EnvFile = None,
    budget: BudgetText = None,
    store: StoreOption = None,
    json_out: Json = None,
    no_progress: NoProgress = False,
    fail_on: FailOn = DEFAULT_WORDS,
) -> int:
    """Score the run again and show the table; gives the exit code."""
    words = fail_on_words(fail_on)
    allowed = None if budget is None else budget_from(budget)
    place = place_of(store)
    with results_to(json_out, inputs=(scorers.partition("::")[0], env_file)) as results:
        info = in_store(place, lambda kept: asked_run(kept, run))
        if env_file is not None:
            load_env(env_file)
        evaluation = _one(scorers)
        options = {name: getattr(evaluation, name) for name in _TAKEN}
        if concurrency is not None:
            options["concurrency"] = concurrency
        if allowed is not None:
            options["budget"] = allowed
        keeper = Keeper(place, word=f"Scoring the replies of {info.name} again: run", goes_on=False)
        planned = rescore_plan(
            info.eval_id,
            scorers=evaluation.scorers,
            gates=evaluation.gates,
            repeats=repeats,
            store=place.where,
            beginning=Beginning(options={"scorers": scorers}, announce=keeper.announcer()),
            **options,
        )
        return results.carry_out([run_sync(planned)], fail_on=words, progress=not no_progress, keeper=keeper)


def _one(place: str) -> Eval:
    found = load_evals(place)
    if len(found) > 1:
        names = ", ".join(str(evaluation.name) for evaluation in found)
        raise UsageError(f"{place} has {len(found)} Evals: say whose scorers, {place}::NAME. There are: {names}")
    return found[0]
