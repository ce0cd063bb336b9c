"""What of a run is another than when it began: each difference said, so that nobody goes on with it unknowing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from proctor.data.shown import plural
from proctor.data.value import shown
from proctor.running.target_fingerprint import is_whole
from proctor.scoring.fingerprint import UNKNOWN
from proctor.storage.session import Session, differences

__all__ = ["all_differences", "untold"]

_THAT_MATTER = (
    "allow_unscored_gates",
    "scorer_timeout",
    "skip_scorers_after_gate_failure",
    "timeout",
)
"""The options that change what a run comes to. Target options and request context count by their fingerprint; how
many items are in flight, or what is kept, is everybody's to change."""


def all_differences(
    sessions: Sequence[Session], now: Session, *, then: Mapping[str, Any], provenance: Mapping[str, Any]
) -> list[str]:
    """Every known difference, as half a sentence. *then*, *provenance*: where the run came from, and comes from now."""
    return [
        *differences(sessions, now),
        *_scorers(sessions, now),
        *_data(then, provenance),
        *_options(then, provenance),
    ]


def _scorers(sessions: Sequence[Session], now: Session) -> list[str]:
    if not sessions:
        return []
    last = sessions[-1]
    return [
        *(f"the scorer {column.label} is another" for column in now.columns if last.differs_in(column, now)),
        *(f"the scorer {column.label} is new" for column in now.columns if column not in last.columns),
        *(f"the scorer {column.label} is gone" for column in last.columns if column not in now.columns),
    ]


def untold(now: Session) -> list[str]:
    """What nobody can tell whether it is still the same, each as a note: what is kept of it is used."""
    notes = []
    if not is_whole(now.target):
        notes.append("whether the target is still the same cannot be told; its replies were used")
    columns = sorted(column.label for column, fingerprint in now.columns.items() if fingerprint == UNKNOWN)
    if columns:
        notes.append(f"whether these are still the same cannot be told: {', '.join(columns)}")
    return notes


def _data(then: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    before, after = then.get("data") or {}, now.get("data") or {}
    one, other = before.get("hash"), after.get("hash")
    if one == other or None in (one, other) or UNKNOWN in (one, other):
        return []
    had, have = before.get("items"), after.get("items")
    if had != have:
        return [f"the data has {plural(int(have or 0), 'item')}, and had {had}"]
    return [f"the data is another, though it still has {plural(int(have or 0), 'item')}"]


def _options(then: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    before, after = then.get("options") or {}, now.get("options") or {}
    return [
        f"{name} is {_said(after.get(name))}, and was {_said(before.get(name))}"
        for name in _THAT_MATTER
        if before.get(name) != after.get(name)
    ]


def _said(value: Any) -> str:
    return "left at its default" if value is None else shown(value)
