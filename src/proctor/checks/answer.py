"""Checks of the shape of an answer: one of a few words, not too long. Every assistant message of the output counts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

from proctor.checks.calls import passed
from proctor.data.shown import plural
from proctor.errors import UnknownName, UsageError
from proctor.scoring.build import Findings, bool_option, build_check, count_option, quote
from proctor.scoring.run import ScorerRun
from proctor.scoring.scorer import Scorer
from proctor.scoring.steps import Declined, StepContext, not_scorable
from proctor.stats.words import folded

__all__ = ["Unit", "length", "one_of"]

Unit: TypeAlias = Literal["characters", "words"]

_SHOWN_CHOICES = 6
# Scripts that are written without spaces between words: Thai, Lao, Myanmar, Khmer, Japanese, Chinese.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_MOST_UNSPACED = 0.1


def one_of(choices: Sequence[str], *, ignore_case: bool = True) -> Scorer:
    """1 when the answer is one of these texts, else 0. White space around it does not count; messages join directly.

    >>> one_of(["refund", "exchange"]).run_sync(output="Refund").reason
    'the answer is "Refund", one of the choices'
    """
    if isinstance(choices, str) or not isinstance(choices, Sequence) or not choices:
        raise UsageError(f"one_of: choices must be a list of texts that is not empty, not {choices!r}")
    for choice in choices:
        if not isinstance(choice, str) or not choice.strip():
            raise UsageError(f"one_of: a choice is text that is not empty, not {choice!r}")
    fold = bool_option(ignore_case, name="ignore_case", check="one_of")
    given = tuple(choices)
    by_text = {_told_apart(choice, fold=fold): choice for choice in reversed(given)}
    listed = ", ".join(quote(choice, limit=24) for choice in given[:_SHOWN_CHOICES])
    more = f" and {len(given) - _SHOWN_CHOICES} more" if len(given) > _SHOWN_CHOICES else ""

    def look(ctx: StepContext) -> Findings:
        choice = by_text.get(_told_apart(ctx.run.once(_joined), fold=fold))
        return Findings(choice=choice, passed=choice is not None)

    def reason(ctx: StepContext) -> str:
        answer = quote(ctx.run.once(_joined).strip())
        if ctx.preprocess["passed"]:
            return f"the answer is {answer}, one of the choices"
        return f"the answer is {answer}, none of {listed}{more}"

    return build_check(
        id="check-one-of",
        name="One Of Check",
        description="The answer is one of a few texts",
        arguments={"choices": given, "ignore_case": ignore_case},
        defaults={"ignore_case": True},
        look=look,
        score=passed,
        reason=reason,
    )


def length(*, min: int | None = None, max: int | None = None, unit: Unit = "characters") -> Scorer:
    """1 when the answer has at least *min* and at most *max* characters (code points) or words, else 0.

    Words are what stands between white space. In text that is written without spaces (Chinese, Thai) they cannot be
    counted so, and the check declines.

    >>> length(max=3, unit="words").run_sync(output="It is sunny today.").reason
    '4 words, at most 3 allowed'
    """
    if unit not in get_args(Unit):
        raise UnknownName("unit of length", str(unit), get_args(Unit))
    if min is None and max is None:
        raise UsageError("length: give min=, max= or both")
    for name, bound in (("min", min), ("max", max)):
        if bound is not None:
            count_option(bound, name=name, check="length", least=0)
    if min is not None and max is not None and min > max:
        raise UsageError(f"length: min {min} is above max {max}")

    def look(ctx: StepContext) -> Findings | Declined:
        if unit == "words" and ctx.run.once(_is_unspaced):
            return not_scorable("the answer is written without spaces between words: use unit='characters'")
        count = ctx.run.once(_words if unit == "words" else _characters)
        fits = (min is None or count >= min) and (max is None or count <= max)
        return Findings(count=count, min=min, max=max, unit=unit, passed=fits)

    def reason(ctx: StepContext) -> str:
        bounds = [f"at least {min} needed"] if min is not None else []
        bounds += [f"at most {max} allowed"] if max is not None else []
        return f"{plural(ctx.preprocess['count'], unit[:-1])}, {' and '.join(bounds)}"

    return build_check(
        id="check-length",
        name="Length Check",
        description="The answer is neither too short nor too long",
        arguments={"min": min, "max": max, "unit": unit},
        defaults={"min": None, "max": None, "unit": "characters"},
        look=look,
        score=passed,
        reason=reason,
    )


def _told_apart(text: str, *, fold: bool) -> str:
    return folded(text.strip()) if fold else text.strip()


# ── views that all checks of a run share ───────────────────────────────────────────────────────────────────────────


def _joined(run: ScorerRun) -> str:
    return "".join(run.texts)


def _characters(run: ScorerRun) -> int:
    return sum(map(len, run.texts))


def _words(run: ScorerRun) -> int:
    return len(run.text.split())


def _is_unspaced(run: ScorerRun) -> bool:
    """Whether more than a tenth of the characters are of scripts that put no spaces between words."""
    if run.text.isascii():
        return False
    text = "".join(run.text.split())
    return len(text) - len(_UNSPACED.sub("", text)) > _MOST_UNSPACED * len(text)
