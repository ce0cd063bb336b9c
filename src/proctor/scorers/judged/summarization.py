"""Whether a summary says what its source says, and what matters of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from proctor.errors import UsageError
from proctor.scorers.build_judged import Asked, build_judged, judged, object_of, rounded, told_score
from proctor.scorers.material import answer_of, question_of
from proctor.scorers.numbered import by_id, each_once, judged_lines, list_of, numbered, without_blanks
from proctor.scorers.options import scale_option
from proctor.scorers.sources import TextSource
from proctor.scoring.build import count_option
from proctor.scoring.run import ScorerRun
from proctor.scoring.scorer import Scorer
from proctor.scoring.steps import Declined, StepContext, StepFunction, StepName, not_scorable

__all__ = ["formula", "summarization"]

_MAX_QUESTIONS: Final = 10
_NO_SOURCE: Final = not_scorable("there is no source that was summarized")
_NO_SUMMARY: Final = not_scorable("there is no summary: the assistant said nothing")
_SUMMARY_WITHOUT_CLAIMS: Final = not_scorable("the summary makes no claims")
_NO_QUESTIONS: Final = not_scorable("the source holds nothing to ask about")
_CLAIM = object_of(claim="string", reason="string", supported="boolean")
_FIRST = object_of(
    alignment={"type": "array", "items": _CLAIM},
    questions={"type": "array", "items": {"type": "string"}},
)
_SECOND = object_of(coverage=list_of(reason="string", answered="boolean"))


@judged
def summarization(
    *,
    model: Any = None,
    source: str | None = None,
    source_extractor: Callable[[ScorerRun], Any] | None = None,
    max_questions: int = _MAX_QUESTIONS,
    scale: float = 1.0,
    language: str | None = None,
    prompts: Mapping[str, str] | None = None,
) -> Scorer:
    """How much of the summary is true to its source, or of the source is in it, whichever is less; 0 to *scale*.

    The judge lists the claims of the last answer, says of each whether the source supports it, and writes up to
    *max_questions* questions that the source answers with yes. Then it answers them from the summary, without the
    source. The score is the smaller of supported / claims and answered / questions; higher is better. The source is
    what *source_extractor* gives, else *source*, else what the user said. Not scorable without a source, a summary, a
    claim or a question.

    >>> from proctor.testing import ScriptedModel
    >>> judge = ScriptedModel(
    ...     [
    ...         {
    ...             "alignment": [{"claim": "The bridge was closed", "reason": "It says so", "supported": True}],
    ...             "questions": ["Was the bridge closed?", "Is it to open in May?"],
    ...         },
    ...         {
    ...             "coverage": [
    ...                 {"id": 1, "reason": "It says closed", "answered": True},
    ...                 {"id": 2, "reason": "It says no month", "answered": False},
    ...             ]
    ...         },
    ...         "When it opens is left out.",
    ...     ]
    ... )
    >>> told = "The bridge was closed on Monday. It is to open in May."
    >>> outcome = summarization(model=judge).run_sync(input=told, output="The bridge was closed.")
    >>> outcome.score, outcome.reason
    (0.5, 'When it opens is left out.')
    """
    options = {
        "scale": scale_option(scale, scorer="summarization"),
        "max_questions": count_option(max_questions, name="max_questions", check="summarization", least=1),
    }
    if source is not None and source_extractor is not None:
        raise UsageError("summarization: give source= or source_extractor=, not both")
    if isinstance(source_extractor, str) or callable(source):
        raise UsageError("summarization: source is a text that is not empty; source_extractor is a def of the run")
    text = TextSource(
        source if source_extractor is None else source_extractor,
        name="source" if source_extractor is None else "source_extractor",
        scorer="summarization",
        missing=_NO_SOURCE,
        otherwise=question_of,
    )
    return build_judged(
        __file__,
        id="summarization-scorer",
        name="Summarization Scorer",
        description="The summary is true to its source and holds what matters",
        model=model,
        language=language,
        prompts=prompts,
        scale=options["scale"],
        steps=_steps(text, options),
        arguments={"source": source, "source_extractor": source_extractor, "max_questions": max_questions},
        defaults={"source": None, "source_extractor": None, "max_questions": _MAX_QUESTIONS},
    )


def _steps(source: TextSource, options: Mapping[str, Any]) -> Mapping[StepName, Asked | StepFunction]:
    def to_compare(ctx: StepContext) -> Mapping[str, str] | Declined:
        summary = ctx.run.once(answer_of)
        if not summary:
            return _NO_SUMMARY
        text = ctx.run.once(source)
        if isinstance(text, Declined):
            return text
        return {
            "source": ctx.fence(text, "source"),
            "summary": ctx.fence(summary, "summary"),
            "max_questions": str(options["max_questions"]),
        }

    def to_answer(ctx: StepContext) -> Mapping[str, str] | Declined:
        questions = _questions(ctx.preprocess, options)
        if not _alignment(ctx.preprocess):
            return _SUMMARY_WITHOUT_CLAIMS
        if not questions:
            return _NO_QUESTIONS
        summary = ctx.fence(ctx.run.once(answer_of), "summary")
        return {"summary": summary, "questions": numbered(ctx, questions, name="questions")}

    def to_score(ctx: StepContext) -> float | Declined:
        answers = by_id(ctx.analyze["coverage"])
        return formula({**ctx.preprocess, "coverage": [answers[at] for at in sorted(answers)]}, options)

    def to_explain(ctx: StepContext) -> Mapping[str, str] | Declined:
        text = ctx.run.once(source)
        if isinstance(text, Declined):
            return text
        claims = _alignment(ctx.preprocess)
        verdicts = [{"id": at, "supported": e["supported"], "reason": e["reason"]} for at, e in enumerate(claims, 1)]
        questions = _questions(ctx.preprocess, options)
        return {
            "source": ctx.fence(text, "source"),
            "summary": ctx.fence(ctx.run.once(answer_of), "summary"),
            "claims": judged_lines(ctx, [entry["claim"] for entry in claims], verdicts=verdicts, name="claims"),
            "questions": judged_lines(ctx, questions, verdicts=ctx.analyze["coverage"], name="questions"),
            **told_score(ctx, options["scale"]),
        }

    return {
        "preprocess": Asked(
            "Compares the claims of the summary with the source, and asks what the source says",
            material=to_compare,
            places=("source", "summary", "max_questions"),
            needed=("source", "summary"),
            output=_FIRST,
            is_slow=source.is_slow,
        ),
        "analyze": Asked(
            "Answers the questions from the summary alone",
            material=to_answer,
            places=("summary", "questions"),
            needed=("summary", "questions"),
            output=_SECOND,
            check=each_once("coverage", lambda ctx: range(1, len(_questions(ctx.preprocess, options)) + 1)),
        ),
        "generate_score": to_score,
        "generate_reason": Asked(
            "Says why", material=to_explain, places=("score", "scale", "source", "summary", "claims", "questions")
        ),
    }


def formula(analysis: Mapping[str, Any], options: Mapping[str, Any]) -> float | Declined:
    """The smaller of supported / claims and answered / questions, * scale, rounded to two decimals.

    *analysis*: `alignment`, each with `claim` and `supported`; `questions`, of which the first `max_questions` count;
    `coverage`, in the order of the questions, each with `answered`. A question without an entry is not answered, and an
    entry without a question is nothing.

    >>> claim = {"claim": "a", "supported": True}
    >>> formula({"alignment": [claim], "questions": ["b", "c"], "coverage": [{"answered": True}]}, {"scale": 1})
    0.5
    """
    claims, questions = _alignment(analysis), _questions(analysis, options)
    if not claims:
        return _SUMMARY_WITHOUT_CLAIMS
    if not questions:
        return _NO_QUESTIONS
    supported = sum(entry["supported"] is True for entry in claims) / len(claims)
    answered = sum(entry["answered"] is True for entry in analysis["coverage"][: len(questions)]) / len(questions)
    scale = options.get("scale", 1.0)
    return rounded(min(supported, answered) * scale, scale)


def _alignment(analysis: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Each claim once. One that was listed twice is supported when it was found so both times."""
    found: dict[str, Mapping[str, Any]] = {}
    for entry in analysis["alignment"]:
        claim = entry["claim"].strip()
        if claim and (claim not in found or entry["supported"] is not True):
            found[claim] = entry
    return list(found.values())


def _questions(analysis: Mapping[str, Any], options: Mapping[str, Any]) -> Sequence[str]:
    return without_blanks(analysis["questions"])[: options.get("max_questions", _MAX_QUESTIONS)]
