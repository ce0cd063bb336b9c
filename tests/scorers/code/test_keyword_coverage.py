import pytest

from proctor import scorers


def outcome(given, output):
    return scorers.keyword_coverage().run_sync(input=given, output=output)


@pytest.mark.parametrize(
    ("given", "output", "score"),
    [
        pytest.param("JavaScript frameworks React Vue", "React is a framework", 0.25, id="one of four"),
        pytest.param(
            "The fox jumps over the dog", "A FOX and a dog.", 2 / 3, id="function words and case do not count"
        ),
        pytest.param("What is 2 + 2?", "4", 1, id="numbers are no keywords"),
        pytest.param("fire and fire again", "fire", 1, id="each counts once"),
        pytest.param("the of and a", "machine learning", 1, id="no keywords, some answer"),
        pytest.param("the of and a", "", 0, id="no keywords, no answer"),
        pytest.param("", "", 1, id="both empty"),
        pytest.param("fox", "", 0, id="nothing answered"),
        pytest.param("", "fox", 1, id="nothing asked"),
        pytest.param("布鲁克林的天气", "布鲁克林下雨", 0.5, id="Chinese, by pairs of letters"),
        pytest.param("อากาศในกรุงเทพ", "กรุงเทพฝนตก", 5 / 12, id="Thai, by pairs of letters"),
        pytest.param("東京の天気", "今日は晴れ", 0, id="Japanese, nothing shared"),
        pytest.param("الطقس اليوم", "اليوم مشمس", 0.5, id="Arabic"),
    ],
)
def test_scores(given, output, score):
    assert outcome(given, output).score == pytest.approx(score)


def test_the_reason_names_what_is_missing():
    found = outcome("JavaScript frameworks React Vue", "React is a framework")
    assert found.reason == '1 of 4 keywords of the input are in the answer; not: "javascript", "frameworks", "vue"'
    assert outcome("the of", "x").reason == 'the input has no keywords: "the of"'


def test_a_long_list_of_missing_keywords_is_cut():
    found = outcome(" ".join(f"word{number}" for number in range(100)), "nothing")
    assert len(found.reason) < 200
    assert found.reason.endswith(", ...")
    assert found.preprocess_step_result["total_keywords"] == 100
