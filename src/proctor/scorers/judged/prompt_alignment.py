"""How far the answer does what the user and the system prompt asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, get_args

from proctor.data.message import Message
from proctor.data.read import read_messages
from proctor.data.value import shown
from proctor.errors import UnknownName, UsageError
from proctor.scorers.build_judged import Asked, build_judged, judged, object_of, rounded, told_score
from proctor.scorers.material import NO_ANSWER, answer_of, before_answer, last_question, question_of
from proctor.scorers.numbered import each_once
from proctor.scorers.options import scale_option
from proctor.scoring.build import count_option
from proctor.scoring.run import ScorerRun
from proctor.scoring.scorer import Scorer
from proctor.scoring.steps import Declined, StepContext, StepFunction, StepName, not_scorable

__all__ = ["EvaluationMode", "formula", "prompt_alignment"]

EvaluationMode = Literal["both", "user", "system"]

_SCORER: Final = "prompt_alignment"
_HISTORY: Final = 10
_BLEND: Final = {"user": 0.7, "system": 0.3}
_WEIGHTS: Final = {
    "user": {
        "intent_alignment": 0.4,
        "requirements_fulfillment": 0.3,
        "completeness": 0.2,
        "response_appropriateness": 0.1,
    },
    "system": {
        "intent_alignment": 0.35,
        "requirements_fulfillment": 0.35,
        "completeness": 0.15,
        "response_appropriateness": 0.15,
    },
}
_MISSING: Final[Mapping[EvaluationMode, Declined]] = {
    "both": not_scorable("there is neither a user prompt nor a system prompt"),
    "user": not_scorable("there is no user prompt"),
    "system": not_scorable("there is no system prompt"),
}
_NO_REQUIREMENTS: Final = not_scorable("the judge found no requirement in the prompt")
_SCORED: Final = object_of(reasoning="string", score={"type": "number", "minimum": 0, "maximum": 1})
_REQUIREMENT: Final = object_of(requirement="string", reasoning="string", is_fulfilled="boolean")
_PROMPTS: Final = object_of(
    prompts={
        "type": "array",
        "items": object_of(
            id={"type": "string", "enum": ["user", "system"]},
            intent_alignment=_SCORED,
            requirements_fulfillment=object_of(requirements={"type": "array", "items": _REQUIREMENT}),
            completeness=_SCORED,
            response_appropriateness=_SCORED,
        ),
    }
)


@judged
def prompt_alignment(
    *,
    model: Any = None,
    evaluation_mode: EvaluationMode = "both",
    include_conversation_history: bool | Mapping[str, int] = False,
    scale: float = 1.0,
    language: str | None = None,
    prompts: Mapping[str, str] | None = None,
) -> Scorer:
    """How far the last answer does what it was asked for, 0 to *scale*; higher is better.

    *evaluation_mode*: whose words count: those of the `user`, of the `system` prompt, or `both`, the user's 70 and the
    system's 30 percent; an item that has only one of the two is judged by that one. For each prompt the judge says how
    far its intent is met, which requirements are fulfilled, how complete and how fitting the answer is.
    *include_conversation_history*: True shows the last 10 remembered messages, `{"max_messages": n}` another number;
    they help to understand, and ask for nothing. Not scorable without an answer, or without the prompt that counts.

    >>> from proctor.testing import ScriptedModel
    >>> full = {"reasoning": "r", "score": 1}
    >>> asked = [{"requirement": "in one word", "reasoning": "It has four", "is_fulfilled": False}]
    >>> verdict = {"id": "user", "intent_alignment": full, "completeness": full, "response_appropriateness": full}
    >>> verdict["requirements_fulfillment"] = {"requirements": asked}
    >>> scorer = prompt_alignment(model=ScriptedModel([{"prompts": [verdict]}, "It is not one word."]))
    >>> outcome = scorer.run_sync(input="Which day is it? In one word.", output="It is Monday today.")
    >>> outcome.score, outcome.reason
    (0.7, 'It is not one word.')
    """
    if evaluation_mode not in get_args(EvaluationMode):
        raise UnknownName(f"evaluation_mode of {_SCORER}", str(evaluation_mode), get_args(EvaluationMode))
    top = scale_option(scale, scorer=_SCORER)
    return build_judged(
        __file__,
        id="prompt-alignment-scorer",
        name="Prompt Alignment (LLM)",
        description="The answer does what the user and the system prompt ask for",
        model=model,
        language=language,
        prompts=prompts,
        scale=top,
        steps=_steps(evaluation_mode, top, most=_most(include_conversation_history)),
        arguments={
            "evaluation_mode": evaluation_mode,
            "include_conversation_history": include_conversation_history,
        },
        defaults={"evaluation_mode": "both", "include_conversation_history": False},
    )


def _steps(mode: EvaluationMode, top: float, *, most: int) -> Mapping[StepName, Asked | StepFunction]:
    wanted = ("user", "system") if mode == "both" else (mode,)

    def found(ctx: StepContext) -> dict[str, str]:
        said = {"user": ctx.run.once(question_of), "system": ctx.run.system_text.strip()}
        return {name: said[name] for name in wanted if said[name]}

    def instructions(ctx: StepContext) -> str:
        history = ctx.run.once(_remembered)[-most:] if most else ()
        before = [ctx.fence.transcript(history, "history", tools=False)] if history else []
        return "\n\n".join([*before, *(ctx.fence(text, f"{name}-prompt") for name, text in found(ctx).items())])

    def to_judge(ctx: StepContext) -> Mapping[str, str] | Declined:
        prompts, answer = found(ctx), ctx.run.once(answer_of)
        if not prompts:
            return _MISSING[mode]
        if not answer:
            return NO_ANSWER
        ids = ", ".join(prompts)
        return {"prompts": instructions(ctx), "answer": ctx.fence(answer, "answer"), "ids": ids}

    def to_explain(ctx: StepContext) -> Mapping[str, str]:
        findings = ctx.fence(ctx.analyze["prompts"], "findings")
        return {"prompts": instructions(ctx), "findings": findings, **told_score(ctx, top)}

    aligned = each_once("prompts", lambda ctx: list(found(ctx)))
    return {
        "analyze": Asked(
            "Compares the answer with what was asked for",
            material=to_judge,
            places=("prompts", "answer", "ids"),
            needed=("prompts", "answer"),
            output=_PROMPTS,
            check=lambda ctx, answer: aligned(ctx, answer) or _without_requirements(answer["prompts"]),
        ),
        "generate_score": lambda ctx: formula(_untotalled(ctx.analyze), {"evaluation_mode": mode, "scale": top}),
        "generate_reason": Asked("Says why", material=to_explain, places=("prompts", "findings", "score", "scale")),
    }


def formula(analysis: Mapping[str, Any], options: Mapping[str, Any]) -> float | Declined:
    """The weighted sum of four dimensions, for each prompt with weights of its own; rounded to two decimals.

    Intent, requirements, completeness, appropriateness: .4, .3, .2, .1 for the user's prompt, .35, .35, .15, .15 for
    the system's; both are .7 user + .3 system. The requirements' is the share that is fulfilled, or `overall_score`
    where that is given. *analysis*: `prompts`, each with an id and the four, of which a mode takes its own; or the four
    alone, that stand for either prompt.

    >>> four = {name: {"score": 1} for name in ("intent_alignment", "completeness", "response_appropriateness")}
    >>> four["requirements_fulfillment"] = {"requirements": [{"is_fulfilled": True}, {"is_fulfilled": False}]}
    >>> formula(four, {"evaluation_mode": "user"}), formula(four, {"evaluation_mode": "system"})
    (0.85, 0.83)
    """
    mode = options.get("evaluation_mode", "both")
    wanted = ("user", "system") if mode == "both" else (mode,)
    if "prompts" in analysis:
        judged = {entry["id"]: entry for entry in analysis["prompts"] if entry["id"] in wanted}
    else:
        judged = dict.fromkeys(wanted, analysis)
    if not judged:
        return _MISSING[mode]
    scores = {name: _weighted(entry, _WEIGHTS[name]) for name, entry in judged.items()}
    if any(score is None for score in scores.values()):
        return _NO_REQUIREMENTS
    parts = sum(_BLEND[name] for name in scores)
    blended = sum(_BLEND[name] / parts * score for name, score in scores.items() if score is not None)
    scale = options.get("scale", 1.0)
    return rounded(blended * scale, scale)


def _weighted(entry: Mapping[str, Any], weights: Mapping[str, float]) -> float | None:
    scores = {name: _dimension(entry[name]) for name in weights}
    known = {name: score for name, score in scores.items() if score is not None}
    return sum(weights[name] * score for name, score in known.items()) if len(known) == len(scores) else None


def _dimension(said: Mapping[str, Any]) -> float | None:
    """The score of one dimension; None when it is the requirements', and there are none."""
    if "requirements" not in said:
        return float(said["score"])
    if "overall_score" in said:
        return float(said["overall_score"])
    listed = said["requirements"]
    return sum(one["is_fulfilled"] is True for one in listed) / len(listed) if listed else None


