"""A scorer that asks a classifier one question and reads the score off its answer.

analyze asks, generate_score computes, generate_reason says in a line what was answered. A level becomes its share of
the top level; a choice what `scores` gives it; a boolean is the probability of true, with no threshold.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from proctor.bridge import in_thread
from proctor.data.plain import copied, plain
from proctor.data.value import Value, shown
from proctor.errors import ScoreError, UnknownName, UsageError
from proctor.judging.arguments import told
from proctor.plugins import find, import_object, known
from proctor.scoring.build import quote
from proctor.scoring.callables import takes_one
from proctor.scoring.classifier_parts import (
    Classifier,
    ClassifierAnswer,
    ClassifierQuestion,
    ClassifierReply,
    as_json,
)
from proctor.scoring.create import create_scorer
from proctor.scoring.run import ScorerRun
from proctor.scoring.scorer import Better, Scorer
from proctor.scoring.steps import Score, StepContext, is_not_scorable

__all__ = ["create_classifier_scorer"]

_GROUP = "classifiers"  # of entry points: proctor.classifiers


@told(lambda name, value: None, by_place="create_classifier_scorer takes all by name: create_classifier_scorer(id=...)")
def create_classifier_scorer(
    *,
    id: str,
    name: str = "",
    description: str = "",
    classifier: Classifier | str,
    question: str,
    scores: Mapping[str, float] | None = None,
    type: Any = None,
    state: Callable[[StepContext], Any],
    max_retries: int | None = None,
    provider_options: Mapping[str, Any] | None = None,
    prepare_run: Callable[[ScorerRun], Any] | None = None,
    better: Better = "higher",
    version: str | None = None,
) -> Scorer:
    """A scorer, 0 to 1, of what *classifier* answers to *question*, the name of one of its questions.

    *classifier*: any `Classifier`, whose question and *scores* are checked at once; or `package.module:name`, or a name
    that an installed package declares in the group `proctor.classifiers`: then they are checked in each run. *scores*:
    what each choice scores, 0 to 1, all of them; for questions with choices only. *state*: what the classifier looks
    at, from the context, in data that JSON can hold, def or async def; `not_scorable(...)` declines before it is asked.
    *max_retries*, *provider_options*: passed on to it when they are given. *version*: to be changed when the classifier
    does; an object says nothing of what it is, and the fingerprint is unknown without. The rest: see `create_scorer`.

    >>> class Shouting:
    ...     id = "shouting"
    ...     questions = {"loud": ClassifierQuestion("boolean")}
    ...
    ...     def classify(self, state, *, questions):
    ...         return {"loud": ClassifierAnswer(sum(map(str.isupper, state)) / len(state))}
    >>> loud = create_classifier_scorer(
    ...     id="loud", classifier=Shouting(), question="loud", state=lambda ctx: ctx.run.text, better="lower"
    ... )
    >>> outcome = loud.run_sync(output="STOP")
    >>> outcome.score, outcome.reason
    (1.0, '"loud" is true with probability 1.0')
    """
    _check_options(question, scores, state, max_retries, provider_options)
    weights = None if scores is None else plain(scores)
    options = {
        **({} if max_retries is None else {"max_retries": max_retries}),
        **({} if provider_options is None else {"provider_options": dict(provider_options)}),
    }
    what: dict[str, Any] = {"name": question, "scores": weights, "options": options}
    asked: _Asked | str
    if isinstance(classifier, str):
        _refuse_misfit(weights, said=f"create_classifier_scorer(scores=...) of question {question!r}")
        asked, who, about = classifier, classifier, ""
    else:
        asked = _Asked.of(classifier, **what)
        who, about = classifier.id, asked.question.text
    described = f"What {who} answers to {question!r}{about and ': '}{' '.join(about.split())}"
    made = create_scorer(
        id=id,
        name=name,
        description=description or described,
        type=type,
        prepare_run=prepare_run,
        better=better,
        version=version,
        arguments={"classifier": who, "question": question, **({} if weights is None else {"scores": weights})},
    )
    return (
        made.named(id)
        .analyze(_asking(asked, state, what))
        .generate_score(lambda ctx: _score(ctx.analyze["answer"], weights))
        .generate_reason(lambda ctx: _reason(ctx.analyze["question"], ctx.analyze["answer"]))
    )


# ── the steps ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _asking(asked: _Asked | str, state: Callable[[StepContext], Any], what: Mapping[str, Any]) -> Callable[..., Any]:
    """The step that asks. It is a `def` and so runs on a thread, as do *state* and the `def` of a classifier.

    What it closes over is plain but for an `_Asked`, which makes the fingerprint unknown.
    """

    def analyze(ctx: StepContext) -> Any:
        ready = _Asked.of(_found(asked), **what) if isinstance(asked, str) else asked
        given = state(ctx)
        return _when_there(given, ready.finding) if isinstance(given, Awaitable) else ready.finding(given)

    return analyze


async def _when_there(given: Awaitable[Any], then: Callable[[Any], Any]) -> Any:
    """On the loop, which a classifier's `def` must not hold."""
    made = await in_thread(then, await given)
    return await made if isinstance(made, Awaitable) else made


