"""Whether the answer speaks to the question, right or wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from proctor.scorers.build_judged import Asked, build_judged, judged, object_of, rounded, told_score
from proctor.scorers.material import NO_ANSWER, NO_QUESTION, answer_of, question_of
from proctor.scorers.numbered import each_once, judged_lines, list_of, numbered, without_blanks
from proctor.scorers.options import scale_option, share_option
from proctor.scoring.scorer import Scorer
from proctor.scoring.steps import Declined, StepContext, StepFunction, StepName, not_scorable

__all__ = ["answer_relevancy", "formula"]

_STATEMENTS = object_of(statements={"type": "array", "items": {"type": "string"}})
_RESULTS = object_of(results=list_of(reason="string", result={"enum": ["yes", "unsure", "no"]}))
_UNCERTAINTY_WEIGHT: Final = 0.3
_NO_STATEMENTS: Final = not_scorable("the answer makes no statements")


@judged
def answer_relevancy(
    *,
    model: Any = None,
    uncertainty_weight: float = _UNCERTAINTY_WEIGHT,
    scale: float = 1.0,
    language: str | None = None,
    prompts: Mapping[str, str] | None = None,
) -> Scorer:
    """The share of the answer's statements that speak to the question, 0 to *scale*; higher is better.

    The judge splits the last answer into statements, and says of each whether it is relevant to the user's question:
    yes, unsure (the right kind of thing, but in part or indirectly) or no. It does not judge whether they are true. An
    unsure counts for *uncertainty_weight*, 0 to 1, of a yes. Not scorable without a question, an answer or a statement.

    >>> from proctor.testing import ScriptedModel
    >>> judge = ScriptedModel(
    ...     [
    ...         {"statements": ["It is sunny", "Rome is old"]},
    ...         {
    ...             "results": [
    ...                 {"id": 1, "reason": "It is the weather", "result": "yes"},
    ...                 {"id": 2, "reason": "Nobody asked", "result": "no"},
    ...             ]
    ...         },
    ...         "Half of it is not about the weather.",
    ...     ]
    ... )
    >>> outcome = answer_relevancy(model=judge).run_sync(input="Weather in Rome?", output="Sunny. Rome is old.")
    >>> outcome.score, outcome.reason
    (0.5, 'Half of it is not about the weather.')
    """
    weight = share_option(
        uncertainty_weight, name="uncertainty_weight", scorer="answer_relevancy", of="what a yes counts"
    )
    options = {"uncertainty_weight": weight, "scale": scale_option(scale, scorer="answer_relevancy")}
    return build_judged(
        __file__,
        id="answer-relevancy-scorer",
        name="Answer Relevancy Scorer",
        description="The answer speaks to the question",
        model=model,
        language=language,
        prompts=prompts,
        scale=options["scale"],
        steps=_steps(options),
        arguments={"uncertainty_weight": weight},
        defaults={"uncertainty_weight": _UNCERTAINTY_WEIGHT},
    )


def _steps(options: Mapping[str, Any]) -> Mapping[StepName, Asked | StepFunction]:
    def to_split(ctx: StepContext) -> Mapping[str, str] | Declined:
        answer = ctx.run.once(answer_of)
        if not ctx.run.once(question_of):
            return NO_QUESTION
        return {"answer": ctx.fence(answer, "answer")} if answer else NO_ANSWER

    def to_judge(ctx: StepContext) -> Mapping[str, str] | Declined:
        statements = _statements(ctx)
        if not statements:
            return _NO_STATEMENTS
        return {
            "question": ctx.fence(ctx.run.once(question_of), "question"),
            "statements": numbered(ctx, statements, name="statements"),
        }

    def to_explain(ctx: StepContext) -> Mapping[str, str]:
        return {
            "question": ctx.fence(ctx.run.once(question_of), "question"),
            "answer": ctx.fence(ctx.run.once(answer_of), "answer"),
            "results": judged_lines(ctx, _statements(ctx), verdicts=ctx.analyze["results"], name="results"),
            **told_score(ctx, options["scale"]),
        }

    return {
        "preprocess": Asked(
            "Splits the answer into statements",
            material=to_split,
            places=("answer",),
            needed=("answer",),
            output=_STATEMENTS,
        ),
        "analyze": Asked(
            "Compares each statement with the question",
            material=to_judge,
            places=("question", "statements"),
            needed=("question", "statements"),
            output=_RESULTS,
            check=each_once("results", lambda ctx: range(1, len(_statements(ctx)) + 1)),
        ),
        "generate_score": lambda ctx: formula(ctx.analyze, options),
        "generate_reason": Asked(
            "Says why", material=to_explain, places=("score", "scale", "question", "answer", "results")
        ),
    }


def formula(analysis: Mapping[str, Any], options: Mapping[str, Any]) -> float | Declined:
    """(Yes + uncertainty_weight * unsure) / all results * scale, rounded to two decimals.

    *analysis*: `results`, each with a `result`; another word counts nothing.

    >>> formula({"results": [{"result": "yes"}, {"result": "unsure"}, {"result": "no"}]}, {})
    0.43
    """
    results = [entry["result"].strip().lower() for entry in analysis["results"]]
    if not results:
        return _NO_STATEMENTS
    weight, scale = options.get("uncertainty_weight", _UNCERTAINTY_WEIGHT), options.get("scale", 1.0)
    relevant = results.count("yes") + weight * results.count("unsure")
    return rounded(relevant / len(results) * scale, scale)


def _statements(ctx: StepContext) -> list[str]:
    return without_blanks(ctx.preprocess["statements"])