def _untotalled(analysis: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the judge said, without a total that it was not asked for."""
    listed = [
        {**entry, "requirements_fulfillment": {"requirements": entry["requirements_fulfillment"]["requirements"]}}
        for entry in analysis["prompts"]
    ]
    return {"prompts": listed}


def _without_requirements(prompts: Sequence[Mapping[str, Any]]) -> str | None:
    none = [entry["id"] for entry in prompts if not entry["requirements_fulfillment"]["requirements"]]
    if not none:
        return None
    return f"requirements of {' and '.join(none)} must not be empty: what is asked for is itself one"


def _remembered(run: ScorerRun) -> tuple[Message, ...]:
    """What was said before the question, by user and assistant. A view for `run.once`."""
    given = run.input
    if isinstance(given, Mapping) and "messages" not in given and not run.turns:
        asked = _listed(given, "inputMessages")
        said = (*_listed(given, "rememberedMessages"), *asked[: last_question(asked)])
    else:
        before = before_answer(run)
        at = last_question(before)
        said = () if at is None else before[:at]
    return tuple(message for message in said if message.role in {"user", "assistant"} and message.text.strip())


def _listed(given: Mapping[str, Any], name: str) -> tuple[Message, ...]:
    listed = given.get(name)
    return read_messages(listed, role="user", where=f"input.{name}") if isinstance(listed, list) else ()


def _most(given: Any) -> int:
    """How many messages of the conversation are shown."""
    if isinstance(given, bool):
        return _HISTORY if given else 0
    if not isinstance(given, Mapping):
        raise UsageError(
            f"{_SCORER}: include_conversation_history is True, False or {{'max_messages': 4}}, not {shown(given)}"
        )
    for name in given:
        if name != "max_messages":
            raise UnknownName(f"part of {_SCORER}: include_conversation_history", str(name), ("max_messages",))
    if "max_messages" not in given:
        raise UsageError(f"{_SCORER}: include_conversation_history is {{'max_messages': 4}}, not an empty mapping")
    return count_option(
        given["max_messages"], name="include_conversation_history['max_messages']", check=_SCORER, least=1
    )
