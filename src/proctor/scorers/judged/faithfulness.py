"""Whether the answer says only what its context supports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from proctor.scorers.build_judged import build_judged, judged, rounded
from proctor.scorers.claims import claims_steps
from proctor.scorers.material import NO_CLAIMS, answer_given, tool_results
from proctor.scorers.options import scale_option
from proctor.scorers.sources import ContextSource
from proctor.scoring.run import ScorerRun
from proctor.scoring.scorer import Scorer
from proctor.scoring.steps import Declined

__all__ = ["faithfulness", "formula"]


@judged
def faithfulness(
    *,
    model: Any = None,
    context: str | Sequence[str] | None = None,
    context_extractor: Callable[[ScorerRun], Any] | None = None,
    scale: float = 1.0,
    language: str | None = None,
    prompts: Mapping[str, str] | None = None,
) -> Scorer:
    """The share of the answer's claims that the context supports, 0 to *scale*; higher is better.

    The judge lists the claims of the last answer, and says of each whether the context supports it: yes, no (the
    context says otherwise) or unsure (it does not say). Only yes counts. The context is what *context_extractor* gives,
    else the item's `context`, else *context*, else what the tools gave back. Not scorable without an answer, a context
    or a claim.

    >>> from proctor.testing import ScriptedModel
    >>> judge = ScriptedModel(
    ...     [
    ...         {"claims": ["It is sunny", "It is 30 degrees"]},
    ...         {
    ...             "verdicts": [
    ...                 {"id": 1, "reason": "It says so", "verdict": "yes"},
    ...                 {"id": 2, "reason": "It says 20", "verdict": "no"},
    ...             ]
    ...         },
    ...         "One of two claims is not in the context.",
    ...     ]
    ... )
    >>> outcome = faithfulness(model=judge).run_sync(output="Sunny, 30 degrees.", context="Sunny, 20 degrees")
    >>> outcome.score, outcome.reason
    (0.5, 'One of two claims is not in the context.')
    """
    options = {"scale": scale_option(scale, scorer="faithfulness")}
    source = ContextSource(context, context_extractor, scorer="faithfulness", otherwise=tool_results)
    return build_judged(
        __file__,
        id="faithfulness-scorer",
        name="Faithfulness Scorer",
        description="The answer says only what its context supports",
        model=model,
        language=language,
        prompts=prompts,
        scale=options["scale"],
        steps=claims_steps(
            source,
            text=answer_given,
            place="answer",
            words=("yes", "no", "unsure"),
            no_claims=NO_CLAIMS,
            score=lambda found: formula(found, options),
            scale=options["scale"],
            asks=("Lists the claims of the answer", "Compares each claim with the context"),
            shows_exchange=True,
        ),
        arguments={"context": source.given, "context_extractor": context_extractor},
        defaults={"context": None, "context_extractor": None},
    )


def formula(analysis: Mapping[str, Any], options: Mapping[str, Any]) -> float | Declined:
    """Yes / all verdicts * scale, rounded to two decimals. *analysis*: `verdicts`, each with a `verdict`.

    >>> formula({"verdicts": [{"verdict": "yes"}, {"verdict": "unsure"}]}, {"scale": 1})
    0.5
    """
    verdicts = [entry["verdict"].strip().lower() for entry in analysis["verdicts"]]
    if not verdicts:
        return NO_CLAIMS
    scale = options.get("scale", 1.0)
    return rounded(verdicts.count("yes") / len(verdicts) * scale, scale)
