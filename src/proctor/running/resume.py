"""Going on with a run that is kept: only what is missing is done, or also what broke."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from proctor.bridge import run_sync
from proctor.data.result import EvalResult
from proctor.data.stored import RunInfo
from proctor.data.value import shown
from proctor.errors import UnknownName, UsageError
from proctor.judging.budget import Budget
from proctor.running.changes import changes_from
from proctor.running.eval import Eval
from proctor.running.eval_file import load_evals
from proctor.running.kept import Beginning, open_store, stored
from proctor.running.plan import Plan, make_plan
from proctor.running.run_evals import run_plan, run_plan_sync

__all__ = ["resume", "resume_plan", "resume_sync", "retry", "retry_sync"]


async def resume(
    run: str, evaluation: Eval | None = None, *, store: Any = True, allow_changes: bool = False
) -> EvalResult:
    """Go on with a run that was killed, cancelled or stopped. What is recorded is not paid for again.

    *run*: its name, its id, or `latest`. *evaluation*: the Eval it is of; not needed for one that `proctor run` began,
    which knows its file. *store*: where it is kept. Raises `UsageError` that names what has changed since (the target,
    the data, a scorer, an option) unless *allow_changes*: then what still holds is kept, and the rest done anew.
    """
    return await run_plan(await resume_plan(run, evaluation, store=store, allow_changes=allow_changes))


def resume_sync(
    run: str, evaluation: Eval | None = None, *, store: Any = True, allow_changes: bool = False
) -> EvalResult:
    """`resume` for code that is not async. Ctrl-C once ends the run and gives what was done."""
    return run_plan_sync(run_sync(resume_plan(run, evaluation, store=store, allow_changes=allow_changes)))


async def retry(
    run: str,
    evaluation: Eval | None = None,
    *,
    only: Literal["errors"] = "errors",
    store: Any = True,
    allow_changes: bool = False,
) -> EvalResult:
    """Go on with a run, and do again what broke in it: replies and outcomes that are errors. Else as `resume`."""
    _check_only(only)
    return await run_plan(await resume_plan(run, evaluation, store=store, allow_changes=allow_changes, anew=only))


def retry_sync(
    run: str,
    evaluation: Eval | None = None,
    *,
    only: Literal["errors"] = "errors",
    store: Any = True,
    allow_changes: bool = False,
) -> EvalResult:
    """`retry` for code that is not async. Ctrl-C once ends the run and gives what was done."""
    _check_only(only)
    return run_plan_sync(run_sync(resume_plan(run, evaluation, store=store, allow_changes=allow_changes, anew=only)))


async def resume_plan(
    run: str,
    evaluation: Eval | None = None,
    *,
    store: Any = True,
    allow_changes: bool = False,
    anew: Literal["errors"] | None = None,
    beginning: Beginning | None = None,
    budget: Budget | None = None,
) -> Plan:
    """The plan of going on with a run. *beginning*: what else its recorder is to know.

    *budget*: of this sitting, instead of the one that the run began with.
    """
    if evaluation is not None and not isinstance(evaluation, Eval):
        raise UsageError(f"resume takes the Eval of the run, not {shown(evaluation)}")
    where = store if evaluation is None or evaluation.store is None else evaluation.store
    async with open_store(where) as kept:
        info = await kept.run(run)
    _refuse_rescore(info)
    found = evaluation or _of_file(info)
    if budget is not None:
        found = replace(found, budget=budget)
    begins = replace(beginning or Beginning(), resume=info.eval_id, allow_changes=allow_changes, anew=anew)
    return make_plan(stored(replace(found, store=where, recorder=None, repeats=info.repeats), begins))


def _refuse_rescore(info: RunInfo) -> None:
    """Its rows have no replies of their own: to go on would ask the target for them."""
    if info.kind == "rescore":
        parent = info.parent or "of a run that is not there any more"
        message = f"{info.name} scored the replies of {parent} again: rescore {parent} anew instead of going on with it"
        raise UsageError(message, code="NOT_TO_BE_RESUMED")


def _of_file(info: RunInfo) -> Eval:
    """The Eval that a run was of, out of its file as it is now."""
    if info.source is None:
        message = f"{info.name} was not begun by `proctor run`: give its Eval, resume({info.name!r}, evaluation)"
        raise UsageError(message, code="NO_EVAL")
    evals = load_evals(info.source)
    if len(evals) != 1:
        raise UsageError(f"{info.source} has {len(evals)} evals; {info.name} is of one", code="NO_EVAL")
    return changes_from(info.options).made(evals[0])


def _check_only(only: Any, known: Sequence[str] = ("errors",)) -> None:
    if only not in known:
        raise UnknownName("what to retry, only", only, known)
