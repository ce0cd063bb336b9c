"""The check that a tool was called: so often, and with these arguments.

Arguments that came as JSON text are compared as what they say; a call of which none were recorded has none. What else a
call carries (its id, its result) is not looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, TypeAlias, get_args

from proctor.checks.calls import called, passed, times_told, told_calls, tool_name
from proctor.data.compare import Difference, Rule, differences
from proctor.data.message import ToolCall
from proctor.data.plain import canonical_json, copied, plain
from proctor.data.value import MISSING
from proctor.errors import EncodingError, UnknownName, UsageError, cut
from proctor.scoring.build import Findings, build_check, count_option, quote
from proctor.scoring.callables import is_async, takes_one
from proctor.scoring.scorer import Scorer
from proctor.scoring.steps import Hop, StepContext

__all__ = ["ArgsMatch", "called_tool"]

ArgsMatch: TypeAlias = Literal["value", "exact", "subset", "superset", "ignore"] | Callable[[Any], bool]

_WORDS = (*get_args(Rule), "ignore")
_SHOWN = 50


def called_tool(
    name: str,
    *,
    times: int = 1,
    exactly: int | None = None,
    args: Mapping[str, Any] | None = None,
    match: ArgsMatch = "value",
) -> Scorer:
    """1 when the tool was called at least *times* times, or *exactly* so often, else 0.

    With *args* a call counts only when its arguments match. *match*: `value`, equal as values (keys in any order, 1 is
    1.0, True is not 1, "1" is not 1, lists in order); `exact`, numbers of one type too; `subset`, everything in *args*
    is in the call, which may have more; `superset`, the call has nothing that *args* lacks; `ignore`, not looked at; or
    a function of the call's arguments that says whether they will do (then without *args*). Mappings inside follow the
    same rule. With `subset` a key such as `user.name` reaches into `user`.

    >>> called_tool("get_weather").key, called_tool("get_weather", times=2).key
    ('check-called-tool[get_weather]', 'check-called-tool[get_weather,times=2]')
    """
    tool_name(name, check="called_tool")
    count_option(times, name="times", check="called_tool", least=1)
    if exactly is not None:
        count_option(exactly, name="exactly", check="called_tool", least=0)
        if times != 1:
            raise UsageError("called_tool: give times= (at least) or exactly=, not both")
    wanted = _checked(args, match)
    often = _often(times, exactly)
    if match == "ignore" or (args is None and not callable(match)):
        look, reason = _by_name(name, often)
    else:
        parts = _asking(match) if callable(match) else _comparing(wanted, match)
        look, reason = _by_arguments(name, often, parts=parts, slow=callable(match))
    return build_check(
        id="check-called-tool",
        name="Called Tool Check",
        description="A tool was called",
        arguments={"name": name, "times": times, "exactly": exactly, "args": wanted, "match": match},
        defaults={"times": 1, "exactly": None, "args": None, "match": "value"},
        look=look,
        score=passed,
        reason=reason,
    )


# ── how often ──────────────────────────────────────────────────────────────────────────────────────────────────────


class _Often:
    """How many calls are needed, for the score and for the sentence."""

    __slots__ = ("count", "least")

    def __init__(self, count: int, *, least: bool) -> None:
        self.count = count
        self.least = least

    def admits(self, count: int) -> bool:
        return count >= self.count if self.least else count == self.count

    @property
    def facts(self) -> dict[str, int]:
        return {"expected_times" if self.least else "exactly": self.count}

    def __str__(self) -> str:
        return (
            "" if self.least and self.count == 1 else f", {'at least' if self.least else 'exactly'} {self.count} needed"
        )


def _often(times: int, exactly: int | None) -> _Often:
    return _Often(times, least=True) if exactly is None else _Often(exactly, least=False)


Look: TypeAlias = Callable[[StepContext], Findings | Hop]
Reason: TypeAlias = Callable[[StepContext], str]


def _by_name(name: str, often: _Often) -> tuple[Look, Reason]:
    """Every call of that name counts: one count for each run, and few sentences for all of them."""

    @lru_cache
    def found(count: int) -> Findings:
        return Findings(tool_name=name, **often.facts, actual_count=count, passed=often.admits(count))

    @lru_cache
    def told(count: int) -> str:
        return f"{name} was called {times_told(count)}"

    def look(ctx: StepContext) -> Findings:
        return found(ctx.run.once(called).count(name))

    def reason(ctx: StepContext) -> str:
        count = ctx.preprocess["actual_count"]
        if count and not str(often):
            return told(count)
        return f"{told(count)}{often}; {ctx.run.once(told_calls)}"

    return look, reason


# ── with which arguments ───────────────────────────────────────────────────────────────────────────────────────────


Parts: TypeAlias = Callable[[Any], Sequence[Difference | None]]
"""Where a call's arguments part from what is asked for; one None when a function only says that they do."""


