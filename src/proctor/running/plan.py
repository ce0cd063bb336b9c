"""Everything that can be known before anything is paid for: the rows, the columns, and that they make sense."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from proctor.data.column import Column
from proctor.data.item import Item, derived_id
from proctor.data.plain import plain
from proctor.data.reply import Reply
from proctor.data.threshold import Threshold
from proctor.data.value import MISSING
from proctor.errors import DataErrors, EncodingError, ProctorError, UsageError
from proctor.running.eval import Eval
from proctor.running.record import RowId
from proctor.running.source import Source, read_items
from proctor.running.target import Target, as_target
from proctor.scoring.callables import takes_one
from proctor.scoring.entry import ScorerEntry, read_entries
from proctor.scoring.keys import numbered
from proctor.scoring.scorer import Scorer

__all__ = ["Cell", "Plan", "Row", "make_plan"]


@dataclass(frozen=True, slots=True)
class Cell:
    """A scorer and the column its outcomes belong to."""

    scorer: Scorer
    column: Column
    threshold: Threshold | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """An item to be run: its place in the input, its id and the number of the repeat, its cells.

    *given*: the item as it came, for the target; *item*: the same in plain data, for scorers and results.
    *reply*: what it carried, when it carried one.
    """

    index: int
    id: RowId
    given: Item
    item: Item
    gates: tuple[Cell, ...]
    scorers: tuple[Cell, ...]
    reply: Reply | None


@dataclass(frozen=True, slots=True)
class Plan:
    """What will be run. *cells*: all columns in the order of reports, the whole run's before single items' own."""

    evaluation: Eval
    rows: tuple[Row, ...]
    cells: tuple[Cell, ...]
    target: Target | None

    @property
    def notes(self) -> list[str]:
        """What a reader of the result should know of the data."""
        saved = sum(row.reply is not None for row in self.rows)
        if self.target is None or not saved:
            return []
        return [f"{saved} of {len(self.rows)} items carry an output: the target was not called for them"]


def make_plan(evaluation: Eval) -> Plan:
    """The plan of an evaluation. Raises `UsageError` for the first thing that is wrong, `DataErrors` for all items."""
    _check_options(evaluation)
    gates = _cells("gate", read_entries(evaluation.gates, "gates"))
    scorers = _cells("scorer", read_entries(evaluation.scorers, "scorers"))
    source = read_items(evaluation.data)
    target = None if evaluation.target is None else as_target(evaluation.target)
    rows = _rows(source, gates, scorers, has_target=target is not None)
    cells = _in_order(
        [*gates, *(cell for row in rows for cell in row.gates[len(gates) :])],
        [*scorers, *(cell for row in rows for cell in row.scorers[len(scorers) :])],
    )
    if not cells:
        raise UsageError("nothing to score with: give scorers, gates, or both", code="NO_SCORERS_PROVIDED")
    return Plan(evaluation, rows, cells, target)


def _check_options(evaluation: Eval) -> None:
    concurrency = evaluation.concurrency
    if not isinstance(concurrency, int) or isinstance(concurrency, bool) or concurrency < 1:
        raise UsageError(f"concurrency must be a whole number, 1 or more, not {concurrency!r}")
    if evaluation.on_error not in ("record", "raise"):
        raise UsageError(f"on_error is 'record' or 'raise', not {evaluation.on_error!r}")
    listener = evaluation.on_item_complete
    if listener is not None and not (callable(listener) and takes_one(listener)):
        raise UsageError(f"on_item_complete must be a function of one argument, the ItemResult, not {listener!r}")
    if evaluation.name is not None and not isinstance(evaluation.name, str):
        raise UsageError(f"name must be text, not {evaluation.name!r}")
    missing = [name for name in _RECORDER if not hasattr(evaluation.recorder, name)]
    if evaluation.recorder is not None and missing:
        raise UsageError(f"recorder must have {', '.join(missing)}, as a Recorder has; not {evaluation.recorder!r}")


def _cells(position: str, entries: Sequence[ScorerEntry]) -> tuple[Cell, ...]:
    """Entries as cells. The same scorer twice is numbered, and warned of."""
    keys = [entry.scorer.key for entry in entries]
    names = numbered(keys)
    for key, name in zip(keys, names, strict=True):
        if name != key:
            warnings.warn(
                f"{position} {key} is given more than once; it is shown as {name}. Use .named()", stacklevel=2
            )
    for entry in entries:
        _check_position(entry, position)
    return tuple(
        Cell(entry.scorer, Column(position, None, name, entry.scorer.id), entry.threshold)
        for name, entry in zip(names, entries, strict=True)
    )


def _check_position(entry: ScorerEntry, position: str) -> None:
    scorer = entry.scorer
    scorer.require_runnable()
    if scorer.type == "trajectory":
        raise UsageError(f"{scorer.key} scores trajectories, which this version does not extract")
    if position != "gate":
        return
    if entry.threshold is not None:
        raise UsageError(f"gate {scorer.key} has a threshold: a gate asks for the top of the range; put it in scorers")
    if scorer.better == "lower":
        raise UsageError(f"gate {scorer.key}: lower is better, so use scorers=[({scorer.key}, Threshold(max=0))]")


def _rows(source: Source, gates: tuple[Cell, ...], scorers: tuple[Cell, ...], *, has_target: bool) -> tuple[Row, ...]:
    rows: list[Row] = []
    problems: list[tuple[str, ProctorError]] = []
    seen: dict[str, int] = {}
    for place, item in source.rows:
        try:
            if isinstance(item, ProctorError):
                raise item
            item_id = _item_id(item, seen)
            _check_item(item, has_target=has_target)
            rows.append(_row(len(rows), item_id, item, gates=gates, scorers=scorers))
        except ProctorError as problem:
            called = f" ({item.id})" if isinstance(item, Item) and isinstance(item.id, str) and item.id else ""
            problems.append((f"{place}{called}", problem))
    if problems:
        codes = {problem.code for _, problem in problems}
        code = codes.pop() if codes == {"INVALID_SCORER_THRESHOLD"} else None
        raise DataErrors(source.where, [f"{place}: {problem}" for place, problem in problems], code=code)
    return tuple(rows)


def _item_id(item: Item, seen: dict[str, int]) -> str:
    """The item's id. One that was given must be its own; one that is made gets a number when the content repeats."""
    given = item.id
    if given is not None:
        given = str(given) if isinstance(given, int) and not isinstance(given, bool) else given
        if not isinstance(given, str) or not given:
            raise UsageError(f"id must be text that is not empty, not {given!r}")
        if given in seen:
            raise UsageError(f"the id {given!r} is taken by an earlier item")
        seen[given] = 1
        return given
    try:
        made = derived_id(item)
    except EncodingError as problem:
        raise UsageError(f"{problem}; or give the item an id") from problem
    name = made
    while name in seen:
        seen[made] += 1
        name = f"{made}-{seen[made]}"
    seen[name] = 1
    return name


