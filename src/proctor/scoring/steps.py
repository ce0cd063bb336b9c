"""The four steps of a scorer, what they are given, and what they may give back.

preprocess -> analyze -> generate_score -> generate_reason, always in this order; only `generate_score` is required.
A step is a function of one argument, the `StepContext`, or a `Prompt` for a judge.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, final

from proctor.data.value import MISSING, Value, shown
from proctor.errors import UsageError
from proctor.judging.arguments import told_class
from proctor.judging.judge import Judge, judges_own, refuse_no_judge
from proctor.plugins import import_object
from proctor.scoring.callables import is_async, takes, takes_one

if TYPE_CHECKING:
    from proctor.judging.fence import Fence
    from proctor.scoring.run import ScorerRun

__all__ = [
    "STEP_NAMES",
    "Declined",
    "Hop",
    "Prompt",
    "Score",
    "Step",
    "StepContext",
    "StepFunction",
    "StepName",
    "as_text",
    "is_not_scorable",
    "not_scorable",
]

StepName: TypeAlias = Literal["preprocess", "analyze", "generate_score", "generate_reason"]
STEP_NAMES: Final[tuple[StepName, ...]] = ("preprocess", "analyze", "generate_score", "generate_reason")


class StepContext:
    """What a step sees: the run, and what the steps before it gave. MISSING for steps that are not there."""

    __slots__ = ("_fence", "analyze", "preprocess", "run", "score")

    def __init__(self, run: ScorerRun) -> None:
        self._fence: Fence | None = None
        self.run = run
        self.preprocess: Any = MISSING
        self.analyze: Any = MISSING
        self.score: Any = MISSING

    @property
    def fence(self) -> Fence:
        """For prompts: `ctx.fence(text, "answer")` puts a text between lines that it cannot forge.

        The judge is told what they mean. Each call has a boundary of its own.
        """
        if self._fence is None:
            self._fence = import_object("proctor.judging.fence:Fence")()
        return self._fence

    def __repr__(self) -> str:
        return f"StepContext(preprocess={self.preprocess!r}, analyze={self.analyze!r}, score={self.score!r})"


class Hop:
    """Please call this away from the event loop. A built-in step may give one when it turns out to be slow."""

    __slots__ = ("argument", "function")

    def __init__(self, function: Callable[[Any], Any], argument: Any) -> None:
        self.function = function
        self.argument = argument


StepFunction: TypeAlias = Callable[[StepContext], Any]


@told_class(judges_own, by_place="Prompt takes a description, and the rest by name: Prompt('Finds claims', create=...)")
@dataclass(frozen=True, slots=True, repr=False)
class Prompt(Value):
    """A step that a judge answers. *create*: makes the prompt from the context, def or async def.

    It gives text, or a list of texts and `File` parts; what else it gives is sent as readable JSON; `not_scorable(...)`
    declines before anybody is asked. *output*: what the answer must be, for preprocess and analyze: a pydantic model,
    any type that pydantic can validate, or a JSON schema, whose properties are all required unless it says `required`.
    A score is a number within the scorer's range, a reason is text: they take none. *judge*: settings for this step,
    merged over the scorer's field by field. *check*: a function of the context and the answer, for what no schema can
    know; it gives None, or in a sentence what is wrong, of which the model is told once, and which ends the step then.
    """

    description: str
    output: Any = None
    create: StepFunction | None = None
    judge: Judge | None = None
    check: Callable[[StepContext, Any], str | None] | None = None

    def __post_init__(self) -> None:
        if not callable(self.create):
            raise UsageError(f"Prompt({self.description!r}) needs create=, a function of ctx that gives the text")
        if not takes_one(self.create):
            raise UsageError(f"Prompt({self.description!r}): create= must be a function of one argument (ctx)")
        refuse_no_judge(self.judge, said=f"Prompt({self.description!r}): ")
        if self.check is not None and (not takes(self.check, 2) or is_async(self.check)):
            raise UsageError(f"Prompt({self.description!r}): check= must be a def of two arguments (ctx, answer)")


Step: TypeAlias = StepFunction | Prompt


@final
class Declined:
    """What `not_scorable` returns. Only that very object declines: a copy from JSON or one inside a list does not."""

    __slots__ = ("reason",)

    def __init__(self, reason: str | None) -> None:
        self.reason = reason

    def __repr__(self) -> str:
        return f"not_scorable({self.reason!r})" if self.reason else "not_scorable()"


def not_scorable(reason: str | None = None) -> Declined:
    """Return this from any function step when the question does not apply to the item.

    The outcome is `not_scorable`, counted beside every mean and part of none. In generate_reason it drops only the
    reason: the score stands.

    >>> not_scorable("No policy supplied")
    not_scorable('No policy supplied')
    """
    if reason is not None and not isinstance(reason, str):
        raise UsageError(f"not_scorable takes a reason as text, not {reason!r}")
    return Declined(reason)


def is_not_scorable(value: object) -> bool:
    """Whether a step's result declines."""
    return type(value) is Declined


@dataclass(frozen=True, slots=True, repr=False)
class Score(Value):
    """A score with more to say. *value*: a number or a bool; *label*: a word for it; *reason*: a sentence."""

    value: Any
    label: str | None = None
    reason: str | None = None

    def __post_init__(self) -> None:
        as_text(self.label, "Score(label=...)")
        as_text(self.reason, "Score(reason=...)")


def as_text(value: Any, what: str) -> str | None:
    """*value* when it is text or None. Raises `UsageError` otherwise: a reason is for people."""
    if value is None or isinstance(value, str):
        return value
    raise UsageError(f"{what} must give text or None, not {shown(value)}", code="INVALID_REASON")
