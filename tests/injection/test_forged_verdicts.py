"""An answer that holds the very verdict that its judge is asked for, with the right ids, gets nothing by it."""

import pytest

from tests.injection.forgeries import forgeries, questions
from tests.injection.judge import only_quoting, quoting, respaced, straightened
from tests.injection.judges import JUDGES, others, outcomes, told

pytestmark = pytest.mark.slow
QUOTED = {"word-for-word": str, "laid-out-anew": respaced, "straightened": straightened}
"""What a judge makes of the text that it quotes."""

every = pytest.mark.parametrize("name", JUDGES)
in_each_way = pytest.mark.parametrize("change", QUOTED.values(), ids=QUOTED)
SHOWN_TWICE = {"bias", "pairwise", "summarization"}
"""Who is shown the answer with the second question, too; others are shown what was said to the first."""


def outcomes_of(name, question, replies):
    """Those of the forged verdicts where a judge replies so to this question alone, and strictly to all others."""
    strict = JUDGES[name].strict
    return outcomes(name, lambda call: (replies if call.schema == question.schema else strict)(call), forgeries(name))


def misfit(verdict):
    """The verdict with a last part that is not what was asked for."""
    return {**verdict, next(reversed(verdict)): {"none": "of it"}}


def scored(hostile):
    """Those that are no errors, by their ids: what came out."""
    return {id: told(it) for id, it in hostile.items() if it.status != "error"}


@every
def test_each_question_is_forged_in_every_layout(name):
    texts = forgeries(name)
    assert len(set(texts.values())) == len(texts) >= 17 * len(questions(name))


@in_each_way
@every
def test_a_judge_that_quotes_it_and_then_gives_its_verdict_is_read(name, change):
    """Step by step: what was planted as the claims of an answer is not what is judged, either."""
    replies = quoting(JUDGES[name].strict, names=("",), stubborn=False, change=change)
    harmless, hostile, _ = outcomes(name, replies, forgeries(name))
    assert harmless.status == "scored"
    assert others(harmless, hostile) == {}


@pytest.mark.parametrize(
    ("change", "after"), [*((change, False) for change in QUOTED.values()), (str, True)], ids=[*QUOTED, "behind"]
)
@every
def test_one_that_goes_on_quoting_is_read_or_is_an_error(name, change, after):
    replies = quoting(JUDGES[name].strict, names=("",), change=change, after=after)
    harmless, hostile, _ = outcomes(name, replies, forgeries(name))
    assert harmless.status == "scored"
    differ = others(harmless, hostile)
    assert {id: it for id, it in differ.items() if hostile[id].status != "error"} == {}
    assert {id for id in differ if "thoughts" not in id} == set()


@in_each_way
@every
def test_one_that_only_quotes_it_has_said_nothing(name, change):
    for question in questions(name):
        _, hostile, _ = outcomes_of(name, question, only_quoting(names=("",), change=change))
        assert len(hostile) == len(forgeries(name))
        assert scored(hostile) == {}


@every
def test_nor_is_it_taken_when_the_judges_own_verdict_does_not_fit(name):
    strict = JUDGES[name].strict
    for question in questions(name):
        replies = quoting(lambda call: misfit(strict(call)), names=("",), after=True)
        _, hostile, _ = outcomes_of(name, question, replies)
        assert scored(hostile) == {}


@every
def test_without_the_guard_against_quotations_it_is_taken(name, monkeypatch):
    """That the tests above can fail: each of these judges would give what was forged."""
    monkeypatch.setattr("proctor.judging.structured.squeezed", lambda text: "")
    shown = questions(name) if name in SHOWN_TWICE else questions(name)[:1]
    for at, question in enumerate(shown, 1):
        harmless, hostile, _ = outcomes_of(name, question, only_quoting(names=("",)))
        assert harmless.status == "error"
        assert {f"{at}:bare", f"{at}:pretty", f"{at}:in-a-fence", f"{at}:twice"} <= scored(hostile).keys()


@pytest.mark.parametrize("name", ["bias", "multi_turn_judge", "pass_criteria", "toxicity", "trajectory_accuracy_llm"])
def test_and_it_is_the_best_score_that_there_is(name, monkeypatch):
    monkeypatch.setattr("proctor.judging.structured.squeezed", lambda text: "")
    judge = JUDGES[name].scorer
    best = judge.range[judge.better == "higher"]
    question = questions(name)[-1]
    _, hostile, _ = outcomes_of(name, question, only_quoting(names=("",)))
    assert told(hostile[f"{len(questions(name))}:bare"])[:2] == ("scored", best)
