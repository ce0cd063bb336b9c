"""What a column folds to: a mean that says of how many, and whether it was good enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from proctor.data.column import Column
from proctor.data.judge import JudgeTotals
from proctor.data.threshold import Threshold
from proctor.data.usage import Cost
from proctor.data.value import Value

__all__ = ["DecidedBy", "Mean"]

DecidedBy: TypeAlias = Literal["scores", "errors", "declines"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=True)
class Mean(Value):
    """The mean of one column over its items.

    *mean*: None when nothing was scored. *n* of *of*: items scored, of items that have the column; the rest are
    *errors* (the scorer's), *not_scorable* (declined) and *not_run* (*no_reply* of them since the target failed; the
    others since a gate failed before, or the run stopped). *declines*: why items were declined, and how many for each
    reason, the most frequent first; of a column with very many reasons, the first that came up.
    *passed*: None for a column that decides nothing. *decided_by*: what a miss rests on. *sentence*: the same in words.
    *interval*: where the mean of many more such items plausibly lies (95%, Wilson), in the scorer's own units; None
    when nothing was scored. *duration_ms*: time spent in this scorer, in all. *judge*: what its judge did and took;
    None for a scorer that asked none.
    *range*, *better*: the scorer's own, for those who compare and draw.

    Compares with numbers by its mean; `==` compares all fields.
    """

    column: Column
    mean: float | None
    n: int
    of: int
    errors: int = 0
    not_scorable: int = 0
    not_run: int = 0
    no_reply: int = 0
    interval: tuple[float, float] | None = None
    threshold: Threshold | None = None
    passed: bool | None = None
    decided_by: DecidedBy | None = None
    sentence: str = ""
    judge: JudgeTotals | None = None
    duration_ms: float | None = None
    range: tuple[float, float] = (0.0, 1.0)
    better: Literal["higher", "lower"] = "higher"
    declines: tuple[tuple[str, int], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "declines", tuple((reason, count) for reason, count in self.declines))

    @property
    def tokens(self) -> int | None:
        """What the scorer's judge read and wrote, as far as it was reported."""
        return self.judge.usage.total if self.judge and self.judge.usage else None

    @property
    def cost(self) -> Cost | None:
        """What the scorer's judge cost, as far as prices are known; `judge.unpriced` says of how many they are not."""
        return self.judge.cost if self.judge else None

    @property
    def key(self) -> str:
        """Which scorer."""
        return self.column.key

    @property
    def id(self) -> str:
        """What the scorer is."""
        return self.column.scorer_id

    @property
    def needed(self) -> Threshold | None:
        """What scores are held against: in a gate the top of the range, else the threshold; None where nothing is."""
        return Threshold(self.range[1]) if self.column.position == "gate" else self.threshold

    @property
    def score(self) -> float | None:
        """The documents' name for a gate's mean."""
        return self.mean

    @property
    def average_score(self) -> float | None:
        """The documents' name for a threshold's mean."""
        return self.mean

    def __float__(self) -> float:
        if self.mean is None:
            raise ValueError(f"{self.column.label} has no mean: 0 of {self.of} scored")
        return self.mean

    def __format__(self, spec: str) -> str:
        if not spec:
            return str(self)
        return format(self.mean, spec) if self.mean is not None else "-"

    def __str__(self) -> str:
        return f"{'-' if self.mean is None else format(self.mean, '.3g')} ({self.n} of {self.of})"

    def __lt__(self, other: float) -> bool:
        return float(self) < float(other)

    def __le__(self, other: float) -> bool:
        return float(self) <= float(other)

    def __gt__(self, other: float) -> bool:
        return float(self) > float(other)

    def __ge__(self, other: float) -> bool:
        return float(self) >= float(other)
