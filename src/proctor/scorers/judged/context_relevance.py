"""Whether the context fits the question, was used by the answer, and lacks nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from proctor.scorers.build_judged import Asked, build_judged, judged, object_of, rounded, told_score
from proctor.scorers.material import NO_ANSWER, NO_CONTEXT, NO_QUESTION, answer_of, question_of
from proctor.scorers.numbered import each_once, judged_lines, list_of, numbered, without_blanks
from proctor.scorers.options import margin_option, scale_option
from proctor.scorers.sources import ContextSource
from proctor.scoring.run import ScorerRun
from proctor.scoring.scorer import Scorer
from proctor.scoring.steps import Declined, StepContext, StepFunction, StepName

__all__ = ["context_relevance", "formula"]

_WEIGHTS: Final = {"high": 1.0, "medium": 0.7, "low": 0.3, "none": 0.0}
_PENALTIES: Final = {
    "unused_high_relevance_context": 0.1,
    "missing_context_per_item": 0.15,
    "max_missing_context_penalty": 0.5,
}
_ANALYSIS = object_of(
    evaluations=list_of(reason="string", relevance_level={"enum": list(_WEIGHTS)}, was_used="boolean"),
    missing_context={"type": "array", "items": {"type": "string"}},
)


@judged
def context_relevance(
    *,
    model: Any = None,
    context: str | Sequence[str] | None = None,
    context_extractor: Callable[[ScorerRun], Any] | None = None,
    unused_high_relevance_context: float = _PENALTIES["unused_high_relevance_context"],
    missing_context_per_item: float = _PENALTIES["missing_context_per_item"],
    max_missing_context_penalty: float = _PENALTIES["max_missing_context_penalty"],
    scale: float = 1.0,
    language: str | None = None,
    prompts: Mapping[str, str] | None = None,
) -> Scorer:
    """How well the context fits the question, 0 to *scale*; higher is better.

    The judge says of each piece how relevant it is to the question (high 1, medium 0.7, low 0.3, none 0) and whether
    the answer used it, and lists what is missing. The score is the mean, less *unused_high_relevance_context* for each
    piece of high relevance that was not used, less *missing_context_per_item* for each thing that is missing, of which
    at most *max_missing_context_penalty*; 0 at least, and then times *scale*. The context is what *context_extractor*
    gives, else the item's `context`, else *context*. Not scorable without a context, a question or an answer.

    >>> from proctor.testing import ScriptedModel
    >>> seen = {"id": 1, "reason": "It has the number", "relevance_level": "high", "was_used": True}
    >>> judge = ScriptedModel([{"evaluations": [seen], "missing_context": ["The year"]}, "The year is missing."])
    >>> asked = {"input": "How big was Paris in 1900?", "output": "2.7 million", "context": ["Paris had 2.7 million."]}
    >>> outcome = context_relevance(model=judge).run_sync(**asked)
    >>> outcome.score, outcome.reason
    (0.85, 'The year is missing.')
    """
    penalties = {
        "unused_high_relevance_context": unused_high_relevance_context,
        "missing_context_per_item": missing_context_per_item,
        "max_missing_context_penalty": max_missing_context_penalty,
    }
    options = {name: margin_option(value, name=name, scorer="context_relevance") for name, value in penalties.items()}
    options["scale"] = scale_option(scale, scorer="context_relevance")
    source = ContextSource(context, context_extractor, scorer="context_relevance")
    return build_judged(
        __file__,
        id="context-relevance-scorer",
        name="Context Relevance (LLM)",
        description="The context fits the question, was used, and lacks nothing",
        model=model,
        language=language,
        prompts=prompts,
        scale=options["scale"],
        steps=_steps(source, options),
        arguments={
            "context": source.given,
            "context_extractor": context_extractor,
            **{name: options[name] for name in _PENALTIES},
        },
        defaults={"context": None, "context_extractor": None, **_PENALTIES},
    )


def _steps(source: ContextSource, options: Mapping[str, float]) -> Mapping[StepName, Asked | StepFunction]:
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
        missing = without_blanks(ctx.analyze["missing_context"])
        return {
            "evaluations": judged_lines(ctx, pieces_of(ctx), verdicts=ctx.analyze["evaluations"], name="evaluations"),
            "missing": numbered(ctx, missing, name="missing") if missing else "Nothing.",
            **{name: f"{options[name]:g}" for name in _PENALTIES},
            **told_score(ctx, options["scale"]),
        }

    return {
        "analyze": Asked(
            "Says of each piece how relevant it is and whether it was used, and what is missing",
            material=to_judge,
            places=("question", "answer", "context"),
            needed=("question", "answer", "context"),
            output=_ANALYSIS,
            check=each_once("evaluations", lambda ctx: range(1, len(pieces_of(ctx)) + 1)),
            is_slow=source.is_slow,
        ),
        "generate_score": lambda ctx: formula(ctx.analyze, options),
        "generate_reason": Asked(
            "Says why", material=to_explain, places=("score", "scale", "evaluations", "missing", *_PENALTIES)
        ),
    }


def formula(analysis: Mapping[str, Any], options: Mapping[str, Any]) -> float | Declined:
    """The mean of the weights of the pieces, less the penalties, 0 at least, * scale, rounded to two decimals.

    *analysis*: `evaluations`, each with `relevance_level` and `was_used`, and `missing_context`, a list of texts. A
    level that is not known has no weight. *options*: the penalties and the scale.

    >>> high = {"relevance_level": "high", "was_used": False}
    >>> medium = {"relevance_level": "medium", "was_used": True}
    >>> formula({"evaluations": [high, medium], "missing_context": ["the year"]}, {"scale": 1})
    0.6
    """
    told = {**_PENALTIES, **options}
    seen = [(entry["relevance_level"].strip().lower(), entry["was_used"]) for entry in analysis["evaluations"]]
    if not seen:
        return NO_CONTEXT
    mean = sum(_WEIGHTS.get(level, 0.0) for level, _ in seen) / len(seen)
    unused = sum(level == "high" and not was_used for level, was_used in seen) * told["unused_high_relevance_context"]
    missing = len(without_blanks(analysis.get("missing_context", ()))) * told["missing_context_per_item"]
    left = mean - unused - min(missing, told["max_missing_context_penalty"])
    scale = told.get("scale", 1.0)
    return rounded(max(0.0, left) * scale, scale)
