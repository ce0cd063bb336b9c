"""How a built-in scorer is built: from a look at the run, a score read off the findings, a sentence about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Literal

from proctor.errors import UsageError
from proctor.scoring.scorer import Kind, Scorer
from proctor.scoring.steps import StepContext

__all__ = ["Findings", "bool_option", "build_check", "count_option", "quote", "text_option"]


class Findings(Mapping[str, Any]):
    """What a scorer found: counts and verdicts by name. It cannot be changed, so runs that find the same share one."""

    __slots__ = ("_places", "_values")

    def __init__(self, **found: Any) -> None:
        self._places = _places(tuple(found))
        self._values = tuple(found.values())

    @classmethod
    def of(cls, *names: str) -> Callable[..., Findings]:
        """What makes findings of these *names* from their values alone, for a check that finds something in each item.

        >>> Findings.of("count", "passed")(2, True)
        {'count': 2, 'passed': True}
        """
        places, new = _places(names), object.__new__

        def found(*values: Any) -> Findings:
            made = new(cls)
            made._places = places  # noqa: SLF001 - it is one of these
            made._values = values  # noqa: SLF001
            return made

        return found

    def __getitem__(self, name: str) -> Any:
        value = self._values[self._places[name]]
        return list(value) if type(value) is tuple else value  # plain data, as it is read back

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return repr(dict(self))


@cache
def _places(names: tuple[str, ...]) -> dict[str, int]:
    """Where each name has its value: one dict for all findings of the same names."""
    return {name: at for at, name in enumerate(names)}


def build_check(
    *,
    id: str,
    name: str,
    description: str,
    arguments: Mapping[str, Any],
    defaults: Mapping[str, Any],
    look: Callable[[StepContext], Any],
    score: Callable[[StepContext], Any],
    reason: Callable[[StepContext], str],
    kind: Kind = "binary",
    positional: str | None = None,
    type: Literal["agent", "trajectory"] = "agent",
    parts: tuple[Scorer, ...] = (),
) -> Scorer:
    """A built-in scorer. *look* may also give `not_scorable(...)`, or a `Hop` when the work turns out to be long.

    *arguments*: all of them; *defaults*: of those that have one. *positional*: the one that stands bare in the key; the
    first that has no default when not given. *parts*: the scorers that it is made of.
    """
    given = {key: value for key, value in arguments.items() if key not in defaults or defaults[key] != value}
    return Scorer(
        id=id,
        name=name,
        description=description,
        type=type,
        kind=kind,
        steps={"preprocess": look, "generate_score": score, "generate_reason": reason},
        arguments=given,
        positional=positional or next((key for key in arguments if key not in defaults), None),
        builtin=True,
        parts=parts,
    )


def quote(text: str, *, around: int = -1, limit: int = 60) -> str:
    """A piece of *text* in quotes: its beginning, or the part *around* a place."""
    start = around - limit // 3 if around > limit // 3 else 0
    end = start + limit
    piece = " ".join(text[start:end].split())
    return f'"{"..." if start else ""}{piece}{"..." if len(text) > end else ""}"'


def text_option(value: Any, *, name: str, check: str) -> str:
    """*value* when it is text that is not empty, else a `UsageError`."""
    if not isinstance(value, str):
        raise UsageError(f"{check}: {name} must be text, not {value!r}")
    if not value:
        raise UsageError(f"{check}: {name} is empty, which every answer contains; say what to look for")
    return value


def count_option(value: Any, *, name: str, check: str, least: int) -> int:
    """*value* when it is a whole number of at least *least*, else a `UsageError`."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise UsageError(f"{check}: {name} must be a whole number, {least} or more, not {value!r}")
    return value


def bool_option(value: Any, *, name: str, check: str) -> bool:
    """*value* when it is True or False, else a `UsageError`."""
    if not isinstance(value, bool):
        raise UsageError(f"{check}: {name} must be True or False, not {value!r}")
    return value
