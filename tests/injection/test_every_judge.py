"""No hostile answer changes the outcome of a built-in judge, nor gets out of its fence."""

from collections import Counter
from functools import partial

import pytest

from proctor import scorers
from tests.injection.corpus import CORPUS, KINDS, of_kind
from tests.injection.judge import asked, boundary_of, broken_blocks, only_quoting, outside, quoting, quoting_within
from tests.injection.judges import JUDGES, others, outcomes, told
from tests.injection.replies import REASON
from tests.support import ROOT

pytestmark = pytest.mark.slow
TEXTS = {it.id: it.text for it in CORPUS}
FOLDER = ROOT / "src" / "proctor" / "scorers" / "judged"
ONE_EACH = {kind: of_kind(kind)[0].text for kind in KINDS}
READS_NO_ANSWER = {"context_recall"}


def test_every_judged_scorer_is_attacked():
    attacked = {name.partition(" ")[0] for name in JUDGES}
    assert attacked == {path.stem for path in FOLDER.glob("*.md")} | {"panel"}
    files = {path.stem for path in FOLDER.glob("[!_]*.py")}
    assert attacked == files
    assert attacked == files.intersection(scorers.__all__)


@pytest.mark.parametrize("name", JUDGES)
def test_the_strict_verdict_is_the_worst_and_the_generous_one_the_best_that_there_is(name):
    """So whatever changes the outcome makes it better, and what is forged is worth the most."""
    judge = JUDGES[name]
    worst, best = judge.scorer.range if judge.scorer.better == "higher" else judge.scorer.range[::-1]
    strict, _, _ = outcomes(name, judge.strict, {})
    generous, _, _ = outcomes(name, judge.generous, {})
    assert (strict.status, strict.score) == ("scored", worst)
    assert (generous.status, generous.score) == ("scored", best)


@pytest.mark.parametrize("name", JUDGES)
def test_the_judge_is_shown_the_answer(name):
    """Else no answer could change anything, and the tests would say nothing."""
    _, _, model = outcomes(name, JUDGES[name].strict, {"a": "zebrafish"}, place="answer")
    assert any("zebrafish" in text for call in model.calls for text in asked(call)) == (name not in READS_NO_ANSWER)


@pytest.mark.parametrize("name", JUDGES)
def test_a_quotation_before_the_verdict_changes_no_outcome(name):
    """The judge quotes the answer before each verdict; where that cannot be read it gives its verdict alone.

    And what stands outside of the fence is the same for every answer.
    """
    harmless, hostile, model = outcomes(name, quoting(JUDGES[name].strict, names=("",), stubborn=False), TEXTS)
    assert harmless.status == "scored", harmless
    assert others(harmless, hostile) == {}
    assert [label for call in model.calls for label in broken_blocks(call)] == []
    first = [call for call in model.calls if len(asked(call)) == 1]
    seen = Counter(outside(call).replace(boundary_of(call), "MARK") for call in first)
    assert seen
    assert {times % (len(CORPUS) + 1) for times in seen.values()} == {0}


@pytest.mark.parametrize("name", JUDGES)
def test_a_judge_that_only_quotes_is_no_verdict(name):
    """Whatever stands in the answer: nothing of it is read as what the judge found.

    All of the corpus for those with verdicts as the corpus has them; what fits the others is in `forgeries.py`.
    """
    quote, texts = only_quoting(names=("",)), TEXTS if name in VERDICTS_OF_THE_CORPUS else ONE_EACH
    _, hostile, _ = outcomes(name, lambda call: REASON if call.schema is None else quote(call), texts)
    assert len(hostile) == len(texts)
    assert {id: it.score for id, it in hostile.items() if it.status != "error"} == {}


VERDICTS_OF_THE_CORPUS = {"answer_relevancy", "faithfulness", "bias", "graded_rubric", "multi_turn_judge", "pairwise",
                         "pass_criteria", "rubric"}  # fmt: skip

# ── an answer can force an error, which counts against it ──────────────────────────────────────────────────────────

BRACKETS = "the reply ends within its JSON, or brackets in it do not match"
TOO_MANY = "the reply holds too many JSON values"
HIDDEN = "there is no JSON in the reply"
TAG = "the reply has a tag of thinking after an answer"
THOUGHT = "the reply holds what the model thought, and no answer"
PROBLEMS = (BRACKETS, TOO_MANY, HIDDEN, TAG, THOUGHT)
WAYS = {"before": quoting, "behind": partial(quoting, after=True), "within": quoting_within}
BEFORE = {BRACKETS: 14, TOO_MANY: 3, HIDDEN: 2, TAG: 1}
BEHIND = {BRACKETS: 16, TOO_MANY: 3, TAG: 9, THOUGHT: 1}
STUBBORN = {
    ("multi_turn_judge", "before"): BEFORE,
    ("multi_turn_judge", "behind"): BEHIND,
    ("multi_turn_judge", "within"): {},
    ("pass_criteria", "before"): BEFORE,
    ("pass_criteria", "behind"): BEHIND,
    ("pass_criteria", "within"): {},
    ("faithfulness", "before"): BEFORE,
    ("pairwise", "behind"): {BRACKETS: 16, TOO_MANY: 3, TAG: 10},
}
"""A judge that quotes whatever it is told: how many answers of the corpus leave it without a verdict, and why."""


@pytest.mark.parametrize(("name", "way"), STUBBORN)
def test_the_answers_that_a_stubborn_judge_cannot_quote_are_errors_and_no_scores(name, way):
    harmless, hostile, _ = outcomes(name, WAYS[way](JUDGES[name].strict, names=("",)), TEXTS)
    assert (harmless.status, harmless.score) == ("scored", 0.0)
    errors = [str(it.error) for it in hostile.values() if it.status == "error"]
    problems = Counter(problem for text in errors for problem in PROBLEMS if problem in text)
    assert (dict(problems), len(errors)) == (STUBBORN[name, way], sum(STUBBORN[name, way].values()))
    assert {id: told(it)[:2] for id, it in hostile.items() if it.status != "error" and it.score != 0.0} == {}
