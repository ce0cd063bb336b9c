"""What a run was of: whether what another run recorded can be gone on from.

The target and each scorer count by fingerprints, which are equal, different or unknown.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from proctor.data.column import Column
from proctor.data.value import Value
from proctor.running.columns import read_cells
from proctor.running.eval import Eval
from proctor.running.target_fingerprint import NO_TARGET, digest_of, target_fingerprint
from proctor.scoring.fingerprint import UNKNOWN

__all__ = ["Session", "differences", "read_session", "session_of"]

_NONE = (UNKNOWN, NO_TARGET)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Session(Value):
    """One run, as its file says it: fingerprints of the target, of the options it is told, and of the run's scorers.

    Scorers of single items are not in it: which there are shows as the items come.
    """

    name: str | None = None
    target: str = NO_TARGET
    options: str = UNKNOWN
    columns: Mapping[Column, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """As it is written; `read_session` reads it back."""
        columns = [[c.position, c.turn, c.key, c.scorer_id, fingerprint] for c, fingerprint in self.columns.items()]
        return {"name": self.name, "target": self.target, "options": self.options, "columns": columns}

    def differs_in(self, column: Column, now: Session) -> bool:
        """Whether the scorer of a column is known to be another now."""
        return _differ(self.columns.get(column, UNKNOWN), now.columns.get(column, UNKNOWN))

    def others(self, now: Session) -> frozenset[Column]:
        """The columns whose scorer is known to be another now."""
        return frozenset(column for column in self.columns if self.differs_in(column, now))


def read_session(written: Any) -> Session:
    """What `Session.to_json` gave. Raises LookupError, TypeError or ValueError for anything else."""
    columns = {Column(*column): fingerprint for *column, fingerprint in written["columns"]}
    return Session(name=written["name"], target=written["target"], options=written["options"], columns=columns)


def session_of(evaluation: Eval) -> Session:
    """What *evaluation* is of."""
    options = {name: value for name, value in (evaluation.target_options or {}).items() if name != "memory"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the plan has said it
        cells = [
            *read_cells(evaluation.gates, "gate", where="gates"),
            *read_cells(evaluation.scorers, "scorer", where="scorers"),
        ]
    return Session(
        name=evaluation.name,
        target=target_fingerprint(evaluation.target),
        options=digest_of([options, evaluation.request_context or {}]),
        columns={cell.column: cell.scorer.fingerprint for cell in cells},
    )


def differences(earlier: Sequence[Session], now: Session) -> list[str]:
    """What of the target and its options is known to differ from the last earlier run of which it is known.

    Each as half a sentence. The last one counts: whoever went on from others has accepted them.
    """
    found = []
    if _differ(_last([then.target for then in earlier]), now.target):
        found.append("the target is another")
    if _differ(_last([then.options for then in earlier]), now.options):
        found.append("target_options or request_context are others")
    return found


def _last(fingerprints: Sequence[str]) -> str:
    return next((one for one in reversed(fingerprints) if one not in _NONE), UNKNOWN)


def _differ(one: str, other: str) -> bool:
    return one != other and one not in _NONE and other not in _NONE
