"""The two ways to write a scorer: step by step, or one function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any, overload

from proctor.errors import UnknownName, UsageError
from proctor.judging.arguments import told
from proctor.judging.judge import Judge, judges_own
from proctor.scoring.callables import RunFunction, takes_one
from proctor.scoring.run import ScorerRun
from proctor.scoring.scorer import Better, Kind, Scorer

__all__ = ["create_scorer", "scorer"]


@told(judges_own, by_place="create_scorer takes all by name: create_scorer(id='refund-policy', ...)")
def create_scorer(
    *,
    id: str = "",
    name: str = "",
    description: str = "",
    judge: Judge | None = None,
    type: Any = None,
    prepare_run: Callable[[ScorerRun], Any] | None = None,
    range: tuple[float, float] | None = None,
    scale: float | None = None,
    better: Better = "higher",
    kind: Kind = "graded",
    version: str | None = None,
    arguments: Mapping[str, Any] | None = None,
    inline: bool = False,
) -> Scorer:
    """A scorer without steps: add them with `.preprocess`, `.analyze`, `.generate_score`, `.generate_reason`.

    *id*: what it is, required. *type*: `agent`, `trajectory`, or two schemas (input, output) that every run must fit.
    *prepare_run*: gives the run that the steps see, from the run as it came. *range*: least and greatest score;
    *scale=s* is range (0, s). *better*: `lower` when 0 is the good end. *version*: change it when the meaning changes.
    *arguments*: what your own factory was called with, where it differs from the defaults; they make the key.
    *inline*: the functions are quick and need no thread of their own.

    >>> short = (
    ...     create_scorer(id="short-answer", description="At most 20 words")
    ...     .preprocess(lambda ctx: len(ctx.run.text.split()))
    ...     .generate_score(lambda ctx: ctx.preprocess <= 20)
    ...     .generate_reason(lambda ctx: f"{ctx.preprocess} words")
    ... )
    >>> outcome = short.run_sync(output="It is sunny in Brooklyn.")
    >>> outcome.score, outcome.reason
    (1.0, '5 words')
    """
    if scale is not None and range is not None:
        raise UsageError("give range= or scale=, not both")
    if scale is not None and not (isinstance(scale, int | float) and not isinstance(scale, bool) and scale > 0):
        raise UsageError(f"scale is a number above 0, not {scale!r}")
    return Scorer(
        id=id,
        name=name,
        description=description,
        judge=judge,
        type=type,
        prepare_run=prepare_run,
        range=(0.0, float(scale)) if scale is not None else (0.0, 1.0) if range is None else range,
        better=better,
        kind=kind,
        version=version,
        arguments=dict(arguments or {}),
        inline=inline,
    )


@overload
def scorer(function: Callable[[ScorerRun], Any], /) -> Scorer: ...
@overload
def scorer(**options: Any) -> Callable[[Callable[[ScorerRun], Any]], Scorer]: ...
def scorer(
    function: Callable[[ScorerRun], Any] | None = None, /, **options: Any
) -> Scorer | Callable[[Callable[[ScorerRun], Any]], Scorer]:
    """One function of the run as a scorer, def or async def. It gives what generate_score gives.

    With options (`@scorer(id=..., better="lower", inline=True)`) they are those of `create_scorer`; the id is the
    function's name and the description its docstring when not given.

    >>> @scorer
    ... def polite(run):
    ...     return "please" in run.text.lower()
    >>> polite.run_sync(output="Sit down, please.").score
    1.0
    """
    if function is None:
        return lambda function: _scorer(function, options)
    return _scorer(function, options)


def _scorer(function: Callable[[ScorerRun], Any], options: dict[str, Any]) -> Scorer:
    if not callable(function) or not takes_one(function):
        raise UsageError(f"@scorer goes over a function of one argument, the run, not {function!r}")
    known = list(signature(create_scorer).parameters)
    for option in options:
        if option not in known:
            raise UnknownName("option of @scorer", option, known)
    name = getattr(function, "__name__", "")
    if "id" not in options and name == "<lambda>":
        raise UsageError("a lambda has no name of its own: scorer(id='...')(lambda run: ...)")
    doc = (getattr(function, "__doc__", None) or "").strip().split("\n")[0]
    named: dict[str, Any] = {"id": name, "description": doc, **options}
    made = create_scorer(**named)
    return made.generate_score(RunFunction(function))
