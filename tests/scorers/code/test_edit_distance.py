import pytest

from proctor import UsageError, scorers
from proctor.stats import alignment


def outcome(expected, output, **options):
    return scorers.edit_distance(expected, **options).run_sync(output=output)


@pytest.mark.parametrize(
    ("expected", "output", "options", "score"),
    [
        pytest.param("kitten", "sitting", {}, 1 - 3 / 7, id="kitten, sitting"),
        pytest.param("Paris", "paris", {}, 1, id="case"),
        pytest.param("Paris", "paris", {"ignore_case": False}, 0.8, id="case counts"),
        pytest.param("", "", {}, 1, id="both empty"),
        pytest.param("abc", "", {}, 0, id="nothing answered"),
        pytest.param("abc", "xyz", {}, 0, id="nothing shared"),
        pytest.param("天气晴朗", "天气很好", {}, 0.5, id="Chinese"),
        pytest.param("👩‍👩‍👧", "👩‍👩‍👦", {}, 0.8, id="an emoji of several code points"),
        pytest.param(["Rome", "Parish"], "Paris", {}, 5 / 6, id="the nearest of several"),
    ],
)
def test_scores(expected, output, options, score):
    assert outcome(expected, output, **options).score == pytest.approx(score)


def test_a_score_from_pieces_says_that_it_is_the_least(monkeypatch):
    monkeypatch.setattr(alignment, "AT_ONCE", 20)
    found = outcome("a quick brown fox", "one quick red fox")
    assert found.preprocess_step_result["pieces"] > 1
    assert found.reason.startswith("at most ")


def test_keys_name_what_was_given():
    assert scorers.edit_distance().key == "edit-distance-scorer"
    assert scorers.edit_distance("Paris").key == "edit-distance-scorer[Paris]"
    assert scorers.edit_distance(["Paris", "Rome"], ignore_case=False).key == (
        "edit-distance-scorer[Paris,Rome,ignore_case=false]"
    )


def test_options_are_refused_when_written():
    with pytest.raises(UsageError, match="ignore_case must be True or False"):
        scorers.edit_distance("x", ignore_case=None)
