"""Whether the context holds what the right answer needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from proctor.scorers.build_judged import Asked, build_judged, judged, object_of, rounded, told_score
from proctor.scorers.material import truth_of
from proctor.scorers.numbered import each_once, judged_lines, list_of, numbered, without_blanks
from proctor.scorers.options import scale_option
from proctor.scorers.sources import ContextSource
from proctor.scoring.run import ScorerRun
from proctor.scoring.scorer import Scorer
from proctor.scoring.steps import Declined, StepContext, StepFunction, StepName, not_scorable

__all__ = ["context_recall", "formula"]

_TRUTH_WITHOUT_CLAIMS: Final = not_scorable("the ground truth makes no claims")
_CLAIMS = object_of(claims={"type": "array", "items": {"type": "string"}})
_VERDICTS = object_of(verdicts=list_of(reason="string", verdict={"enum": ["yes", "no"]}))


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
        steps=_steps(source, options),
        arguments={"context": source.given, "context_extractor": context_extractor},
        defaults={"context": None, "context_extractor": None},
    )


def _steps(source: ContextSource, options: Mapping[str, Any]) -> Mapping[StepName, Asked | StepFunction]:
    def to_extract(ctx: StepContext) -> Mapping[str, str] | Declined:
        truth, pieces = ctx.run.once(truth_of), ctx.run.once(source)
        if isinstance(truth, Declined):
            return truth
        if isinstance(pieces, Declined):
            return pieces
        return {"ground_truth": ctx.fence(truth, "ground_truth")}

    def to_attribute(ctx: StepContext) -> Mapping[str, str] | Declined:
        claims, pieces = _claims(ctx), ctx.run.once(source)
        if isinstance(pieces, Declined):
            return pieces
        if not claims:
            return _TRUTH_WITHOUT_CLAIMS
        return {"context": numbered(ctx, pieces, name="context"), "claims": numbered(ctx, claims, name="claims")}

    def to_explain(ctx: StepContext) -> Mapping[str, str]:
        verdicts = judged_lines(ctx, _claims(ctx), verdicts=ctx.analyze["verdicts"])
        return {"verdicts": verdicts, **told_score(ctx, options["scale"])}

    return {
        "preprocess": Asked(
            "Lists the claims of the ground truth",
            material=to_extract,
            places=("ground_truth",),
            needed=("ground_truth",),
            output=_CLAIMS,
            is_slow=source.is_slow,
        ),
        "analyze": Asked(
            "Looks for each claim in the context",
            material=to_attribute,
            places=("claims", "context"),
            needed=("claims", "context"),
            output=_VERDICTS,
            check=each_once("verdicts", lambda ctx: range(1, len(_claims(ctx)) + 1)),
            is_slow=source.is_slow,
        ),
        "generate_score": lambda ctx: formula({**ctx.analyze, "claims": _claims(ctx)}, options),
        "generate_reason": Asked("Says why", material=to_explain, places=("score", "scale", "verdicts")),
    }


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


def _claims(ctx: StepContext) -> list[str]:
    return without_blanks(ctx.preprocess["claims"])
