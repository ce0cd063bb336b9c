"""What went wrong in a run, row by row and in words: what one reads before a release.

A row is a failure when a gate or a threshold fell short in it, or its target or one of its scorers failed. That a
threshold is met over all rows does not excuse the row that was below it. A scorer that declined is no failure, unless
declines are what a gate or threshold was missed by.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from proctor.data.item import item_label
from proctor.data.mean import Mean
from proctor.data.outcome import Failure, Outcome
from proctor.data.read import read_messages
from proctor.data.reply import ItemResult
from proctor.data.secrets import redact_text
from proctor.data.shown import count_of, plural, shown_score
from proctor.data.threshold import Threshold
from proctor.data.value import MISSING, Value, shown
from proctor.errors import ProctorError, UsageError, cut, visible

if TYPE_CHECKING:
    from proctor.data.result import EvalResult

__all__ = [
    "FailedRow",
    "FailureKind",
    "Failures",
    "Shortfall",
    "declined",
    "each_failure",
    "failures_of",
    "kind_of",
    "reply_text",
]

FailureKind: TypeAlias = Literal["target", "gate", "threshold", "scorer", "declined"]

_LONGEST_REPLY = 200
_LONGEST_REASON = 300


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Shortfall(Value):
    """One thing that went wrong in a row.

    *kind*: `target` (no reply, or not the whole of it), `gate` and `threshold` (a score fell short), `scorer` (it
    failed), `declined` (nothing to decide a gate or threshold on). *outcome*: None for the target. *why*: in words,
    the scorer's reason included. *reply*: how what was scored begins, None when nothing came back.
    """

    kind: FailureKind
    why: str
    outcome: Outcome | None = None
    error: Failure | None = None
    reply: str | None = None

    @property
    def column(self) -> str | None:
        """The label of the column, as in the table; None for the target."""
        return None if self.outcome is None else self.outcome.column.label

    @property
    def score(self) -> float | None:
        """The score that fell short; None when there is none."""
        return None if self.outcome is None else self.outcome.score

    @property
    def reason(self) -> str | None:
        """What the scorer said."""
        return None if self.outcome is None else self.outcome.reason

    def __str__(self) -> str:
        return f"{self.column or 'target'}: {self.why}"


@dataclass(frozen=True, slots=True, repr=False)
class FailedRow(Value):
    """A row that failed, and everything that went wrong in it."""

    row: ItemResult
    shortfalls: tuple[Shortfall, ...]

    @property
    def item_id(self) -> str:
        """The item's id."""
        return self.row.item_id

    @property
    def name(self) -> str:
        """How people find the row: the id that they gave it, or its place in the data, and the repeat."""
        name = item_label(self.row.item, item_id=self.row.item_id, index=self.row.index)
        return f"{name} (repeat {self.row.repeat})" if self.row.repeat else name

    @property
    def why(self) -> str:
        """All of it in one sentence."""
        return "; ".join(str(shortfall) for shortfall in self.shortfalls)

    def __str__(self) -> str:
        lines = [visible(redact_text(self.name))]
        last: str | None = None
        for shortfall in self.shortfalls:
            lines.append(f"  {_line(str(shortfall), _LONGEST_REASON)}")
            if shortfall.reply is not None and shortfall.reply != last:
                lines.append(f"    reply: {shortfall.reply}")
            last = shortfall.reply
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"FailedRow({self.name!r}, {cut(self.why, 80)!r})"


