"""What an evaluation came to: the rows, the means, and the verdict with the sentence that decided it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from proctor.data.exit_code import DEFAULT_FAIL_ON, exit_code
from proctor.data.failures import Failures, failures_of
from proctor.data.html import result_html
from proctor.data.judge import JudgeTotals
from proctor.data.mean import Mean
from proctor.data.records import records_of
from proctor.data.reply import ItemResult
from proctor.data.scores import Scores
from proctor.data.secrets import redact_text
from proctor.data.table import result_table
from proctor.data.tags import ByTag, TagMeans
from proctor.data.usage import Cost, Usage
from proctor.data.value import Value
from proctor.errors import ProctorError, UsageError
from proctor.plugins import import_object

__all__ = ["EvalResult", "NotScorableCounts", "RunStatus", "Summary", "Verdict"]

Verdict: TypeAlias = Literal["passed", "scored", "failed"]
RunStatus: TypeAlias = Literal["complete", "running", "cancelled", "stopped"]


@dataclass(frozen=True, slots=True, repr=False)
class NotScorableCounts(Value):
    """How often scorers declined, by column label; only columns where one did."""

    by_column: Mapping[str, int] = field(default_factory=dict)
    by_id: Mapping[str, int] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """All declined outcomes of the run."""
        return sum(self.by_column.values())

    def __getitem__(self, name: str) -> int:
        """The count of a column label, or the documents' sum over one scorer id."""
        return self.by_column[name] if name in self.by_column else self.by_id[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_column)

    def __len__(self) -> int:
        return len(self.by_column)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Summary(Value):
    """The run in numbers. *items*: rows that are counted; *planned*: how many there would be, None for a stream.

    *errors*: rows whose target failed; *outcome_errors*: scorers' errors; *declined*: rows in which a scorer declined,
    where *not_scorable* counts each time.

    *failures*: rows that fell short of a gate or a threshold, or whose target or scorer failed.
    *usage*, *cost*: the target's, None when nothing reported any. *judge*: what all judges did and took; None when none
    was asked. *started_at*: the first start, ISO 8601 in UTC.
    *duration_ms*: wall time, over all sittings of a run that a recorder let go on. *provenance*: what was run, on which
    data, by which code, in the last sitting; empty without a recorder.
    *notes*: what a reader of the numbers should know (warnings given, ids not checked).
    """

    items: int = 0
    planned: int | None = None
    errors: int = 0
    failures: int = 0
    outcome_errors: int = 0
    declined: int = 0
    not_scorable: NotScorableCounts = NotScorableCounts()
    usage: Usage | None = None
    cost: Cost | None = None
    judge: JudgeTotals | None = None
    started_at: str | None = None
    duration_ms: float | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def total_items(self) -> int:
        """The documents' name for `items`."""
        return self.items

    @property
    def tokens(self) -> int | None:
        """All tokens the target used; None when none was reported."""
        return self.usage.total if self.usage else None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class EvalResult(Value):
    """What `run_evals` gives. Print it: the table says what failed on which item, and why.

    *verdict*: `failed` when a gate missed, else `scored` when a threshold missed, else `passed`; None when there was
    nothing to decide, or the run stopped before it was decided. *items*: in input order whatever the concurrency; of
    all rows, or those that *keep* says; of a run in a store they are read when they are looked at. *run*: what the
    store calls it. *tags*: the means for each tag, see `by_tag`.
    """

    eval_id: str
    name: str | None = None
    run: str | None = None
    status: RunStatus = "complete"
    stopped_by: str | None = None
    items: Sequence[ItemResult] = ()
    means: tuple[Mean, ...] = ()
    tags: tuple[TagMeans, ...] = ()
    keep: Literal["all", "failures", "none"] = "all"
    summary: Summary = Summary()
    verdict: Verdict | None = None
    sentence: str = ""

    @property
    def scores(self) -> Scores:
        """The means, found by key, by id, by position."""
        return Scores(self.means)

    @property
    def gate_results(self) -> tuple[Mean, ...]:
        """The gates of the whole item, in order."""
        return tuple(mean for mean in self.means if mean.column.position == "gate" and mean.column.turn is None)

    @property
    def threshold_results(self) -> tuple[Mean, ...]:
        """The thresholded scorers of the whole item, in order."""
        return tuple(mean for mean in self.means if mean.threshold is not None and mean.column.turn is None)

    @property
    def turn_results(self) -> Mapping[int, tuple[Mean, ...]]:
        """The means of each turn, by its index."""
        turns = sorted({mean.column.turn for mean in self.means if mean.column.turn is not None})
        return {turn: tuple(mean for mean in self.means if mean.column.turn == turn) for turn in turns}

    @property
    def by_tag(self) -> ByTag:
        """The means for each tag of the items, found like `scores`: `by_tag["refunds"]["check-equals"]`."""
        return ByTag(self.tags)

    def failures(self) -> Failures:
        """The rows that fell short of a gate or a threshold, or broke, each with why; print it to read it.

        Raises `UsageError` when there were some and `keep="none"` kept none: no list would be a lie.
        """
        return failures_of(self)

    def to_records(self) -> list[dict[str, Any]]:
        """One flat dict for each outcome, for `pandas.DataFrame` or `csv.DictWriter`; see `proctor.data.records`."""
        return records_of(self)

    def to_json(self, *, indent: int | None = None) -> str:
        """The whole result as JSON text, which `from_json` reads back equal, but for secrets: they are replaced."""
        text: str = import_object("proctor.data.codec:dumps")(self, indent=indent)
        return text

    @classmethod
    def from_json(cls, text: str | bytes) -> EvalResult:
        """What `to_json` wrote. Raises `ProctorError` for text that is cut off, of a newer Proctor, or something else.

        Scorers of items come back as references: code does not travel in data.
        """
        if not isinstance(text, str | bytes | bytearray):
            raise UsageError(f"from_json takes the text of a result, not a {type(text).__name__}")
        found = import_object("proctor.data.codec:loads")(text)
        if not isinstance(found, EvalResult):
            message = f"the text holds {type(found).__name__}, not EvalResult"
            raise ProctorError(message, code="UNREADABLE_DATA")
        return found

    def exit_code(self, fail_on: Collection[str] | str = DEFAULT_FAIL_ON) -> int:
        """The process exit code of the run; see `proctor.data.exit_code`."""
        return exit_code(self.means, status=self.status, items=self.summary.items, fail_on=fail_on)

    def __bool__(self) -> bool:
        raise UsageError('a result is neither true nor false; ask result.verdict == "passed", or result.exit_code()')

    def __str__(self) -> str:
        return result_table(self)

    def _repr_html_(self) -> str:
        return result_html(self)

    def __repr__(self) -> str:
        name = f"{redact_text(self.name)!r}, " if self.name else ""
        items = f"{self.summary.items} item{'' if self.summary.items == 1 else 's'}"
        return f"EvalResult({name}verdict={self.verdict!r}, {items}, {len(self.means)} columns)"
