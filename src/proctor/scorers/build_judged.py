"""How a judged scorer is built: what each step asks, in which words, and the arithmetic over the answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any, Final, Literal, ParamSpec

from proctor.data.value import Value, shown
from proctor.errors import UsageError
from proctor.judging.arguments import told
from proctor.judging.judge import Judge, judges_own
from proctor.scorer_utils import round_to_two_decimals
from proctor.scorers.wording import INSTRUCTIONS, wording_of
from proctor.scoring.scorer import Better, Kind, Scorer
from proctor.scoring.steps import Declined, Prompt, Step, StepContext, StepFunction, StepName
from proctor.scoring.written import Template, Written

__all__ = ["Asked", "build_judged", "judged", "object_of", "rounded", "told_score"]

P = ParamSpec("P")
_SLACK: Final = 1e-12  # of a scale: what the sums of shares are off by


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
    called: str | None = None,
) -> Scorer:
    """A built-in scorer that asks a judge; its words are in the Markdown beside *file*, which is its `__file__`.

    *model*: whatever `Judge` takes as its model, or a `Judge`, whose own instructions win over ours. *scale*: the top
    of the range. *arguments* and *defaults*: as in `build_check`; scale and prompts are added to them. *called*: the
    name of the function, for messages; that of the file when not given.
    """
    called = called or Path(file).stem
    wording = wording_of(file, over=prompts, scorer=called)
    _refuse_places(wording[INSTRUCTIONS], steps, whose=f"{called}: prompts[{INSTRUCTIONS!r}]")
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
        steps={step: _step(asked, wording[step], f"{called}: prompts[{step!r}]") if isinstance(asked, Asked) else asked
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


def rounded(value: float, scale: float) -> float:
    """*value*, of a range from 0 to *scale*, to two decimals, but never onto an end of the range that it is not on.

    There the exact value stays: 299 of 300 is not all. What a sum of shares is off by is no distance from an end.

    >>> rounded(2 / 3, 1), rounded(299 / 300, 1), rounded(0.125, 0.125)
    (0.67, 0.9966666666666667, 0.125)
    """
    if value <= scale * _SLACK or value >= scale * (1 - _SLACK):
        return 0.0 if value <= scale * _SLACK else float(scale)
    near = round_to_two_decimals(value)
    return near if 0 < near < scale else value


def judged(function: Callable[P, Scorer], /) -> Callable[P, Scorer]:
    """For the factories of judged scorers: arguments that they do not take are refused, with what to write."""
    name, code = function.__name__, function.__code__
    first = code.co_varnames[0] if code.co_argcount else ""
    by_place = (
        f"{name} takes all but {first} by name: {name}(..., model=...)"
        if first
        else f"{name} takes all by name: {name}(model=...)"
    )

    def hint(option: str, value: Any) -> str | None:
        said = _elsewhere(option, value)
        return said and f"{name}: {said}"

    return told(hint, by_place=by_place)(function)


def _elsewhere(name: str, value: Any) -> str | None:
    """Where an argument belongs that a factory of judged scorers does not take."""
    if name == "judge":
        return f"judge= is called model= here, and takes a Judge as well: model={_told(value)}"
    if name in {"threshold", "thresholds"}:
        return f"{name} belongs to the run, beside the scorer: scorers=[(scorer, Threshold(min={_told(value)}))]"
    if name == "instructions":
        return "instructions are one of the prompts: prompts={'instructions': '...'}"
    said = judges_own(name, value)
    return said and said.replace("judge=Judge(", "model=Judge('provider:model', ")


def _told(value: Any) -> str:
    return shown(value, 40)


def _refuse_places(instructions: str, steps: Mapping[StepName, Asked | StepFunction], *, whose: str) -> None:
    known = {place: step for step, asked in steps.items() if isinstance(asked, Asked) for place in asked.places}
    for written, place in Template(instructions).meant(known):
        raise UsageError(
            f"{whose} has {written}, which is not filled in there: {{{place}}} belongs in prompts[{known[place]!r}]"
        )


def told_score(ctx: StepContext, scale: float) -> dict[str, str]:
    """The places {score} and {scale} of a prompt that asks for the reason."""
    return {"score": f"{ctx.score:g}", "scale": f"{scale:g}"}