@dataclass(frozen=True, slots=True, repr=False)
class _Asked(Value):
    """A question of a classifier that was found to be in order. *options*: what is passed on to `classify`."""

    classifier: Classifier
    name: str
    question: ClassifierQuestion
    options: Mapping[str, Any]

    @classmethod
    def of(cls, classifier: Any, *, name: str, scores: Mapping[str, Any] | None, options: Mapping[str, Any]) -> _Asked:
        """Raises `UsageError` for what does not fit together."""
        _check_classifier(classifier, options)
        who, questions = classifier.id, classifier.questions
        if name not in questions:
            raise UnknownName(f"question of {who}", name, questions)
        question = questions[name]
        if not isinstance(question, ClassifierQuestion):
            raise UsageError(f"question {name!r} of {who} is a ClassifierQuestion, not {shown(question)}")
        said = f"scores= of question {name!r} of {who}"
        if question.kind == "choice":
            _refuse_misfit(scores or {}, said=said, choices=question.choices)
        elif scores is not None:
            raise UsageError(f"{said}: the question is of kind {question.kind!r}; only choices have scores")
        return cls(classifier, name, question, options)

    def finding(self, state: Any) -> Any:
        """The result of analyze, or what it is awaited of; `not_scorable(...)` as it is."""
        if is_not_scorable(state):
            return state
        reply = self.classifier.classify(as_json(state), questions=[self.name], **copied(self.options))
        return self._later(reply) if isinstance(reply, Awaitable) else self._read(reply)

    async def _later(self, reply: Awaitable[ClassifierReply]) -> dict[str, Any]:
        return self._read(await reply)

    def _read(self, reply: Any) -> dict[str, Any]:
        who, name = self.classifier.id, self.name
        if not isinstance(reply, Mapping):
            raise _no_answer(f"{who} gave {shown(reply)}: classify gives a mapping of questions to ClassifierAnswer")
        if name not in reply:
            raise _no_answer(f"{who} did not answer {name!r}; it answered {', '.join(map(repr, reply)) or 'nothing'}")
        answer = reply[name]
        if not isinstance(answer, ClassifierAnswer):
            raise _no_answer(f"{who} answered {name!r} with {shown(answer)}: write ClassifierAnswer({shown(answer)})")
        finding = self.question.finding(answer.value, whose=f"{who} answered {name!r} with")
        return {"question": name, "answer": finding, **answer.taken}


def _score(answer: Mapping[str, Any], scores: Mapping[str, float] | None) -> Score:
    if answer["kind"] == "score":
        return Score(answer["level"] / (answer["levels"] - 1))
    if answer["kind"] == "choice":
        return Score((scores or {})[answer["choice"]], label=answer["choice"])
    return Score(answer["probability"])


