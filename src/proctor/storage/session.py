"""What a run was of: whether what another run recorded can be gone on from.

The target and each scorer count by fingerprints, which are equal, different or unknown. Of what a target closes over
only texts, floats, bools and None are in its fingerprint, and nothing of what it is bound to: a counter in it does not
make it another target.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import FunctionType, MethodType
from typing import Any

from proctor.data.column import Column
from proctor.data.plain import canonical_json, plain
from proctor.data.secrets import redact
from proctor.data.value import Value
from proctor.errors import EncodingError
from proctor.plugins import import_object
from proctor.running.columns import read_cells
from proctor.running.eval import Eval
from proctor.scoring.fingerprint import UNKNOWN, function_content

__all__ = ["Session", "known_difference", "session_of"]

_NO_TARGET = "none"
_NONE = (UNKNOWN, _NO_TARGET)
_SETTINGS = (str, float, bool, type(None))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Session(Value):
    """One run, as its file says it: fingerprints of the target, of the options it is told, and of the run's scorers.

    Scorers of single items are not in it: which there are shows as the items come.
    """

    name: str | None = None
    target: str = _NO_TARGET
    options: str = UNKNOWN
    columns: Mapping[Column, str] = field(default_factory=dict)

    def differs_in(self, column: Column, now: Session) -> bool:
        """Whether the scorer of a column is known to be another now."""
        return _differ(self.columns.get(column, UNKNOWN), now.columns.get(column, UNKNOWN))


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
        target=_NO_TARGET if evaluation.target is None else _digest_of_target(evaluation.target),
        options=_digest([options, evaluation.request_context or {}]),
        columns={cell.column: cell.scorer.fingerprint for cell in cells},
    )


def known_difference(earlier: Sequence[Session], now: Session) -> str | None:
    """What of *now* differs from the last earlier run of which it is known: `the target is`, or that of the options.

    The last one counts: whoever went on from others has accepted them.
    """
    if _differ(_last([then.target for then in earlier]), now.target):
        return "the target is"
    if _differ(_last([then.options for then in earlier]), now.options):
        return "target_options or request_context are"
    return None


def _last(fingerprints: Sequence[str]) -> str:
    return next((one for one in reversed(fingerprints) if one not in _NONE), UNKNOWN)


def _differ(one: str, other: str) -> bool:
    return one != other and one not in _NONE and other not in _NONE


def _digest_of_target(target: Any) -> str:
    thing = import_object(target) if isinstance(target, str) else target
    try:
        return _digest(_content(thing))
    except (EncodingError, RecursionError):
        return UNKNOWN


def _content(thing: Any) -> Any:
    """The source of a function, its defaults, and the settings that it closes over."""
    if isinstance(thing, MethodType):
        return _content(thing.__func__)
    if isinstance(thing, partial):
        return [_content(thing.func), plain(list(thing.args)), plain(thing.keywords)]
    if not isinstance(thing, FunctionType):
        raise EncodingError("", f"a {type(thing).__name__} has no source text")
    bare = FunctionType(thing.__code__, thing.__globals__, thing.__name__, thing.__defaults__, _empty(thing))
    bare.__kwdefaults__ = thing.__kwdefaults__
    bare.__dict__.update(thing.__dict__)  # a decorated function's source is that of the function inside
    settings = {
        name: cell.cell_contents
        for name, cell in zip(thing.__code__.co_freevars, thing.__closure__ or (), strict=True)
        if _is_setting(cell)
    }
    return [function_content(bare), settings]


def _empty(thing: FunctionType) -> Any:
    """A closure of the right size with nothing in it."""
    from types import CellType

    return tuple(CellType() for _ in thing.__code__.co_freevars)


def _is_setting(cell: Any) -> bool:
    try:
        return type(cell.cell_contents) in _SETTINGS
    except ValueError:
        return False  # a name that is not bound yet


def _digest(content: Any) -> str:
    """A fingerprint of it without its secrets: a renewed key makes no other run."""
    try:
        text = canonical_json(redact(plain(content)))
    except (EncodingError, RecursionError):
        return UNKNOWN
    from hashlib import sha256

    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
