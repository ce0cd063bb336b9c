"""How a scorer's run ended, and how outcomes are found."""

import copy
import pickle

import pytest

from proctor.data.column import Column
from proctor.data.judge import JudgeExecution, JudgeRecord
from proctor.data.outcome import Failure, NotRun, NotScorable, Outcome, Outcomes, RunSnapshot
from proctor.data.value import MISSING
from proctor.errors import UnknownName


def outcome(key="k", scorer_id="id", status="scored", **given):
    return Outcome(Column("scorer", None, key, scorer_id), status, **given)


# ── one outcome ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_documents_names_are_views_on_the_column():
    found = Outcome(Column("gate", 1, "includes[x]", "includes"), "scored", 1.0)
    assert (found.key, found.scorer_id, found.position, found.turn_index) == ("includes[x]", "includes", "gate", 1)


CAUSES = [NotScorable("analyze", "no claims"), Failure(type="ValueError", message="x"), NotRun("target_failed"), None]


@pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: type(cause).__name__)
def test_a_cause_is_one_of_its_kinds(cause):
    found = outcome(status="error", cause=cause)
    assert found.not_scorable is (cause if isinstance(cause, NotScorable) else None)
    assert found.error is (cause if isinstance(cause, Failure) else None)


def test_prompts_have_the_documents_names():
    found = outcome(evidence=RunSnapshot(prompts={"analyze": "Is it kind?", "generate_reason": "Why?"}))
    assert (found.analyze_prompt, found.generate_reason_prompt) == ("Is it kind?", "Why?")
    assert (found.preprocess_prompt, outcome().generate_score_prompt) == (None, None)


def test_a_score_before_an_error_is_evidence():
    failed = outcome(status="error", evidence=RunSnapshot(score=0.0, reason="r"))
    assert failed.score is None
    assert failed.recovered == 0.0
    assert outcome(score=1.0, evidence=RunSnapshot(score=1.0)).recovered is None
    assert outcome(status="error").recovered is None


def test_step_results_are_missing_until_a_step_ran():
    assert outcome().preprocess_step_result is MISSING
    assert outcome(evidence=RunSnapshot()).analyze_step_result is MISSING
    ran = outcome(evidence=RunSnapshot(preprocess_step_result=None, analyze_step_result=0))
    assert (ran.preprocess_step_result, ran.analyze_step_result) == (None, 0)


def test_the_judge_is_found_by_step():
    record = JudgeRecord((JudgeExecution(status="success", prompt="?"),))
    assert outcome(evidence=RunSnapshot(judge={"analyze": record})).judge["analyze"].executions[0].prompt == "?"
    assert outcome().judge == outcome(evidence=RunSnapshot()).judge == {}


def test_labels_of_columns_name_their_place():
    assert Column("scorer", None, "k", "id").label == "k"
    assert Column("gate", None, "k", "id").label == "gate k"
    assert Column("step:plan", 2, "k", "id").label == "turn 2 step:plan k"


# ── several ────────────────────────────────────────────────────────────────────────────────────────────────────────

A, B, C = outcome("includes[a]", "includes"), outcome("includes[b]", "includes"), outcome("tone", "tone")
ALL = Outcomes([A, B, C])


def test_outcomes_are_found_by_place_key_and_single_id():
    assert ALL[0] is A
    assert ALL[-1] is C
    assert ALL[1:] == (B, C)
    assert ALL["includes[b]"] is B
    assert Outcomes([A, C])["includes"] is A


def test_a_key_comes_before_an_id():
    bare = outcome("includes", "includes")
    assert Outcomes([A, bare])["includes"] is bare


def test_an_id_that_several_have_is_refused():
    with pytest.raises(UnknownName, match="no one outcome with the id 'includes'"):
        ALL["includes"]


def test_an_unknown_name_is_refused_with_the_nearest():
    with pytest.raises(UnknownName, match=r"no outcome with the key or id 'tome'\. Did you mean 'tone'\?"):
        ALL["tome"]


def test_whether_an_outcome_is_there():
    assert "includes" in ALL
    assert "tone" in ALL
    assert A in ALL
    assert "x" not in ALL
    assert outcome("x") not in ALL
    assert ALL.keys() == ["includes[a]", "includes[b]", "tone"]


def test_outcomes_are_a_tuple():
    assert (A, B, C) == ALL
    assert [*ALL] == [A, B, C]
    assert not Outcomes()
    assert type(copy.deepcopy(ALL)) is Outcomes
    assert pickle.loads(pickle.dumps(ALL)) == ALL  # noqa: S301 - our own
