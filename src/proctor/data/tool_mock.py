"""What stands in for a tool while an agent is under test: which calls it answers, and with what."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from math import inf
from typing import Any, Literal, TypeAlias

from proctor.data.compare import Difference, differences
from proctor.data.fields import named_fields
from proctor.data.message import ToolCall
from proctor.data.opaque import Opaque
from proctor.data.plain import copied, plain
from proctor.data.value import MISSING, Missing, Value, shown
from proctor.errors import UsageError

__all__ = ["MockMatch", "ToolMock", "ToolReport", "as_tool_mock"]

MockMatch: TypeAlias = Literal["strict", "ignore"] | Callable[[Any], bool]

_CODE = "INVALID_DATA_ITEM"
_OTHER_NAMES = {"toolName": "name", "tool_name": "name", "matchArgs": "match", "match_args": "match"}


@dataclass(frozen=True, slots=True, repr=False)
class ToolMock(Value):
    """Answers one call of the tool *name*; the tool itself is not called.

    *args*: what the call must be made with, keys in any order, lists in theirs, numbers of the same type; without it
    any arguments will do. *match*: `strict` compares them, `ignore` does not, a function is given the call's arguments
    and says whether they will do (then without *args*).

    *output*: what the agent gets back, None included. *error*: the tool fails, with these words; beside an *output* the
    agent is given that, as by a framework that hides what went wrong, and the call has failed nevertheless. *delay*:
    seconds before it answers. *repeat*: stands in that repeat of the item alone, from 0; None: in each.

    >>> ToolMock("get_weather", {"city": "Brooklyn"}, output="sunny")
    ToolMock(name='get_weather', args={'city': 'Brooklyn'}, output='sunny')
    """

    name: str
    args: Mapping[str, Any] | Missing = MISSING
    output: Any = field(default=MISSING, kw_only=True)
    error: str | None = field(default=None, kw_only=True)
    delay: float = field(default=0.0, kw_only=True)
    match: MockMatch = field(default="strict", kw_only=True)
    repeat: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        problem = _problem(self)
        if problem is not None:
            raise UsageError(f"ToolMock{f' of {self.name}' if self.name else ''}: {problem}", code=_CODE)

    def apart(self, args: Any) -> list[Difference] | None:
        """Where the arguments of a call are not those of the mock: nowhere when it answers the call.

        None when a function says no, and does not say where.
        """
        if callable(self.match):
            return [] if self.match(copied(args)) else None
        if self.match == "ignore" or isinstance(self.args, Missing):
            return []
        return differences(plain(self.args), args, rule="exact")


def _problem(mock: ToolMock) -> str | None:
    if not isinstance(mock.name, str) or not mock.name:
        return f"name is the name of a tool, not {shown(mock.name)}"
    if not isinstance(mock.args, Mapping | Missing):
        return f"args is a mapping of the call's arguments, not {shown(mock.args)}"
    if mock.output is MISSING and mock.error is None:
        return "give output= (None is one) or error=, the words of a failure"
    if mock.error is not None and not isinstance(mock.error, str):
        return f"error is a text, not {shown(mock.error)}"
    if isinstance(mock.delay, bool) or not isinstance(mock.delay, int | float) or not 0 <= mock.delay < inf:
        return f"delay is a number of seconds, 0 or more, not {shown(mock.delay)}"
    if not (callable(mock.match) or isinstance(mock.match, Opaque) or mock.match in ("strict", "ignore")):
        return f"match is 'strict', 'ignore' or a function of the call's arguments, not {shown(mock.match)}"
    if callable(mock.match) and mock.args is not MISSING:
        return "the function in match= looks at the arguments: leave out args="
    if mock.repeat is not None and (type(mock.repeat) is not int or mock.repeat < 0):
        return f"repeat is the number of a repeat, from 0, not {shown(mock.repeat)}"
    return None


def as_tool_mock(given: Any, *, where: str) -> ToolMock:
    """A mock from itself, or from a mapping of its fields, also by the documents' names (`toolName`, `matchArgs`)."""
    if isinstance(given, ToolMock):
        return given
    if not isinstance(given, Mapping):
        raise UsageError(
            f"{where} must be a ToolMock or a mapping with name and output, not {shown(given)}", code=_CODE
        )
    renamed = {_OTHER_NAMES.get(str(key), str(key)): value for key, value in given.items()}
    named = named_fields(renamed, [at.name for at in fields(ToolMock)], what=where, code=_CODE)
    if "name" not in named:
        raise UsageError(f"{where} has no name: which tool is it?", code=_CODE)
    try:
        return ToolMock(**named)
    except UsageError as problem:
        raise UsageError(f"{where}: {problem}", code=_CODE) from problem


@dataclass(frozen=True, slots=True, repr=False)
class ToolReport(Value):
    """What became of an item's tool mocks. *served*: the calls that mocks answered; *live*: those that tools did.

    *unused*: mocks that no call came for. *not_run*: calls that were neither, as far as was seen: refused by a mock's
    item or the framework, or of a target that does not call its tools through a toolbox.
    """

    served: tuple[ToolCall, ...] = ()
    live: tuple[ToolCall, ...] = ()
    unused: tuple[ToolMock, ...] = ()
    not_run: tuple[ToolCall, ...] = ()

    def __str__(self) -> str:
        left = f" ({', '.join(dict.fromkeys(mock.name for mock in self.unused))})" if self.unused else ""
        return (
            f"{_count(self.served, 'call')} answered by mocks, {len(self.live)} live, "
            f"{_count(self.unused, 'mock')} unused{left}"
            + (f", {_count(self.not_run, 'call')} not run" if self.not_run else "")
        )


def _count(things: tuple[Any, ...], word: str) -> str:
    return f"{len(things)} {word}{'' if len(things) == 1 else 's'}"
