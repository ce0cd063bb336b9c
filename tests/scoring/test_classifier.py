"""Scorers that ask a classifier: what an answer scores, what is refused and when, where the classifier is called."""

import asyncio
import json
import math
import re
import sys
import threading
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor import Message, ScorerRunError, Text, UsageError, not_scorable, run_evals, run_evals_sync
from proctor.data.codec import decode, encode
from proctor.data.usage import Usage
from proctor.errors import EncodingError, ScoreError, UnknownName
from proctor.scoring.classifier import create_classifier_scorer
from proctor.scoring.classifier_parts import ClassifierAnswer, ClassifierQuestion, as_json
from proctor.scoring.fingerprint import UNKNOWN
from proctor.testing.classifier import ScriptedClassifier

QUESTIONS = {
    "polite": ClassifierQuestion("score", criteria=["rude", "neutral", "polite"], text="How polite is it?"),
    "kind": ClassifierQuestion("choice", choices=["spam", "ham", "other"]),
    "urgent": ClassifierQuestion("boolean"),
}
SCORES = {"spam": 0, "ham": 1.0, "other": 0.25}


def scripted(**answers):
    return ScriptedClassifier(QUESTIONS, answers, id="mail")


def asking(question, answer=None, **options):
    """A scorer of this question, of a classifier that gives this answer."""
    classifier = scripted(**({} if answer is None else {question: answer}))
    return made(classifier=classifier, question=question, **options)


def made(**options):
    usual = {"id": "s", "classifier": scripted(), "question": "polite", "state": lambda ctx: ctx.run.text}
    kinds = {"scores": SCORES} if options.get("question") == "kind" else {}
    return create_classifier_scorer(**usual | kinds | options)


def message_alone(value):
    """The id of a test by what it expects: the same in every process."""
    return value if isinstance(value, str) else ""


def failed(scorer, **run):
    with pytest.raises(ScorerRunError) as caught:
        scorer.run_sync(**{"output": "x"} | run)
    return caught.value


# ── what an answer scores ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("question", "answer", "score"),
    [
        ("polite", 0, 0.0),
        ("polite", 1, 0.5),
        ("polite", 2, 1.0),
        ("polite", 2.0, 1.0),
        ("polite", np.int64(1), 0.5),
        ("kind", "spam", 0.0),
        ("kind", "ham", 1.0),
        ("kind", "other", 0.25),
        ("kind", np.str_("other"), 0.25),
        ("urgent", 0, 0.0),
        ("urgent", 0.49, 0.49),
        ("urgent", 0.51, 0.51),
        ("urgent", 1, 1.0),
        ("urgent", np.float32(0.5), 0.5),
        ("urgent", Fraction(1, 4), 0.25),
        ("urgent", 1 + 1e-12, 1.0),
        ("urgent", -1e-12, 0.0),
    ],
    ids=repr,
)
def test_an_answer_scores(question, answer, score):
    outcome = asking(question, answer).run_sync(output="x")
    assert (outcome.status, outcome.score) == ("scored", score)


def test_a_probability_just_outside_is_on_the_edge_in_the_findings_too():
    above, below = (asking("urgent", answer).run_sync(output="x") for answer in (1 + 1e-12, -1e-12))
    assert (above.analyze_step_result["answer"], above.reason) == (
        {"kind": "boolean", "probability": 1.0},
        '"urgent" is true with probability 1.0',
    )
    assert below.analyze_step_result["answer"]["probability"] == 0.0


class Kind(StrEnum):
    SPAM = "spam"
    HAM = "ham"
    OTHER = "other"


def test_scores_may_be_of_enums_and_numpy_and_are_those_of_when_it_was_written():
    scores = {Kind.SPAM: np.float32(0), Kind.HAM: np.float64(0.75), Kind.OTHER: Fraction(1, 4)}
    scorer = asking("kind", [Kind.HAM, "other"], scores=scores)
    scores[Kind.HAM] = 0
    assert [scorer.run_sync(output="x").score for _ in range(2)] == [0.75, 0.25]


@given(levels=st.integers(2, 50), data=st.data())
def test_a_level_scores_its_share_of_the_top_level(levels, data):
    level = data.draw(st.integers(0, levels - 1))
    questions = {"q": ClassifierQuestion("score", criteria=[str(at) for at in range(levels)])}
    scorer = made(classifier=ScriptedClassifier(questions, {"q": level}), question="q")
    assert scorer.run_sync(output="x").score == level / (levels - 1)


