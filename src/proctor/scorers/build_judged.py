"""How a judged scorer is built: what each step asks, in which words, and the arithmetic over the answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from math import isfinite
from typing import Any, Literal

from proctor.data.value import Value, shown
from proctor.errors import UsageError
from proctor.judging.judge import Judge
from proctor.scorers.wording import INSTRUCTIONS, wording_of
from proctor.scoring.scorer import Better, Kind, Scorer
from proctor.scoring.steps import Declined, Prompt, Step, StepContext, StepFunction, StepName
from proctor.scoring.written import Template, Written

__all__ = ["Asked", "build_judged", "object_of", "scale_option", "told_score"]


@dataclass(frozen=True, slots=True, repr=False)
class Asked(Value):
    """A step that the judge answers.

    *material*: gives a text for each place of the prompt, what others wrote between the lines of `ctx.fence`; or
    declines. *places*: the names of what it gives; *needed*: those of them that every wording of the prompt must have.
    *output*: JSON schema of the answer, None for a reason in free text. *check*: as in `Prompt`.
    """

    description: str
    _: KW_ONLY
    material: Callable[[StepContext], Mapping[str, str] | Declined]
    places: tuple[str, ...]
    needed: tuple[str, ...] = ()
    output: Mapping[str, Any] | None = None
    check: Callable[[StepContext, Any], str | None] | None = None
    is_slow: bool = False


def build_judged(
    file: str,
    /,
    *,
    id: str,
    name: str,
    description: str,
    steps: Mapping[StepName, Asked | StepFunction],
    model: Any,
    language: str | None = None,
    prompts: Mapping[str, str] | None = None,
    scale: float = 1.0,
    better: Better = "higher",
    kind: Kind = "graded",
    type: Literal["agent", "trajectory"] = "agent",
    arguments: Mapping[str, Any] | None = None,
    defaults: Mapping[str, Any] | None = None,
    positional: str | None = None,
) -> Scorer:
    """A built-in scorer that asks a judge; its words are in the Markdown beside *file*, which is its `__file__`.

    *model*: whatever `Judge` takes as its model, or a `Judge`, whose own instructions win over ours. *scale*: the top
    of the range. *arguments* and *defaults*: as in `build_check`; scale and prompts are added to them.
    """
    wording = wording_of(file, over=prompts, scorer=id)
    judge = model if isinstance(model, Judge) else Judge(model)
    ours = Judge(instructions=wording[INSTRUCTIONS], language=language)
    given = {**(arguments or {}), "scale": scale, "prompts": dict(prompts) if prompts else None}
    usual = {**(defaults or {}), "scale": 1.0, "prompts": None}
    return Scorer(
        id=id,
        name=name,
        description=description,
        judge=ours.merged(judge),
        type=type,
        range=(0.0, scale),
        better=better,
        kind=kind,
        steps={step: _step(asked, wording[step], f"{id}: prompts[{step!r}]") if isinstance(asked, Asked) else asked
               for step, asked in steps.items()},
        arguments={key: value for key, value in given.items() if key not in usual or usual[key] != value},
        positional=positional,
        builtin=True,
    )  # fmt: skip


def _step(asked: Asked, text: str, whose: str) -> Step:
    Template(text).require(known=asked.places, needed=asked.needed, whose=whose)
    create = Written(text, material=asked.material, is_slow=asked.is_slow)
    return Prompt(asked.description, output=asked.output, create=create, check=asked.check)


def object_of(**properties: Any) -> dict[str, Any]:
    """The JSON schema of an object that has all of these; a type's name stands for its schema.

    >>> object_of(satisfied="boolean")["required"]
    ['satisfied']
    """
    made = {name: {"type": kind} if isinstance(kind, str) else kind for name, kind in properties.items()}
    return {"type": "object", "properties": made, "required": list(made)}


def scale_option(scale: Any, *, scorer: str) -> float:
    """*scale* as a float when it is a number above 0, else a `UsageError`."""
    if not isinstance(scale, int | float) or isinstance(scale, bool) or not isfinite(scale) or scale <= 0:
        raise UsageError(f"{scorer}: scale is a number above 0, not {shown(scale)}")
    return float(scale)


def told_score(ctx: StepContext, scale: float) -> dict[str, str]:
    """The places {score} and {scale} of a prompt that asks for the reason."""
    return {"score": f"{ctx.score:g}", "scale": f"{scale:g}"}
