"""Whether a conversation as a whole satisfies one criterion."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from proctor.data.message import Message
from proctor.scorers.build_judged import Asked, build_judged, judged, object_of
from proctor.scorers.material import NO_ANSWER
from proctor.scorers.options import scale_option, text_of
from proctor.scoring.build import bool_option
from proctor.scoring.run import ScorerRun
from proctor.scoring.scorer import Scorer
from proctor.scoring.steps import Declined, StepContext, StepFunction, StepName

__all__ = ["formula", "multi_turn_judge"]

_SCORER: Final = "multi_turn_judge"
_VERDICT: Final = object_of(reasoning="string", satisfied="boolean")


@judged
def multi_turn_judge(
    criterion: str,
    *,
    model: Any = None,
    scale: float = 1.0,
    include_user_turns: bool = False,
    language: str | None = None,
    prompts: Mapping[str, str] | None = None,
) -> Scorer:
    """*scale* when the conversation satisfies *criterion*, else 0; higher is better.

    The judge reads everything that the assistant said in the output, turn by turn, and decides in one call; in doubt
    the criterion is not satisfied. Turns that only called tools are left out. With *include_user_turns* it reads what
    the user said, too. The reason is the verdict, the criterion, and what the judge said. Not scorable when the
    assistant said nothing.

    >>> from proctor.testing import ScriptedModel
    >>> judge = ScriptedModel([{"reasoning": "Turn 1 has London; no turn has Paris.", "satisfied": False}])
    >>> outcome = multi_turn_judge("It gives forecasts for London and Paris", model=judge).run_sync(
    ...     output=["London: rain.", "Anything else?"]
    ... )
    >>> print(outcome.score, outcome.reason)
    0.0 Not satisfied: It gives forecasts for London and Paris
    Turn 1 has London; no turn has Paris.
    """
    criterion = text_of(criterion, name="criterion", scorer=_SCORER, such_as="It gives a forecast for each city")
    bool_option(include_user_turns, name="include_user_turns", check=_SCORER)
    options = {"scale": scale_option(scale, scorer=_SCORER)}
    return build_judged(
        __file__,
        id="multi-turn-judge-scorer",
        name="Multi-turn Judge (LLM)",
        description="The conversation satisfies a criterion",
        model=model,
        language=language,
        prompts=prompts,
        scale=options["scale"],
        kind="binary",
        steps=_steps(criterion, _with_user if include_user_turns else _assistant_alone, options),
        arguments={"criterion": criterion, "include_user_turns": include_user_turns},
        defaults={"include_user_turns": False},
        positional="criterion",
    )


def _steps(
    criterion: str, turns: Callable[[ScorerRun], tuple[Message, ...]], options: Mapping[str, Any]
) -> Mapping[StepName, Asked | StepFunction]:
    def to_judge(ctx: StepContext) -> Mapping[str, str] | Declined:
        if not ctx.run.once(_assistant_alone):
            return NO_ANSWER
        return {"criterion": criterion, "conversation": ctx.fence.transcript(ctx.run.once(turns), tools=False)}

    def reason(ctx: StepContext) -> str:
        verdict = "Satisfied" if ctx.analyze["satisfied"] else "Not satisfied"
        return f"{verdict}: {criterion}\n{ctx.analyze['reasoning'].strip()}".strip()

    return {
        "analyze": Asked(
            "Judges the conversation by the criterion",
            material=to_judge,
            places=("criterion", "conversation"),
            needed=("criterion", "conversation"),
            output=_VERDICT,
        ),
        "generate_score": lambda ctx: formula(ctx.analyze, options),
        "generate_reason": reason,
    }


def formula(analysis: Mapping[str, Any], options: Mapping[str, Any]) -> float | Declined:
    """*scale* when `satisfied` is true, 0 for anything else. *analysis*: `satisfied`.

    >>> formula({"satisfied": True}, {"scale": 5}), formula({"satisfied": "true"}, {})
    (5.0, 0.0)
    """
    return float(options.get("scale", 1.0)) if analysis["satisfied"] is True else 0.0


def _assistant_alone(run: ScorerRun) -> tuple[Message, ...]:
    return _said(run.output_messages, "assistant")


def _with_user(run: ScorerRun) -> tuple[Message, ...]:
    return _said(run.messages, "user", "assistant")


def _said(messages: tuple[Message, ...], *roles: str) -> tuple[Message, ...]:
    """Those of these roles that have text."""
    return tuple(message for message in messages if message.role in roles and message.text.strip())