@pytest.mark.parametrize(
    ("question", "answer", "reason", "label"),
    [
        ("polite", 1, '"polite" is level 1 of 0 to 2: "neutral"', None),
        ("kind", "spam", '"kind" is "spam"', "spam"),
        ("urgent", 0.1 + 0.2, '"urgent" is true with probability 0.30000000000000004', None),
    ],
)
def test_the_reason_says_in_a_line_what_was_answered(question, answer, reason, label):
    outcome = asking(question, answer).run_sync(output="x")
    assert (outcome.reason, outcome.label) == (reason, label)


def test_the_reason_is_one_line_whatever_the_criteria_are():
    question = ClassifierQuestion("score", criteria=["bad:\n- rude\n- wrong", "good"])
    scorer = made(classifier=ScriptedClassifier({"a\nb": question}, {"a\nb": 0}), question="a\nb")
    assert scorer.run_sync(output="x").reason == '"a b" is level 0 of 0 to 1: "bad: - rude - wrong"'


def test_what_the_classifier_used_stands_in_the_result_of_analyze():
    when = datetime(2026, 1, 2, tzinfo=UTC)
    answer = ClassifierAnswer(
        1,
        usage=Usage(input_tokens=7, output_tokens=1),
        warnings=["temperature was ignored"],
        rounding={"from": 1.2},
        provider_metadata={"requestId": "r"},
        response_id="resp-1",
        timestamp=when,
        model_id="tiny-1",
    )
    outcome = asking("polite", answer).run_sync(output="x")
    assert outcome.analyze_step_result == {
        "question": "polite",
        "answer": {"kind": "score", "level": 1, "levels": 3, "criterion": "neutral"},
        "usage": {"input_tokens": 7, "output_tokens": 1},
        "warnings": ["temperature was ignored"],
        "rounding": {"from": 1.2},
        "provider_metadata": {"requestId": "r"},
        "response": {"id": "resp-1", "timestamp": when, "model_id": "tiny-1"},
    }
    written = json.dumps(encode(outcome))
    assert decode(json.loads(written)).analyze_step_result == outcome.analyze_step_result


def test_what_the_classifier_does_not_say_is_none():
    finding = asking("urgent", 0.5).run_sync(output="x").analyze_step_result
    assert finding == {
        "question": "urgent",
        "answer": {"kind": "boolean", "probability": 0.5},
        "usage": None,
        "warnings": [],
        "rounding": None,
        "provider_metadata": None,
        "response": {"id": None, "timestamp": None, "model_id": None},
    }


# ── answers that are none ──────────────────────────────────────────────────────────────────────────────────────────

NO_ANSWERS = [
    ("polite", 3, "mail answered 'polite' with 3, which is no level: a whole number, 0 to 2"),
    ("polite", -1, "mail answered 'polite' with -1, which is no level"),
    ("polite", 1.5, "mail answered 'polite' with 1.5, which is no level"),
    ("polite", math.nan, "mail answered 'polite' with nan, which is no level"),
    ("polite", math.inf, "mail answered 'polite' with inf, which is no level"),
    ("polite", 10**400, "which is no level"),
    ("polite", True, "mail answered 'polite' with True, which is no level"),
    ("polite", "neutral", "mail answered 'polite' with 'neutral', which is no level"),
    ("kind", "spma", "mail answered 'kind' with 'spma', which is none of its choices: spam, ham, other. Did you mean"),
    ("kind", 0, "mail answered 'kind' with 0, which is none of its choices"),
    ("kind", ["spam"], "mail answered 'kind' with ['spam'], which is none of its choices"),
    ("urgent", 1.001, "mail answered 'urgent' with 1.001, which is no probability of true, 0 to 1"),
    ("urgent", -0.2, "mail answered 'urgent' with -0.2, which is no probability"),
    ("urgent", math.nan, "mail answered 'urgent' with nan, which is no probability"),
    ("urgent", "yes", "mail answered 'urgent' with 'yes', which is no probability"),
    ("urgent", True, "mail answered 'urgent' with True, which is no probability of true, 0 to 1; give 1.0 if it is"),
    ("urgent", Decimal("0.5"), "mail answered 'urgent' with Decimal('0.5'), which is no probability"),
]


