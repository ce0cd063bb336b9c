"""Means, and how the reader of a run finds them."""

import pytest

from proctor.data.column import Column
from proctor.data.mean import Mean
from proctor.data.scores import Scores
from proctor.errors import UnknownName


def mean(label, value=0.5, **given):
    position, turn, key, scorer_id = label
    return Mean(column=Column(position, turn, key, scorer_id), mean=value, n=2, of=4, **given)


TONE = mean(("scorer", None, "tone", "tone"), 0.8)
A = mean(("gate", None, "includes[a]", "includes"))
B = mean(("gate", 0, "includes[a]", "includes"))
PATH = mean(("trajectory", None, "path", "path"))
PLAN = mean(("step:plan", None, "depth", "depth"))
LOOK = mean(("step:look", None, "depth", "depth"))
SCORES = Scores((TONE, A, B, PATH, PLAN, LOOK))


def test_a_mean_is_found_by_label_key_or_single_id():
    assert SCORES["tone"] is TONE
    assert SCORES["gate includes[a]"] is A
    assert SCORES["turn 0 gate includes[a]"] is B
    assert Scores((TONE, A))["includes"] is A
    assert Scores((TONE, A))["includes[a]"] is A


@pytest.mark.parametrize("name", ["includes", "includes[a]"])
def test_a_name_that_several_answer_to_is_refused_with_their_labels(name):
    with pytest.raises(UnknownName, match=r"Several answer to it: gate includes\[a\], turn 0 gate includes\[a\]"):
        SCORES[name]


def test_an_unknown_name_is_refused_with_the_nearest():
    with pytest.raises(UnknownName, match=r"no score 'tome'\. Did you mean 'tone'\?"):
        SCORES["tome"]


def test_scores_behave_as_a_mapping_of_labels():
    assert list(SCORES) == [
        "tone",
        "gate includes[a]",
        "turn 0 gate includes[a]",
        "trajectory path",
        "step:plan depth",
        "step:look depth",
    ]
    assert len(SCORES) == 6
    assert [*SCORES.values()] == [TONE, A, B, PATH, PLAN, LOOK]
    assert "tone" in SCORES
    assert "includes" in SCORES
    assert "x" not in SCORES
    assert SCORES.get("tone") is TONE
    assert SCORES.get("x") is None
    assert SCORES.get("x", TONE) is TONE


def test_scores_are_narrowed_by_place():
    assert SCORES.agent.means == SCORES.workflow.means == (TONE,)
    assert SCORES.gates.means == (A, B)
    assert SCORES.trajectory["path"] is PATH
    assert list(SCORES.steps) == ["plan", "look"]
    assert SCORES.steps["look"]["depth"] is LOOK
    assert SCORES.turn(0)["includes"] is B
    assert SCORES.turn(5).means == ()


def test_scores_show_of_how_many():
    assert repr(Scores((TONE, A))) == "Scores(tone: 0.8 (2 of 4), gate includes[a]: 0.5 (2 of 4))"


# ── one mean ───────────────────────────────────────────────────────────────────────────────────────────────────────

NOTHING = mean(("scorer", None, "tone", "tone"), None)


def test_a_mean_compares_with_numbers():
    assert TONE > 0.7
    assert TONE >= 0.8
    assert TONE < 1
    assert TONE <= 0.8
    assert A < TONE
    assert float(TONE) == TONE.score == TONE.average_score == 0.8


def test_means_are_equal_when_all_fields_are():
    assert mean(("scorer", None, "tone", "tone"), 0.8) == TONE
    assert mean(("scorer", None, "tone", "tone"), 0.8, errors=1) != TONE
    assert float(TONE) != TONE


def test_a_mean_is_shown_with_of_how_many():
    assert (str(TONE), f"{TONE}") == ("0.8 (2 of 4)", "0.8 (2 of 4)")
    assert f"{TONE:.3f}" == "0.800"


def test_without_scores_there_is_no_number():
    assert str(NOTHING) == "- (2 of 4)"
    assert f"{NOTHING:.2f}" == "-"
    for use in (float, lambda it: it > 0.5, lambda it: it <= 0.5):
        with pytest.raises(ValueError, match="tone has no mean: 0 of 4 scored"):
            use(NOTHING)
