"""Scoring the replies of a run again: with other scorers, or the same ones several times. The target is not asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from proctor.bridge import run_sync
from proctor.data.item import Item
from proctor.data.reply import Reply
from proctor.data.result import EvalResult
from proctor.data.stored import RunInfo
from proctor.data.value import MISSING
from proctor.errors import TargetError, UsageError
from proctor.running.eval import Eval
from proctor.running.kept import Beginning, Kept, open_store
from proctor.running.plan import Plan, make_plan
from proctor.running.run_evals import run_plan, run_plan_sync
from proctor.running.target import Call

__all__ = ["asked_run", "rescore", "rescore_plan", "rescore_sync"]


async def rescore(
    run: str,
    *,
    scorers: Any = (),
    gates: Sequence[Any] = (),
    repeats: int = 1,
    store: Any = True,
    **options: Any,
) -> EvalResult:
    """Score what a run's target said, as a new run beside it in the same store. The target is never asked.

    *run*: its name, its id, or `latest`; of a run that scored another again it is that other. *repeats*: how often each
    reply is scored, to see how steady a judge is.
    *options*: any other of `Eval` that a run without a target can have (`concurrency`, `scorer_timeout`, `name` ...).
    Items that have no reply are left out, and counted in the notes; scorers that single items brought are not run.
    What the replies cost was paid before: the new run's usage and cost are None.
    """
    return await run_plan(
        await rescore_plan(run, scorers=scorers, gates=gates, repeats=repeats, store=store, **options)
    )


def rescore_sync(
    run: str,
    *,
    scorers: Any = (),
    gates: Sequence[Any] = (),
    repeats: int = 1,
    store: Any = True,
    **options: Any,
) -> EvalResult:
    """`rescore` for code that is not async. Ctrl-C once ends the run and gives what was done."""
    plan = rescore_plan(run, scorers=scorers, gates=gates, repeats=repeats, store=store, **options)
    return run_plan_sync(run_sync(plan))


async def rescore_plan(
    run: str,
    *,
    scorers: Any = (),
    gates: Sequence[Any] = (),
    repeats: int = 1,
    store: Any = True,
    beginning: Beginning | None = None,
    **options: Any,
) -> Plan:
    """The plan of scoring a run again. *beginning*: what else its recorder is to know."""
    for name in ("data", "target", "recorder"):
        if name in options:
            raise UsageError(f"rescore takes its {name} from the run: leave {name}= out")
    if not isinstance(repeats, int) or isinstance(repeats, bool) or repeats < 1:
        raise UsageError(f"repeats must be a whole number, 1 or more, not {repeats!r}")
    async with open_store(store, redact=options.pop("redact", None)) as kept:
        info = await asked_run(kept, run)
        items, without = await kept.items(info.eval_id)
        if not items:
            raise UsageError(f"{info.name} has no reply to score", code="NOTHING_TO_SCORE")
        begins = replace(beginning or Beginning(), parent=info.eval_id, times=repeats)
        options.setdefault("name", info.eval_name)
        evaluation = Eval(
            data=[_without_scorers(item) for item in items],
            target=_Recorded(),
            gates=gates,
            scorers=scorers,
            repeats=info.repeats * repeats,
            recorder=kept.recorder(begins),
            **options,
        )
    plan = make_plan(evaluation)
    plan.notes.append(f"the replies are those of {info.name}: the target was not asked")
    if without:
        plan.notes.append(f"{without} of {len(items) + without} items of {info.name} have no reply, and are left out")
    return plan


async def asked_run(kept: Kept, name: str) -> RunInfo:
    """The run whose target said what is to be scored: of a rescore the run that it scored, while that is there."""
    info = await kept.run(name)
    while info.kind == "rescore" and info.parent is not None:
        info = await kept.run(info.parent)
    return info


def _without_scorers(item: Item) -> Item:
    """Scorers do not travel in data: what was written of them cannot run."""
    turns = item.turns
    if turns is not MISSING:
        turns = tuple(replace(turn, gates=(), scorers=()) for turn in turns)  # type: ignore[union-attr]  # not MISSING
    return replace(item, gates=(), scorers=(), turns=turns)


class _Recorded:
    """Stands where the target was. It is only asked where a reply is missing, and then that is an error."""

    remembers = True
    durable = False
    may_hang = False
    mocks_tools = None  # it has none: an item's mocks have answered already

    async def reply(self, call: Call) -> Reply:
        raise TargetError("there is no recorded reply, and a rescore does not ask the target", code="NO_REPLY")
