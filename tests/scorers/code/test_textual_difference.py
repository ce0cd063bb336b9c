import pytest

from proctor import scorers
from proctor.stats import alignment


def outcome(given, output):
    return scorers.textual_difference().run_sync(input=given, output=output)


@pytest.mark.parametrize(
    ("given", "output", "score"),
    [
        pytest.param("hello", "hallo", 0.8, id="one letter"),
        pytest.param("kitten", "sitting", 8 / 13, id="kitten, sitting"),
        pytest.param("a b c", "a c", 0.75, id="white space counts"),
        pytest.param("Hello", "hello", 0.8, id="case counts"),
        pytest.param("x", "", 0, id="nothing answered"),
        pytest.param("", "", 1, id="both empty"),
        pytest.param("😀😀 fun", "😀 fun", 10 / 11, id="an emoji is one character"),
    ],
)
def test_scores(given, output, score):
    assert outcome(given, output).score == pytest.approx(score, abs=1e-12)


@pytest.mark.parametrize(
    ("given", "output", "changes"),
    [
        pytest.param("the cat sat", "the cat sat", 0, id="none"),
        pytest.param("the cat sat", "the dog sat", 1, id="a word"),
        pytest.param("the  cat", "the cat", 1, id="white space only"),
        pytest.param("cat the", "the cat", 1, id="order only"),
        pytest.param("a a a", "a", 2, id="as often as it stands there"),
        pytest.param("x", "", 1, id="nothing answered"),
    ],
)
def test_changed_words(given, output, changes):
    assert outcome(given, output).preprocess_step_result["changes"] == changes


def test_the_reason_says_how_they_differ():
    assert outcome("hello world", "hello").reason == "0.625 in common, 1 word changed, lengths differ by 55%"


def test_a_score_from_pieces_says_that_it_is_the_least(monkeypatch):
    monkeypatch.setattr(alignment, "AT_ONCE", 20)
    found = outcome("a quick brown fox", "one quick red fox")
    assert found.preprocess_step_result["pieces"] > 1
    assert found.reason.startswith("at least ")
