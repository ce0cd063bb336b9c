"""Values as rows of the tables, and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import RowMapping

from proctor.data.codec import decode
from proctor.data.column import Column
from proctor.data.item import Item
from proctor.data.judge import JudgeRecord
from proctor.data.outcome import Outcome, Outcomes, RunSnapshot
from proctor.data.reply import ItemResult, Reply, TurnOutcomes
from proctor.data.value import MISSING
from proctor.running.columns import Cell
from proctor.storage.texts import Pen, from_json, plain_text, written_text

__all__ = ["column_row", "counts", "execution_rows", "item_result", "outcome_body", "read_outcome", "scaled"]


def outcome_body(outcome: Outcome, pen: Pen) -> str | None:
    """What of an outcome has no column of its own; None when there is nothing. The judge's executions go elsewhere."""
    body: dict[str, Any] = {}
    for name in ("label", "reason", "cause", "origin", "run_id"):
        value = getattr(outcome, name)
        if value is not None:
            body[name] = value
    seen = outcome.evidence
    if seen is not None:
        body["evidence"] = _snapshot(seen, outcome)
    return pen.write(body) if body else None


def _snapshot(seen: RunSnapshot, outcome: Outcome) -> dict[str, Any]:
    """Of the evidence, what the outcome does not say itself."""
    kept: dict[str, Any] = {}
    if seen.score != outcome.score:
        kept["score"] = seen.score
    if seen.reason != outcome.reason:
        kept["reason"] = seen.reason
    if seen.preprocess_step_result is not MISSING:
        kept["preprocess"] = seen.preprocess_step_result
    if seen.analyze_step_result is not MISSING:
        kept["analyze"] = seen.analyze_step_result
    if seen.prompts is not None:
        kept["prompts"] = seen.prompts
    if seen.judge is not None:
        kept["judge"] = list(seen.judge)  # which steps asked one, also those without an execution
    return kept


def execution_rows(outcome: Outcome, pen: Pen) -> list[tuple[Any, ...]]:
    """For each time a judge was asked, in order, its row behind the number of its column; the body comes last."""
    return [
        (
            written_text(step),
            number,
            execution.status,
            None if execution.judge_model_id is None else written_text(execution.judge_model_id),
            None if execution.answered_by is None else written_text(execution.answered_by),
            execution.duration_ms,
            pen.write(execution),
        )
        for step, record in outcome.judge.items()
        for number, execution in enumerate(record.executions)
    ]


def column_row(column: Column, cell: Cell | None, *, pen: Pen) -> tuple[Any, ...]:
    """A column behind its number, with what its cell says of scores in it."""
    low, high = (0.0, 1.0) if cell is None else cell.scorer.range
    threshold = None if cell is None else cell.threshold
    return (
        column.position,
        column.turn,
        written_text(column.key),
        written_text(column.scorer_id),
        low,
        high,
        "higher" if cell is None else cell.scorer.better,
        None if threshold is None else pen.write(threshold),
    )


def read_outcome(row: RowMapping, column: Column, *, executions: Iterable[RowMapping]) -> Outcome:
    """An outcome from its row and those of its judges' executions, in order."""
    score, reason = row["score"], None
    body: dict[str, Any] = {} if row["body"] is None else json.loads(row["body"])
    kept = body.pop("evidence", None)
    given = {name: decode(value) for name, value in body.items()}
    reason = given.get("reason")
    evidence = None
    if kept is not None:
        asked = kept.pop("judge", None)
        kept = decode(kept)
        evidence = RunSnapshot(
            score=kept.get("score", score),
            reason=kept.get("reason", reason),
            preprocess_step_result=kept.get("preprocess", MISSING),
            analyze_step_result=kept.get("analyze", MISSING),
            prompts=kept.get("prompts"),
            judge=None if asked is None else _records(asked, executions),
        )
    return Outcome(column, row["status"], score=score, evidence=evidence, duration_ms=row["duration_ms"], **given)


def _records(steps: Sequence[str], executions: Iterable[RowMapping]) -> dict[str, JudgeRecord]:
    found: dict[str, list[Any]] = {step: [] for step in steps}
    for row in executions:
        found.setdefault(plain_text(row["step"]), []).append(from_json(row["body"]))
    return {step: JudgeRecord(tuple(each)) for step, each in found.items()}


def item_result(
    row: RowMapping, replies: Sequence[RowMapping], *, outcomes: Sequence[Outcome], ended: bool = True
) -> ItemResult:
    """A row of the run: *outcomes* in the order of their columns. *ended*: else it is `not_run`, to be gone on with."""
    item: Item = from_json(row["body"])
    turns = () if not ended else _turns(item, outcomes)
    whole = outcomes if not ended else [outcome for outcome in outcomes if outcome.column.turn is None]
    error = row["error"]
    return ItemResult(
        item=item,
        item_id=plain_text(row["item_id"]),
        index=max(row["place"], -1 - row["place"]),
        repeat=row["repeat"],
        status=row["status"] if ended else "not_run",
        replies=tuple(_reply(reply) for reply in replies),
        gates=_at(whole, "gate"),
        scorers=_at(whole, "scorer") if ended else Outcomes(o for o in whole if o.column.position != "gate"),
        steps=Outcomes(o for o in whole if o.column.position.startswith("step:")) if ended else Outcomes(),
        trajectory=_at(whole, "trajectory") if ended else Outcomes(),
        turns=turns,
        error=None if error is None else from_json(error),
    )


def _reply(row: RowMapping) -> Reply:
    reply: Reply = from_json(row["body"])
    return reply


def _turns(item: Item, outcomes: Sequence[Outcome]) -> tuple[TurnOutcomes, ...]:
    given = item.inputs if item.inputs is not MISSING else item.turns
    if given is MISSING:
        return ()
    by_turn: dict[int, list[Outcome]] = {}
    for outcome in outcomes:
        if outcome.column.turn is not None:
            by_turn.setdefault(outcome.column.turn, []).append(outcome)
    return tuple(
        TurnOutcomes(turn, _at(by_turn.get(turn, ()), "gate"), _at(by_turn.get(turn, ()), "scorer"))
        for turn in range(len(given))  # type: ignore[arg-type]  # a plan takes only lists here
    )


def _at(outcomes: Iterable[Outcome], position: str) -> Outcomes:
    return Outcomes(outcome for outcome in outcomes if outcome.column.position == position)


def counts(outcomes: Iterable[Outcome], cells: Mapping[Column, Cell]) -> tuple[int, int, float | None]:
    """How many fell short, how many broke, and the worst score on 0 to 1; None when there is none."""
    failed = errors = 0
    worst: float | None = None
    for outcome in outcomes:
        if outcome.status == "error":
            errors += 1
        score = outcome.score
        if score is None or outcome.status != "scored":
            continue
        cell = cells.get(outcome.column)
        if cell is None:
            continue
        failed += cell.misses(score)
        good = scaled(score, cell.scorer.range, better=cell.scorer.better)
        if worst is None or good < worst:
            worst = good
    return failed, errors, worst


def scaled(score: float, bounds: tuple[float, float], *, better: str) -> float:
    """A score on 0 to 1, where 1 is the good end.

    >>> scaled(3.0, (1.0, 5.0), better="lower")
    0.5
    """
    low, high = bounds
    if high <= low:
        return 1.0
    place = min(max((score - low) / (high - low), 0.0), 1.0)
    return place if better == "higher" else 1.0 - place
