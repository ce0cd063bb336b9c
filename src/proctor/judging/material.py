"""What nobody means to show a model: functions that were not called, and whole runs, which know the right answer."""

from __future__ import annotations

from collections.abc import Mapping
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, Final

from proctor.errors import UsageError

__all__ = ["refuse_misgiven"]

_INSTEAD: Final[Mapping[str, str]] = {
    "Fence": "ctx.fence itself: call it, as in ctx.fence(ctx.run.text, 'answer')",
    "ScorerRun": "a ScorerRun: write ctx.fence(ctx.run.text, 'answer')",
    "StepContext": "ctx itself: write ctx.fence(ctx.run.text, 'answer')",
}


def refuse_misgiven(value: Any, *, said: str) -> None:
    """Raise a `UsageError` for what is no material. *said*: the beginning of the sentence, such as "create= gave".

    >>> from proctor import not_scorable
    >>> refuse_misgiven(not_scorable, said="create= gave")
    Traceback (most recent call last):
    proctor.errors.UsageError: create= gave a function (not_scorable), not a prompt: call it, as in not_scorable('why')
    """
    if isinstance(value, FunctionType | MethodType | BuiltinFunctionType):
        name = value.__name__
        call = "" if name == "<lambda>" else f", as in {name}({_ARGUMENTS.get(name, '...')})"
        raise UsageError(f"{said} a function ({name}), not a prompt: call it{call}")
    for kind in type(value).__mro__:
        if kind.__module__.startswith("proctor.") and kind.__name__ in _INSTEAD:
            raise UsageError(f"{said} {_INSTEAD[kind.__name__]}")


_ARGUMENTS: Final[Mapping[str, str]] = {"not_scorable": "'why'"}
