"""What a run would ask of its target and its judges, as values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from proctor.data.usage import Cost
from proctor.data.value import Value

__all__ = ["Asked", "PlanEstimate", "StepEstimate"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Asked(Value):
    """Calls of models, and what they take. *cost*: None when a price is not known."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: Cost | None = None

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        cost = None if self.cost is None else {"amount": self.cost.amount, "source": self.cost.source}
        return {
            "calls": self.calls,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cost_usd": cost,
        }


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class StepEstimate(Value):
    """A judged step of a scorer. *scorer*: its column. *once*: each reply can be used; *most*: each is asked for again.

    *assumed*: calls whose prompt cannot be known before, counted in *once*. *cached*: answers that the cache has: they
    are no calls. *spared*: rows that end before the step, or decline. *broken*: rows that fail before it; *problem*:
    how the first of them does. *guess*: a sentence on which model of the price list may be meant, where it does not
    know this one.
    """

    model: str
    scorer: str
    step: str
    once: Asked = field(default_factory=Asked)
    most: Asked = field(default_factory=Asked)
    assumed: int = 0
    cached: int = 0
    spared: int = 0
    broken: int = 0
    problem: str = ""
    guess: str = ""

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "model": self.model,
            "scorer": self.scorer,
            "step": self.step,
            "once": self.once.to_json(),
            "most": self.most.to_json(),
            "assumed": self.assumed,
            "cached": self.cached,
            "spared": self.spared,
            "broken": self.broken,
            "problem": self.problem,
        }


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PlanEstimate(Value):
    """A run that was not made. *items*: None for a stream: then all counts are for one item of it.

    *target_calls*: what they take is not known before. *saved*: items that carry their output. *assumptions*: what the
    numbers rest on, a sentence each.
    """

    name: str | None = None
    items: int | None = None
    repeats: int = 1
    target_calls: int = 0
    saved: int = 0
    steps: tuple[StepEstimate, ...] = ()
    budget: str | None = None
    assumptions: tuple[str, ...] = ()

    @property
    def once(self) -> Asked:
        """All judged steps, when each reply can be used. The cost is of those whose price is known."""
        return _sum(step.once for step in self.steps)

    @property
    def most(self) -> Asked:
        """All judged steps, when each reply is asked for again. The cost is of those whose price is known."""
        return _sum(step.most for step in self.steps)

    @property
    def unpriced(self) -> tuple[str, ...]:
        """The models that would be asked and whose price is not known."""
        return tuple(dict.fromkeys(step.model for step in self.steps if step.once.calls and step.once.cost is None))

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "name": self.name,
            "items": self.items,
            "repeats": self.repeats,
            "target_calls": self.target_calls,
            "saved": self.saved,
            "judges": [step.to_json() for step in self.steps],
            "once": self.once.to_json(),
            "most": self.most.to_json(),
            "unpriced": list(self.unpriced),
            "budget": self.budget,
            "assumptions": list(self.assumptions),
        }


def _sum(parts: Iterable[Asked]) -> Asked:
    parts = tuple(parts)
    costs = [part.cost for part in parts if part.cost is not None]
    source = ", ".join(sorted({cost.source for cost in costs}))
    return Asked(
        calls=sum(part.calls for part in parts),
        input_tokens=sum(part.input_tokens for part in parts),
        output_tokens=sum(part.output_tokens for part in parts),
        cost=Cost(amount=sum(cost.amount for cost in costs), source=source) if costs else None,
    )
