"""The steps of a scorer that a judge answers: what each asks, known when the scorer is built."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from proctor.errors import UsageError
from proctor.judging.judge import Judge
from proctor.plugins import import_object
from proctor.scoring.steps import Prompt, StepName

if TYPE_CHECKING:
    from proctor.judging.asking import Question
    from proctor.scoring.scorer import Scorer

__all__ = ["STOPPED", "TOO_LONG", "questions_of"]

STOPPED = "RUN_STOPPED"
"""The code of what a judged step raises that was not asked since the run was to make no more calls."""

TOO_LONG = "MODEL_CONTEXT"
"""The code of what a judged step raises whose prompt is longer than the model can read."""


def questions_of(scorer: Scorer) -> Mapping[str, Question]:
    """The questions of a scorer's judged steps by their names, and those of its parts as `1.analyze`.

    Raises `UsageError` for an `output=` that is no schema.
    """
    of_parts: dict[str, Question] = {
        f"{at}.{name}": question
        for at, part in enumerate(scorer.parts, start=1)
        for name, question in part.questions.items()
    }
    prompts = {name: step for name, step in scorer.steps.items() if isinstance(step, Prompt)}
    if not prompts:
        return of_parts
    make_question = import_object("proctor.judging.asking:Question")
    judge = scorer.judge or Judge()
    own: dict[str, Question] = {
        name: make_question(
            whose=f"{scorer.id}.{name}", judge=judge.merged(prompt.judge), **_answer(scorer, name, prompt)
        )
        for name, prompt in prompts.items()
    }
    return {**own, **of_parts}


def _answer(scorer: Scorer, name: StepName, prompt: Prompt) -> dict[str, Any]:
    where = f"{scorer.id}: Prompt({prompt.description!r})"
    if name in {"generate_score", "generate_reason"}:
        if prompt.output is not None:
            what = "a number" if name == "generate_score" else "text"
            raise UsageError(f"{where} has output=, but {name} gives {what}; ask for more in analyze")
        if name == "generate_reason":
            return {}
        schema = import_object("proctor.judging.answer_schema:score_schema")(*scorer.range)
        return {"schema": schema, "of_answer": float}
    if prompt.output is None:
        raise UsageError(f"{where} needs output=, what the answer must be: a pydantic model or a JSON schema")
    try:
        return {"schema": import_object("proctor.judging.answer_schema:AnswerSchema").of(prompt.output)}
    except UsageError as problem:
        raise UsageError(f"{where}: {problem}") from problem
