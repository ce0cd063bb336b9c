"""How a scorer that compares the answer with expected texts is built; of several texts the nearest counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from proctor.data.value import MISSING
from proctor.scorers.texts import expected_texts, is_long, texts_option
from proctor.scoring.build import Findings, build_check
from proctor.scoring.run import ScorerRun
from proctor.scoring.scorer import Scorer
from proctor.scoring.steps import Declined, Hop, StepContext

__all__ = ["build_closeness"]

T = TypeVar("T")


def build_closeness(
    *,
    function: str,
    id: str,
    name: str,
    description: str,
    expected: Any,
    options: Mapping[str, Any],
    defaults: Mapping[str, Any],
    answer: Callable[[ScorerRun], T],
    read: Callable[[str], T],
    compare: Callable[[T, T], Findings],
    say: Callable[[Findings], str],
) -> Scorer:
    """A graded scorer. *answer*: the answer in the form that is compared, a view for `run.once`; *read*: a text in it.

    *compare*: findings of answer and expected text, with a `score`. *say*: the sentence about them.
    """
    given = texts_option(expected, scorer=function)
    forms = {text: read(text) for text in given or ()}

    def look(ctx: StepContext) -> Findings | Declined | Hop:
        texts = expected_texts(ctx.run, given)
        if isinstance(texts, Declined):
            return texts
        return Hop(nearest, (ctx.run, texts)) if is_long(ctx.run.text, *texts) else nearest((ctx.run, texts))

    def nearest(task: tuple[ScorerRun, tuple[str, ...]]) -> Findings:
        run, texts = task
        said = run.once(answer)
        found = [compare(said, forms[text] if text in forms else read(text)) for text in texts]
        return max(found, key=lambda it: float(it["score"]))

    return build_check(
        id=id,
        name=name,
        description=description,
        arguments={"expected": _one_or_more(given), **options},
        defaults={"expected": MISSING, **defaults},
        positional="expected",
        look=look,
        score=lambda ctx: ctx.preprocess["score"],
        reason=lambda ctx: say(ctx.preprocess),
        kind="graded",
    )


def _one_or_more(texts: tuple[str, ...] | None) -> Any:
    if texts is None:
        return MISSING
    return texts[0] if len(texts) == 1 else texts
