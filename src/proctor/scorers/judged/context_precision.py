"""Whether the pieces of context that were of use stand before those that were not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from proctor.scorers.build_judged import Asked, build_judged, judged, object_of, rounded, told_score
from proctor.scorers.material import NO_ANSWER, NO_CONTEXT, NO_QUESTION, answer_of, question_of
from proctor.scorers.numbered import each_once, judged_lines, list_of, numbered
from proctor.scorers.options import scale_option
from proctor.scorers.sources import ContextSource
from proctor.scoring.run import ScorerRun
from proctor.scoring.scorer import Scorer
from proctor.scoring.steps import Declined, StepContext, StepFunction, StepName

__all__ = ["context_precision", "formula"]

_VERDICTS = object_of(verdicts=list_of(reason="string", verdict={"enum": ["yes", "no"]}))


@judged
def context_precision(
    *,
    model: Any = None,
    context: str | Sequence[str] | None = None,
    context_extractor: Callable[[ScorerRun], Any] | None = None,
    scale: float = 1.0,
    language: str | None = None,
    prompts: Mapping[str, str] | None = None,
) -> Scorer:
    """How far up in the context the useful pieces stand, 0 to *scale*: average precision; higher is better.

    The judge says of each piece whether it was of use for giving this answer to this question. Of each useful piece the
    share of useful ones down to its place is taken, and of these the mean. The context, in its order, is what
    *context_extractor* gives, else the item's `context`, else *context*. Not scorable without a context, a question or
    an answer; 0 when no piece is of use.

    >>> from proctor.testing import ScriptedModel
    >>> judge = ScriptedModel(
    ...     [
    ...         {
    ...             "verdicts": [
    ...                 {"id": 1, "reason": "It is about Rome", "verdict": "no"},
    ...                 {"id": 2, "reason": "It has the number", "verdict": "yes"},
    ...             ]
    ...         },
    ...         "The only useful piece stands second.",
    ...     ]
    ... )
    >>> found = ["Rome is old.", "Paris has 2 million inhabitants."]
    >>> outcome = context_precision(model=judge).run_sync(input="How big is Paris?", output="2 million", context=found)
    >>> outcome.score, outcome.reason
    (0.5, 'The only useful piece stands second.')
    """
    options = {"scale": scale_option(scale, scorer="context_precision")}
    source = ContextSource(context, context_extractor, scorer="context_precision")
    return build_judged(
        __file__,
        id="context-precision-scorer",
        name="Context Precision Scorer",
        description="Useful pieces of context stand before the others",
        model=model,
        language=language,
        prompts=prompts,
        scale=options["scale"],
        steps=_steps(source, options),
        arguments={"context": source.given, "context_extractor": context_extractor},
        defaults={"context": None, "context_extractor": None},
    )


def _steps(source: ContextSource, options: Mapping[str, Any]) -> Mapping[StepName, Asked | StepFunction]:
    def pieces_of(ctx: StepContext) -> Sequence[str]:
        pieces = ctx.run.once(source)
        return () if isinstance(pieces, Declined) else pieces

    def to_judge(ctx: StepContext) -> Mapping[str, str] | Declined:
        pieces = ctx.run.once(source)
        if isinstance(pieces, Declined):
            return pieces
        question, answer = ctx.run.once(question_of), ctx.run.once(answer_of)
        if not question or not answer:
            return NO_QUESTION if answer else NO_ANSWER
        return {
            "question": ctx.fence(question, "question"),
            "answer": ctx.fence(answer, "answer"),
            "context": numbered(ctx, pieces, name="context"),
        }

    def to_explain(ctx: StepContext) -> Mapping[str, str]:
        verdicts = judged_lines(ctx, pieces_of(ctx), verdicts=ctx.analyze["verdicts"])
        return {"verdicts": verdicts, **told_score(ctx, options["scale"])}

    return {
        "analyze": Asked(
            "Says of each piece whether it was of use",
            material=to_judge,
            places=("question", "answer", "context"),
            needed=("question", "answer", "context"),
            output=_VERDICTS,
            check=each_once("verdicts", lambda ctx: range(1, len(pieces_of(ctx)) + 1)),
            is_slow=source.is_slow,
        ),
        "generate_score": lambda ctx: formula(ctx.analyze, options),
        "generate_reason": Asked("Says why", material=to_explain, places=("score", "scale", "verdicts")),
    }


def formula(analysis: Mapping[str, Any], options: Mapping[str, Any]) -> float | Declined:
    """Average precision * scale, rounded to two decimals: the mean over the useful places k of (useful in 1..k) / k.

    Manning, Raghavan and Schütze 2008, 8.4; divided by the useful pieces that were found, since others are not known.
    *analysis*: `verdicts`, each with `id`, by which they are put in order, and `verdict`.

    >>> words = ["yes", "no", "yes"]
    >>> formula({"verdicts": [{"id": at, "verdict": word} for at, word in enumerate(words, start=1)]}, {"scale": 1})
    0.83
    """
    ranked = sorted(analysis["verdicts"], key=lambda entry: int(entry["id"]))
    if not ranked:
        return NO_CONTEXT
    useful, total = 0, 0.0
    for place, entry in enumerate(ranked, start=1):
        if entry["verdict"].strip().lower() == "yes":
            useful += 1
            total += useful / place
    scale = options.get("scale", 1.0)
    return rounded(total / useful * scale, scale) if useful else 0.0