def _check_item(item: Item, *, has_target: bool) -> None:
    given = [name for name in ("input", "inputs", "turns") if getattr(item, name) is not MISSING]
    if len(given) > 1:
        raise UsageError(f"{' and '.join(given)} are both there; give one of them")
    if item.inputs is not MISSING or item.turns is not MISSING:
        _check_sequence(item, given[0])
        raise UsageError(f"{given[0]} is for conversations, which this version does not run; give input")
    if isinstance(item.tags, str) or not isinstance(item.tags, Sequence):
        raise UsageError(f"tags must be a list of texts, not {item.tags!r}")
    if item.output is MISSING:
        if not given:
            raise UsageError("has none of input, inputs, turns and output")
        if not has_target:
            raise UsageError(
                "has no output, and there is no target to make one: give a target, or items with an output"
            )


def _check_sequence(item: Item, name: str) -> None:
    value = getattr(item, name)
    if isinstance(value, str) or not isinstance(value, Sequence) or not value:
        raise UsageError(f"{name} must be a list that is not empty, not {value!r}"[:200])


def _row(index: int, item_id: str, item: Item, *, gates: tuple[Cell, ...], scorers: tuple[Cell, ...]) -> Row:
    own_gates = _cells("gate", read_entries(item.gates, "gates")) if item.gates else ()
    own_scorers = _cells("scorer", read_entries(item.scorers, "scorers")) if item.scorers else ()
    settled = _settled(item)
    reply = None if item.output is MISSING else Reply(output=settled.output)
    given = item if reply is None else settled
    return Row(index, (item_id, 0), given, settled, _joined(gates, own_gates), _joined(scorers, own_scorers), reply)


_RECORDER = ("start", "find", "put", "flush")
_ATOMS = frozenset({str, int, float, bool, type(None), type(MISSING)})
_FOREIGN = (
    "input", "output", "ground_truth", "context", "expected_trajectory", "request_context", "tracing_context",
    "start_options", "metadata", "label",
)  # fmt: skip


def _settled(item: Item) -> Item:
    """The item in plain data: a target that changes what it was given changes nothing for the scorers."""
    changes = {name: plain(value) for name in _FOREIGN if type(value := getattr(item, name)) not in _ATOMS}
    return replace(item, **changes) if changes else item


def _joined(common: tuple[Cell, ...], own: tuple[Cell, ...]) -> tuple[Cell, ...]:
    """The run's cells and the item's own; an own scorer that the run has too is the same column, and runs once."""
    if not own:
        return common
    have = {cell.column: cell for cell in common}
    for cell in own:
        other = have.get(cell.column)
        if other is not None and other.threshold != cell.threshold:
            raise UsageError(f"{cell.column.key} has another threshold here than in the run")
        if other is not None and not _same_scorer(other.scorer, cell.scorer):
            raise UsageError(
                f"{cell.column.key} is another scorer here than in the run: give one of them .named('...')"
            )
    return common + tuple(cell for cell in own if cell.column not in have)


def _same_scorer(one: Scorer, other: Scorer) -> bool:
    """Whether two scorers of one key score alike: the key of a user's function says nothing of what it does."""
    if one is other:
        return True
    return one.builtin and other.builtin and one.id == other.id and one.arguments == other.arguments


def _in_order(gates: Iterable[Cell], scorers: Iterable[Cell]) -> tuple[Cell, ...]:
    """One cell for each column, in order of first appearance. A column has one threshold, whichever item brings it."""
    cells: dict[Column, Cell] = {}
    for cell in (*gates, *scorers):
        first = cells.setdefault(cell.column, cell)
        if (first.scorer.range, first.scorer.better) != (cell.scorer.range, cell.scorer.better):
            message = (
                f"{cell.column.key} has another range or better end in another item: give one of them .named('...')"
            )
            raise UsageError(message)
        if first.threshold != cell.threshold:
            both = f"{first.threshold} and {cell.threshold}"
            message = f"{cell.column.key} has different thresholds in different items: {both}"
            raise UsageError(message, code="INVALID_SCORER_THRESHOLD")
    return tuple(cells.values())
