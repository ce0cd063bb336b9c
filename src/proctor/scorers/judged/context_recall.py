"""Whether the context holds what the right answer needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from proctor.scorers.build_judged import build_judged, judged, rounded
from proctor.scorers.claims import claims_steps
from proctor.scorers.material import truth_of
from proctor.scorers.options import scale_option
from proctor.scorers.sources import ContextSource
from proctor.scoring.run import ScorerRun
from proctor.scoring.scorer import Scorer
from proctor.scoring.steps import Declined, not_scorable

__all__ = ["context_recall", "formula"]

_TRUTH_WITHOUT_CLAIMS: Final = not_scorable("the ground truth makes no claims")


@judged
def context_recall(
    *,
    model: Any = None,
    context: str | Sequence[str] | None = None,
    context_extractor: Callable[[ScorerRun], Any] | None = None,
    scale: float = 1.0,
    language: str | None = None,
    prompts: Mapping[str, str] | None = None,
) -> Scorer:
    """The share of the ground truth's claims that the context holds, 0 to *scale*; higher is better.

    The judge lists the claims of the item's ground truth, and says of each whether it can be had from the context: yes
    or no. The answer is not read. The context is what *context_extractor* gives, else the item's `context`, else
    *context*. Not scorable without a ground truth, a context or a claim; 0 and False are ground truths, None and empty
    text are none.

    >>> from proctor.testing import ScriptedModel
    >>> judge = ScriptedModel(
    ...     [
    ...         {"claims": ["It opens at nine", "It is free on Sundays"]},
    ...         {
    ...             "verdicts": [
    ...                 {"id": 1, "reason": "It says nine", "verdict": "yes"},
    ...                 {"id": 2, "reason": "It says nothing of Sundays", "verdict": "no"},
    ...             ]
    ...         },
    ...         "Sundays are not in the context.",
    ...     ]
    ... )
    >>> truth = "It opens at nine and is free on Sundays."
    >>> outcome = context_recall(model=judge).run_sync(output="", ground_truth=truth, context=["Opens at 9."])
    >>> outcome.score, outcome.reason
    (0.5, 'Sundays are not in the context.')
    """
    options = {"scale": scale_option(scale, scorer="context_recall")}
    source = ContextSource(context, context_extractor, scorer="context_recall")
    return build_judged(
        __file__,
        id="context-recall-scorer",
        name="Context Recall Scorer",
        description="The context holds what the right answer needs",
        model=model,
        language=language,
        prompts=prompts,
        scale=options["scale"],
        steps=claims_steps(
            source,
            text=truth_of,
            place="ground_truth",
            words=("yes", "no"),
            no_claims=_TRUTH_WITHOUT_CLAIMS,
            score=lambda found: formula(found, options),
            scale=options["scale"],
            asks=("Lists the claims of the ground truth", "Looks for each claim in the context"),
            shows_exchange=False,
        ),
        arguments={"context": source.given, "context_extractor": context_extractor},
        defaults={"context": None, "context_extractor": None},
    )


def formula(analysis: Mapping[str, Any], options: Mapping[str, Any]) -> float | Declined:
    """Yes / claims, 1 at most, * scale, rounded to two decimals.

    *analysis*: `claims`, the texts that were looked for, and `verdicts`, each with a `verdict`.

    >>> formula({"claims": ["a", "b"], "verdicts": [{"verdict": "yes"}, {"verdict": "no"}]}, {"scale": 1})
    0.5
    """
    claims = len(analysis["claims"])
    if not claims:
        return _TRUTH_WITHOUT_CLAIMS
    found = [entry["verdict"].strip().lower() for entry in analysis["verdicts"]].count("yes")
    scale = options.get("scale", 1.0)
    return rounded(min(1.0, found / claims) * scale, scale)
