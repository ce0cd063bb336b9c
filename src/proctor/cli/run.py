"""`proctor run`: the evaluations of a Python file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from proctor.cli.dry_run import say_estimates
from proctor.cli.keeping import Keeper, NoStore, Place, StoreOption, address_of, in_store, make_folder, place_of
from proctor.cli.options import (
    DEFAULT_WORDS,
    EXIT_CODES,
    BudgetText,
    EnvFile,
    FailOn,
    Filters,
    Json,
    Limit,
    NoProgress,
    fail_on_words,
)
from proctor.cli.reading import all_rows
from proctor.cli.results import results_to
from proctor.cli.streams import complain
from proctor.errors import UsageError
from proctor.files.env import load_env
from proctor.judging.budget_text import budget_from
from proctor.running.changes import Changes
from proctor.running.choice import NOTHING_LEFT, read_filters
from proctor.running.eval import Eval
from proctor.running.eval_file import load_sources
from proctor.running.plan import Plan, make_plan

if TYPE_CHECKING:
    from proctor.storage.store import Store

__all__ = ["EPILOG", "HELP", "command"]

HELP = """\
Run the evaluations of a Python file: every Eval(...) that stands at its module level, in order.

\b
  proctor run examples/refunds.py                 all of them
  proctor run examples/refunds.py::refund_desk    one, by variable or by name
  proctor run examples/refunds.py --filter 'id=lamp-*'   some items
  proctor run examples/refunds.py --last-failed   those that failed last time
  proctor run examples/refunds.py --dry-run       what it would ask and cost

The run is kept in .proctor/proctor.db of the folder you stand in, under a name that is printed when it begins:
`proctor resume NAME` goes on with it when it broke off, `proctor show NAME` shows it again.

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
    last_failed: Annotated[
        bool,
        typer.Option("--last-failed", help="Only items that failed or broke in the last run of the same Eval."),
    ] = False,
    concurrency: Annotated[
        int | None, typer.Option("--concurrency", metavar="N", min=1, help="How many items are run at once.")
    ] = None,
    repeats: Annotated[
        int | None, typer.Option("--repeats", metavar="N", min=1, help="How often each item is run.")
    ] = None,
    env_file: EnvFile = None,
    budget: BudgetText = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be asked, and what judges would cost; run nothing.")
    ] = False,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Ask judges anew, also where an answer to the same question is kept.")
    ] = False,
    record_tools: Annotated[
        str | None, typer.Option("--record-tools", metavar="F", help="Add to this file what the agent's tools give.")
    ] = None,
    replay_tools: Annotated[
        str | None,
        typer.Option("--replay-tools", metavar="F", help="Let this file answer for the tools: none is called."),
    ] = None,
    store: StoreOption = None,
    no_store: NoStore = False,
    json_out: Json = None,
    no_progress: NoProgress = False,
    fail_on: FailOn = DEFAULT_WORDS,
) -> int:
    """Run each Eval and show its table, or say what it would ask; gives the exit code."""
    words = fail_on_words(fail_on)
    changes = Changes(
        limit=limit,
        filters=tuple(filters or ()),
        concurrency=concurrency,
        repeats=repeats,
        cache=False if no_cache else None,
        budget=None if budget is None else budget_from(budget),
        record_tools=record_tools,
        replay_tools=replay_tools,
    )
    read_filters(changes.filters)  # a mistake is told before the file is loaded
    place = place_of(store, none=no_store)
    if last_failed and place.where is None:
        raise UsageError("--last-failed looks into the store: it cannot be had without one")
    keeper = Keeper(place)
    with results_to(json_out, inputs=(file.partition("::")[0], env_file)) as results:
        if env_file is not None:
            load_env(env_file)
        evals = load_sources(file)
        asked = _last_failed(evals, changes, keeper) if last_failed else dict.fromkeys(evals, changes)
        if not asked:
            return 0
        results.several = len(evals) > 1
        more = {} if env_file is None else {"env_file": str(env_file.absolute())}
        plans = _plans(evals, asked, file, keeper, more)  # a mistake in any is told before one runs
        if dry_run:
            say_estimates(plans, results)
            return 0
        for plan in plans:
            _hint(plan)
        make_folder(place)
        return results.carry_out(plans, fail_on=words, progress=not no_progress, keeper=keeper)


def _plans(
    evals: Mapping[str, Eval], asked: Mapping[str, Changes], file: str, keeper: Keeper, more: Mapping[str, str]
) -> list[Plan]:
    """Of the evals that the options leave items of; those they empty are told."""
    plans, emptied = [], []
    for source, changes in asked.items():
        evaluation = evals[source]
        try:
            kept = keeper.keep(changes.made(evaluation), source=source, options={**changes.to_json(), **more})
            plans.append(make_plan(kept))
        except UsageError as problem:
            if problem.code == NOTHING_LEFT:
                emptied.append(f"{_called(file, evaluation)}: {problem}")
                continue
            raise UsageError(f"{_called(file, evaluation)}: {problem}", code=problem.code) from problem
    if not plans:
        raise UsageError("\n".join(emptied), code=NOTHING_LEFT)
    for message in emptied:
        complain(f"Left out: {message}")
    return plans


def _called(file: str, evaluation: Eval) -> str:
    return f"{file.partition('::')[0]}::{evaluation.name}"


def _last_failed(evals: Mapping[str, Eval], changes: Changes, keeper: Keeper) -> dict[str, Changes]:
    """The Evals with something that failed in their last run, and that alone; those without an earlier run, whole."""
    asked: dict[str, Changes] = {}
    for source, evaluation in evals.items():
        found = _failed_in(keeper.place_for(evaluation), source)
        if found is None:
            complain(f"{evaluation.name}: no earlier run is kept, so all of it is run")
            asked[source] = changes
            continue
        name, ids = found
        if ids:
            asked[source] = replace(changes, only=ids)
        else:
            complain(f"{evaluation.name}: nothing failed in its last run, {name}: not run")
    return asked


def _failed_in(place: Place, source: str) -> tuple[str, frozenset[str]] | None:
    """The last run of a source, and the ids of what failed or broke in it; None when no run of it is kept."""
    path = None if place.where is None else address_of(place.where).path
    if place.where is None or (path is not None and not path.exists()):
        return None

    async def look(store: Store) -> tuple[str, frozenset[str]] | None:
        runs = await store.runs(limit=1, source=source)
        if not runs:
            return None
        ids = {row.item_id async for row in all_rows(store, runs[0].eval_id, failed=True)}
        return runs[0].name, frozenset(ids)

    return in_store(place, look)


def _hint(plan: Plan) -> None:
    """What waits for a target or for judges goes faster together; checks alone do not."""
    count = sum(row.reply is None or any(cell.scorer.questions for cell in row.cells) for row in plan.rows)
    if plan.evaluation.concurrency == 1 and count > _MANY:
        name = plan.evaluation.name
        complain(
            f"Hint: {name}: {count} items, one at a time; --concurrency 8, or Eval(..., concurrency=8), runs 8 at once"
        )
