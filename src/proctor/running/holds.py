"""What still holds of a row that an earlier run left: its item may have been changed since, under the same id."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from proctor.data.codec import encode
from proctor.data.item import Item
from proctor.data.outcome import Outcomes
from proctor.data.reply import ItemResult
from proctor.data.value import MISSING, Missing
from proctor.running.rows import Row

__all__ = ["what_holds"]


def what_holds(found: ItemResult, row: Row) -> ItemResult | None:
    """*found* itself when its item is the row's; only its replies when the item is to be judged otherwise now.

    None when the target is to be asked something else: then nothing holds. An item of which nothing was recorded (only
    its id) is taken to be the row's.
    """
    then, now = found.item, row.item
    if then is now or _is_unknown(then):
        return found
    if _text(_asked(then)) != _text(_asked(now)):
        return None
    if _text(_judged(then)) == _text(_judged(now)):
        return found
    none = Outcomes()
    return replace(found, status="not_run", gates=none, scorers=none, steps=none, trajectory=none, turns=())


def _is_unknown(item: Item) -> bool:
    return all(value is MISSING for value in (item.input, item.inputs, item.turns, item.output))


def _text(values: list[Any]) -> str:
    """As it is written, where 1 and True are two things."""
    return json.dumps(encode(values), sort_keys=True)


def _asked(item: Item) -> list[Any]:
    """What the target is told."""
    turns = () if isinstance(item.turns, Missing) else [turn.input for turn in item.turns]
    return [item.input, item.inputs, turns, item.output, item.request_context]


def _judged(item: Item) -> list[Any]:
    """What else the scorers see."""
    truths = () if isinstance(item.turns, Missing) else [turn.ground_truth for turn in item.turns]
    return [item.ground_truth, truths, item.context, item.expected_trajectory, item.metadata]
