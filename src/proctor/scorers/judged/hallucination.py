"""Whether the answer says what its context does not: what it made up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from proctor.scorers.build_judged import Asked, build_judged, judged, object_of, rounded, told_score
from proctor.scorers.material import NO_ANSWER, NO_CLAIMS, answer_of, exchange_shown
from proctor.scorers.numbered import each_once, judged_lines, list_of, numbered, without_blanks
from proctor.scorers.options import scale_option
from proctor.scorers.sources import ContextSource
from proctor.scoring.run import ScorerRun
from proctor.scoring.scorer import Scorer
from proctor.scoring.steps import Declined, StepContext, StepFunction, StepName

__all__ = ["formula", "hallucination"]

_CLAIMS = object_of(claims={"type": "array", "items": {"type": "string"}})
_VERDICTS = object_of(verdicts=list_of(reason="string", verdict={"enum": ["yes", "no"]}))


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
        steps=_steps(source, options),
        arguments={"context": source.given, "context_extractor": context_extractor},
        defaults={"context": None, "context_extractor": None},
    )


def _steps(source: ContextSource, options: Mapping[str, Any]) -> Mapping[StepName, Asked | StepFunction]:
    def to_extract(ctx: StepContext) -> Mapping[str, str] | Declined:
        answer, pieces = ctx.run.once(answer_of), ctx.run.once(source)
        if isinstance(pieces, Declined):
            return pieces
        return {"answer": ctx.fence(answer, "answer")} if answer else NO_ANSWER

    def to_compare(ctx: StepContext) -> Mapping[str, str] | Declined:
        claims, pieces = _claims(ctx), ctx.run.once(source)
        if isinstance(pieces, Declined):
            return pieces
        if not claims:
            return NO_CLAIMS
        return {"claims": numbered(ctx, claims, name="claims"), "context": numbered(ctx, pieces, name="context")}

    def to_explain(ctx: StepContext) -> Mapping[str, str] | Declined:
        pieces = ctx.run.once(source)
        if isinstance(pieces, Declined):
            return pieces
        return {
            **exchange_shown(ctx),
            "context": numbered(ctx, pieces, name="context"),
            "verdicts": judged_lines(ctx, _claims(ctx), verdicts=ctx.analyze["verdicts"]),
            **told_score(ctx, options["scale"]),
        }

    return {
        "preprocess": Asked(
            "Lists the claims of the answer",
            material=to_extract,
            places=("answer",),
            needed=("answer",),
            output=_CLAIMS,
            is_slow=source.is_slow,
        ),
        "analyze": Asked(
            "Looks for each claim in the context",
            material=to_compare,
            places=("claims", "context"),
            needed=("claims", "context"),
            output=_VERDICTS,
            check=each_once("verdicts", lambda ctx: range(1, len(_claims(ctx)) + 1)),
            is_slow=source.is_slow,
        ),
        "generate_score": lambda ctx: formula(ctx.analyze, options),
        "generate_reason": Asked(
            "Says why", material=to_explain, places=("score", "scale", "question", "answer", "context", "verdicts")
        ),
    }


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


def _claims(ctx: StepContext) -> list[str]:
    return without_blanks(ctx.preprocess["claims"])
