"""Whether the answer does all that a rubric requires."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from proctor.data.value import MISSING
from proctor.scorers.build_judged import Asked, build_judged, judged
from proctor.scorers.criteria import VERDICTS, Criterion, as_written, criteria_from, criteria_lines, named, report
from proctor.scorers.material import NO_ANSWER, answer_of, fenced_or_not_recorded, question_of
from proctor.scorers.numbered import each_once
from proctor.scorers.options import refuse_model, scale_option
from proctor.scoring.run import ScorerRun
from proctor.scoring.scorer import Scorer
from proctor.scoring.steps import Declined, StepContext, StepFunction, StepName, not_scorable

__all__ = ["NO_RUBRIC", "formula", "rubric"]

NO_RUBRIC: Final = not_scorable("there is no rubric")
_SCORER: Final = "rubric"
_TASK: Final = ("original_task", "originalTask")
_TEXT: Final = ("current_text", "currentText")
_ADDITIONAL: Final = ("additional_context", "additionalContext")


@judged
def rubric(
    criteria: str | Sequence[str | Mapping[str, Any]] | None = None,
    *,
    model: Any = None,
    scale: float = 1.0,
    language: str | None = None,
    prompts: Mapping[str, str] | None = None,
) -> Scorer:
    r"""*scale* when the last answer satisfies every required criterion, else 0; higher is better.

    *criteria*: a checklist with a line for each, or a list of texts and of mappings with `description`, and `id` and
    `required` where they are not c1, c2 ... and True. In a checklist with list markers, lines without one are headings
    and left out, unless they are indented below one; so are headings with # and rulers. Without them each item brings
    its own: `rubric` in its request context, in what else the run was given, or in its input, the first of these that
    has one. When none is required, all count. Where the output has no answer, `current_text` of the input is the
    answer. The judge says of each alone whether it is satisfied, in one call. The reason is a report on each, ending
    with what is left to do. Not scorable without a rubric or an answer.

    >>> from proctor.testing import ScriptedModel
    >>> judge = ScriptedModel(
    ...     [
    ...         {
    ...             "criteria": [
    ...                 {"id": "c1", "reasoning": "It says 20 euros", "satisfied": True},
    ...                 {"id": "c2", "reasoning": "No date", "satisfied": False},
    ...             ]
    ...         }
    ...     ]
    ... )
    >>> outcome = rubric("- Names the price\n- Names the date", model=judge).run_sync(output="It costs 20 euros.")
    >>> print(outcome.score, outcome.reason)
    0.0 1 of 2 required criteria satisfied
    [x] c1: Names the price - It says 20 euros
    [ ] c2: Names the date - No date
    To finish: c2: Names the date
    """
    refuse_model(criteria, name="criteria", scorer=_SCORER)
    own = None if criteria is None else criteria_from(criteria, whose=f"{_SCORER}: criteria")
    options = {"scale": scale_option(scale, scorer=_SCORER)}
    return build_judged(
        __file__,
        id="rubric-scorer",
        name="Rubric (LLM)",
        description="The answer satisfies every required criterion of a rubric",
        model=model,
        language=language,
        prompts=prompts,
        scale=options["scale"],
        kind="binary",
        steps=_steps(own, options),
        arguments={"criteria": own and as_written(own)},
        defaults={"criteria": None},
        positional="criteria",
    )


def _steps(own: tuple[Criterion, ...] | None, options: Mapping[str, Any]) -> Mapping[StepName, Asked | StepFunction]:
    def criteria(ctx: StepContext) -> tuple[Criterion, ...]:
        return own or ctx.run.once(_brought)

    def to_judge(ctx: StepContext) -> Mapping[str, str] | Declined:
        asked, answer = criteria(ctx), ctx.run.once(_answer)
        if not asked:
            return NO_RUBRIC
        if not answer:
            return NO_ANSWER
        lines = criteria_lines(asked)
        return {
            "task": fenced_or_not_recorded(ctx, ctx.run.once(_task), name="task"),
            "criteria": lines if own else ctx.fence(lines, "criteria"),  # what an item brings was written by others
            "answer": ctx.fence(answer, "answer"),
        }

    def merged(ctx: StepContext) -> Mapping[str, Any]:
        required = {criterion.id: criterion.required for criterion in criteria(ctx)}
        return {"criteria": [{**entry, "required": required[entry["id"]]} for entry in ctx.analyze["criteria"]]}

    return {
        "analyze": Asked(
            "Judges the answer by each criterion",
            material=to_judge,
            places=("task", "criteria", "answer"),
            needed=("criteria", "answer"),
            output=VERDICTS,
            check=each_once("criteria", lambda ctx: [criterion.id for criterion in criteria(ctx)]),
        ),
        "generate_score": lambda ctx: formula(merged(ctx), options),
        "generate_reason": lambda ctx: _report(criteria(ctx), ctx.analyze["criteria"]),
    }


def formula(analysis: Mapping[str, Any], options: Mapping[str, Any]) -> float | Declined:
    """*scale* when everything required is satisfied, else 0; when nothing is required, all of it must be.

    *analysis*: `criteria`, each with `satisfied`, and `required` where it is not.

    >>> formula({"criteria": [{"satisfied": True}, {"satisfied": False, "required": False}]}, {"scale": 1})
    1.0
    """
    entries = analysis["criteria"]
    if not entries:
        return NO_RUBRIC
    counted = [entry for entry in entries if entry.get("required", True)] or entries
    return float(options.get("scale", 1.0)) if all(entry["satisfied"] is True for entry in counted) else 0.0


def _report(criteria: Sequence[Criterion], verdicts: Sequence[Mapping[str, Any]]) -> str:
    done = {entry["id"] for entry in verdicts if entry["satisfied"] is True}
    required = [criterion for criterion in criteria if criterion.required]
    counted, rank = (required, "required criteria") if required else (criteria, "criteria, none of them required,")
    left = [named(criterion) for criterion in counted if criterion.id not in done]
    head = f"{len(counted) - len(left)} of {len(counted)} {rank} satisfied"
    foot = f"To finish: {'; '.join(left)}" if left else "Nothing is left to do"
    return "\n".join((head, report(criteria, verdicts), foot))


def _brought(run: ScorerRun) -> tuple[Criterion, ...]:
    """The rubric that came with the run; empty when there is none. A view for `run.once`."""
    more = {f"extra[{key!r}]": run.extra.get(key) for key in _ADDITIONAL}
    places = {"request_context": run.request_context, "extra": run.extra, **more, "input": run.input}
    for place, holder in places.items():
        given = holder.get("rubric") if isinstance(holder, Mapping) else None
        if given is not None and given not in ([], ()) and not (isinstance(given, str) and not given.strip()):
            return criteria_from(given, whose=f"{_SCORER}: the criteria in {place}['rubric']")
    return ()


def _task(run: ScorerRun) -> str:
    """What was to be done: the task that the input names, else the question. A view for `run.once`."""
    return _named(run, _TASK) or ("" if _is_nothing(run.output) else run.once(question_of))


def _answer(run: ScorerRun) -> str:
    """The answer, else the text so far that the input of a loop names. A view for `run.once`."""
    so_far = _named(run, _TEXT)
    return so_far if so_far and _is_nothing(run.output) else run.once(answer_of) or so_far


def _named(run: ScorerRun, names: Sequence[str]) -> str:
    """The text that the input has under one of these names; empty when it has none."""
    given = run.input if isinstance(run.input, Mapping) else {}
    return next((given[name].strip() for name in names if isinstance(given.get(name), str) and given[name].strip()), "")


def _is_nothing(output: Any) -> bool:
    return output is None or output is MISSING
