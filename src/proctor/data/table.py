"""A result as plain text that a person wants to read: the verdict, every column with its n, and what failed and why.

Widths are those of a terminal (wide characters count two); what a terminal could obey or not show is escaped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from proctor.data.failures import declined, kind_of
from proctor.data.item import item_label
from proctor.data.judge_text import judge_text
from proctor.data.mean import Mean
from proctor.data.outcome import Outcome
from proctor.data.shown import count_of, plural, shown_interval, shown_score
from proctor.data.width import fitted, fitted_id, printable, width_of, wrapped
from proctor.errors import cut

if TYPE_CHECKING:
    from proctor.data.reply import ItemResult
    from proctor.data.result import EvalResult

__all__ = ["column_cells", "footer", "result_table"]

_SHOWN_FAILURES = 20
_LONGEST_REASON = 300
_LONGEST = 400  # characters of one reason or message
_LEAST_WIDTH = 40
_SHOWN_REASONS = 3


def result_table(result: EvalResult, *, width: int = 100) -> str:
    """The table of a result in lines of at most *width* columns (40 at the least)."""
    width = max(width, _LEAST_WIDTH)
    head = [f"{result.name}: " if result.name else "", (result.verdict or "no verdict").upper()]
    sentence = cut(printable(result.sentence), 2 * _LONGEST_REASON)
    if result.status != "complete":
        head.append(f", {result.status}" + (f" by {result.stopped_by}" if result.stopped_by else ""))
    lines = [*wrapped("".join(head), width), *wrapped(sentence, width), "", *_columns(result.means, width)]
    failed, count = _failures(result.items, result.means)
    if failed:
        command = f", or proctor show {printable(result.run)} --failed" if result.run else ""
        lines += ["", *_failure_lines(failed, count, width, where=f"result.failures(){command}")]
    if any(mean.declines for mean in result.means):
        lines += ["", *_decline_lines(result.means, width)]
    if any(mean.judge is not None for mean in result.means):
        lines += ["", *_judge_lines(result.means, width)]
    return "\n".join([*lines, "", *wrapped(footer(result), width)])


# ── columns ────────────────────────────────────────────────────────────────────────────────────────────────────────


_HEADS = ("", "mean", "95%", "scored", "errors", "declined", "not run", "needed", "")
_ALWAYS = (0, 1, 3)
_LEAST_NAME = 24


def _columns(means: Sequence[Mean], width: int) -> list[str]:
    """One line for each column: what it is, what was decided, its mean, and of how many; two where a line is short.

    A name that leaves no room for the numbers stands on a line of its own, above them.
    """
    rows = [[_place(mean), *_numbers(mean), _decision(mean)] for mean in means]
    used = [at for at in range(len(_HEADS)) if at in _ALWAYS or any(row[at] for row in rows)]
    widths = {at: max(width_of(text) for text in (_HEADS[at], *(row[at] for row in rows))) for at in used}
    longest = widths[0]
    room = _room(widths, width)
    if room < min(longest, _LEAST_NAME):
        return [line for row in rows for line in _stacked(row, width)]
    widths[0] = min(longest, room)
    rows.insert(0, list(_HEADS))
    lines = []
    for row in rows:
        beside = width_of(row[0]) <= widths[0]
        if not beside:
            lines += wrapped(row[0], width)
        lines.append("  ".join(fitted(row[at] if at or beside else "", widths[at]) for at in used).rstrip())
    return lines


def _room(widths: Mapping[int, int], width: int) -> int:
    """What the other columns leave for the names."""
    return width - sum(widths[at] + 2 for at in widths if at)


def column_cells(means: Sequence[Mean]) -> list[list[str]]:
    """The same as texts, for those who draw their own table: the heads, then a row for each column."""
    rows = [list(_HEADS), *([_place(mean), *_numbers(mean), _decision(mean)] for mean in means)]
    used = [at for at, head in enumerate(_HEADS) if head in {"mean", "scored"} or any(row[at] for row in rows[1:])]
    return [[row[at] for at in used] for row in rows]


def _stacked(row: Sequence[str], width: int) -> list[str]:
    """The same for a narrow terminal: the name, and below it what the columns hold."""
    heads = [at for at in range(1, len(_HEADS)) if row[at]]
    told = [f"{_HEADS[at]} {row[at]}".strip() for at in heads]
    return [*wrapped(printable(row[0]), width), *wrapped(f"  {', '.join(told)}", width, indent="  ")]


def _place(mean: Mean) -> str:
    kind = "scorer " if mean.column.position == "scorer" else ""
    return cut(printable(kind + mean.column.label), 200)


def _numbers(mean: Mean) -> list[str]:
    counts = [str(count) if count else "" for count in (mean.errors, mean.not_scorable, mean.not_run)]
    needed = "all" if mean.column.position == "gate" else str(mean.threshold or "")
    shown = shown_score(mean.mean, mean.needed)
    return [shown, shown_interval(mean.interval), count_of(mean.n, mean.of), *counts, needed]


def _decision(mean: Mean) -> str:
    if mean.passed is None:
        return ""
    return "met" if mean.passed else "MISSED" if mean.decided_by == "scores" else f"MISSED ({mean.decided_by})"


# ── what failed ────────────────────────────────────────────────────────────────────────────────────────────────────


class _Failed(NamedTuple):
    """What is shown of a failure: on which item, where, why, and whether something broke."""

    item: str
    place: str
    why: str
    broke: bool


def _failures(items: Sequence[ItemResult], means: Sequence[Mean]) -> tuple[list[_Failed], int]:
    """Item, place and reason of what failed or could not be measured, gates and errors first; and how much it is.

    Rows that lie in a store say which of them are to be shown: a million are not read for twenty lines.
    """
    look = getattr(items, "first_failing", None)
    rows, count = (items, None) if look is None else look(means, _SHOWN_FAILURES)
    deciding = {mean.column: mean for mean in means}
    first: list[_Failed] = []
    rest: list[_Failed] = []
    for item in rows:
        name = item_label(item.item, item_id=item.item_id, index=item.index)
        if item.repeat:
            name += f" (repeat {item.repeat})"
        if item.error is not None:
            first.append(_Failed(name, "target", str(item.error), broke=True))
            continue
        for outcome in item.outcomes:
            mean = deciding.get(outcome.column)
            kind = None if mean is None else kind_of(outcome, mean)
            if mean is None or kind is None or (kind in {"gate", "threshold"} and mean.passed is not False):
                continue  # a row below a threshold that is met over all of them is not shown
            hard = kind == "scorer" or mean.column.position == "gate"
            failed = _Failed(name, outcome.column.label, _why(outcome, mean), broke=kind == "scorer")
            (first if hard else rest).append(failed)
    found = first + rest
    return found, len(found) if count is None else count


def _why(outcome: Outcome, mean: Mean) -> str:
    if outcome.error is not None:
        return str(outcome.error)
    if outcome.score is None:
        return declined(outcome)
    return f"{shown_score(outcome.score, mean.needed)}  {outcome.reason or ''}".rstrip()


def _failure_lines(failed: Sequence[_Failed], count: int, width: int, *, where: str) -> list[str]:
    """One line for each of the first; errors that say the same are one. *where*: all of them are."""
    shown = failed[:_SHOWN_FAILURES]
    head = "What failed"
    if len(shown) < count:
        head += f" ({len(shown)} of {count} shown; all are in {where})"
    item_width = min(max(width_of(printable(item)) for item, *_ in shown), max(width // 3, 12))
    lines = wrapped(f"{head}:", width)
    counts = Counter(one[1:] for one in shown if one.broke)
    for one in shown:
        same = counts.pop(one[1:], 0) if one.broke else 1
        if not same:
            continue
        lead = f"  {fitted_id(printable(one.item), item_width)}  {printable(one.place)}: "
        least = "at least " if len(shown) < count else ""  # those that are not shown were not compared
        more = f" (the same on {least}{same - 1} more)" if same > 1 else ""
        told = f"{lead}{cut(printable(one.why), _LONGEST_REASON)}{more}"
        lines += wrapped(told, width, indent=" " * (item_width + 4))
    return lines


def _decline_lines(means: Sequence[Mean], width: int) -> list[str]:
    """Why items were declined, for each column: the most frequent reasons, each with its count."""
    lines = ["What was declined:"]
    for mean in means:
        told = [f"{reason or 'without a reason'} ({count})" for reason, count in mean.declines[:_SHOWN_REASONS]]
        left = mean.not_scorable - sum(count for _, count in mean.declines[:_SHOWN_REASONS])
        told += [f"for other reasons ({left})"] if left else []
        if told:
            lines += wrapped(f"  {_place(mean)}: {printable('; '.join(told))}", width, indent="    ")
    return lines


def _judge_lines(means: Sequence[Mean], width: int) -> list[str]:
    lines = ["What judges took:"]
    for mean in means:
        if mean.judge is not None:
            lines += wrapped(f"  {_place(mean)}: {judge_text(mean.judge)}", width, indent="    ")
    return lines


def footer(result: EvalResult) -> str:
    """The run in numbers, on one line."""
    summary = result.summary
    missing = summary.planned is not None and summary.planned > summary.items
    parts = [f"{summary.items} of {plural(summary.planned or 0, 'item')}" if missing else plural(summary.items, "item")]
    if summary.errors:
        parts.append(f"{summary.errors} with no reply")
    if summary.outcome_errors:
        parts.append(plural(summary.outcome_errors, "scorer error"))
    if declined := summary.declined or summary.not_scorable.total:
        parts.append(f"{declined} declined")
    if summary.tokens is not None:
        parts.append(f"{summary.tokens} tokens")
    if summary.cost is not None:
        parts.append(f"{summary.cost.amount:.4f} {summary.cost.unit}")
    if summary.duration_ms is not None:
        parts.append(f"{summary.duration_ms / 1000:.1f} s")
    if result.run is not None:
        parts.append(f"kept as {printable(result.run)}")
    return ", ".join(parts) + (_first_note(summary.notes) if summary.notes else "")


def _first_note(notes: Sequence[str]) -> str:
    return f"; {plural(len(notes), 'note')}: {cut(printable(notes[0]), _LONGEST)}"
