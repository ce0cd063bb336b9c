"""Arguments that are not taken, said with what may be meant: signatures stay as they are, for editors and checkers."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from proctor.errors import UsageError, did_you_mean

__all__ = ["told", "told_class"]

P = ParamSpec("P")
T = TypeVar("T")
C = TypeVar("C", bound=type)
Hint = Callable[[str, Any], str | None]


def told(hint: Hint, *, by_place: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """For a function: raise `UsageError` for arguments that it does not take.

    *hint*: of a name and its value, what to write instead, None where it does not know. *by_place*: what is said of
    too many arguments without a name.
    """

    def over(function: Callable[P, T]) -> Callable[P, T]:
        made: Callable[P, T] = _checking(function, function.__name__, hint, by_place, bound=0)
        return made

    return over


def told_class(hint: Hint, *, by_place: str) -> Callable[[C], C]:
    """The same for what makes a dataclass."""

    def over(cls: C) -> C:
        type.__setattr__(cls, "__init__", _checking(cls.__init__, cls.__name__, hint, by_place, bound=1))  # type: ignore[misc]  # its own __init__
        return cls

    return over


def _checking(function: Any, called: str, hint: Hint, by_place: str, *, bound: int) -> Any:
    code = function.__code__
    places = code.co_argcount
    names = code.co_varnames[bound : places + code.co_kwonlyargcount]
    known = frozenset(names)

    @wraps(function)
    def checked(*args: Any, **given: Any) -> Any:
        if not known.issuperset(given):
            name = next(name for name in given if name not in known)
            raise UsageError(hint(name, given[name]) or _unknown(called, name, names))
        if len(args) > places:
            raise UsageError(by_place)
        return function(*args, **given)

    return checked


def _unknown(called: str, name: str, names: tuple[str, ...]) -> str:
    return f"{called} takes no {name}=.{did_you_mean(name, names)} It takes {', '.join(names)}"