@pytest.mark.parametrize(("question", "answer", "message"), NO_ANSWERS, ids=lambda value: repr(value)[:40])
def test_what_is_no_answer_is_an_error_that_names_value_and_question(question, answer, message):
    answers = [answer] if isinstance(answer, list) else answer
    error = failed(asking(question, answers))
    assert message in str(error)
    assert (error.failed_step, error.completed_steps) == ("analyze", ())
    assert isinstance(error.__cause__, ScoreError)
    assert error.__cause__.code == "INVALID_CLASSIFIER_ANSWER"


def test_none_is_no_answer():
    error = failed(asking("polite", ClassifierAnswer(None)))
    assert "mail answered 'polite' with None, which is no level" in str(error)


def test_a_question_that_is_not_in_the_reply_is_an_error():
    assert "mail did not answer 'polite'; it answered nothing" in str(failed(asking("polite")))


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ({"urgent": ClassifierAnswer(0.5)}, "mine did not answer 'polite'; it answered 'urgent'"),
        ({"polite": 1}, "mine answered 'polite' with 1: write ClassifierAnswer(1)"),
        ({"polite": None}, "mine answered 'polite' with None: write ClassifierAnswer(None)"),
        (None, "mine gave None: classify gives a mapping of questions to ClassifierAnswer"),
        (ClassifierAnswer(1), "mine gave ClassifierAnswer(value=1): classify gives a mapping"),
    ],
    ids=["another question", "a bare value", "no answer", "nothing", "an answer without its question"],
)
def test_what_is_no_reply_is_an_error(reply, message):
    error = failed(made(classifier=Mine(lambda: reply)))
    assert message in str(error)
    assert error.failed_step == "analyze"


def test_answers_to_other_questions_are_not_looked_at():
    mine = Mine(lambda: {"polite": ClassifierAnswer(2), "urgent": "what?"})
    assert made(classifier=mine).run_sync(output="x").score == 1.0


def test_a_classifier_that_raises_is_an_error_outcome_and_no_zero():
    result = run_evals_sync(
        data=[{"output": "a"}, {"output": "b"}], scorers=[asking("polite", [ConnectionError("down"), 2])]
    )
    broken, fine = (item.scorers["s"] for item in result.items)
    assert (broken.status, broken.score, broken.error.step) == ("error", None, "analyze")
    assert (broken.error.type, broken.error.message) == ("ConnectionError", "down")
    assert (fine.status, fine.score) == ("scored", 1.0)


# ── what the classifier is shown ───────────────────────────────────────────────────────────────────────────────────


def test_it_is_shown_what_state_gives_and_asked_one_question():
    classifier = scripted(polite=1)
    made(classifier=classifier, state=lambda ctx: {"text": ctx.run.text, "tags": ("a", "b")}).run_sync(output="Hi")
    (call,) = classifier.calls
    assert (call.state, call.questions, call.options) == ({"text": "Hi", "tags": ["a", "b"]}, ("polite",), {})


async def later(ctx):
    await asyncio.sleep(0)
    return ctx.run.text or not_scorable("nothing was said")


@pytest.mark.parametrize(
    "state", [later, lambda ctx: ctx.run.text or not_scorable("nothing was said")], ids=["async def", "def"]
)
@pytest.mark.parametrize("is_async", [True, False], ids=["async classifier", "classifier"])
def test_a_state_that_declines_does_so_before_the_classifier_is_asked(state, is_async):
    mine = (
        MineLater(lambda: {"polite": ClassifierAnswer(1)})
        if is_async
        else Mine(lambda: {"polite": ClassifierAnswer(1)})
    )
    scorer = made(classifier=mine, state=state)
    outcome = scorer.run_sync(output="")
    assert (outcome.status, outcome.score, outcome.reason) == ("not_scorable", None, "nothing was said")
    assert outcome.not_scorable.step == "analyze"
    assert mine.states == []
    assert scorer.run_sync(output="Hi").score == 0.5
    assert mine.states == ["Hi"]


def test_options_are_passed_on_when_they_are_given():
    classifier = scripted(polite=1)
    made(classifier=classifier, max_retries=0, provider_options={"temperature": 0}).run_sync(output="x")
    assert classifier.calls[0].options == {"max_retries": 0, "provider_options": {"temperature": 0}}


