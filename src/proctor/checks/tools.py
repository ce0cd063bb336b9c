"""Checks of which tools were called, and how that went. What counts as a call or an error: `proctor.data.message`.

Names are compared exactly, case included; arguments are not looked at (`called_tool` can, in a file of its own).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from proctor.checks.calls import called, passed, times_told, told_calls, tool_name
from proctor.data.message import ToolCall
from proctor.data.plain import canonical_json
from proctor.data.shown import plural
from proctor.data.value import MISSING
from proctor.errors import UsageError, cut
from proctor.scoring.build import Findings, bool_option, build_check, count_option, quote
from proctor.scoring.run import ScorerRun
from proctor.scoring.scorer import Scorer
from proctor.scoring.steps import StepContext

__all__ = ["did_not_call", "max_tool_calls", "no_tool_errors", "tool_order", "used_no_tools"]


def did_not_call(name: str) -> Scorer:
    """1 when the tool was never called, else 0; no calls at all pass.

    >>> did_not_call("delete_account").run_sync(output="Done.").score
    1.0
    """
    tool_name(name, check="did_not_call")

    @lru_cache
    def found(count: int) -> Findings:
        return Findings(tool_name=name, count=count, passed=count == 0)

    def look(ctx: StepContext) -> Findings:
        return found(ctx.run.once(called).count(name))

    def reason(ctx: StepContext) -> str:
        count = ctx.preprocess["count"]
        if count:
            first = next(call for call in ctx.run.tool_calls if call.name == name)
            args = "no arguments" if first.args is MISSING else cut(canonical_json(first.args), 60)
            return f"{name} was called {times_told(count)}, first with {args}"
        return f"{name} was not called; {ctx.run.once(told_calls)}"

    return build_check(
        id="check-did-not-call",
        name="Did Not Call Check",
        description="A tool was not called",
        arguments={"name": name},
        defaults={},
        look=look,
        score=passed,
        reason=reason,
    )


def tool_order(names: Sequence[str]) -> Scorer:
    """1 when the tools were called in this order, else 0; other calls may stand between, and a name may repeat.

    >>> tool_order(["search", "book"]).key
    'check-tool-order[search,book]'
    """
    if isinstance(names, str) or not isinstance(names, Sequence) or not names:
        hint = "; to expect no call use used_no_tools()" if names == [] else ""
        raise UsageError(f"tool_order: names must be a list of tool names, not {names!r}{hint}")
    order = tuple(tool_name(name, check="tool_order") for name in names)

    def look(ctx: StepContext) -> Findings:
        actual = ctx.run.once(called)
        reached = _reached(order, actual)
        return Findings(expected_order=order, actual_tools=actual, reached=reached, passed=reached == len(order))

    def reason(ctx: StepContext) -> str:
        reached = ctx.preprocess["reached"]
        if reached == len(order):
            return f"in the order asked for; {ctx.run.once(told_calls)}"
        after = f" after {order[reached - 1]}" if reached else ""
        missing = f"{order[reached]} (number {reached + 1} of {len(order)}) was not called{after}"
        return f"{missing}; {ctx.run.once(told_calls)}"

    return build_check(
        id="check-tool-order",
        name="Tool Order Check",
        description="Tools were called in an order",
        arguments={"names": order},
        defaults={},
        look=look,
        score=passed,
        reason=reason,
    )


def max_tool_calls(max: int) -> Scorer:
    """1 when there were at most *max* calls in all, else 0.

    >>> max_tool_calls(3).run_sync(output="No tools needed.").reason
    '0 calls, at most 3 allowed'
    """
    count_option(max, name="max", check="max_tool_calls", least=0)

    @lru_cache
    def found(count: int) -> Findings:
        return Findings(count=count, max=max, passed=count <= max)

    @lru_cache
    def counted(count: int) -> str:
        return f"{plural(count, 'call')}, at most {max} allowed"

    def look(ctx: StepContext) -> Findings:
        return found(len(ctx.run.tool_calls))

    def reason(ctx: StepContext) -> str:
        count = ctx.preprocess["count"]
        return f"at most {max} allowed; {ctx.run.once(told_calls)}" if count > max else counted(count)

    return build_check(
        id="check-max-tool-calls",
        name="Max Tool Calls Check",
        description="Not too many tools were called",
        arguments={"max": max},
        defaults={},
        look=look,
        score=passed,
        reason=reason,
    )


def used_no_tools() -> Scorer:
    """1 when no tool was called, else 0.

    >>> used_no_tools().run_sync(output="Just words.").score
    1.0
    """

    @lru_cache
    def found(count: int) -> Findings:
        return Findings(count=count, passed=count == 0)

    def look(ctx: StepContext) -> Findings:
        return found(len(ctx.run.tool_calls))

    return build_check(
        id="check-used-no-tools",
        name="Used No Tools Check",
        description="No tool was called",
        arguments={},
        defaults={},
        look=look,
        score=passed,
        reason=lambda ctx: ctx.run.once(told_calls),
    )


def no_tool_errors(*, text: bool = True) -> Scorer:
    """1 when no call was a tool error, else 0; no calls pass. *text*: also count results that begin with `Error:`.

    >>> call = {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "pay", "arguments": "{}"}}]}
    >>> back = {"role": "tool", "tool_call_id": "1", "content": "Error: card declined"}
    >>> no_tool_errors().run_sync(output=[call, back]).reason
    '1 of 1 call failed: pay, which said "Error: card declined"'
    """
    failed = _failed if bool_option(text, name="text", check="no_tool_errors") else _failed_beside_text

    @lru_cache
    def found(errors: int, calls: int) -> Findings:
        return Findings(error_count=errors, total_calls=calls, passed=errors == 0)

    @lru_cache
    def none_failed(calls: int) -> str:
        return f"none of {plural(calls, 'call')} failed" if calls else "no tool was called"

    def look(ctx: StepContext) -> Findings:
        return found(len(ctx.run.once(failed)), len(ctx.run.tool_calls))

    def reason(ctx: StepContext) -> str:
        count, of = ctx.preprocess["error_count"], ctx.preprocess["total_calls"]
        if not count:
            return none_failed(of)
        first = ctx.run.once(failed)[0]
        more = "first " if count > 1 else ""
        return f"{count} of {plural(of, 'call')} failed: {more}{first.name}, which {_said(first)}"

    return build_check(
        id="check-no-tool-errors",
        name="No Tool Errors Check",
        description="No tool call failed",
        arguments={"text": text},
        defaults={"text": True},
        look=look,
        score=passed,
        reason=reason,
    )


# ── views that all checks of a run share ───────────────────────────────────────────────────────────────────────────


def _failed(run: ScorerRun) -> tuple[ToolCall, ...]:
    return tuple(call for call in run.tool_calls if call.is_error())


def _failed_beside_text(run: ScorerRun) -> tuple[ToolCall, ...]:
    return tuple(call for call in run.once(_failed) if call.is_error(text=False))


def _reached(order: Sequence[str], actual: Sequence[str]) -> int:
    """How many of *order*, from its first, occur one after another in *actual*."""
    reached = 0
    for name in actual:
        if reached < len(order) and name == order[reached]:
            reached += 1
    return reached


def _said(call: ToolCall) -> str:
    if call.state == "called":
        return "never came back"
    what = call.error if call.error is not None else call.result
    return f"said {quote(what if isinstance(what, str) else str(what))}"
