"""No hostile answer changes the outcome of a built-in judge, nor gets out of its fence."""

from collections import Counter

import pytest

from proctor import run_evals_sync
from proctor.testing import ScriptedModel
from tests.injection.corpus import CORPUS
from tests.injection.judge import boundary_of, broken_blocks, outside, quoting
from tests.injection.judges import JUDGES, strict
from tests.injection.kinds.base import HARMLESS

pytestmark = pytest.mark.slow
QUESTION = "What became of the refund?"


def outcomes(name, replies, *, corpus=CORPUS):
    """The outcome of the harmless answer, those of hostile ones by their ids, and the model that was asked."""
    judge, model = JUDGES[name], ScriptedModel(replies)
    texts = {"harmless": HARMLESS} | {it.id: it.text for it in corpus}
    data = [{"id": id, "input": QUESTION, "output": judge.output(text), **judge.given} for id, text in texts.items()]
    result = run_evals_sync(data=data, scorers=[judge.make(model)], cache=False)
    found = {row.item.id: row.outcomes[0] for row in result.items}
    return found.pop("harmless"), found, model


@pytest.mark.parametrize("name", JUDGES)
def test_a_quotation_before_the_verdict_changes_no_outcome(name):
    """The judge quotes the answer before each verdict; where that cannot be read it gives its verdict alone."""
    harmless, hostile, model = outcomes(name, quoting(strict, names=("",), stubborn=False))
    assert harmless.status == "scored", harmless
    told = (harmless.status, harmless.score, harmless.label)
    assert {
        id: str(it.error or it.score) for id, it in hostile.items() if (it.status, it.score, it.label) != told
    } == {}
    assert len(model.calls) >= len(CORPUS)
    assert [label for call in model.calls for label in broken_blocks(call)] == []


@pytest.mark.parametrize("name", JUDGES)
def test_a_judge_that_only_quotes_is_no_verdict(name):
    """Whatever stands in the answer: nothing of it is read as what the judge found."""

    def quote(call):
        if call.schema is None:
            return "So it was found."
        return quoting(lambda call: None, names=("",))(call).removesuffix("\nI say null")

    _, hostile, _ = outcomes(name, quote)
    assert {id: it.score for id, it in hostile.items() if it.status == "scored"} == {}


@pytest.mark.parametrize("name", JUDGES)
def test_what_stands_outside_of_the_fence_is_the_same_for_every_answer(name):
    _, _, model = outcomes(name, strict)
    answers = len(CORPUS) + 1
    seen = Counter(outside(call).replace(boundary_of(call), "MARK") for call in model.calls)
    assert {times % answers for times in seen.values()} == {0}
