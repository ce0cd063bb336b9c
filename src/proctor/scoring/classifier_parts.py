"""What a classifier is to whoever asks it: its questions, its answers, and what can be an answer to which question.

A classifier answers set questions about a text or any other data: one small model with several heads, one prompt with
several questions, a few lines of arithmetic.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Protocol, TypeAlias, get_args

from proctor.data.plain import plain
from proctor.data.threshold import TOLERANCE
from proctor.data.usage import Usage
from proctor.data.value import MISSING, Value, freeze, shown
from proctor.errors import ScoreError, UnknownName, UsageError, cut, did_you_mean

__all__ = ["Classifier", "ClassifierAnswer", "ClassifierQuestion", "ClassifierReply", "QuestionKind", "as_json"]

QuestionKind: TypeAlias = Literal["score", "choice", "boolean"]


@dataclass(frozen=True, slots=True, repr=False)
class ClassifierQuestion(Value):
    """One question of a classifier, and what can be answered.

    *kind*: `score`, a level, where each of the *criteria* says what a level means, from level 0 up; `choice`, one of
    the *choices*; or `boolean`, how probable it is that something is true. *text*: what is asked, for people.

    >>> ClassifierQuestion("score", criteria=["rude", "neutral", "polite"]).levels
    3
    """

    kind: QuestionKind
    _: KW_ONLY
    criteria: Sequence[str] = ()
    choices: Sequence[str] = ()
    text: str = ""

    def __post_init__(self) -> None:
        if self.kind not in get_args(QuestionKind):
            raise UnknownName("kind of question", str(self.kind), get_args(QuestionKind))
        freeze(self, ("criteria", "choices"))
        said = f"ClassifierQuestion({self.kind!r}"
        for name, of in (("criteria", "score"), ("choices", "choice")):
            _check_texts(getattr(self, name), said=f"{said}, {name}=...)", belongs=self.kind == of)
        if len(self.criteria) == 1:
            raise UsageError(f"{said}, criteria=...) needs two levels at least: with one, every answer is the same")
        if len(set(self.choices)) < len(self.choices):
            raise UsageError(f"{said}, choices=...) has a choice twice: {shown(list(self.choices))}")
        if not isinstance(self.text, str):
            raise UsageError(f"{said}, text=...) is text, not {shown(self.text)}")

    @property
    def levels(self) -> int:
        """How many levels there are; 0 unless it is a score."""
        return len(self.criteria)

    def finding(self, value: Any, *, whose: str) -> dict[str, Any]:
        """*value* as a finding: the `level`, how many `levels`, the `criterion`; or the `choice`; or the `probability`.

        Raises `ScoreError` for what is no answer to this question. *whose*: how the message begins.

        >>> ClassifierQuestion("choice", choices=["spam", "ham"]).finding("ham", whose="mail answered 'kind' with")
        {'kind': 'choice', 'choice': 'ham'}
        """
        value = plain(value)  # numpy's numbers are numbers
        if self.kind == "choice":
            return {"kind": "choice", "choice": _choice(value, self.choices, whose)}
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if self.kind == "boolean":
            if number and -TOLERANCE <= value <= 1 + TOLERANCE:
                return {"kind": "boolean", "probability": min(max(float(value), 0.0), 1.0)}
            hint = f"; give {float(value)} if it is certain" if isinstance(value, bool) else ""
            raise _refused(f"{whose} {shown(value)}, which is no probability of true, 0 to 1{hint}")
        top = self.levels - 1
        if number and 0 <= value <= top and value == int(value):
            at = int(value)
            return {"kind": "score", "level": at, "levels": self.levels, "criterion": self.criteria[at]}
        raise _refused(f"{whose} {shown(value)}, which is no level: a whole number, 0 to {top}")


@dataclass(frozen=True, slots=True, repr=False)
class ClassifierAnswer(Value):
    """What a classifier answers to one question, and what it took.

    *value*: the level, the choice, or the probability of true. *rounding*: what was rounded to get there. *warnings*,
    *provider_metadata*: as the provider gave them. *response_id*, *timestamp*, *model_id*: of the provider's response.
    None is for what is not known.
    """

    value: Any
    _: KW_ONLY
    usage: Usage | None = None
    warnings: Sequence[Any] = ()
    rounding: Any = None
    provider_metadata: Mapping[str, Any] | None = None
    response_id: str | None = None
    timestamp: Any = None
    model_id: str | None = None

    def __post_init__(self) -> None:
        if self.usage is not None and not isinstance(self.usage, Usage):
            raise UsageError(f"ClassifierAnswer(usage=...) is a Usage, not {shown(self.usage)}")
        freeze(self, ("warnings",))
        if not isinstance(self.warnings, tuple):
            raise UsageError(f"ClassifierAnswer(warnings=...) is a list, not {shown(self.warnings)}")
        if self.provider_metadata is not None and not isinstance(self.provider_metadata, Mapping):
            raise UsageError(
                f"ClassifierAnswer(provider_metadata=...) is a mapping, not {shown(self.provider_metadata)}"
            )

    @property
    def taken(self) -> dict[str, Any]:
        """All but the value, as plain data: `usage` has the counts that are known."""
        return {
            "usage": _counts(self.usage),
            "warnings": plain(self.warnings),
            "rounding": plain(self.rounding),
            "provider_metadata": plain(self.provider_metadata),
            "response": {"id": self.response_id, "timestamp": plain(self.timestamp), "model_id": self.model_id},
        }


ClassifierReply: TypeAlias = Mapping[str, ClassifierAnswer]
"""An answer for each question that was asked, by its name."""


class Classifier(Protocol):
    """What `create_classifier_scorer` asks: any object with these three."""

    @property
    def id(self) -> str:
        """What records and messages call it."""

    @property
    def questions(self) -> Mapping[str, ClassifierQuestion]:
        """All that it can be asked, by name."""

    @property
    def classify(self) -> Callable[..., ClassifierReply | Awaitable[ClassifierReply]]:
        """A method, `def` or `async def`: `classify(state, *, questions)`.

        *state* is what to look at, plain data that JSON can hold; *questions* are the names of those to answer. A
        scorer that has `max_retries` or `provider_options` passes them, too, each under its name; tries are the
        classifier's own doing. A `def` is called away from the event loop.
        """


def as_json(state: Any) -> Any:
    """What a classifier is to look at, in plain data. Raises `UsageError` for what is no JSON, with the path to it.

    >>> as_json({"words": ("a", "b")})
    {'words': ['a', 'b']}
    """
    if state is None or state is MISSING:
        raise UsageError(f"state= gave {state}: return not_scorable('...') when there is nothing to classify")
    made = plain(state)
    refused = _no_json(made)
    if refused is None:
        return made
    path, value = refused
    where = f" at {cut(path.lstrip('.'))}" if path else ""
    raise UsageError(
        f"state= gave {shown(value)}{where}, which is no JSON; give ctx.run.text, ctx.run.transcript() ..."
    )


def _no_json(value: Any) -> tuple[str, Any] | None:
    """The path to the first thing that is no JSON, and the thing."""
    parts: list[tuple[str, Any]] = []
    if type(value) is dict:
        odd = [key for key in value if not isinstance(key, str)]
        if odd:
            return "", odd[0]
        parts = [(f".{key}", item) for key, item in value.items()]
    elif type(value) is list:
        parts = [(f"[{index}]", item) for index, item in enumerate(value)]
    elif not (value is None or isinstance(value, str | int) or (isinstance(value, float) and value - value == 0)):
        return "", value
    for step, part in parts:
        refused = _no_json(part)
        if refused is not None:
            return step + refused[0], refused[1]
    return None


def _check_texts(given: Any, *, said: str, belongs: bool) -> None:
    if not belongs:
        if given != ():
            raise UsageError(f"{said}: this kind of question has none")
        return
    if not isinstance(given, tuple) or not given or not all(isinstance(it, str) and it.strip() for it in given):
        raise UsageError(f"{said} is a list of texts that are not empty, not {shown(given)}")


def _choice(value: Any, choices: Sequence[str], whose: str) -> str:
    if isinstance(value, str) and value in choices:
        return value
    guess = did_you_mean(value, choices) if isinstance(value, str) else ""
    raise _refused(f"{whose} {shown(value)}, which is none of its choices: {', '.join(choices)}.{guess}")


def _counts(usage: Usage | None) -> dict[str, int] | None:
    if usage is None:
        return None
    counts = {name: getattr(usage, name) for name in usage.__dataclass_fields__}
    return {name: count for name, count in counts.items() if count is not None}


def _refused(message: str) -> ScoreError:
    return ScoreError(message, code="INVALID_CLASSIFIER_ANSWER")
