import pytest

from proctor import UsageError, scorers


def scored(given, output, **options):
    return scorers.content_similarity(**options).run_sync(input=given, output=output).score


@pytest.mark.parametrize(
    ("given", "output", "options", "score"),
    [
        pytest.param("healed", "sealed", {}, 0.8, id="shared pairs"),
        pytest.param("Hello  World", "hello world", {}, 1, id="case and white space"),
        pytest.param("Hello World", "hello world", {"ignore_case": False}, 2 / 3, id="case counts"),
        pytest.param("Hello World", "hello world", {"ignore_whitespace": False}, 1, id="one option leaves the other"),
        pytest.param("ΟΔΟΣ", "οδος", {}, 1, id="one form of sigma"),
        pytest.param("", "", {}, 1, id="both empty"),
        pytest.param("", "x", {}, 0, id="nothing asked"),
        pytest.param("x", "", {}, 0, id="nothing answered"),
        pytest.param("今日の天気は", "今日の天気", {}, 8 / 9, id="Japanese"),
        pytest.param(
            [{"role": "user", "content": it} for it in "ab"], "a, b", {}, 1, id="messages are joined by a comma"
        ),
    ],
)
def test_scores(given, output, options, score):
    assert scored(given, output, **options) == pytest.approx(score, abs=1e-12)


def test_what_the_user_says_later_is_asked_too():
    later = [{"role": "assistant", "content": "b"}, {"role": "user", "content": "b"}]
    assert scored("a", [{"role": "assistant", "content": "a"}, *later]) == 1


def test_the_reason_quotes_both():
    outcome = scorers.content_similarity().run_sync(input="healed", output="sealed")
    assert outcome.reason == '0.800 alike: "healed" and "sealed"'


@pytest.mark.parametrize("option", ["ignore_case", "ignore_whitespace"])
def test_options_are_yes_or_no(option):
    with pytest.raises(UsageError, match=f"{option} must be True or False"):
        scorers.content_similarity(**{option: "yes"})
