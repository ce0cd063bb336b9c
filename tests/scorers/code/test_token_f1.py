import pytest

from proctor import scorers


def outcome(expected, output):
    return scorers.token_f1(expected).run_sync(output=output)


@pytest.mark.parametrize(
    ("expected", "output", "score"),
    [
        pytest.param("in Paris, France", "Paris", 0.5, id="a word of three"),
        pytest.param("Paris France", "France, Paris", 1, id="order does not count"),
        pytest.param("a a b", "a b b", 2 / 3, id="as often as it stands in both"),
        pytest.param("", "", 1, id="both empty"),
        pytest.param("Paris", "", 0, id="nothing answered"),
        pytest.param("กรุงเทพ", "กรุงเทพ", 1, id="Thai"),
        pytest.param("东京塔", "东京", 0.8, id="Chinese, by letters"),
        pytest.param(["Paris", "Paris, France"], "Paris in France", 0.8, id="the nearest of several"),
    ],
)
def test_scores(expected, output, score):
    assert outcome(expected, output).score == pytest.approx(score)


@pytest.mark.parametrize(("expected", "output"), [("a", "a a a a"), ("a a a a", "a"), ("a b", "a a b b")])
def test_d07_words_that_are_said_twice_never_make_more_than_all(expected, output):
    found = outcome(expected, output).preprocess_step_result
    assert max(found["precision"], found["recall"], found["score"]) <= 1
    assert found["shared"] <= min(found["answer_words"], found["expected_words"])


def test_the_reason_counts():
    assert outcome("in Paris", "Paris").reason == "1 words shared, of 1 in the answer and 2 expected"
