"""A column of the table that a run is: one scorer in one place."""

from __future__ import annotations

from dataclasses import dataclass

from proctor.data.value import Value

__all__ = ["Column", "ScorerRef"]


@dataclass(frozen=True, slots=True, repr=False)
class Column(Value):
    """Where a score stands. Made once in the plan and shared by every row.

    *position*: `gate`, `scorer`, `trajectory` or `step:<id>`. *turn*: None for the whole item, else the turn's index.
    *key*: which scorer, *scorer_id*: what it is (`check-called-tool[get_weather]` and `check-called-tool`).
    """

    position: str
    turn: int | None
    key: str
    scorer_id: str

    @property
    def label(self) -> str:
        """How reports name the column: the key, with its place when it is not the whole item's scorer.

        >>> Column("gate", 1, "check-includes[x]", "check-includes").label
        'turn 1 gate check-includes[x]'
        """
        turn = "" if self.turn is None else f"turn {self.turn} "
        place = "" if self.position == "scorer" else f"{self.position} "
        return f"{turn}{place}{self.key}"


@dataclass(frozen=True, slots=True, repr=False)
class ScorerRef(Value):
    """What is written of a scorer, and what loads back: code does not travel in data."""

    id: str
    key: str
    fingerprint: str = "unknown"
