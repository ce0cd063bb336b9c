"""Whether the answer says only what its context supports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from proctor.scorers.build_judged import Asked, build_judged, judged, object_of, rounded, told_score
from proctor.scorers.material import NO_ANSWER, NO_CLAIMS, answer_of, exchange_shown, tool_results
from proctor.scorers.numbered import each_once, judged_lines, list_of, numbered, without_blanks
from proctor.scorers.options import scale_option
from proctor.scorers.sources import ContextSource
from proctor.scoring.run import ScorerRun
from proctor.scoring.scorer import Scorer
from proctor.scoring.steps import Declined, StepContext, StepFunction, StepName

__all__ = ["faithfulness", "formula"]

_CLAIMS = object_of(claims={"type": "array", "items": {"type": "string"}})
_VERDICTS = object_of(verdicts=list_of(reason="string", verdict={"enum": ["yes", "no", "unsure"]}))


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

    def to_verify(ctx: StepContext) -> Mapping[str, str] | Declined:
        claims, pieces = _claims(ctx), ctx.run.once(source)
        if isinstance(pieces, Declined):
            return pieces
        if not claims:
            return NO_CLAIMS
        return {"context": numbered(ctx, pieces, name="context"), "claims": numbered(ctx, claims, name="claims")}

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
            "Compares each claim with the context",
            material=to_verify,
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
    """Yes / all verdicts * scale, rounded to two decimals. *analysis*: `verdicts`, each with a `verdict`.

    >>> formula({"verdicts": [{"verdict": "yes"}, {"verdict": "unsure"}]}, {"scale": 1})
    0.5
    """
    verdicts = [entry["verdict"].strip().lower() for entry in analysis["verdicts"]]
    if not verdicts:
        return NO_CLAIMS
    scale = options.get("scale", 1.0)
    return rounded(verdicts.count("yes") / len(verdicts) * scale, scale)


def _claims(ctx: StepContext) -> list[str]:
    return without_blanks(ctx.preprocess["claims"])
