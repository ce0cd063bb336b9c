"""Scorers in their places: entries as cells, each with the column that its outcomes belong to."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proctor.data.column import Column
from proctor.data.fields import named_fields
from proctor.data.threshold import TOLERANCE, Threshold
from proctor.data.value import Value, freeze
from proctor.errors import UsageError
from proctor.running.judges import require_judges
from proctor.scoring.entry import ScorerEntry, read_entries
from proctor.scoring.fingerprint import UNKNOWN
from proctor.scoring.keys import numbered
from proctor.scoring.scorer import Scorer

__all__ = ["AgentScorers", "Cell", "Columns", "joined", "read_cells"]


@dataclass(frozen=True, slots=True)
class Cell:
    """A scorer and the column its outcomes belong to."""

    scorer: Scorer
    column: Column
    threshold: Threshold | None = None

    def misses(self, score: float) -> bool:
        """Whether a score falls short: of the top of the range in a gate, of the bounds under a threshold."""
        if self.column.position == "gate":
            return score < self.scorer.range[1] - TOLERANCE
        return self.threshold is not None and not self.threshold.admits(score)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AgentScorers(Value):
    """Scorers of an agent by what they look at. *agent*: the reply; *trajectory*: the path taken."""

    agent: Sequence[Any] = ()
    trajectory: Sequence[Any] = ()

    def __post_init__(self) -> None:
        freeze(self, ("agent", "trajectory"))


def read_cells(given: Any, position: str, *, where: str, turn: int | None = None) -> tuple[Cell, ...]:
    """Cells from a list of scorers, or from `AgentScorers` (also as a mapping). *where*: how errors call it."""
    if position == "scorer" and isinstance(given, Mapping):
        given = AgentScorers(**named_fields(given, ["agent", "trajectory"], what=where, code="INVALID_AGENT_SCORERS"))
    if isinstance(given, AgentScorers):
        if given.trajectory:
            raise UsageError(f"{where}: trajectory scorers need trajectories, which this version does not extract")
        if not given.agent:
            raise UsageError(f"{where} has no scorer in it", code="NO_SCORERS_PROVIDED")
        given, where = given.agent, f"{where}.agent"
    return _cells(position, read_entries(given, where), where=where, turn=turn)


def _cells(position: str, entries: Sequence[ScorerEntry], *, where: str, turn: int | None) -> tuple[Cell, ...]:
    """Entries as cells. The same scorer twice is numbered, and warned of."""
    keys = [entry.scorer.key for entry in entries]
    names = numbered(keys)
    for key, name in zip(keys, names, strict=True):
        if name != key:
            message = f"{position} {key} is given more than once; it is shown as {name}. Use .named()"
            warnings.warn(message, stacklevel=2)
    for index, entry in enumerate(entries):
        try:
            _check_position(entry, position)
        except UsageError as problem:
            raise UsageError(f"{where}[{index}]: {problem}", code=problem.code) from problem
    return tuple(
        Cell(entry.scorer, Column(position, turn, name, entry.scorer.id), entry.threshold)
        for name, entry in zip(names, entries, strict=True)
    )


def _reads_messages(scorer: Scorer) -> bool:
    """Whether it finds the steps in the messages by itself where nobody gives it a trajectory, as our own do."""
    return scorer.builtin and all(_reads_messages(part) for part in scorer.parts)


def _check_position(entry: ScorerEntry, position: str) -> None:
    scorer = entry.scorer
    scorer.require_runnable()
    require_judges(scorer)
    if scorer.type == "trajectory" and not _reads_messages(scorer):
        raise UsageError(f"{scorer.key} scores trajectories, which this version does not extract")
    if position != "gate":
        return
    if entry.threshold is not None:
        raise UsageError(f"gate {scorer.key} has a threshold: a gate asks for the top of the range; put it in scorers")
    if scorer.better == "lower":
        raise UsageError(f"gate {scorer.key}: lower is better, so use scorers=[({scorer.key}, Threshold(max=0))]")


def joined(common: tuple[Cell, ...], own: tuple[Cell, ...]) -> tuple[Cell, ...]:
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
    if not (one.builtin and other.builtin and one.id == other.id):
        return False
    says_all = not any(scorer.replaced or scorer.questions for scorer in (one, other))
    return (says_all and one.arguments == other.arguments) or one.fingerprint == other.fingerprint != UNKNOWN


class Columns:
    """The columns of a run, each with its first cell, as they turn up. A stream adds some as it goes.

    A column has one threshold, one range and one good end, whichever item brings it.
    """

    def __init__(self, common: Sequence[Cell]) -> None:
        self.cells: dict[Column, Cell] = {}
        self.add(common)

    def add(self, cells: Sequence[Cell]) -> None:
        """Take in the cells of a row: all of them, or none when one does not go with what is there."""
        for cell in cells:
            first = self.cells.get(cell.column, cell)
            if first is not cell:
                _check_alike(first, cell)
        for cell in cells:
            self.cells.setdefault(cell.column, cell)

    def in_order(self) -> tuple[Cell, ...]:
        """Whole-item gates, then scorers, then those of each turn."""
        return tuple(sorted(self.cells.values(), key=_report_order))


def _check_alike(first: Cell, cell: Cell) -> None:
    if (first.scorer.range, first.scorer.better) != (cell.scorer.range, cell.scorer.better):
        message = f"{cell.column.key} has another range or better end in another item: give one of them .named('...')"
        raise UsageError(message)
    if first.threshold != cell.threshold:
        both = f"{first.threshold} and {cell.threshold}"
        message = f"{cell.column.label} has different thresholds in different items: {both}"
        raise UsageError(message, code="INVALID_SCORER_THRESHOLD")


def _report_order(cell: Cell) -> tuple[int, int]:
    turn = -1 if cell.column.turn is None else cell.column.turn
    return turn, 0 if cell.column.position == "gate" else 1
