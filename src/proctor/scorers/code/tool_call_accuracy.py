"""Whether the right tool was called, or the right tools in the right order. What counts as a call: `data.message`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from proctor.data.value import MISSING
from proctor.errors import UsageError
from proctor.scoring.build import Findings, bool_option, build_check
from proctor.scoring.scorer import Scorer
from proctor.scoring.steps import Declined, StepContext, not_scorable

__all__ = ["tool_call_accuracy"]

_SHOWN_CALLS = 8


def tool_call_accuracy(
    *, expected_tool: str | None = None, strict_mode: bool = False, expected_tool_order: Sequence[str] | None = None
) -> Scorer:
    """1 when *expected_tool* was called, or the tools of *expected_tool_order* in that order, else 0.

    An order wins over a single tool. Other calls may stand between and a name may repeat. *strict_mode*: no other
    calls, just the one, or exactly those of the order. Failed calls count: choosing the tool was right.

    >>> call = {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "search", "arguments": "{}"}}]}
    >>> tool_call_accuracy(expected_tool="search").run_sync(input="Find it", output=[call]).score
    1.0
    """
    if expected_tool is None and expected_tool_order is None:
        raise UsageError("tool_call_accuracy: give expected_tool= or expected_tool_order=")
    tool = None if expected_tool is None else _name(expected_tool)
    order = None if expected_tool_order is None else _order(expected_tool_order)
    strict = bool_option(strict_mode, name="strict_mode", check="tool_call_accuracy")

    def look(ctx: StepContext) -> Findings | Declined:
        if not ctx.run.output_messages:
            return not_scorable("there is no output: not one message")
        if not ctx.run.input_messages and ctx.run.input is not MISSING:
            return not_scorable("the input has not one message")
        actual = tuple([call.name for call in ctx.run.tool_calls])
        in_order = None if order is None else _fits(order, actual, strict=strict)
        right_tool = tool is not None and _fits((tool,), actual, strict=strict)
        return Findings(
            expected_tool=tool,
            expected_tool_order=order,
            strict_mode=strict,
            actual_tools=actual,
            has_tool_calls=bool(actual),
            correct_tool_called=right_tool,
            correct_order_called=in_order,
        )

    def score(ctx: StepContext) -> bool:
        found: bool = ctx.preprocess["correct_tool_called" if order is None else "correct_order_called"]
        return found

    def reason(ctx: StepContext) -> str:
        wanted = tool if order is None else ", ".join(order)
        actual = ctx.preprocess["actual_tools"]
        more = ", ..." if len(actual) > _SHOWN_CALLS else ""
        called = f"called: {', '.join(actual[:_SHOWN_CALLS])}{more}" if actual else "no tool was called"
        return f"expected {'only ' if strict else ''}{wanted}; {called}"

    return build_check(
        id="code-tool-call-accuracy-scorer",
        name="Tool Call Accuracy Scorer",
        description="The right tool was called, or the right tools in the right order",
        arguments={"expected_tool": tool, "strict_mode": strict, "expected_tool_order": order},
        defaults={"expected_tool": None, "strict_mode": False, "expected_tool_order": None},
        look=look,
        score=score,
        reason=reason,
    )


def _fits(wanted: tuple[str, ...], actual: tuple[str, ...], *, strict: bool) -> bool:
    """Whether *wanted* is all of *actual*, or without *strict* a subsequence of it."""
    if strict:
        return wanted == actual
    left = iter(actual)
    return all(name in left for name in wanted)


def _order(names: Any) -> tuple[str, ...]:
    if isinstance(names, str) or not isinstance(names, Sequence) or not names:
        raise UsageError(
            f"tool_call_accuracy: expected_tool_order must be a list of tool names, not {names!r}; "
            "to expect no call use checks.used_no_tools()"
        )
    return tuple(_name(name) for name in names)


def _name(name: Any) -> str:
    if not isinstance(name, str) or not name:
        raise UsageError(f"tool_call_accuracy: the name of a tool is text that is not empty, not {name!r}")
    return name
