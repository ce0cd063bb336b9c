"""The share of several criteria that the answer satisfies, judged in one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from proctor.scorers.build_judged import Asked, build_judged, judged
from proctor.scorers.criteria import VERDICTS, Criterion, as_written, criteria_from, criteria_lines, report
from proctor.scorers.material import NO_ANSWER, answer_of, question_shown
from proctor.scorers.numbered import each_once
from proctor.scorers.options import refuse_model, scale_option
from proctor.scoring.scorer import Scorer
from proctor.scoring.steps import Declined, Score, StepContext, StepFunction, StepName, not_scorable

__all__ = ["formula", "pass_criteria"]

_SCORER: Final = "pass_criteria"
_NO_CRITERIA: Final = not_scorable("there are no criteria")


@judged
def pass_criteria(
    criteria: str | Sequence[str | Mapping[str, Any]],
    *,
    model: Any = None,
    scale: float = 1.0,
    language: str | None = None,
    prompts: Mapping[str, str] | None = None,
) -> Scorer:
    """The share of *criteria* that the last answer satisfies, 0 to *scale*; higher is better.

    *criteria*: a checklist with a line for each, or a list of texts and of mappings with `description`, and `id` where
    it is not c1, c2 ... In a checklist with list markers, lines without one are headings and left out, unless they are
    indented below one; so are headings with # and rulers. The judge reads the question and the answer, and says of each
    criterion whether it is satisfied, all in one call: `evidence.analyze_step_result["criteria"]` has what it said of
    each, by its id. The label counts them, and the reason is a report on each. Not scorable without an answer.

    >>> from proctor.testing import ScriptedModel
    >>> judge = ScriptedModel(
    ...     [
    ...         {
    ...             "criteria": [
    ...                 {"id": "price", "reasoning": "It says 20 euros", "satisfied": True},
    ...                 {"id": "c2", "reasoning": "No date", "satisfied": False},
    ...             ]
    ...         }
    ...     ]
    ... )
    >>> scorer = pass_criteria([{"id": "price", "description": "Names the price"}, "Names the date"], model=judge)
    >>> outcome = scorer.run_sync(output="It costs 20 euros.")
    >>> outcome.score, outcome.label
    (0.5, '1 of 2')
    >>> {entry["id"]: entry["satisfied"] for entry in outcome.evidence.analyze_step_result["criteria"]}
    {'price': True, 'c2': False}
    """
    refuse_model(criteria, name="criteria", scorer=_SCORER)
    own = criteria_from(criteria, whose=f"{_SCORER}: criteria", optional=False)
    options = {"scale": scale_option(scale, scorer=_SCORER)}
    return build_judged(
        __file__,
        id="pass-criteria-scorer",
        name="Pass Criteria (LLM)",
        description="The share of criteria that the answer satisfies",
        model=model,
        language=language,
        prompts=prompts,
        scale=options["scale"],
        steps=_steps(own, options),
        arguments={"criteria": as_written(own)},
        positional="criteria",
    )


def _steps(criteria: tuple[Criterion, ...], options: Mapping[str, Any]) -> Mapping[StepName, Asked | StepFunction]:
    lines = criteria_lines(criteria)

    def to_judge(ctx: StepContext) -> Mapping[str, str] | Declined:
        answer = ctx.run.once(answer_of)
        if not answer:
            return NO_ANSWER
        return {"criteria": lines, "question": question_shown(ctx), "answer": ctx.fence(answer, "answer")}

    def score(ctx: StepContext) -> Score | Declined:
        share = formula(ctx.analyze, options)
        return share if isinstance(share, Declined) else Score(share, label=_counted(ctx.analyze))

    return {
        "analyze": Asked(
            "Judges the answer by each criterion",
            material=to_judge,
            places=("criteria", "question", "answer"),
            needed=("criteria", "answer"),
            output=VERDICTS,
            check=each_once("criteria", lambda ctx: [criterion.id for criterion in criteria]),
        ),
        "generate_score": score,
        "generate_reason": lambda ctx: (
            f"{_counted(ctx.analyze)} criteria satisfied\n{report(criteria, ctx.analyze['criteria'])}"
        ),
    }


def formula(analysis: Mapping[str, Any], options: Mapping[str, Any]) -> float | Declined:
    """Satisfied / all criteria * scale, not rounded. *analysis*: `criteria`, each with `satisfied`.

    >>> formula({"criteria": [{"satisfied": True}, {"satisfied": False}]}, {"scale": 10})
    5.0
    """
    entries = analysis["criteria"]
    if not entries:
        return _NO_CRITERIA
    return _satisfied(entries) / len(entries) * float(options.get("scale", 1.0))


def _satisfied(entries: Sequence[Mapping[str, Any]]) -> int:
    return sum(entry["satisfied"] is True for entry in entries)


def _counted(analysis: Mapping[str, Any]) -> str:
    return f"{_satisfied(analysis['criteria'])} of {len(analysis['criteria'])}"