class Failures(Sequence[FailedRow]):
    """The rows that failed, in the order of the input. *note*: what they leave out, empty when nothing."""

    __slots__ = ("note", "rows")

    def __init__(self, rows: Sequence[FailedRow], *, note: str = "") -> None:
        self.rows = tuple(rows)
        self.note = note

    @overload
    def __getitem__(self, at: int) -> FailedRow: ...
    @overload
    def __getitem__(self, at: slice) -> Failures: ...
    def __getitem__(self, at: int | slice) -> FailedRow | Failures:
        return Failures(self.rows[at], note=self.note) if isinstance(at, slice) else self.rows[at]

    def __iter__(self) -> Iterator[FailedRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        return "\n".join([*map(str, self.rows), *([f"({self.note})"] if self.note else [])]) or "nothing failed"

    def __repr__(self) -> str:
        note = f", note={self.note!r}" if self.note else ""
        return f"Failures({plural(len(self.rows), 'row')}{note})"


def failures_of(result: EvalResult) -> Failures:
    """The failures of a result. Raises `UsageError` when there were some and their rows were not kept."""
    declines = any(mean.decided_by == "declines" for mean in result.means)
    if result.keep == "none" and (result.summary.failures or declines):
        failed, rows = result.summary.failures, result.summary.items
        what = f"{count_of(failed, rows, what='row')} fell short or failed" if failed else "scorers declined"
        message = f'{what}, but keep="none" kept no row: run with keep="failures" to see them'
        raise UsageError(message, code="ROWS_NOT_KEPT")
    note = 'rows in which scorers only declined were not kept: keep="failures"'
    return Failures(tuple(each_failure(result)), note=note if declines and result.keep == "failures" else "")


def each_failure(result: EvalResult) -> Iterator[FailedRow]:
    """Those of the rows that were kept, one after the other."""
    means = {mean.column: mean for mean in result.means}
    for row in _candidates(result):
        if found := tuple(_shortfalls(row, means)):
            yield FailedRow(row, found)


def _candidates(result: EvalResult) -> Iterable[ItemResult]:
    """Rows that may have failed: of those in a store, only what it knows of."""
    failing = getattr(result.items, "failing", None)
    found: Iterable[ItemResult] = result.items if failing is None else failing(result.means)
    return found


def _shortfalls(row: ItemResult, means: dict[Any, Mean]) -> Iterator[Shortfall]:
    if row.error is not None:
        said = row.replies[-1] if row.replies else None
        came = None if said is None or said.output is MISSING else reply_text(said.output)
        yield Shortfall(kind="target", why=redact_text(str(row.error)), error=row.error, reply=came)
    for outcome in row.outcomes:
        mean = means.get(outcome.column)
        kind = None if mean is None else kind_of(outcome, mean)
        if mean is not None and kind is not None:
            yield Shortfall(
                kind=kind,
                why=redact_text(_why(outcome, mean)),
                outcome=outcome,
                error=outcome.error,
                reply=_scored_reply(row, outcome.column.turn),
            )


def kind_of(outcome: Outcome, mean: Mean) -> FailureKind | None:
    """Which failure an outcome of this column is; None when it is none."""
    if outcome.error is not None:
        return "scorer"
    if outcome.not_scorable is not None:
        return "declined" if mean.decided_by == "declines" else None
    needed = mean.needed
    if outcome.score is None or needed is None or needed.admits(outcome.score):
        return None
    return "gate" if mean.column.position == "gate" else "threshold"


def declined(outcome: Outcome) -> str:
    """Why there is no score, in words."""
    said = outcome.not_scorable.reason if outcome.not_scorable else None
    return f"declined: {said or 'no reason given'}"


def _why(outcome: Outcome, mean: Mean) -> str:
    needed = mean.needed
    if outcome.error is not None:
        return f"failed: {outcome.error}"
    if outcome.score is None or needed is None:
        return declined(outcome)
    reason = f": {outcome.reason}" if outcome.reason else ""
    bounds = Threshold(needed.min, needed.max)  # how many items must have a score says nothing of one item
    return f"scored {shown_score(outcome.score, needed)}, needed {bounds}{reason}"


# ── replies ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _scored_reply(row: ItemResult, turn: int | None) -> str | None:
    """How the reply begins that a column looked at: of its turn, or the last; None when nothing came back."""
    at = len(row.replies) - 1 if turn is None else turn
    if not 0 <= at < len(row.replies) or row.replies[at].output is MISSING:
        return None
    return reply_text(row.replies[at].output)


def reply_text(output: object, *, limit: int = _LONGEST_REPLY) -> str:
    """How a reply begins, on one line: what the assistant said; what the tools were called where it said nothing.

    >>> reply_text([{"role": "assistant", "content": "It is sunny."}])
    'It is sunny.'
    """
    if isinstance(output, str):
        return _line(output, limit)
    try:
        own = [message for message in read_messages(output) if message.role == "assistant"]
        text = " ".join(filter(None, (message.text for message in own)))
    except ProctorError:  # it cannot be read, or holds something that no scorer could read
        return _line(shown(output, limit), limit)
    called = [call.name for message in own for call in message.tool_calls]
    return _line(f"(no text; called {', '.join(called)})" if called and not text else text, limit)


def _line(text: str, limit: int) -> str:
    """How *text* begins, on one line; no more of it is looked at than can be shown."""
    most = 8 * limit
    line = " ".join(redact_text(text[:most]).split()) + ("..." if len(text) > most else "")
    return cut(visible(line), limit)
