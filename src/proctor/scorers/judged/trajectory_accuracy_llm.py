"""Whether the path that was taken makes sense, by a judge's reading of its steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from proctor.data.value import shown
from proctor.errors import UsageError
from proctor.scorers.actions import has_request, numbered_fields, request_shown
from proctor.scorers.build_judged import Asked, build_judged, judged, object_of, rounded, told_score
from proctor.scorers.material import NO_QUESTION, answer_of
from proctor.scorers.numbered import each_once, list_of, numbered, without_blanks
from proctor.scorers.options import margin_option, scale_option
from proctor.scorers.path import flat, path_of, steps_in
from proctor.scoring.build import Findings
from proctor.scoring.run import ScorerRun
from proctor.scoring.scorer import Scorer
from proctor.scoring.steps import Declined, StepContext, StepFunction, StepName, not_scorable

__all__ = ["formula", "trajectory_accuracy_llm"]

_SCORER: Final = "trajectory_accuracy_llm"
_NOTHING_DONE: Final = not_scorable("there is no answer and no step: the agent did nothing")
_DEFAULTS: Final[Mapping[str, float]] = {"necessary": 0.6, "in_order": 0.4, "missing_penalty": 0.1}
_FINDING = object_of(
    step_evaluations=list_of(reason="string", was_necessary="boolean", was_in_order="boolean"),
    extra_steps={"type": "array", "items": {"type": "integer"}},
    missing_steps={"type": "array", "items": {"type": "string"}},
)


@judged
def trajectory_accuracy_llm(
    *,
    expected_trajectory: Any = None,
    necessary: float = 0.6,
    in_order: float = 0.4,
    missing_penalty: float = 0.1,
    model: Any = None,
    scale: float = 1.0,
    language: str | None = None,
    prompts: Mapping[str, str] | None = None,
) -> Scorer:
    """How well the steps serve the request, 0 to *scale*; higher is better.

    The steps are those of the run's trajectory, of an output that is one, or else the tool calls of the output. The
    judge is shown the request, the last answer, all steps at every depth, and those that were expected: the item's
    `expected_trajectory`, else *expected_trajectory* (a `TrajectoryExpectation`, a list of steps or of their names). It
    says of each step whether it was necessary and in a sensible order, and lists extra and missing ones. Score:
    *necessary* times the share of necessary steps, plus *in_order* times the share in order, less *missing_penalty*
    times the share of missing steps among all; all of it times *scale*. Without steps: 0 when some are missing, else
    *scale*. Not scorable without a
    request, and with neither an answer nor a step.

    >>> from proctor.testing import ScriptedModel
    >>> judge = ScriptedModel(
    ...     [
    ...         {
    ...             "step_evaluations": [
    ...                 {"id": 1, "reason": "Finds the order", "was_necessary": True, "was_in_order": True},
    ...                 {"id": 2, "reason": "Of no use", "was_necessary": False, "was_in_order": True},
    ...             ],
    ...             "extra_steps": [2],
    ...             "missing_steps": [],
    ...         },
    ...         "The weather was not asked for.",
    ...     ]
    ... )
    >>> path = {"steps": [{"step_type": "tool_call", "name": name} for name in ("find_order", "weather")]}
    >>> trajectory_accuracy_llm(model=judge).run_sync(input="Where is my order?", output=path).score
    0.7
    """
    options = {
        name: margin_option(value, name=name, scorer=_SCORER)
        for name, value in (("necessary", necessary), ("in_order", in_order), ("missing_penalty", missing_penalty))
    }
    if not 0 < options["necessary"] + options["in_order"] <= 1 + 1e-9:
        raise UsageError(f"{_SCORER}: necessary and in_order add up to more than 0 and at most 1, not {options}")
    options["scale"] = scale_option(scale, scorer=_SCORER)
    expected = None if expected_trajectory is None else _expected_option(expected_trajectory)
    return build_judged(
        __file__,
        id="llm-trajectory-accuracy-scorer",
        name="Trajectory Accuracy (LLM)",
        description="The steps serve the request, in a sensible order",
        model=model,
        language=language,
        prompts=prompts,
        scale=options["scale"],
        type="trajectory",
        steps=_steps(expected or (), options),
        arguments={"expected_trajectory": expected, **options},
        defaults={"expected_trajectory": None, **_DEFAULTS},
    )


def _steps(
    expected: Sequence[Mapping[str, Any]], options: Mapping[str, Any]
) -> Mapping[StepName, Asked | StepFunction]:
    def look(ctx: StepContext) -> Findings | Declined:
        path = ctx.run.once(path_of)
        if not has_request(path.run):
            return NO_QUESTION
        if not path.steps and not path.run.once(answer_of):
            return _NOTHING_DONE
        wanted = _expected_of(ctx.run, expected)
        return Findings(actual_steps=_names(path.steps), has_steps=bool(path.steps), expected_steps=_names(wanted))

    def to_judge(ctx: StepContext) -> Mapping[str, str]:
        path, wanted = ctx.run.once(path_of), _expected_of(ctx.run, expected)
        return {
            "question": request_shown(ctx, path.run),
            "answer": ctx.fence(path.run.once(answer_of), "answer"),
            "steps": numbered_fields(ctx, path.steps, name="steps"),
            "expected": numbered_fields(ctx, wanted, name="expected", key="expected")
            if wanted
            else "Nothing was said of the steps to expect: judge by the request alone.",
        }

    def to_explain(ctx: StepContext) -> Mapping[str, str]:
        path, said = ctx.run.once(path_of), ctx.analyze
        verdicts = [
            {**entry, "was_extra": entry["id"] in said["extra_steps"]} for entry in said["step_evaluations"]
        ]  # fmt: skip
        return {
            "question": request_shown(ctx, path.run),
            "steps": numbered_fields(
                ctx, [{"name": step["name"]} for step in path.steps], name="steps", verdicts=verdicts
            ),
            "missing": numbered(ctx, without_blanks(said["missing_steps"]), name="missing"),
            **told_score(ctx, options["scale"]),
        }

    return {
        "preprocess": look,
        "analyze": Asked(
            "Judges each step by the request",
            material=to_judge,
            places=("question", "answer", "steps", "expected"),
            needed=("question", "steps", "expected"),
            output=_FINDING,
            check=_each_step,
        ),
        "generate_score": lambda ctx: formula(_unnamed(ctx.analyze), options),
        "generate_reason": Asked(
            "Says why", material=to_explain, places=("question", "steps", "missing", "score", "scale")
        ),
    }


def formula(analysis: Mapping[str, Any], options: Mapping[str, Any]) -> float | Declined:
    """Necessary * share + in_order * share - missing_penalty * missing / (steps + missing), 0 to 1, * scale.

    *analysis*: `step_evaluations`, each with `was_necessary` and `was_in_order`; `extra_steps`, the ids (or the names,
    as in `step_name`) of steps that count as unnecessary, one that was not judged as one step more; `missing_steps`,
    texts. The last two may be left out. Without evaluations: 0 when some are missing, else 0.5 when some are extra,
    else 1. Rounded to two decimals.

    >>> step = {"was_necessary": True, "was_in_order": True}
    >>> formula({"step_evaluations": [step], "missing_steps": ["pay"]}, {})
    0.95
    """
    used = {**_DEFAULTS, "scale": 1.0, **options}
    judged = analysis["step_evaluations"]
    missing = len(without_blanks(analysis.get("missing_steps") or ()))
    extra = {_word(one) for one in analysis.get("extra_steps") or ()}
    if not judged:
        return (0.0 if missing else 0.5 if extra else 1.0) * float(used["scale"])
    names = [{_word(entry[key]) for key in ("id", "step_name") if key in entry} for entry in judged]
    total = len(judged) + len(extra.difference(*names))
    necessary = sum(
        entry["was_necessary"] is True and not named & extra for entry, named in zip(judged, names, strict=True)
    )
    in_order = sum(entry["was_in_order"] is True for entry in judged)
    score = used["necessary"] * necessary / total + used["in_order"] * in_order / len(judged)
    score -= used["missing_penalty"] * missing / (len(judged) + missing)
    return rounded(min(1.0, max(0.0, score)) * used["scale"], used["scale"])


def _unnamed(analysis: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the judge said, without names for steps that it was not asked for: ids alone tell them apart."""
    kept = ("id", "was_necessary", "was_in_order")
    judged = [{key: entry[key] for key in kept} for entry in analysis["step_evaluations"]]
    return {**analysis, "step_evaluations": judged}


