"""The path that an agent took, as a judge is shown it: the steps of every depth, each with its name first."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

from proctor.data.message import ToolCall
from proctor.data.plain import DEEPEST
from proctor.data.trajectory import ExpectedStep, Step, Trajectory, TrajectoryExpectation
from proctor.data.value import MISSING, Value, shown
from proctor.errors import UsageError
from proctor.scorers.actions import own_fields
from proctor.scoring.run import ScorerRun

__all__ = ["Path", "flat", "path_of", "steps_in"]

_RENAMED: Final = {"step_type": "type", "tool_args": "arguments", "tool_result": "result"}
_NOT_SHOWN: Final = frozenset({"metadata", "duration_ms", "prompt_tokens", "completion_tokens"})
_WHERE: Final = 80
_HUMP: Final = re.compile(r"(?<=[a-z0-9])([A-Z])")


@dataclass(frozen=True, slots=True, repr=False)
class Path(Value):
    """What an agent did. *steps*: of every depth, depth first. *run*: the one that has the messages."""

    steps: tuple[Mapping[str, Any], ...]
    run: ScorerRun


def path_of(run: ScorerRun) -> Path:
    """The path of a run. A view for `run.once`."""
    if run.trajectory is not None:
        return Path(flat(steps_in(run.trajectory) or (), "trajectory"), run)
    output = run.output
    is_path = isinstance(output, Trajectory) or (
        isinstance(output, Mapping) and isinstance(output.get("steps"), list) and "role" not in output
    )
    if not is_path:
        return Path(tuple(_call_step(call) for call in run.tool_calls), run)
    raw = _given(output).get("raw_output", MISSING)
    steps = flat(steps_in(output) or (), "output")
    return Path(steps, run.replace(output=[] if raw is MISSING or raw is None else raw))


def _call_step(call: ToolCall) -> Mapping[str, Any]:
    known = {"arguments": call.args, "result": call.result, "error": MISSING if call.error is None else call.error}
    shown_fields = {name: value for name, value in known.items() if value is not MISSING}
    return {"name": call.name, "type": "tool_call", **shown_fields}


def flat(steps: Any, where: str) -> tuple[Mapping[str, Any], ...]:
    """Steps of every depth, depth first; those within another say within which number.

    Raises `UsageError` for what is no step, and for steps that are within themselves.
    """
    found: list[Mapping[str, Any]] = []
    _add(found, steps, where, above=(), within={})
    return tuple(found)


def _add(
    found: list[Mapping[str, Any]], steps: Any, where: str, *, above: tuple[int, ...], within: Mapping[str, int]
) -> None:
    if id(steps) in above or len(above) >= DEEPEST:
        raise UsageError(f"{where[:_WHERE]}: steps are nested deeper than {DEEPEST} levels, or are within themselves")
    for at, step in enumerate(steps):
        made, children = _shown_step(step, f"{where}.steps[{at}]")
        found.append({**within, **made})
        inner = steps_in(children)
        if inner:
            below = f"{where}.steps[{at}].children"
            _add(found, inner, below, above=(*above, id(steps)), within={"within": len(found)})


def steps_in(value: Any) -> Sequence[Any] | None:
    """The steps of a trajectory or an expectation, or of a list of them; None when it says nothing of steps."""
    if isinstance(value, Trajectory | TrajectoryExpectation):
        return value.steps
    steps = value.get("steps") if isinstance(value, Mapping) else value
    if steps is None or (isinstance(steps, Sequence) and not isinstance(steps, str | bytes)):
        return steps
    raise UsageError(f"steps are a list, not {shown(steps)}")


def _shown_step(step: Any, where: str) -> tuple[Mapping[str, Any], Any]:
    """What the judge sees of a step, its name first; and its children."""
    if isinstance(step, str):
        step = {"name": step}
    if not isinstance(step, Step | ExpectedStep | Mapping):
        raise UsageError(f"{where} is a step, a mapping with a name, or a name, not {shown(step)}")
    known = {name: value for name, value in _given(step).items() if value is not None and value is not MISSING}
    name, children = known.pop("name", None), known.pop("children", ())
    if not isinstance(name, str) or not name.strip():
        raise UsageError(f"{where} has no name: {shown(step)}")
    more = known.pop("fields", {}) if isinstance(step, ExpectedStep) else {}
    every = {_RENAMED.get(key, key): value for key, value in (known | dict(more)).items() if key not in _NOT_SHOWN}
    return {"name": name, **own_fields(every, taken=("name", "within"))}, children


def _given(value: Any) -> dict[str, Any]:
    """The fields of a value or a mapping, by their names in snake case."""
    if isinstance(value, Mapping):
        return {_HUMP.sub(lambda found: "_" + found[1].lower(), str(key)): item for key, item in value.items()}
    return {at.name: getattr(value, at.name) for at in fields(value)}
