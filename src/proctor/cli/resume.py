"""`proctor resume` and what it shares with `proctor retry`: going on with a run that is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

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
from proctor.data.stored import RunInfo
from proctor.errors import UsageError
from proctor.files.env import load_env
from proctor.judging.budget_text import budget_from
from proctor.running.kept import Beginning
from proctor.running.resume import resume_plan

__all__ = ["EPILOG", "HELP", "AllowChanges", "RunName", "command", "go_on"]

HELP = """\
Go on with a run that was killed, stopped by Ctrl-C, or broke off: only what is missing is done and paid for.

\b
  proctor resume                  the latest run
  proctor resume calm-otter-42    by its name

The file of the run is loaded again; --limit, --filter, --repeats, --concurrency and --env-file are those it began with.
So is --budget, for what is done now; a new one may be given.
When the target, the scorers or the options are others now, that is named and nothing runs, unless --allow-changes:
then what still holds is kept, and the rest done anew.
"""
EPILOG = EXIT_CODES

RunName: TypeAlias = Annotated[
    str, typer.Argument(metavar="RUN", help="Its name, its id or how that begins, latest, latest~1 for the one before.")
]
AllowChanges: TypeAlias = Annotated[
    bool, typer.Option("--allow-changes", help="Also when the target, a scorer or an option is another now.")
]


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
    """Go on with the run and show its table; gives the exit code."""
    return go_on(
        run,
        word="Going on with", allow_changes=allow_changes, env_file=env_file, budget=budget, store=store,
        json_out=json_out, no_progress=no_progress, fail_on=fail_on,
    )  # fmt: skip


def go_on(
    run: str,
    *,
    anew: Literal["errors"] | None = None,
    word: str,
    allow_changes: bool,
    env_file: Path | None,
    budget: str | None,
    store: str | None,
    json_out: str | None,
    no_progress: bool,
    fail_on: str,
) -> int:
    """Go on with a run, also with what broke in it when *anew* says so. *word*: before its name when it begins."""
    words = fail_on_words(fail_on)
    allowed = None if budget is None else budget_from(budget)
    place = place_of(store)
    with results_to(json_out, inputs=(env_file,)) as results:
        info = in_store(place, lambda kept: kept.run(run))
        _refuse_saved(info)
        _load_env(info, env_file)
        keeper = Keeper(place, word=word)
        planned = resume_plan(
            info.eval_id,
            store=place.where,
            allow_changes=allow_changes,
            anew=anew,
            beginning=Beginning(announce=keeper.announcer()),
            budget=allowed,
        )
        return results.carry_out([run_sync(planned)], fail_on=words, progress=not no_progress, keeper=keeper)


def _refuse_saved(info: RunInfo) -> None:
    """What `proctor score` scored has no file of Python, and nothing in it was paid for."""
    source = info.source
    if source is not None and "::" not in source:
        message = f"{info.name} scored saved replies of {source}, which costs nothing: run `proctor score` again"
        raise UsageError(message, code="NO_EVAL")


def _load_env(info: RunInfo, given: Path | None) -> None:
    """The settings of the file that is given, else of the one that the run began with, if it is still there."""
    began_with = (info.options or {}).get("env_file")
    if given is not None:
        load_env(given)
    elif began_with is not None and Path(began_with).exists():
        load_env(Path(began_with))