def _reason(name: str, answer: Mapping[str, Any]) -> str:
    if answer["kind"] == "score":
        return f"{quote(name)} is level {answer['level']} of 0 to {answer['levels'] - 1}: {quote(answer['criterion'])}"
    if answer["kind"] == "choice":
        return f"{quote(name)} is {quote(answer['choice'])}"
    return f"{quote(name)} is true with probability {answer['probability']!r}"


# ── what is refused ────────────────────────────────────────────────────────────────────────────────────────────────


def _check_options(question: Any, scores: Any, state: Any, max_retries: Any, provider_options: Any) -> None:
    """The options as such, whatever the classifier is."""
    wrong = None
    if not isinstance(question, str):
        wrong = f"question=...) is the name of a question, not {shown(question)}"
    elif scores is not None and not isinstance(scores, Mapping):
        wrong = f"scores=...) is a mapping of choices to numbers, not {shown(scores)}"
    elif not callable(state) or not takes_one(state):
        wrong = f"state=...) is a function of one argument (ctx), not {shown(state)}"
    elif max_retries is not None and (type(max_retries) is not int or max_retries < 0):
        wrong = f"max_retries=...) is a whole number, 0 or more, not {shown(max_retries)}"
    elif provider_options is not None and not isinstance(provider_options, Mapping):
        wrong = f"provider_options=...) is a mapping, not {shown(provider_options)}"
    if wrong:
        raise UsageError(f"create_classifier_scorer({wrong}")


def _found(name: str) -> Any:
    return import_object(name) if ":" in name else _installed(name)


@cache  # reading what all installed packages declare takes milliseconds
def _installed(name: str) -> Any:
    names = known(_GROUP)
    if name not in names:
        hint = "Write package.module:name, or install a package that declares it in the group proctor.classifiers."
        raise UnknownName("classifier", name, names, hint=hint)
    return find(_GROUP, name)


def _check_classifier(classifier: Any, options: Mapping[str, Any]) -> None:
    if isinstance(classifier, type):
        raise UsageError(f"{classifier.__name__} is a class of classifiers: give one, as in {classifier.__name__}()")
    lacking = [part for part in ("id", "questions", "classify") if not hasattr(classifier, part)]
    if lacking:
        raise UsageError(f"{shown(classifier)} is no classifier: it has no {', '.join(lacking)}")
    who, questions = classifier.id, classifier.questions
    if not isinstance(who, str) or not who.strip():
        raise UsageError(f"the id of a classifier is a text that is not empty, not {shown(who)}")
    if not isinstance(questions, Mapping):
        raise UsageError(f"questions of {who} are a mapping of names to ClassifierQuestion, not {shown(questions)}")
    if not questions:
        raise UsageError(f"{who} has no questions")
    try:
        inspect.signature(classifier.classify).bind(None, questions=[], **options)
    except TypeError as problem:
        passed = ", ".join(["questions", *options])
        raise UsageError(f"{who} cannot be asked classify(state, {passed}): {problem}") from problem
    except ValueError:
        pass  # some functions written in C do not say what they take


def _refuse_misfit(scores: Mapping[Any, Any] | None, *, said: str, choices: Sequence[str] | None = None) -> None:
    """Raise a `UsageError` that lists, by kind, what is wrong with the scores of *choices*; None where not known."""
    given = scores or {}
    numbers = {choice: value for choice, value in given.items() if _is_number(value)}
    wrong = {
        "no score for": [repr(choice) for choice in choices or () if choice not in given],
        "no such choice:": [
            shown(choice)
            for choice in given
            if not isinstance(choice, str) or (choices is not None and choice not in choices)
        ],
        "no finite number:": [f"{choice!r}: {shown(it)}" for choice, it in given.items() if choice not in numbers],
        "outside 0 to 1:": [f"{choice!r}: {shown(it)}" for choice, it in numbers.items() if not 0 <= it <= 1],
    }
    problems = "; ".join(f"{kind} {', '.join(those)}" for kind, those in wrong.items() if those)
    if problems:
        raise UsageError(f"{said}: {problems}")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value - value == 0


def _no_answer(message: str) -> ScoreError:
    return ScoreError(message, code="INVALID_CLASSIFIER_ANSWER")