def test_what_a_classifier_does_to_its_options_does_not_last():
    class Greedy(Mine):
        def classify(self, state, *, questions, provider_options):
            self.states.append(dict(provider_options))
            provider_options.clear()
            return {"polite": ClassifierAnswer(1)}

    greedy = Greedy()
    scorer = made(classifier=greedy, provider_options={"temperature": 0})
    for _ in range(2):
        scorer.run_sync(output="x")
    assert greedy.states == [{"temperature": 0}, {"temperature": 0}]


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (None, "state= gave None: return not_scorable('...') when there is nothing to classify"),
        ({"when": [1, datetime(2026, 1, 2, tzinfo=UTC)]}, "at when[1], which is no JSON"),
        ({"n": math.nan}, "state= gave nan at n, which is no JSON"),
        ({1: "a"}, "state= gave 1, which is no JSON"),
        ({"a": [{"b": b"x"}]}, "state= gave b'x' at a[0].b, which is no JSON"),
        ([Message("user", (Text("Hi"),))], "at [0], which is no JSON; give ctx.run.text, ctx.run.transcript()"),
        (object, "which is no JSON"),
    ],
    ids=["None", "a date", "NaN", "a key", "bytes", "a message", "a class"],
)
def test_a_state_that_is_no_json_is_an_error_and_nobody_is_asked(state, message):
    classifier = scripted(polite=1)
    error = failed(made(classifier=classifier, state=lambda ctx: state))
    assert message in str(error)
    assert error.failed_step == "analyze"
    assert classifier.calls == []


def test_an_input_that_is_not_there_is_no_state():
    assert "state= gave MISSING" in str(failed(made(state=lambda ctx: ctx.run.input)))


def test_a_state_without_end_is_an_error():
    state = []
    state.append(state)
    with pytest.raises(EncodingError, match="refers to itself"):
        as_json(state)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(), st.lists))
def test_a_state_goes_through_when_json_can_say_it(state):
    try:
        json.dumps(state, allow_nan=False)
    except (TypeError, ValueError):
        speaks = False
    else:
        speaks = state is not None
    if speaks:
        assert as_json(state) == state
    else:
        with pytest.raises(UsageError):
            as_json(state)


def test_steps_see_the_run_that_prepare_run_gives():
    classifier = scripted(polite=1)
    made(classifier=classifier, prepare_run=lambda run: run.replace(output="short")).run_sync(output="long")
    assert classifier.calls[0].state == "short"


def test_a_run_that_does_not_fit_its_type_is_an_error_and_nobody_is_asked():
    classifier = scripted(polite=1)
    scorer = made(classifier=classifier, type=(str, str))
    error = failed(scorer, input=5)
    assert (error.failed_step, classifier.calls) == (None, [])
    assert scorer.run_sync(input="Hi", output="Hello").score == 0.5


# ── where it is called ─────────────────────────────────────────────────────────────────────────────────────────────


class Mine:
    """A classifier whose `classify` is a `def`. *reply*: gives what it replies."""

    id = "mine"
    questions = QUESTIONS

    def __init__(self, reply=None):
        self.reply = reply
        self.states = []

    def classify(self, state, *, questions):
        self.states.append(state)
        return self.reply()


class MineLater(Mine):
    async def classify(self, state, *, questions):
        await asyncio.sleep(0)
        return super().classify(state, questions=questions)


@pytest.mark.parametrize("state", [later, lambda ctx: ctx.run.text], ids=["async def state", "def state"])
async def test_a_def_is_called_away_from_the_loop_and_several_at_once(state):
    together = threading.Barrier(3, timeout=20)
    threads = set()

    def reply():
        threads.add(threading.get_ident())
        together.wait()  # nobody gets past it alone
        return {"polite": ClassifierAnswer(2)}

    scorer = made(classifier=Mine(reply), state=state)
    result = await run_evals(data=[{"output": "x"}] * 3, scorers=[scorer], concurrency=3)
    assert result.scores["s"].mean == 1.0
    assert len(threads) == 3
    assert threading.get_ident() not in threads


