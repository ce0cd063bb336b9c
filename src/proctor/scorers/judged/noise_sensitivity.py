"""Whether the answer holds when the question is disturbed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from proctor.data.value import shown
from proctor.errors import UnknownName, UsageError
from proctor.scorers.actions import numbered_fields
from proctor.scorers.build_judged import Asked, build_judged, judged, object_of, rounded, told_score
from proctor.scorers.material import NO_ANSWER, NO_QUESTION, answer_of, question_of
from proctor.scorers.numbered import each_once, numbered, without_blanks
from proctor.scorers.options import as_number, margin_option, scale_option, text_of
from proctor.scorers.sources import TextSource
from proctor.scoring.run import ScorerRun
from proctor.scoring.scorer import Scorer
from proctor.scoring.steps import Declined, StepContext, StepFunction, StepName, not_scorable

__all__ = ["formula", "noise_sensitivity"]

_SCORER: Final = "noise_sensitivity"
_NO_BASELINE: Final = not_scorable("there is no baseline_response to compare the answer with")
_NO_QUERY: Final = not_scorable("there is no noisy_query")
_DIMENSIONS: Final = ("accuracy", "completeness", "relevance", "consistency", "hallucination")
_WEIGHTS: Final = {"none": 1.0, "minimal": 0.85, "moderate": 0.6, "significant": 0.3, "severe": 0.1}
_DEFAULTS: Final[Mapping[str, Any]] = {
    "impact_weights": _WEIGHTS,
    "major_issue_per_item": 0.1,
    "max_major_issue_penalty": 0.3,
    "discrepancy_threshold": 0.2,
}
_DIMENSION = object_of(
    dimension={"enum": list(_DIMENSIONS)},
    specific_changes="string",
    noise_influence="string",
    impact_level={"enum": list(_WEIGHTS)},
)
_FINDING = object_of(
    dimensions={"type": "array", "items": _DIMENSION},
    major_issues={"type": "array", "items": {"type": "string"}},
    robustness_score={"type": "number", "minimum": 0, "maximum": 1},
)


@judged
def noise_sensitivity(
    *,
    baseline_response: str | Callable[[ScorerRun], Any],
    noisy_query: str | Callable[[ScorerRun], Any],
    noise_type: str | None = None,
    impact_weights: Mapping[str, float] | None = None,
    major_issue_per_item: float = 0.1,
    max_major_issue_penalty: float = 0.3,
    discrepancy_threshold: float = 0.2,
    model: Any = None,
    scale: float = 1.0,
    language: str | None = None,
    prompts: Mapping[str, str] | None = None,
) -> Scorer:
    """How little the answer suffers from a disturbed question, 0 to *scale*; higher is better.

    The item's input is the clean question, and its output the answer to *noisy_query*. The judge compares it with
    *baseline_response*, the answer to the clean one, in five dimensions, each of which was hurt none, minimal,
    moderate, significant or severe; lists major issues; and says itself how robust it is, 0 to 1. That number counts,
    unless it differs by more than *discrepancy_threshold* from the mean weight of the dimensions: then the lower of
    the two. Each issue takes *major_issue_per_item* off, together *max_major_issue_penalty* at most. *impact_weights*:
    of some levels, 0 to 1. *baseline_response* and *noisy_query* are texts, or defs of the run that find them for each
    item. Not scorable without a question, an answer or one of these.

    >>> from proctor.testing import ScriptedModel
    >>> names = ["accuracy", "completeness", "relevance", "consistency", "hallucination"]
    >>> told = {"specific_changes": "None", "noise_influence": "None", "impact_level": "none"}
    >>> dimensions = [{"dimension": name, **told} for name in names]
    >>> judge = ScriptedModel(
    ...     [{"dimensions": dimensions, "major_issues": ["No date"], "robustness_score": 0.9}, "It lost the date."]
    ... )
    >>> scorer = noise_sensitivity(baseline_response="On 1 May.", noisy_query="whn dos it opn??", model=judge)
    >>> scorer.run_sync(input="When does it open?", output="In spring.").score
    0.8
    """
    options: dict[str, Any] = {
        "impact_weights": _weights(impact_weights),
        "major_issue_per_item": margin_option(major_issue_per_item, name="major_issue_per_item", scorer=_SCORER),
        "max_major_issue_penalty": margin_option(
            max_major_issue_penalty, name="max_major_issue_penalty", scorer=_SCORER
        ),
        "discrepancy_threshold": margin_option(discrepancy_threshold, name="discrepancy_threshold", scorer=_SCORER),
        "scale": scale_option(scale, scorer=_SCORER),
    }
    baseline = TextSource(baseline_response, name="baseline_response", scorer=_SCORER, missing=_NO_BASELINE)
    query = TextSource(noisy_query, name="noisy_query", scorer=_SCORER, missing=_NO_QUERY)
    kind = None if noise_type is None else text_of(noise_type, name="noise_type", scorer=_SCORER, such_as="typos")
    return build_judged(
        __file__,
        id="noise-sensitivity-scorer",
        name="Noise Sensitivity (LLM)",
        description="The answer holds when the question is disturbed",
        model=model,
        language=language,
        prompts=prompts,
        scale=options["scale"],
        steps=_steps(baseline, query, kind=kind, options=options),
        arguments={"baseline_response": baseline_response, "noisy_query": noisy_query, "noise_type": kind, **options},
        defaults={"noise_type": None, **_DEFAULTS},
    )


def _steps(
    baseline: TextSource, query: TextSource, *, kind: str | None, options: Mapping[str, Any]
) -> Mapping[StepName, Asked | StepFunction]:
    def to_compare(ctx: StepContext) -> Mapping[str, str] | Declined:
        question, answer = ctx.run.once(question_of), ctx.run.once(answer_of)
        if not answer:
            return NO_ANSWER
        if not question:
            return NO_QUESTION
        before, noisy = ctx.run.once(baseline), ctx.run.once(query)
        if isinstance(before, Declined):
            return before
        if isinstance(noisy, Declined):
            return noisy
        return {
            "question": ctx.fence(question, "question"),
            "baseline": ctx.fence(before, "baseline"),
            "noisy_question": ctx.fence(noisy, "noisy_question"),
            "answer": ctx.fence(answer, "answer"),
            "noise_type": ctx.fence(kind, "noise_type") if kind else "It is not said of which kind the noise is.",
        }

    def to_explain(ctx: StepContext) -> Mapping[str, str]:
        return {
            "question": ctx.fence(ctx.run.once(question_of), "question"),
            "dimensions": numbered_fields(ctx, ctx.analyze["dimensions"], name="dimensions"),
            "issues": numbered(ctx, without_blanks(ctx.analyze["major_issues"]), name="issues"),
            **told_score(ctx, options["scale"]),
        }

    return {
        "analyze": Asked(
            "Compares the answer with the one to the clean question",
            material=to_compare,
            places=("question", "baseline", "noisy_question", "answer", "noise_type"),
            needed=("baseline", "answer"),
            output=_FINDING,
            check=_each_dimension,
            is_slow=baseline.is_slow or query.is_slow,
        ),
        "generate_score": lambda ctx: formula(ctx.analyze, options),
        "generate_reason": Asked(
            "Says why", material=to_explain, places=("question", "dimensions", "issues", "score", "scale")
        ),
    }


def formula(analysis: Mapping[str, Any], options: Mapping[str, Any]) -> float | Declined:
    """The judge's robustness, or the mean weight of the dimensions where that is lower and they differ; less issues.

    *analysis*: `robustness_score`, taken as 0 to 1; `dimensions`, each with an `impact_level`; `major_issues`, texts.
    A level that nobody knows weighs as the worst. Without dimensions the robustness stands alone. At least 0, times
    scale, rounded to two decimals.

    >>> levels = [{"impact_level": "moderate"}, {"impact_level": "significant"}]
    >>> formula({"robustness_score": 0.9, "dimensions": levels, "major_issues": ["a wrong date"]}, {})
    0.35
    """
    used = {**_DEFAULTS, "scale": 1.0, **options}
    weights = {**_WEIGHTS, **used["impact_weights"]}
    levels = [entry["impact_level"].strip().lower() for entry in analysis["dimensions"]]
    score = min(1.0, max(0.0, analysis["robustness_score"]))
    if levels:
        mean = sum(weights.get(level, min(weights.values())) for level in levels) / len(levels)
        score = min(score, mean) if abs(score - mean) > used["discrepancy_threshold"] else score
    issues = len(without_blanks(analysis["major_issues"]))
    penalty = min(issues * used["major_issue_per_item"], used["max_major_issue_penalty"])
    return rounded(max(0.0, score - penalty) * used["scale"], used["scale"])


_once = each_once("dimensions", lambda ctx: _DIMENSIONS)


def _each_dimension(ctx: StepContext, answer: Mapping[str, Any]) -> str | None:
    """What is wrong with the dimensions: their names are their ids."""
    return _once(ctx, {"dimensions": [{"id": entry["dimension"]} for entry in answer["dimensions"]]})


def _weights(given: Any) -> Mapping[str, float]:
    if given is None:
        return _WEIGHTS
    if not isinstance(given, Mapping):
        raise UsageError(f"{_SCORER}: impact_weights is a mapping from levels to weights, not {shown(given)}")
    for level, weight in given.items():
        if level not in _WEIGHTS:
            raise UnknownName(f"level in {_SCORER}(impact_weights=...)", str(level), _WEIGHTS)
        number = as_number(weight)
        if number is None or not 0 <= number <= 1:
            raise UsageError(f"{_SCORER}: impact_weights[{level!r}] is a number from 0 to 1, not {shown(weight)}")
    return {**_WEIGHTS, **{level: float(weight) for level, weight in given.items()}}
