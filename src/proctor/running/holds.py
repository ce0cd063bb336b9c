"""What still holds of a row that an earlier run left, and what of it the row goes on from.

Its item may have been changed since, under the same id; a conversation may have broken off between two turns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from proctor.data.codec import encode
from proctor.data.column import Column, ScorerRef
from proctor.data.item import Item
from proctor.data.outcome import Outcome, Outcomes
from proctor.data.reply import ItemResult, Reply
from proctor.data.secrets import safe_json
from proctor.data.value import MISSING, Missing
from proctor.running.rows import Row
from proctor.running.score import any_failed
from proctor.running.target import Target
from proctor.scoring.entry import ScorerEntry
from proctor.scoring.fingerprint import UNKNOWN
from proctor.scoring.scorer import Scorer

__all__ = ["Have", "what_holds", "what_to_go_on_from"]

Have: TypeAlias = Mapping[Column, Outcome]
Redacted: TypeAlias = Callable[[Any], Any]


def what_holds(found: ItemResult, row: Row, *, redacted: Redacted | None = None) -> ItemResult | None:
    """*found* itself when its item is the row's; without what is not, when the item is to be judged otherwise now.

    None when the target is to be asked something else: then nothing holds. An item of which nothing was recorded (only
    its id) is taken to be the row's. *redacted*: what the recorder makes of an encoded value before it keeps it.
    """
    then, now = found.item, row.item
    if then is now or _is_unknown(then):
        return found
    if not _same(_asked(then), _asked(now), redacted):
        return None
    if not _same(_judged(then), _judged(now), redacted):
        return _without(found, {outcome.column for outcome in found.outcomes})
    others = _other_scorers(then, row)
    return _without(found, others) if others else found


def what_to_go_on_from(found: ItemResult, row: Row, *, target: Target | None) -> tuple[tuple[Reply, ...], Have]:
    """The replies that need not be asked for, and the outcomes that are there; nothing when the row is begun anew.

    An outcome that is not there may have asked judges before it was left: those answers were paid for.
    """
    have = {outcome.column: outcome for outcome in found.outcomes if outcome.status != "not_run" or outcome.judge}
    replies, needed = found.replies, max(len(row.turns), 1)
    if len(replies) == needed:
        return replies, have
    if not replies or len(replies) > needed or any(reply.error is not None for reply in replies):
        return (), {}
    have = {column: it for column, it in have.items() if column.turn is not None and column.turn < len(replies)}
    if _was_stopped(row, len(replies) - 1, have) or (target is not None and _can_go_on(target, replies)):
        return replies, have
    return (), {}


def _was_stopped(row: Row, last: int, have: Have) -> bool:
    """Whether a gate of the *last* turn ended the conversation, so that nothing more is asked."""
    gates = [cell for cell in row.turns[last].gates if cell.column in have]
    return row.item.stop_on_failure and any_failed(gates, Outcomes(have[cell.column] for cell in gates))


def _can_go_on(target: Target, replies: Sequence[Reply]) -> bool:
    """Whether the next turn can be sent: nothing is remembered, or what was said is on one thread that is still there.

    A thread that no reply names cannot be found again.
    """
    threads = {reply.origin.thread_id if reply.origin else None for reply in replies}
    return target.durable and (not target.remembers or (len(threads) == 1 and None not in threads))


def _without(found: ItemResult, columns: set[Column]) -> ItemResult:
    """What is left for the run to go on from."""

    def rest(outcomes: Outcomes) -> Outcomes:
        return Outcomes(outcome for outcome in outcomes if outcome.column not in columns)

    return replace(
        found,
        status="not_run",
        gates=rest(found.gates),
        scorers=rest(found.scorers),
        steps=rest(found.steps),
        trajectory=rest(found.trajectory),
        turns=tuple(replace(turn, gates=rest(turn.gates), scorers=rest(turn.scorers)) for turn in found.turns),
    )


def _other_scorers(then: Item, row: Row) -> set[Column]:
    """The columns whose scorer, given by the item itself, is known to be another now."""
    lists: list[tuple[int | None, Sequence[Any], Sequence[Any]]] = [(None, then.gates, then.scorers)]
    if not isinstance(then.turns, Missing):
        lists += [(index, turn.gates, turn.scorers) for index, turn in enumerate(then.turns)]
    prints = {
        (position, turn, ref.key): ref.fingerprint
        for turn, gates, scorers in lists
        for position, entries in (("gate", gates), ("scorer", scorers))
        for ref in map(_ref, entries)
        if ref is not None and ref.fingerprint != UNKNOWN
    }
    if not prints:
        return set()
    return {
        cell.column
        for cell in row.cells
        if (print_then := prints.get((cell.column.position, cell.column.turn, cell.scorer.key))) is not None
        and cell.scorer.fingerprint not in (UNKNOWN, print_then)
    }


def _ref(entry: Any) -> ScorerRef | None:
    """An entry as it was written, or as it was given in this process; None for one that tells nothing."""
    if isinstance(entry, list | tuple) and entry:
        entry = entry[0]
    if isinstance(entry, ScorerEntry):
        entry = entry.scorer
    if isinstance(entry, Scorer):
        return entry.to_ref()
    return entry if isinstance(entry, ScorerRef) else None


def _is_unknown(item: Item) -> bool:
    return all(value is MISSING for value in (item.input, item.inputs, item.turns, item.output))


def _same(then: list[Any], now: list[Any], redacted: Redacted | None) -> bool:
    """Whether two lists are written alike; texts need not be written for that."""
    texts = all(a is b or (type(a) is str and type(b) is str and a == b) for a, b in zip(then, now, strict=True))
    return texts or _text(then) == _text(now, redacted)


def _text(values: list[Any], redacted: Redacted | None = None) -> str:
    """As it is written, where 1 and True are two things, and secrets are not."""
    encoded = encode(values)
    return safe_json(encoded if redacted is None else redacted(encoded), sort_keys=True)


def _asked(item: Item) -> list[Any]:
    """What the target is told."""
    turns = () if isinstance(item.turns, Missing) else [turn.input for turn in item.turns]
    return [item.input, item.inputs, turns, item.output, item.request_context, item.tool_mocks, item.unmocked]


def _judged(item: Item) -> list[Any]:
    """What else the scorers see."""
    truths = () if isinstance(item.turns, Missing) else [turn.ground_truth for turn in item.turns]
    return [item.ground_truth, truths, item.context, item.expected_trajectory, item.metadata]
