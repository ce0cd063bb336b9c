"""Where a judged scorer has from what it reads besides question and answer: an option, a def of the run, the item.

What a def gave by mistake is no material: a coroutine, a function, a number, a whole run. It is an error that says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AnySet
from inspect import isawaitable, iscoroutine
from numbers import Number
from os import PathLike
from typing import Any

from proctor.data.plain import plain
from proctor.data.value import MISSING, Value, shown
from proctor.errors import UsageError
from proctor.judging.readable import is_opaque, readable
from proctor.scorers.material import NO_CONTEXT, tool_results
from proctor.scoring.callables import is_async, takes_one
from proctor.scoring.run import ScorerRun
from proctor.scoring.steps import Declined, StepContext

__all__ = ["ContextSource", "TextSource"]


class ContextSource:
    """Where a scorer has its context from: an extractor, else the item's own `context`, else the one it was built with.

    It is a view for `run.once`: texts that are not empty, or a decline when there are none. An item whose `context` is
    an empty list has none, whatever the scorer was built with: its search found nothing. *otherwise*: what is looked at
    in the end.
    """

    __slots__ = ("extractor", "given", "otherwise", "scorer")

    def __init__(
        self,
        context: Any,
        extractor: Any,
        *,
        scorer: str,
        otherwise: Callable[[ScorerRun], Sequence[str]] | None = None,
    ) -> None:
        if extractor is not None:
            if not callable(extractor) or not takes_one(extractor) or is_async(extractor):
                raise UsageError(
                    f"{scorer}: context_extractor is a def of one argument, the run, that gives texts, "
                    f"not {shown(extractor)}"
                )
            if context is not None:
                raise UsageError(f"{scorer}: give context= or context_extractor=, not both")
        self.given = None if context is None else tuple(_pieces(context, said=f"{scorer}: context is"))
        if self.given == ():
            raise UsageError(f"{scorer}: context is a text, or a list of texts that is not empty, not {shown(context)}")
        self.extractor = extractor
        self.otherwise = otherwise
        self.scorer = scorer

    @property
    def is_slow(self) -> bool:
        """Whether it calls what others wrote."""
        return self.extractor is not None and self.extractor is not tool_results

    def __call__(self, run: ScorerRun) -> tuple[str, ...] | Declined:
        """The pieces of context of a run."""
        said = f"{self.scorer}: context_extractor gave"
        if self.extractor is not None:
            found = self.extractor(run)
            if isinstance(found, Declined):
                return found
        elif run.context is not None and run.context is not MISSING:
            found, said = run.context, f"{self.scorer}: the item's context is"
        else:
            found = self.given or (self.otherwise(run) if self.otherwise else ())
        return tuple(_pieces(found, said=said)) or NO_CONTEXT


class TextSource:
    """Where a scorer has a text from: a text that it was built with, or a def of the run that gives one.

    It is a view for `run.once`: text that is not empty, or a decline. *otherwise*: gives it where there is neither;
    *missing*: what is said when nothing is found.
    """

    __slots__ = ("given", "missing", "otherwise", "said")

    def __init__(
        self,
        given: Any,
        *,
        name: str,
        scorer: str,
        missing: Declined,
        otherwise: Callable[[ScorerRun], str | Declined] | None = None,
    ) -> None:
        is_function = callable(given) and takes_one(given) and not is_async(given)
        is_left_out = given is None and otherwise is not None
        if not is_function and not is_left_out and not (isinstance(given, str) and given.strip()):
            raise UsageError(
                f"{scorer}: {name} is a text that is not empty, or a def of one argument, the run, that gives one, "
                f"not {shown(given)}"
            )
        self.given = given
        self.missing = missing
        self.otherwise = otherwise
        self.said = f"{scorer}: {name} gave"

    @property
    def is_slow(self) -> bool:
        """Whether it calls what others wrote."""
        return callable(self.given)

    def __call__(self, run: ScorerRun) -> str | Declined:
        """The text of a run."""
        if callable(self.given):
            found = self.given(run)
            if isinstance(found, Declined):
                return found
            text = "" if found is None or found is MISSING else readable(_listed(found, said=self.said))
        else:
            found = self.given if self.given is not None else self.otherwise(run) if self.otherwise else ""
            text = "" if isinstance(found, Declined) else found
        return text.strip() or self.missing


def _pieces(value: Any, *, said: str) -> list[str]:
    """The texts in a context: one for each entry of a list, those that say nothing left out."""
    if value is None or value is MISSING:
        return []
    listed = _listed(value, said=said)
    if not isinstance(listed, list | tuple):
        return [text for text in [readable(listed)] if text.strip()]
    given = [(at, piece) for at, piece in enumerate(listed) if piece is not None and piece is not MISSING]
    for at, piece in given:
        _refuse(piece, said=f"{said} a list, of which [{at}] is")
    return [text for _, piece in given if (text := readable(piece)).strip()]


def _listed(value: Any, *, said: str) -> Any:
    """*value* as it is, or as a list when it can be gone through and is neither text nor a mapping."""
    _refuse(value, said=said)
    if isinstance(value, str | bytes | Mapping | Value | list | tuple):
        return value
    made = plain(value)  # models of other packages can be gone through, too: by their fields
    is_list = isinstance(made, Iterable) and not isinstance(made, str | bytes | Mapping | Value)
    return list(made) if is_list else made


def _refuse(value: Any, *, said: str) -> None:
    """Raise a `UsageError` for what nobody means to show a judge, which names its type."""
    if isinstance(value, str):
        return
    kind = type(value).__name__
    if iscoroutine(value):
        value.close()
    if isawaitable(value):
        raise UsageError(f"{said} a {kind} that nobody awaited: what is called here is a def, and no async def")
    if isinstance(value, ScorerRun | StepContext):
        raise UsageError(f"{said} a whole {kind}, which knows the right answer: give texts out of it")
    if isinstance(value, AnySet):
        raise UsageError(f"{said} a {kind}, which has no order: give a list")
    if isinstance(value, Number):
        raise UsageError(f"{said} {shown(value)}, of the type {kind}, and not text: give a text")
    if isinstance(value, PathLike):
        raise UsageError(f"{said} {shown(value)}, a path and not what is in it: give its text")
    if not isinstance(value, Iterable) and is_opaque(value):
        raise UsageError(f"{said} {shown(value)}, of the type {kind}, and not text: give a text")
