"""Claims that are looked for in a context: what several scorers ask, in words and with arithmetic of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from proctor.scorers.build_judged import Asked, object_of, told_score
from proctor.scorers.material import exchange_shown
from proctor.scorers.numbered import each_once, judged_lines, list_of, numbered, without_blanks
from proctor.scorers.sources import ContextSource
from proctor.scoring.run import ScorerRun
from proctor.scoring.steps import Declined, StepContext, StepFunction, StepName

__all__ = ["claims_steps"]

_CLAIMS: Final = object_of(claims={"type": "array", "items": {"type": "string"}})


def claims_steps(
    source: ContextSource,
    *,
    text: Callable[[ScorerRun], str | Declined],
    place: str,
    words: tuple[str, ...],
    no_claims: Declined,
    score: Callable[[Mapping[str, Any]], float | Declined],
    scale: float,
    asks: tuple[str, str],
    shows_exchange: bool,
) -> Mapping[StepName, Asked | StepFunction]:
    """The steps: the claims of a text are listed, each is looked for in the context, and the score is explained.

    *text*: whose claims, a view for `run.once`; *place*: what it is called in the prompt. *words*: of the verdicts.
    *no_claims*: what is said of a text without any. *score*: of the `claims` and the `verdicts`. *asks*: what the two
    judged steps do. *shows_exchange*: whether question, answer and context stand in the prompt for the reason, too.
    """

    def claims(ctx: StepContext) -> list[str]:
        return without_blanks(ctx.preprocess["claims"])

    def to_extract(ctx: StepContext) -> Mapping[str, str] | Declined:
        given, pieces = ctx.run.once(text), ctx.run.once(source)
        if isinstance(given, Declined):
            return given
        if isinstance(pieces, Declined):
            return pieces
        return {place: ctx.fence(given, place)}

    def to_look_for(ctx: StepContext) -> Mapping[str, str] | Declined:
        pieces = ctx.run.once(source)
        if isinstance(pieces, Declined):
            return pieces
        if not claims(ctx):
            return no_claims
        return {"context": numbered(ctx, pieces, name="context"), "claims": numbered(ctx, claims(ctx), name="claims")}

    def to_explain(ctx: StepContext) -> Mapping[str, str] | Declined:
        told = {"verdicts": judged_lines(ctx, claims(ctx), verdicts=ctx.analyze["verdicts"]), **told_score(ctx, scale)}
        if not shows_exchange:
            return told
        pieces = ctx.run.once(source)
        if isinstance(pieces, Declined):
            return pieces
        return {**exchange_shown(ctx), "context": numbered(ctx, pieces, name="context"), **told}

    exchange = ("question", "answer", "context") if shows_exchange else ()
    return {
        "preprocess": Asked(
            asks[0], material=to_extract, places=(place,), needed=(place,), output=_CLAIMS, is_slow=source.is_slow
        ),
        "analyze": Asked(
            asks[1],
            material=to_look_for,
            places=("claims", "context"),
            needed=("claims", "context"),
            output=object_of(verdicts=list_of(reason="string", verdict={"enum": list(words)})),
            check=each_once("verdicts", lambda ctx: range(1, len(claims(ctx)) + 1)),
            is_slow=source.is_slow,
        ),
        "generate_score": lambda ctx: score({**ctx.analyze, "claims": claims(ctx)}),
        "generate_reason": Asked("Says why", material=to_explain, places=("score", "scale", *exchange, "verdicts")),
    }
