"""A classifier that answers what it is told to: for tests of scorers that ask one, without a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from inspect import isawaitable
from threading import Lock
from typing import Any

from proctor.data.value import Value
from proctor.errors import UnknownName, UsageError
from proctor.scoring.classifier_parts import ClassifierAnswer, ClassifierQuestion

__all__ = ["ClassifierCall", "ScriptedClassifier"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ClassifierCall(Value):
    """What a classifier was asked. *options*: `max_retries` and `provider_options`, those that were passed."""

    state: Any
    questions: tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)


class ScriptedClassifier:
    """A classifier with set answers; it can be asked from several threads and loops.

    *questions*: by name. *answers*: by the name of the question, what is answered to it: a list, taken in the order of
    the calls, whose last one repeats; a function of the state, def or async def; or one answer. An answer is a level, a
    choice, a probability, a `ClassifierAnswer`, or an exception to raise; it is not looked at, so that wrong ones can
    be tried. A question without answers is left out of the reply.

    *calls*: what it was asked, in order.

    >>> import asyncio
    >>> urgent = ScriptedClassifier({"urgent": ClassifierQuestion("boolean")}, {"urgent": [0.9, 0.1]})
    >>> asyncio.run(urgent.classify("Help!", questions=["urgent"]))
    {'urgent': ClassifierAnswer(value=0.9)}
    """

    def __init__(
        self,
        questions: Mapping[str, ClassifierQuestion],
        answers: Mapping[str, Any],
        *,
        id: str = "scripted",
    ) -> None:
        self.id = id
        self.questions = dict(questions)
        for name, given in answers.items():
            if name not in questions:
                raise UnknownName(f"question of {id}", name, questions)
            if isinstance(given, list | tuple) and not given:
                raise UsageError(f"ScriptedClassifier needs at least one answer to {name!r}, or none of it at all")
        self.calls: list[ClassifierCall] = []
        self._answers = dict(answers)
        self._asked: Counter[str] = Counter()
        self._lock = Lock()

    async def classify(self, state: Any, *, questions: Sequence[str], **options: Any) -> dict[str, ClassifierAnswer]:
        """The scripted answers to these questions."""
        with self._lock:
            numbers = {name: self._asked[name] for name in questions if name in self._answers}
            self._asked.update(questions)
            self.calls.append(ClassifierCall(state=state, questions=tuple(questions), options=options))
        return {name: await self._answer(name, state, number=number) for name, number in numbers.items()}

    async def _answer(self, name: str, state: Any, *, number: int) -> ClassifierAnswer:
        given = self._answers[name]
        if isinstance(given, list | tuple):
            given = given[min(number, len(given) - 1)]
        elif callable(given):
            given = given(state)
            given = await given if isawaitable(given) else given
        if isinstance(given, BaseException):
            raise given.with_traceback(None)  # else it would grow with each time that it is raised
        return given if isinstance(given, ClassifierAnswer) else ClassifierAnswer(given)
