"""Whether the answer says what its context does not: what it made up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from proctor.scorers.build_judged import build_judged, judged, rounded
from proctor.scorers.claims import claims_steps
from proctor.scorers.material import NO_CLAIMS, answer_given
from proctor.scorers.options import scale_option
from proctor.scorers.sources import ContextSource
from proctor.scoring.run import ScorerRun
from proctor.scoring.scorer import Scorer
from proctor.scoring.steps import Declined

__all__ = ["formula", "hallucination"]


@judged
def hallucination(
    *,
    model: Any = None,
    context: str | Sequence[str] | None = None,
    context_extractor: Callable[[ScorerRun], Any] | None = None,
    scale: float = 1.0,
    language: str | None = None,
    prompts: Mapping[str, str] | None = None,
) -> Scorer:
    """The share of the answer's claims that are made up, 0 to *scale*; lower is better.

    The judge lists the claims of the last answer, and says of each whether it is made up: yes (the context says
    otherwise, or does not say it) or no. The context is what *context_extractor* gives, else the item's `context`, else
    *context*; results of tools are none, unless `context_extractor=tool_results`. Not scorable without an answer, a
    context or a claim.

    >>> from proctor.testing import ScriptedModel
    >>> judge = ScriptedModel(
    ...     [
    ...         {"claims": ["It is sunny", "It is 30 degrees"]},
    ...         {
    ...             "verdicts": [
    ...                 {"id": 1, "reason": "It says so", "verdict": "no"},
    ...                 {"id": 2, "reason": "It says 20", "verdict": "yes"},
    ...             ]
    ...         },
    ...         "The 30 degrees are made up.",
    ...     ]
    ... )
    >>> outcome = hallucination(model=judge).run_sync(output="Sunny, 30 degrees.", context="Sunny, 20 degrees")
    >>> outcome.score, outcome.reason
    (0.5, 'The 30 degrees are made up.')
    """
    options = {"scale": scale_option(scale, scorer="hallucination")}
    source = ContextSource(context, context_extractor, scorer="hallucination")
    return build_judged(
        __file__,
        id="hallucination-scorer",
        name="Hallucination Scorer",
        description="The answer makes nothing up",
        model=model,
        language=language,
        prompts=prompts,
        scale=options["scale"],
        better="lower",
        steps=claims_steps(
            source,
            text=answer_given,
            place="answer",
            words=("yes", "no"),
            no_claims=NO_CLAIMS,
            score=lambda found: formula(found, options),
            scale=options["scale"],
            asks=("Lists the claims of the answer", "Looks for each claim in the context"),
            shows_exchange=True,
        ),
        arguments={"context": source.given, "context_extractor": context_extractor},
        defaults={"context": None, "context_extractor": None},
    )


def formula(analysis: Mapping[str, Any], options: Mapping[str, Any]) -> float | Declined:
    """Yes / all verdicts * scale, rounded to two decimals; yes is made up. *analysis*: `verdicts`, each a `verdict`.

    >>> formula({"verdicts": [{"verdict": "yes"}, {"verdict": "no"}]}, {"scale": 1})
    0.5
    """
    verdicts = [entry["verdict"].strip().lower() for entry in analysis["verdicts"]]
    if not verdicts:
        return NO_CLAIMS
    scale = options.get("scale", 1.0)
    return rounded(verdicts.count("yes") / len(verdicts) * scale, scale)
