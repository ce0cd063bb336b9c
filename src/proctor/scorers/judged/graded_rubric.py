"""How good the answer is by one criterion, on levels that are each put into words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from proctor.data.value import shown
from proctor.errors import UsageError, cut
from proctor.scorers.build_judged import Asked, build_judged, judged, object_of
from proctor.scorers.material import NO_ANSWER, answer_of, question_shown, truth_of
from proctor.scorers.options import as_number, scale_option, text_of
from proctor.scoring.build import bool_option
from proctor.scoring.scorer import Scorer
from proctor.scoring.steps import Declined, Score, StepContext, StepFunction, StepName, not_scorable

__all__ = ["formula", "graded_rubric"]

_NO_LEVEL: Final = not_scorable("the judge gave a level that there is not")
_SCORER: Final = "graded_rubric"
_LABEL = 40
_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?")


@judged
def graded_rubric(
    levels: Mapping[float, str],
    *,
    criterion: str,
    model: Any = None,
    scale: float | None = None,
    include_ground_truth: bool = False,
    language: str | None = None,
    prompts: Mapping[str, str] | None = None,
) -> Scorer:
    """The level of *levels* that the last answer reaches by *criterion*; the greatest is the best.

    *levels*: two or more numbers, each with the words that say when it is reached; no other is a legal answer. The
    score is the level itself, and the range goes from the least to the greatest; with *scale* these become 0 and
    *scale*, and the levels between keep their distances. The judge quotes the answer first, and then decides.
    *include_ground_truth*: the item's is shown to it as a reference. The label is the words of the level. Not scorable
    without an answer, or without the ground truth that is to be shown.

    >>> from proctor.testing import ScriptedModel
    >>> judge = ScriptedModel([{"evidence": ["Sit."], "reasoning": "One bare command.", "level": 1}])
    >>> kind = graded_rubric(
    ...     {1: "cold or rude", 3: "neutral", 5: "warm"}, criterion="How kind the answer is", model=judge
    ... )
    >>> outcome = kind.run_sync(output="Sit.")
    >>> kind.range, outcome.score, outcome.label
    ((1.0, 5.0), 1.0, 'cold or rude')
    """
    words = _words(levels)
    criterion = text_of(criterion, name="criterion", scorer=_SCORER, such_as="How kind the answer is")
    bool_option(include_ground_truth, name="include_ground_truth", check=_SCORER)
    top = None if scale is None else scale_option(scale, scorer=_SCORER)
    made = build_judged(
        __file__,
        id="graded-rubric-scorer",
        name="Graded Rubric (LLM)",
        description="The level that the answer reaches by a criterion",
        model=model,
        language=language,
        prompts=prompts,
        steps=_steps(criterion, words, {"levels": words, "scale": top}, with_truth=include_ground_truth),
        arguments={
            "criterion": criterion,
            "levels": {_number(level): text for level, text in words.items()},
            "include_ground_truth": include_ground_truth,
        },
        defaults={"include_ground_truth": False},
        positional="levels",
    )
    if top is None:
        return made.replace(range=(min(words), max(words)))
    return made.replace(range=(0.0, top), arguments={**made.arguments, "scale": top})


def _steps(
    criterion: str, words: Mapping[float, str], options: Mapping[str, Any], *, with_truth: bool
) -> Mapping[StepName, Asked | StepFunction]:
    lines = "\n".join(f"- {_number(level)}: {text}" for level, text in words.items())

    def to_judge(ctx: StepContext) -> Mapping[str, str] | Declined:
        answer, reference = ctx.run.once(answer_of), ctx.run.once(truth_of) if with_truth else ""
        if not answer:
            return NO_ANSWER
        if isinstance(reference, Declined):
            return reference
        return {
            "criterion": criterion,
            "levels": lines,
            "question": question_shown(ctx),
            "reference": ctx.fence(reference, "reference") if with_truth else "",
            "answer": ctx.fence(answer, "answer"),
        }

    def score(ctx: StepContext) -> Score | Declined:
        value = formula(ctx.analyze, options)
        return value if isinstance(value, Declined) else Score(value, label=cut(words[ctx.analyze["level"]], _LABEL))

    bounds = {"type": "number", "minimum": min(words), "maximum": max(words)}
    return {
        "analyze": Asked(
            "Finds the level that the answer reaches",
            material=to_judge,
            places=("criterion", "levels", "question", "reference", "answer"),
            needed=("criterion", "levels", "answer", *(("reference",) if with_truth else ())),
            output=object_of(evidence={"type": "array", "items": {"type": "string"}}, reasoning="string", level=bounds),
            check=lambda ctx, answer: _no_level(answer["level"], words),
        ),
        "generate_score": score,
        "generate_reason": lambda ctx: _reason(ctx.analyze, words),
    }


def formula(analysis: Mapping[str, Any], options: Mapping[str, Any]) -> float | Declined:
    """The level; with a scale, (level - least) / (greatest - least) * scale. *analysis*: `level`.

    Declines for a level that there is not. *options*: `levels`, and `scale` when there is one.

    >>> formula({"level": 3}, {"levels": {1: "bad", 3: "fair", 5: "good"}, "scale": 1})
    0.5
    """
    levels, scale, level = options["levels"], options.get("scale"), analysis["level"]
    if level not in levels:
        return _NO_LEVEL
    if scale is None:
        return float(level)
    return float((level - min(levels)) / (max(levels) - min(levels)) * scale)


def _reason(analysis: Mapping[str, Any], words: Mapping[float, str]) -> str:
    level = analysis["level"]
    quotes = [f'"{quote.strip()}"' for quote in analysis["evidence"] if quote.strip()]
    said = [f"Level {_number(level)} of {_number(max(words))}: {words[level]}", analysis["reasoning"].strip(), *quotes]
    return "\n".join(line for line in said if line)


def _no_level(level: Any, words: Mapping[float, str]) -> str | None:
    return None if level in words else f"level must be one of {', '.join(map(_number, words))}"


def _number(level: float) -> str:
    return str(int(level)) if level == int(level) else repr(level)


def _words(levels: Any) -> dict[float, str]:
    """The levels from the least to the greatest, each with its words on one line."""
    if not isinstance(levels, Mapping) or len(levels) < 2:
        raise UsageError(
            f"{_SCORER}: levels is a mapping from two or more numbers to words, such as "
            f"{{1: 'wrong', 3: 'partly right', 5: 'right'}}, not {shown(levels)}"
        )
    for level, text in levels.items():
        if as_number(level) is None:
            written = str(level).strip() if isinstance(level, str) and _NUMBER.fullmatch(level.strip()) else "5"
            meant = f"{{{written}: {shown(text, 30)}}}" if isinstance(text, str) else "{5: 'right'}"
            raise UsageError(f"{_SCORER}: levels has {shown(level)}, which is no number; write {meant}")
        if not isinstance(text, str) or not text.strip():
            raise UsageError(f"{_SCORER}: levels[{level!r}] says in words when it is reached, not {shown(text)}")
    words = {float(level): " ".join(levels[level].split()) for level in sorted(levels)}
    if len(words) < len(levels):
        raise UsageError(f"{_SCORER}: levels has numbers that are too close to be told apart: {shown(list(levels))}")
    return words
