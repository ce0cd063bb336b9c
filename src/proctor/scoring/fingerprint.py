"""What a scorer is, in 12 hex digits, so that a stored score can be known to come from the same one.

A built-in is its id, arguments and version; a scorer among the arguments counts by its own fingerprint. A user's
function is its source text, defaults and closure values, as far as they can be written as plain data; what cannot makes
the fingerprint `unknown`, which equals nothing: better to say so than to guess. `version=` stands for all functions of
a scorer.
"""

from __future__ import annotations

import inspect
import os
from functools import partial
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

from proctor.data.plain import canonical_json, plain
from proctor.errors import EncodingError
from proctor.judging.judge import DEFAULT_MODEL, Judge
from proctor.scoring.callables import RunFunction
from proctor.scoring.steps import Prompt, Step
from proctor.scoring.written import Written

if TYPE_CHECKING:
    from proctor.scoring.scorer import Scorer

__all__ = ["UNKNOWN", "fingerprint", "function_content"]

UNKNOWN = "unknown"
_DECIDES = ("instructions", "settings", "base_url", "output_mode", "language", "window", "on_overflow")


def fingerprint(scorer: Scorer) -> str:
    """The fingerprint of *scorer*, or `unknown`."""
    content: dict[str, Any] = {"id": scorer.id, "range": list(scorer.range), "better": scorer.better}
    try:
        content["arguments"] = {name: _argument(value) for name, value in scorer.arguments.items()}
        if scorer.version is not None:
            content["version"] = scorer.version
        else:
            content |= _content(scorer)
        if scorer.questions:
            content["judges"] = {name: _judge(question.judge) for name, question in scorer.questions.items()}
        elif scorer.judge is not None:
            content["judge"] = _judge(scorer.judge)
        text = canonical_json(content)
    except (EncodingError, RecursionError):  # a function that closes over itself has no end
        return UNKNOWN
    from hashlib import sha256

    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _content(scorer: Scorer) -> dict[str, Any]:
    """What a scorer does, as far as its id and arguments do not say it."""
    own = {name: step for name, step in scorer.steps.items() if scorer.is_own(name)}
    wording = {
        name: step.create.text
        for name, step in own.items()
        if isinstance(step, Prompt) and isinstance(step.create, Written)
    }
    steps = {name: _step(step) for name, step in scorer.steps.items() if name not in own}
    kind = [_schema(schema) for schema in scorer.type] if isinstance(scorer.type, tuple) else None
    prepare_run = scorer.prepare_run and function_content(scorer.prepare_run)
    if not scorer.builtin:
        return {"steps": steps, "prepare_run": prepare_run, "type": kind}
    found = {"prompts": wording, "steps": steps, "prepare_run": prepare_run, "type": kind}
    return {name: value for name, value in found.items() if value}


def _argument(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_argument(item) for item in value]
    if hasattr(type(value), "to_ref"):
        if value.fingerprint == UNKNOWN:
            raise EncodingError("", f"the fingerprint of {value.key} is unknown")
        return {"scorer": value.fingerprint}
    return function_content(value) if callable(value) else plain(value)


def _step(step: Step) -> Any:
    if isinstance(step, Prompt):
        asked = {"prompt": step.description, "create": function_content(step.create), "output": _schema(step.output)}
        return asked if step.check is None else {**asked, "check": function_content(step.check)}
    return function_content(step)


def _judge(judge: Judge) -> dict[str, Any]:
    """What decides a judge's answers; not how long one waits for them, nor who looks on."""
    model = judge.model or os.environ.get(DEFAULT_MODEL)
    model = model if model is None or isinstance(model, str) else _name_of(model)
    decides = {name: plain(getattr(judge, name)) for name in _DECIDES if getattr(judge, name) is not None}
    return decides if model is None else {"model": model, **decides}


def _name_of(model: Any) -> str:
    """How a model object calls itself."""
    name = getattr(model, "id", None) or getattr(model, "model_id", None)
    if not isinstance(name, str):
        raise EncodingError("", f"a {type(model).__name__} has no name")
    return name


def _schema(schema: Any) -> Any:
    if hasattr(schema, "model_json_schema"):
        return schema.model_json_schema()
    return f"{schema.__module__}.{schema.__qualname__}" if isinstance(schema, type) else plain(schema)


def function_content(function: Any) -> Any:
    """What a function is: source, defaults, closure. Raises `EncodingError` for what cannot be written."""
    if isinstance(function, Written):
        return [function.text, function_content(function.material)]
    if isinstance(function, RunFunction):
        return function_content(function.function)
    if isinstance(function, partial):
        return [function_content(function.func), plain(list(function.args)), plain(function.keywords)]
    if isinstance(function, MethodType):
        return [function_content(function.__func__), plain(getattr(function.__self__, "__dict__", function.__self__))]
    if not isinstance(function, FunctionType):
        raise EncodingError("", f"a {type(function).__name__} has no source text")
    return {
        "source": _lambda_source(function) if function.__name__ == "<lambda>" else _source(function),
        "defaults": plain(list(function.__defaults__ or ())),
        "keyword_defaults": plain(function.__kwdefaults__ or {}),
        "closure": {name: _closed_over(cell) for name, cell in _cells(function)},
    }


def _source(function: FunctionType) -> str:
    from textwrap import dedent

    try:
        return dedent(inspect.getsource(function)).strip()
    except (OSError, TypeError):
        raise EncodingError("", f"the source of {function.__qualname__} cannot be read") from None


def _lambda_source(function: FunctionType) -> str:
    """A lambda's names and its own piece of the file: `getsource` gives whole lines, with other lambdas on them."""
    code = function.__code__
    spans = [
        (top, bottom, left, right)
        for top, bottom, left, right in code.co_positions()
        if top is not None and bottom is not None and left is not None and right is not None
        if (top, left) != (bottom, right)
    ]
    if not spans:
        return _source(function)
    try:
        lines = inspect.findsource(function)[0]
    except (OSError, TypeError):
        raise EncodingError("", f"the source of {function.__qualname__} cannot be read") from None
    line, left = min((top, left) for top, _, left, _ in spans)
    end, right = max((bottom, right) for _, bottom, _, right in spans)
    rows = [row.encode() for row in lines[line - 1 : end]]
    rows[-1] = rows[-1][:right]
    rows[0] = rows[0][left:]
    return f"lambda {', '.join(code.co_varnames)}: {b''.join(rows).decode(errors='replace')}"


def _cells(function: FunctionType) -> list[tuple[str, Any]]:
    return list(zip(function.__code__.co_freevars, function.__closure__ or (), strict=False))


def _closed_over(cell: Any) -> Any:
    try:
        value = cell.cell_contents
    except ValueError:
        return None  # a name that is not bound yet
    return function_content(value) if isinstance(value, FunctionType) else plain(value)
