"""A result as a flat table, one dict for each outcome: for `pandas.DataFrame(...)`, `csv.DictWriter` and their like.

    eval_id, eval_name           which run
    item_id, index, repeat       which row: the item's id, its place in the data from 0, the number of the repeat
    item_status                  how the row ended: done, error, cancelled, not_run
    tags                         the item's tags, joined by ", "
    cluster                      what the item shares with those it depends on
    column                       the label of the column, as in the table
    turn, position               where it stands: turn from 0, None for the whole item; gate, scorer, ...
    key, scorer_id               which scorer it is, and what it is
    status                       how the scorer ended: scored, not_scorable, error, cancelled, not_run
    score, label, reason         what it said; a score only when one was measured; of a decline, its reason
    fell_short                   whether the score was below a gate's top or outside a threshold's bounds; None where
                                 there is nothing to be short of, or no score
    not_run                      what happened before it could run: target_failed, gate_failed, earlier_turn_failed,
                                 stopped
    error, error_code            what failed: the scorer, or the target when the scorer was not run for it
    duration_ms                  time spent in the scorer

Every dict has every key, in this order. What is missing is None, never 0 and never an empty text of ours. A row without
any outcome is one dict whose column is None, so that no row is lost. In texts, secrets are replaced.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from proctor.data.outcome import Failure, NotRun, NotScorable, Outcome
from proctor.data.reply import ItemResult
from proctor.data.secrets import redact, redact_text
from proctor.data.shown import plural
from proctor.data.tags import tags_of
from proctor.errors import UsageError

if TYPE_CHECKING:
    from proctor.data.column import Column
    from proctor.data.result import EvalResult
    from proctor.data.threshold import Threshold

__all__ = ["RECORD_KEYS", "each_record", "records_of"]

_OF_ROW = ("eval_id", "eval_name", "item_id", "index", "repeat", "item_status", "tags", "cluster")
_OF_OUTCOME = (
    "column", "turn", "position", "key", "scorer_id", "status", "score", "label", "reason", "fell_short", "not_run",
    "error", "error_code", "duration_ms",
)  # fmt: skip
RECORD_KEYS = _OF_ROW + _OF_OUTCOME
"""The keys of every record, in order."""


def records_of(result: EvalResult) -> list[dict[str, Any]]:
    """The outcomes of the rows that were kept. Raises `UsageError` when none was, though some ran."""
    return list(each_record(result))


def each_record(result: EvalResult) -> Iterator[dict[str, Any]]:
    """The same, one after the other: of a result that lies in a store, however long it is."""
    if result.keep == "none" and result.summary.items:
        ran = f"{plural(result.summary.items, 'row')} ran"
        message = f'{ran}, but keep="none" kept no row: run with keep="all" for records'
        raise UsageError(message, code="ROWS_NOT_KEPT")
    needed = {mean.column: mean.needed for mean in result.means}
    for row in result.items:
        own = redact(_row(result, row))
        outcomes = row.outcomes
        for outcome in outcomes:
            yield {**own, **_outcome(outcome, row, needed)}
        if not outcomes:
            yield {**own, **dict.fromkeys(_OF_OUTCOME), **_error(row.error)}


def _row(result: EvalResult, row: ItemResult) -> dict[str, Any]:
    return {
        "eval_id": result.eval_id,
        "eval_name": result.name,
        "item_id": row.item_id,
        "index": row.index,
        "repeat": row.repeat,
        "item_status": row.status,
        "tags": ", ".join(tags_of(row.item)) or None,
        "cluster": row.item.cluster,
    }


def _outcome(outcome: Outcome, row: ItemResult, needed: dict[Column, Threshold | None]) -> dict[str, Any]:
    column, cause = outcome.column, outcome.cause
    bounds, score = needed.get(column), outcome.score if outcome.status == "scored" else None
    failure = outcome.error
    if isinstance(cause, NotRun) and cause.why == "target_failed":
        failure = row.error
    return {
        "column": redact_text(column.label),
        "turn": column.turn,
        "position": column.position,
        "key": redact_text(column.key),
        "scorer_id": column.scorer_id,
        "status": outcome.status,
        "score": score,
        "label": _clean(outcome.label),
        "reason": _clean(cause.reason if isinstance(cause, NotScorable) else outcome.reason),
        "fell_short": None if bounds is None or score is None else not bounds.admits(score),
        "not_run": cause.why if isinstance(cause, NotRun) else None,
        **_error(failure),
        "duration_ms": outcome.duration_ms,
    }


def _clean(text: str | None) -> str | None:
    return None if text is None else redact_text(text)


def _error(failure: Failure | None) -> dict[str, Any]:
    return {
        "error": None if failure is None else redact_text(str(failure)),
        "error_code": None if failure is None else failure.code,
    }
