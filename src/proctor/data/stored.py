"""What a store says of a run and of its rows without reading them whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from proctor.data.value import Value

__all__ = ["Page", "RowInfo", "RunInfo", "StoredStatus"]

StoredStatus = Literal["running", "interrupted", "complete", "cancelled", "stopped"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RunInfo(Value):
    """A run as lists show it. *name*: what people call it; *eval_name*: the `name=` of its Eval.

    *kind*: `run`, or `rescore`: then *parent* is the name of the run whose replies it scored. *source*: the eval file
    and the name in it; *options*: what the command line changed of it. *status*: `interrupted` when its process ended
    without saying so. *rows*: how many are there, of which *finished* ended; *errors*, *failures*: as in the summary,
    None until a sitting has ended. *sittings*: how often it was worked at. *spent_ms*: wall time of all of them.
    """

    name: str
    eval_id: str
    eval_name: str | None = None
    kind: Literal["run", "rescore"] = "run"
    parent: str | None = None
    source: str | None = None
    options: Mapping[str, Any] | None = None
    status: StoredStatus = "running"
    verdict: str | None = None
    sentence: str = ""
    started_at: str = ""
    ended_at: str | None = None
    spent_ms: float = 0.0
    sittings: int = 1
    rows: int = 0
    finished: int = 0
    errors: int | None = None
    failures: int | None = None
    repeats: int = 1


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RowInfo(Value):
    """A row as pages show it. *worst*: its lowest score on 0 to 1, 1 being the good end; None when nothing was scored.

    *failed*: outcomes that fell short of a gate or threshold; *errors*: scorers that broke.
    """

    item_id: str
    repeat: int = 0
    index: int = 0
    status: str = "done"
    failed: int = 0
    errors: int = 0
    worst: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Page(Value):
    """Some rows of a run. *after*: what to give for the next page; None when this is the last."""

    rows: tuple[RowInfo, ...] = ()
    after: tuple[float | int, ...] | None = None
