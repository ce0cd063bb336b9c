"""From the settings of a judge to the model that is asked."""

from __future__ import annotations

import os
from threading import Lock
from typing import Any, Final

from proctor.data.value import shown
from proctor.errors import UsageError
from proctor.judging.judge import DEFAULT_MODEL, Judge
from proctor.judging.model import JudgeModel
from proctor.plugins import import_object

__all__ = ["model_for", "require_askable"]

MISSING: Final = "SCORER_FAILED_TO_RUN_MISSING_MODEL_OR_INSTRUCTIONS"

_RESOLVED: dict[tuple[Any, ...], JudgeModel] = {}
_OF_OBJECTS: dict[int, tuple[Any, JudgeModel]] = {}
_LOCK = Lock()


def model_for(judge: Judge) -> JudgeModel:
    """The model of a judge, made once in a process. Raises `UsageError` for one that cannot be asked, before it is.

    What can be known without a call: the provider, its key, its package.
    """
    given = judge.model or os.environ.get(DEFAULT_MODEL)
    if given is None or given == "":
        raise UsageError(f"no model: give Judge('provider:model'), or set {DEFAULT_MODEL}", code=MISSING)
    if isinstance(given, str):
        with _LOCK:
            key = (given, judge.base_url, _access())
            if key not in _RESOLVED:
                _RESOLVED[key] = import_object("proctor.models.router:resolve")(given, base_url=judge.base_url)
            return _RESOLVED[key]
    if judge.base_url is not None:
        raise UsageError("Judge(base_url=...) goes with the name of a model; a model object has its own address")
    if isinstance(given, JudgeModel):
        return given
    if _is_of(given, "pydantic_ai"):
        with _LOCK:
            if id(given) not in _OF_OBJECTS:
                _OF_OBJECTS[id(given)] = (given, import_object("proctor.models.pydantic_ai:PydanticAIModel")(given))
            return _OF_OBJECTS[id(given)][1]
    raise UsageError(
        f"Judge(model=...) is 'provider:model', a ScriptedModel, a model of pydantic-ai, or another object with the "
        f"parts of a JudgeModel, not {shown(given)}"
    )


def require_askable(judge: Judge | None, *, whose: str) -> JudgeModel:
    """The model, for a judge that has instructions, too. *whose*: named in the error."""
    judge = judge or Judge()
    try:
        model = model_for(judge)
    except UsageError as problem:
        raise UsageError(f"{whose}: {problem}", code=problem.code) from problem
    if not (judge.instructions or "").strip():
        raise UsageError(f"{whose}: the judge has no instructions; give Judge(instructions='...')", code=MISSING)
    return model


def _access() -> tuple[tuple[str, str], ...]:
    """Keys and addresses as they are set now: another key is another model."""
    names = [name for name in os.environ if name.endswith(("_API_KEY", "_BASE_URL"))]
    return tuple((name, os.environ.get(name, "")) for name in sorted(names))


def _is_of(value: Any, package: str) -> bool:
    """Whether an object is of a package, by its class and bases: nothing is imported to ask."""
    return any(kind.__module__.partition(".")[0] == package for kind in type(value).__mro__)