def _word(value: Any) -> str:
    number = int(value) if isinstance(value, float) and value.is_integer() else value  # 2.0 is the step 2
    return str(number).strip().lower()


_once = each_once("step_evaluations", lambda ctx: range(1, len(ctx.run.once(path_of).steps) + 1))


def _each_step(ctx: StepContext, answer: Mapping[str, Any]) -> str | None:
    count = len(ctx.run.once(path_of).steps)
    strange = [str(one) for one in answer["extra_steps"] if not 1 <= one <= count]
    said = f"extra_steps has ids that were not given: {', '.join(strange[:12])}" if strange else None
    return _once(ctx, answer) or said


def _expected_of(run: ScorerRun, own: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """The item's expected steps, else the scorer's *own*; an item that expects none leaves the judge to the request."""
    steps = None if run.expected_trajectory is None else steps_in(run.expected_trajectory)
    return own if steps is None else flat(steps, "expected_trajectory")


def _expected_option(given: Any) -> tuple[Mapping[str, Any], ...]:
    steps = flat(steps_in(given) or (), f"{_SCORER}: expected_trajectory")
    if not steps:
        raise UsageError(
            f"{_SCORER}: expected_trajectory is a TrajectoryExpectation, or a list of steps or names, with one step or "
            f"more, not {shown(given)}"
        )
    return steps


def _names(steps: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    return tuple(step["name"] for step in steps)
