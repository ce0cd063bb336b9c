"""The judges of a plan: that each can be asked, and that what they take can be held against a budget."""

from __future__ import annotations

from collections.abc import Iterable

from proctor.errors import UsageError
from proctor.judging.budget import Budget
from proctor.judging.resolve import require_askable
from proctor.scoring.scorer import Scorer

__all__ = ["require_judges", "require_prices"]


def require_judges(scorer: Scorer) -> None:
    """Raise a `UsageError` when a judged step has no model that can be asked: no name, no key, no instructions."""
    for question in scorer.questions.values():
        require_askable(question.judge, whose=question.whose)


def require_prices(scorers: Iterable[Scorer], budget: Budget | None) -> None:
    """Raise a `UsageError` for a budget in money where the price of a judge's model is not known."""
    if budget is None or budget.usd is None:
        return
    for scorer in scorers:
        for question in scorer.questions.values():
            model = require_askable(question.judge, whose=question.whose)
            if model.price is None:
                guess = getattr(model, "guess", "")
                raise UsageError(
                    f"budget={budget}: the price of {model.id}, which judges {question.whose}, is not known, so what "
                    f"is spent cannot be told; give Budget(tokens=...), or --budget 200000tokens.{guess}"
                )
