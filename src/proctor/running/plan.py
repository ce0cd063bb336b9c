"""Everything that can be known before anything is paid for: the rows, the columns, and that they make sense."""

from __future__ import annotations

import warnings
from collections.abc import AsyncIterable, Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from proctor.data.item import Item
from proctor.errors import DataErrors, ProctorError, UsageError
from proctor.judging.budget import as_budget
from proctor.running.choice import picked_from
from proctor.running.columns import Cell, read_cells
from proctor.running.eval import Eval
from proctor.running.judges import require_prices
from proctor.running.kept import stored
from proctor.running.options import check_options
from proctor.running.rows import NO_MOCKS, Row, RowMaker
from proctor.running.source import Source, read_items
from proctor.running.target import Target, as_target, without_place
from proctor.running.tool_recording import ToolRecording

__all__ = ["Plan", "make_plan"]


@dataclass(frozen=True, slots=True)
class Plan:
    """What will be run. *notes*: what a reader of the result should know. *provenance*: filled when it is recorded.

    *rows*: all of them, in the order of the input; empty for a *stream*, whose rows are made as its items arrive.
    """

    evaluation: Eval
    maker: RowMaker
    target: Target | None
    rows: tuple[Row, ...] = ()
    stream: Any = None
    notes: list[str] = field(default_factory=list)
    provenance: dict[str, Any] = field(default_factory=dict)

    @property
    def cells(self) -> tuple[Cell, ...]:
        """All columns in the order of reports; a stream may add some."""
        return self.maker.columns.in_order()

    @property
    def total(self) -> int | None:
        """How many rows there are, repeats included; None for a stream."""
        return None if self.stream is not None else len(self.rows) * self.evaluation.repeats


def make_plan(evaluation: Eval) -> Plan:
    """The plan of an evaluation. Raises `UsageError` for the first thing that is wrong, `DataErrors` for all items."""
    try:
        return _planned(evaluation)
    except UsageError as problem:
        while isinstance(cause := problem.__cause__, UsageError) and str(cause) in str(problem):
            problem.__cause__ = cause.__cause__  # it says nothing more, and would be a traceback of its own
        raise


def _planned(evaluation: Eval) -> Plan:
    check_options(evaluation)
    evaluation = stored(evaluation)
    gates = read_cells(evaluation.gates, "gate", where="gates")
    scorers = read_cells(evaluation.scorers, "scorer", where="scorers")
    target = None if evaluation.target is None else as_target(evaluation.target)
    if (check := getattr(target, "check_options", None)) is not None:  # what a target takes only it can know
        check(without_place(evaluation.target_options) or {})
    remembered = not is_stream(evaluation.data) or evaluation.recorder is not None or evaluation.keep == "all"
    mocks_tools = getattr(target, "mocks_tools", False)
    if target is not None and mocks_tools is False:
        _refuse_mocks(evaluation)
    maker = RowMaker(
        gates,
        scorers,
        has_target=target is not None,
        unique_ids=remembered,
        mocks_tools=mocks_tools,
        replayed=_replayed(evaluation),
    )
    if is_stream(evaluation.data):
        require_prices((cell.scorer for cell in (*gates, *scorers)), as_budget(evaluation.budget))
        notes = [] if remembered else ["ids were not checked: nothing in this run remembers them"]
        return Plan(evaluation, maker, target, stream=evaluation.data, notes=notes)
    rows = _rows(read_items(evaluation.data), maker)
    if not maker.columns.cells:
        raise UsageError("nothing to score with: give scorers, gates, or both", code="NO_SCORERS_PROVIDED")
    require_prices((cell.scorer for cell in maker.columns.cells.values()), as_budget(evaluation.budget))
    plan = Plan(evaluation, maker, target, rows)
    _note_saved_outputs(plan)
    warn_of_forgetting(plan)
    return plan


def _refuse_mocks(evaluation: Eval) -> None:
    """Refuse what is asked of a target's tools where they cannot be kept from being called."""
    asked = [name for name in ("record_tools", "replay_tools") if getattr(evaluation, name) is not None]
    if evaluation.unmocked == "deny":
        asked.insert(0, "unmocked='deny'")
    if asked:
        raise UsageError(f"{' and '.join(asked)}, and {NO_MOCKS}")


def _replayed(evaluation: Eval) -> Callable[[Item, str], Item] | None:
    if evaluation.replay_tools is None:
        return None
    return partial(ToolRecording(evaluation.replay_tools).onto, repeats=evaluation.repeats)


def is_stream(data: Any) -> bool:
    """Whether items are taken one by one as they arrive: from an iterator or anything asynchronous."""
    return isinstance(picked_from(data)[0], Iterator | AsyncIterable)


def warn_of_forgetting(plan: Plan) -> None:
    """Warn, once, of conversations with a target that remembers nothing of them."""
    if plan.maker.has_conversations and plan.target is not None and not plan.target.remembers:
        how = (
            getattr(plan.target, "how_to_remember", None)
            or "Give a target that accepts thread_id, or an agent with memory"
        )
        note = f"the target has no memory: turns of a conversation will not share history. {how}"
        if note not in plan.notes:
            plan.notes.append(note)
            warnings.warn(note, UserWarning, stacklevel=2)


def _rows(source: Source, maker: RowMaker) -> tuple[Row, ...]:
    rows: list[Row] = []
    problems: list[tuple[str, ProctorError]] = []
    for (place, item), index, made_id in zip(source.rows, source.indexes, source.made_ids, strict=True):
        try:
            if isinstance(item, ProctorError):
                raise item
            rows.append(maker.make(item, index, made_id=made_id))
        except ProctorError as problem:
            called = f" ({item.id})" if isinstance(item, Item) and isinstance(item.id, str) and item.id else ""
            problems.append((f"{place}{called}", problem))
    if problems:
        codes = {problem.code for _, problem in problems}
        code = codes.pop() if codes == {"INVALID_SCORER_THRESHOLD"} else None
        raise DataErrors(source.where, [f"{place}: {problem}" for place, problem in problems], code=code)
    return tuple(rows)


def _note_saved_outputs(plan: Plan) -> None:
    saved = sum(row.reply is not None for row in plan.rows)
    if plan.target is not None and saved:
        plan.notes.append(f"{saved} of {len(plan.rows)} items carry an output: the target was not called for them")
