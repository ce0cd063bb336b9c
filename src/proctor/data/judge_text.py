"""What judges did and took, in words: every number with what it is of, and nothing that was not reported."""

from __future__ import annotations

from proctor.data.judge import JudgeTotals
from proctor.data.shown import plural

__all__ = ["judge_text"]


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
    parts = [f"{judged}, of them {', '.join(of_them)}" if of_them else judged]
    made = totals.executions - totals.cached
    if made:
        parts += [plural(totals.calls, "call"), _tokens(totals), _money(totals, made)]
        parts.append(f"{totals.duration_ms / made:.0f} ms each")
    return "; ".join(parts)


def _tokens(totals: JudgeTotals) -> str:
    total = None if totals.usage is None else totals.usage.total
    return "tokens not reported" if total is None else f"{total:,} tokens"


def _money(totals: JudgeTotals, made: int) -> str:
    if totals.cost is None:
        return "price not known"
    unit = "$" if totals.cost.unit == "USD" else ""
    amount = f"{unit}{totals.cost.amount:.4f}{'' if unit else ' ' + totals.cost.unit}"
    return f"{amount}, besides {totals.unpriced} of {made} whose price is not known" if totals.unpriced else amount