@pytest.mark.parametrize("state", [later, lambda ctx: ctx.run.text], ids=["async def state", "def state"])
async def test_an_async_def_is_awaited_on_the_loop_and_several_at_once(state):
    together, threads = asyncio.Barrier(3), set()

    class Awaited(Mine):
        async def classify(self, state, *, questions):
            async with asyncio.timeout(20):
                await together.wait()
            threads.add(threading.get_ident())
            return {"polite": ClassifierAnswer(2)}

    scorer = made(classifier=Awaited(), state=state)
    outcomes = await asyncio.gather(*[scorer.run(output="x") for _ in range(3)])
    assert [outcome.score for outcome in outcomes] == [1.0, 1.0, 1.0]
    assert threads == {threading.get_ident()}


# ── what is refused when it is written ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"id": " "}, "a scorer needs an id"),
        ({"question": "polit"}, "no question of mail 'polit'. Did you mean 'polite'?"),
        ({"question": None}, "question=...) is the name of a question, not None"),
        ({"question": "kind", "scores": None}, "no score for 'spam', 'ham', 'other'"),
        ({"question": "kind", "scores": {}}, "scores= of question 'kind' of mail: no score for 'spam', 'ham', 'other'"),
        ({"question": "kind", "scores": [0, 1]}, "scores=...) is a mapping of choices to numbers, not [0, 1]"),
        ({"scores": SCORES}, "scores= of question 'polite' of mail: the question is of kind 'score'; only choices"),
        ({"question": "urgent", "scores": {}}, "the question is of kind 'boolean'; only choices have scores"),
        ({"state": "text"}, "state=...) is a function of one argument (ctx), not 'text'"),
        ({"state": lambda: "x"}, "state=...) is a function of one argument (ctx)"),
        ({"max_retries": -1}, "max_retries=...) is a whole number, 0 or more, not -1"),
        ({"max_retries": True}, "max_retries=...) is a whole number, 0 or more, not True"),
        ({"provider_options": "low"}, "provider_options=...) is a mapping, not 'low'"),
        ({"better": "up"}, "better is 'higher' or 'lower'"),
        ({"scors": SCORES}, "takes no scors=. Did you mean 'scores'?"),
        ({"maxRetries": 1}, "takes no maxRetries=. Did you mean 'max_retries'?"),
    ],
    ids=message_alone,
)
def test_options_that_cannot_be_right_are_refused_when_written(options, message):
    with pytest.raises(UsageError, match=re.escape(message)):
        made(**options)


def test_all_that_is_wrong_with_the_scores_is_listed_by_kind():
    scores = {"spam": "low", "hum": 1, "other": 2, "x": math.nan, "y": True, "z": -0.1}
    with pytest.raises(UsageError) as caught:
        made(question="kind", scores=scores)
    assert str(caught.value) == (
        "scores= of question 'kind' of mail: no score for 'ham'; no such choice: 'hum', 'x', 'y', 'z'; "
        "no finite number: 'spam': 'low', 'x': nan, 'y': True; outside 0 to 1: 'other': 2, 'z': -0.1"
    )


def without(part):
    return type("Half", (), {name: getattr(Mine, name) for name in ("id", "questions", "classify") if name != part})()


class Refuses(Mine):
    def classify(self, state):
        raise NotImplementedError


@pytest.mark.parametrize(
    ("classifier", "message"),
    [
        (None, "None is no classifier: it has no id, questions, classify"),
        (5, "5 is no classifier"),
        (Mine, "Mine is a class of classifiers: give one, as in Mine()"),
        (without("id"), "is no classifier: it has no id"),
        (without("questions"), "is no classifier: it has no questions"),
        (without("classify"), "is no classifier: it has no classify"),
        (type("Nameless", (Mine,), {"id": ""})(), "the id of a classifier is a text that is not empty, not ''"),
        (type("Empty", (Mine,), {"questions": {}})(), "mine has no questions"),
        (type("Listed", (Mine,), {"questions": ["polite"]})(), "questions of mine are a mapping of names"),
        (type("Loose", (Mine,), {"questions": {"polite": 3}})(), "question 'polite' of mine is a ClassifierQuestion"),
        (Refuses(), "mine cannot be asked classify(state, questions): got an unexpected keyword argument 'questions'"),
    ],
    ids=message_alone,
)
def test_what_is_no_classifier_is_refused_when_written(classifier, message):
    with pytest.raises(UsageError, match=re.escape(message)):
        made(classifier=classifier)


