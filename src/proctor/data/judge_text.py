"""What judges did and took, in words: every number with what it is of, and nothing that was not reported."""

from __future__ import annotations

from proctor.data.judge import JudgeExecution, JudgeTotals
from proctor.data.shown import count_of, plural
from proctor.data.usage import Cost

__all__ = ["execution_text", "judge_text"]

_LEAST = 0.0001


def judge_text(totals: JudgeTotals) -> str:
    """One line of them.

    >>> judge_text(JudgeTotals(executions=4, cached=1, calls=3, unpriced=3, duration_ms=1500))
    '4 judged, of them 1 from the cache; 3 calls; tokens not reported; price not known; 500 ms each'
    """
    of_them = [
        f"{count} {what}"
        for count, what in (
            (totals.failed, "failed"),
            (totals.cached, "from the cache"),
            (totals.repaired, "from mended JSON"),
            (totals.truncated, "on a shortened prompt"),
        )
        if count
    ]
    judged = f"{totals.executions} judged"
    if 0 < totals.outcomes < totals.executions:
        judged = f"{totals.outcomes} judged in {totals.executions} steps"
    parts = [f"{judged}, of them {', '.join(of_them)}" if of_them else judged]
    made = totals.executions - totals.cached
    if made:
        lost = totals.requests > totals.calls
        answered = f"{count_of(totals.calls, totals.requests, what='call')} answered"
        parts.append(answered if lost else plural(totals.calls, "call"))
        parts += [_tokens(totals), _money(totals, made)] if totals.calls else []  # what was not answered took nothing
        parts.append(f"{(totals.duration_ms - totals.waited_ms) / made:.0f} ms each")
    if totals.waited_ms >= 1000:
        parts.append(f"{totals.waited_ms / made / 1000:.1f} s waiting for a turn each")
    return "; ".join(parts)


def _tokens(totals: JudgeTotals) -> str:
    total = None if totals.usage is None else totals.usage.total
    return "tokens not reported" if total is None else f"{total:,} tokens"


def _money(totals: JudgeTotals, made: int) -> str:
    if totals.cost is None:
        return "price not known"
    amount = _amount(totals.cost)
    return f"{amount}, besides {totals.unpriced} of {made} whose price is not known" if totals.unpriced else amount


def _amount(cost: Cost) -> str:
    if 0 < cost.amount < _LEAST:  # some, and not none
        return f"under ${_LEAST}" if cost.unit == "USD" else f"under {_LEAST} {cost.unit}"
    return f"${cost.amount:.4f}" if cost.unit == "USD" else f"{cost.amount:.4f} {cost.unit}"


def execution_text(execution: JudgeExecution) -> str:
    """How one judged step went, and what it took; what the cache gave took it when it was asked.

    >>> execution_text(JudgeExecution(status="success", prompt="?", attempt_count=2, model_call_count=2, repaired=True))
    'success, of mended JSON; asked 2 times'
    """
    how: list[str] = [execution.status]
    how += ["from the cache"] * execution.cached + ["of mended JSON"] * execution.repaired
    how += ["on a shortened prompt"] * execution.truncated
    took = [f"asked {execution.attempt_count} times"] if execution.attempt_count > 1 else []
    took += [f"sent again {plural(execution.retry_count, 'time')}"] if execution.retry_count else []
    if execution.usage is not None and execution.usage.total is not None:
        took.append(f"{execution.usage.total:,} tokens")
    if execution.cost is not None:
        took.append(f"{_amount(execution.cost)} ({execution.cost.source})")
    if execution.duration_ms is not None:
        took.append(f"{execution.duration_ms:.0f} ms")
    return "; ".join([", ".join(how), *([", ".join(took)] if took else [])])