def _comparing(wanted: Any, rule: Any) -> Parts:
    return lambda given: differences(wanted, given, rule=rule)


def _asking(function: Callable[[Any], Any]) -> Parts:
    def parts(given: Any) -> Sequence[None]:
        answer = function(copied(given))  # what it does to them must not change the record
        if hasattr(type(answer), "__await__"):
            if hasattr(answer, "close"):
                answer.close()  # nobody will await it
            raise UsageError("called_tool: the function in match= must be a def that gives True or False, not async")
        return [] if answer else [None]

    return parts


def _by_arguments(name: str, often: _Often, *, parts: Parts, slow: bool) -> tuple[Look, Reason]:
    """Only calls whose arguments match count. *slow*: compared away from the loop, since a user's function is asked."""

    def look(ctx: StepContext) -> Findings | Hop:
        own = [(place, call) for place, call in enumerate(ctx.run.tool_calls, start=1) if call.name == name]
        return Hop(compare, own) if own and slow else compare(own)

    def compare(own: list[tuple[int, ToolCall]]) -> Findings:
        count, nearest, fewest = 0, "", 0
        for place, call in own:
            apart = parts({} if call.args is MISSING or call.args is None else call.args)
            count += not apart
            if apart and (not nearest or len(apart) < fewest):
                nearest, fewest = f"call {place}, {cut(name, 40)}{_told(apart, call)}", len(apart)
        facts = {"actual_count": count, "calls": len(own), "passed": often.admits(count), "nearest": nearest or None}
        return Findings(tool_name=name, **often.facts, **facts)

    def reason(ctx: StepContext) -> str:
        found = ctx.preprocess
        if not found["calls"]:
            return f"{cut(name, 60)} was called 0 times{often}; {ctx.run.once(told_calls)}"
        count = found["actual_count"]
        told = f"{times_told(count)} with" if count else f"{times_told(found['calls'])}, never with"
        nearest = f"; nearest: {found['nearest']}" if found["nearest"] and count < often.count else ""
        return f"{cut(name, 60)} was called {told} the arguments asked for{often}{nearest}"

    return look, reason


def _told(parts: Sequence[Difference | None], call: ToolCall) -> str:
    """The first place where arguments part: its path, expected -> actual."""
    first = parts[0]
    if first is None:
        return f": {quote(str(call.args))}"
    expected, actual = _shown(first.expected, first.actual)
    more = f", and {len(parts) - 1} more" if len(parts) > 1 else ""
    return f", {cut(first.path, _SHOWN) or 'arguments'}: expected {expected} -> actual {actual}{more}"


def _shown(expected: Any, actual: Any) -> tuple[str, str]:
    """Both in JSON; text that only looks the same with its characters written out."""
    if isinstance(expected, str) and isinstance(actual, str):
        from unicodedata import normalize

        if normalize("NFKC", expected).strip() == normalize("NFKC", actual).strip():
            return cut(ascii(expected), _SHOWN), cut(ascii(actual), _SHOWN)
    return _json(expected), _json(actual)


def _json(value: Any) -> str:
    return "nothing" if value is MISSING else cut(canonical_json(value), _SHOWN)


# ── options ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _checked(args: Any, match: Any) -> Any:
    """The arguments asked for, in plain data."""
    if callable(match):
        if args is not None:
            raise UsageError("called_tool: a function in match= is given the call's arguments: leave args= out")
        if is_async(match) or not takes_one(match):
            raise UsageError(f"called_tool: match must be a def of one argument, the call's arguments, not {match!r}")
        return None
    if match not in _WORDS:
        if not isinstance(match, str):
            raise UsageError(f"called_tool: match is one of {', '.join(_WORDS)} or a function, not {match!r}")
        raise UnknownName("match of called_tool", match, _WORDS)
    if args is None:
        if match not in ("value", "ignore"):
            raise UsageError(f"called_tool: match={match!r} needs args=, what to compare with")
        return None
    if not isinstance(args, Mapping):
        hint = "; give a function as match=" if callable(args) else ""
        raise UsageError(f"called_tool: args must be a mapping of the call's arguments, not {args!r}{hint}")
    try:
        wanted = plain(args)
        canonical_json(wanted)
    except EncodingError as problem:
        raise UsageError(f"called_tool: args: {problem.message}") from problem
    return wanted