def test_options_that_a_classifier_does_not_take_are_refused_when_written():
    with pytest.raises(UsageError, match=r"mine cannot be asked classify\(state, questions, max_retries\): got an"):
        made(classifier=Mine(), max_retries=2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kind": "scroe"}, "no kind of question 'scroe'. Did you mean 'score'?"),
        ({"kind": "score"}, "ClassifierQuestion('score', criteria=...) is a list of texts that are not empty, not ()"),
        ({"kind": "score", "criteria": ["only"]}, "needs two levels at least: with one, every answer is the same"),
        ({"kind": "score", "criteria": "bad, good"}, "criteria=...) is a list of texts that are not empty, not 'bad"),
        ({"kind": "score", "criteria": ["bad", ""]}, "criteria=...) is a list of texts that are not empty"),
        ({"kind": "score", "criteria": 3}, "criteria=...) is a list of texts that are not empty, not 3"),
        (
            {"kind": "score", "criteria": ["a", "b"], "choices": ["a"]},
            "('score', choices=...): this kind of question has none",
        ),
        ({"kind": "choice"}, "ClassifierQuestion('choice', choices=...) is a list of texts"),
        ({"kind": "choice", "choices": ["a", "b", "a"]}, "has a choice twice: ['a', 'b', 'a']"),
        ({"kind": "choice", "choices": ["a"], "criteria": ["a"]}, "criteria=...): this kind of question has none"),
        ({"kind": "boolean", "choices": ["yes", "no"]}, "('boolean', choices=...): this kind of question has none"),
        ({"kind": "boolean", "text": None}, "text=...) is text, not None"),
    ],
    ids=message_alone,
)
def test_questions_that_cannot_be_answered_are_refused_when_written(arguments, message):
    with pytest.raises(UsageError, match=re.escape(message)):
        ClassifierQuestion(**arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"usage": {"input_tokens": 1}}, "usage=...) is a Usage"),
        ({"warnings": "slow"}, "warnings=...) is a list, not 'slow'"),
        ({"provider_metadata": "r"}, "provider_metadata=...) is a mapping, not 'r'"),
    ],
    ids=message_alone,
)
def test_answers_that_say_something_else_are_refused(arguments, message):
    with pytest.raises(UsageError, match=re.escape(message)):
        ClassifierAnswer(0.5, **arguments)


# ── by name ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A package with a classifier, which it declares under a name that no other test uses."""
    name = f"mail_of_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(
        "from proctor.scoring.classifier_parts import ClassifierQuestion\n"
        "from proctor.testing.classifier import ScriptedClassifier\n"
        "questions = {'kind': ClassifierQuestion('choice', choices=['spam', 'ham'])}\n"
        "mail = ScriptedClassifier(questions, {'kind': 'ham'}, id='mail')\n"
        "nothing = None\n"
    )
    info = tmp_path / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[proctor.classifiers]\n{name} = {name}:mail\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield name
    sys.modules.pop(name, None)


def named(classifier, **options):
    usual = {"question": "kind", "scores": {"spam": 0, "ham": 0.75}}
    return made(**usual | options, classifier=classifier)


@pytest.mark.parametrize("form", ["{}:mail", "{}"], ids=["import path", "entry point"])
def test_a_classifier_is_found_by_its_name_in_the_run(installed, form):
    name = form.format(installed)
    scorer = named(name)
    assert installed not in sys.modules
    for _ in range(2):
        outcome = scorer.run_sync(output="x")
        assert (outcome.score, outcome.label) == (0.75, "ham")
    assert len(sys.modules[installed].mail.calls) == 2


