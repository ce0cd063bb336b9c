"""`proctor run --dry-run`: what a run would ask, as people read it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from proctor.bridge import run_sync
from proctor.cli.grid import terminal_width
from proctor.cli.results import Results
from proctor.cli.streams import say
from proctor.data.shown import plural
from proctor.data.usage import Cost
from proctor.data.width import printable, wrapped
from proctor.errors import cut
from proctor.running.estimate import estimate_plan
from proctor.running.estimated import PlanEstimate, StepEstimate
from proctor.running.plan import Plan

__all__ = ["estimate_text", "say_estimates"]


def say_estimates(plans: Sequence[Plan], results: Results) -> None:
    """Print what runs of the plans would ask, and put the same into the document. Nothing is run."""
    for place, plan in enumerate(plans):
        estimate = run_sync(estimate_plan(plan))
        results.ended.append(estimate.to_json())
        say(f"{'' if not place else chr(10)}{estimate_text(estimate, width=terminal_width())}")


def estimate_text(estimate: PlanEstimate, *, width: int = 100) -> str:
    """A block of lines: the target, each judged step, the sum, and what the numbers rest on."""
    lines: list[str] = []
    for line in _lines(estimate):
        lines += wrapped(printable(line), width, indent="    " if line.startswith(" ") else "  ")
    return "\n".join(lines)


def _lines(estimate: PlanEstimate) -> Iterator[str]:
    each = f", each run {estimate.repeats} times" if estimate.repeats > 1 else ""
    items = "for one item of a stream" if estimate.items is None else f"{plural(estimate.items, 'item')}{each}"
    yield f"{estimate.name or 'unnamed'}: {items}; dry run, nothing was asked"
    saved = f"{estimate.saved} of {estimate.items} items carry their output" if estimate.saved else ""
    if estimate.target_calls:
        more = f"; {saved}" if saved else ""
        yield f"  target: {plural(estimate.target_calls, 'call')}; tokens and cost not known before{more}"
    else:
        yield f"  target: not asked{': ' if saved else ''}{saved}"
    for step in estimate.steps:
        yield f"  {step.scorer}, {step.step}, {step.model}: {_step(step)}"
    if not estimate.steps:
        yield "  judges: none"
    elif len(estimate.steps) > 1:
        yield f"  judges in all: {_sum(estimate)}"
    if estimate.budget is not None:
        yield f"  budget: {estimate.budget}, also for what the target says it took"
    if estimate.assumptions:
        yield f"  Rests on: {'; '.join(estimate.assumptions)}."


def _step(step: StepEstimate) -> str:
    parts = [_calls(step.once.calls, step.most.calls)]
    if step.once.calls:
        parts.append(_tokens(step.once.input_tokens, step.once.output_tokens))
        parts.append(_money(step.once.cost, step.most.cost, guess=step.guess))
    if step.assumed:
        parts.append(f"{step.assumed:,} of the prompts assumed")
    if step.cached:
        parts.append(f"{step.cached:,} more are in the cache")
    if step.spared:
        parts.append(f"nothing to ask in {plural(step.spared, 'row')}")
    if step.broken:
        parts.append(f"{plural(step.broken, 'row')} would fail before: {cut(printable(step.problem), 200)}")
    return "; ".join(parts)


def _sum(estimate: PlanEstimate) -> str:
    once, most = estimate.once, estimate.most
    parts = [_calls(once.calls, most.calls)]
    if once.calls:
        parts.append(_tokens(once.input_tokens, once.output_tokens))
        unpriced = estimate.unpriced
        if once.cost is None or not unpriced:
            parts.append(_money(once.cost, most.cost))
        else:
            parts.append(f"{_money(once.cost, most.cost)}, besides {', '.join(unpriced)}, whose price is not known")
    return "; ".join(parts)


def _calls(once: int, most: int) -> str:
    return f"{plural(once, 'call')}, at most {most:,}" if once else "no calls"


def _tokens(read: int, written: int) -> str:
    return f"about {read:,} tokens in and {written:,} out"


def _money(once: Cost | None, most: Cost | None, *, guess: str = "") -> str:
    if once is None or most is None:
        return f"price not known{guess and f' ({guess.strip()})'}"
    return f"${once.amount:,.4f}, at most ${most.amount:,.4f} ({once.source})"
