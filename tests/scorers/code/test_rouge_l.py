import pytest

from proctor import scorers


def outcome(expected, output):
    return scorers.rouge_l(expected).run_sync(output=output)


@pytest.mark.parametrize(
    ("expected", "output", "score"),
    [
        # Lin 2004, section 3.1, with precision and recall alike
        pytest.param("police killed the gunman", "police kill the gunman", 3 / 4, id="Lin's second sentence"),
        pytest.param("police killed the gunman", "the gunman kill police", 2 / 4, id="Lin's third sentence"),
        pytest.param("police killed the gunman", "the gunman police killed", 2 / 4, id="Lin's fourth sentence"),
        # the README of the package rouge-score
        pytest.param(
            "The quick brown fox jumps over the lazy dog",
            "The quick brown dog jumps on the log.",
            2 * (5 / 8) * (5 / 9) / (5 / 8 + 5 / 9),
            id="quick brown dog",
        ),
        pytest.param("Paris!", "paris", 1, id="case and punctuation"),
        pytest.param("", "", 1, id="both empty"),
        pytest.param("...", "!", 1, id="both without words"),
        pytest.param("Paris", "", 0, id="nothing answered"),
        pytest.param("", "Paris", 0, id="nothing expected"),
        pytest.param("天气晴朗", "天气很好", 0.5, id="Chinese, by letters"),
        pytest.param(["Rome", "in Paris"], "Paris", 2 / 3, id="the nearest of several"),
    ],
)
def test_scores(expected, output, score):
    assert outcome(expected, output).score == pytest.approx(score, abs=1e-12)


def test_precision_and_recall_stand_beside_it():
    found = outcome("a b c d", "a c").preprocess_step_result
    assert (found["precision"], found["recall"]) == (1, 0.5)
    assert outcome("a b c d", "a c").reason == "2 words in the same order, of 2 in the answer and 4 expected"