@pytest.mark.parametrize(
    ("classifier", "options", "message"),
    [
        ("no-such-classifier", {}, "no classifier 'no-such-classifier'."),
        ("no_such_module:mail", {}, "'no_such_module:mail': cannot import no_such_module"),
        ("{}:male", {}, "Did you mean 'mail'?"),
        ("{}:nothing", {}, "None is no classifier"),
        ("{}:ScriptedClassifier", {}, "ScriptedClassifier is a class of classifiers"),
        ("{}:mail", {"question": "kin"}, "no question of mail 'kin'. Did you mean 'kind'?"),
        ("{}:mail", {"scores": None}, "scores= of question 'kind' of mail: no score for 'spam', 'ham'"),
        ("{}:mail", {"scores": {"spam": 0, "hem": 1}}, "no score for 'ham'; no such choice: 'hem'"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_wrong_with_a_named_classifier_is_an_error_of_analyze(installed, classifier, options, message):
    asked = []
    scorer = named(classifier.format(installed), **options, state=lambda ctx: asked.append(1) or "x")
    error = failed(scorer)
    assert message in str(error)
    assert (error.failed_step, error.completed_steps) == ("analyze", ())
    assert isinstance(error.__cause__, UsageError)
    assert asked == []


def test_a_name_that_nothing_has_says_how_to_give_one():
    cause = failed(named("no-such-classifier")).__cause__
    assert isinstance(cause, UnknownName)
    assert "Write package.module:name, or install a package that declares it" in str(cause)


def test_a_name_that_comes_to_be_is_found_then(tmp_path, monkeypatch):
    scorer = named("late_mail")
    assert "no classifier 'late_mail'" in str(failed(scorer))
    info = tmp_path / "late_mail-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: late-mail\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[proctor.classifiers]\nlate_mail = late_mail:mail\n")
    (tmp_path / "late_mail.py").write_text(
        "from proctor.scoring.classifier_parts import ClassifierQuestion\n"
        "from proctor.testing.classifier import ScriptedClassifier\n"
        "questions = {'kind': ClassifierQuestion('choice', choices=['spam', 'ham'])}\n"
        "mail = ScriptedClassifier(questions, {'kind': 'ham'})\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    try:
        assert scorer.run_sync(output="x").score == 0.75
    finally:
        sys.modules.pop("late_mail", None)


@pytest.mark.parametrize("scores", [{"spam": 2}, {"spam": "low"}, {"spam": math.inf}, {5: 1}], ids=repr)
def test_scores_that_fit_no_classifier_are_refused_when_written_by_name_too(scores):
    with pytest.raises(UsageError, match=r"create_classifier_scorer\(scores=...\) of question 'kind': no|outside"):
        named("some:mail", scores=scores)


# ── what the scorer is ─────────────────────────────────────────────────────────────────────────────────────────────


def test_its_key_is_its_id_and_its_name_is_the_id_unless_given():
    scorer = made(question="kind")
    assert (scorer.key, scorer.name, scorer.range, scorer.better) == ("s", "s", (0.0, 1.0), "higher")
    assert made(name="Politeness", better="lower").name == "Politeness"


def test_the_description_names_the_question():
    assert made().description == "What mail answers to 'polite': How polite is it?"
    assert made(question="kind").description == "What mail answers to 'kind'"
    assert named("some:mail").description == "What some:mail answers to 'kind'"
    assert made(description="Is it polite?").description == "Is it polite?"


def test_its_steps_are_functions_in_the_order_of_the_documents():
    assert list(made().steps) == ["analyze", "generate_score", "generate_reason"]
    assert made().prompts == ()


def text(ctx):
    return ctx.run.text


def test_a_named_classifier_is_known_by_its_name_and_what_it_is_asked():
    def of(**options):
        return named(**{"classifier": "some:mail", "state": text} | options).fingerprint

    assert of() == of() != UNKNOWN
    others = [
        of(classifier="other:mail"),
        of(question="tone"),
        of(scores={"spam": 0, "ham": 1}),
        of(max_retries=2),
        of(provider_options={"temperature": 0}),
        of(state=lambda ctx: ctx.run.user_text),
        of(version="2"),
    ]
    assert len({of(), *others}) == len(others) + 1


def test_an_object_says_nothing_of_what_it_is_unless_there_is_a_version():
    assert made().fingerprint == UNKNOWN
    assert made(version="1").fingerprint == made(version="1").fingerprint != UNKNOWN
    assert made(version="1").fingerprint != made(version="2").fingerprint
    assert made(version="1").fingerprint != made(version="1", question="urgent").fingerprint


def test_two_questions_of_one_classifier_are_two_columns():
    classifier = scripted(polite=2, urgent=0.25)
    scorers = [made(classifier=classifier, id=name, question=name) for name in ("polite", "urgent")]
    result = run_evals_sync(data=[{"output": "x"}, {"output": "y"}], scorers=scorers)
    assert (result.scores["polite"].mean, result.scores["urgent"].mean) == (1.0, 0.25)
    assert len(classifier.calls) == 4
