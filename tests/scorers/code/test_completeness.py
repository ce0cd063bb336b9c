import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor import scorers
from proctor.scorers.code.completeness import covered

WORDS = st.lists(st.text("abc", min_size=1, max_size=9), max_size=8)


def outcome(asked, output):
    return scorers.completeness().run_sync(input=asked, output=output)


@pytest.mark.parametrize(
    ("asked", "output", "score"),
    [
        pytest.param("What is photosynthesis and chlorophyll?", "Photosynthesis uses chlorophyll", 1, id="both"),
        pytest.param("The quick brown fox jumps", "A brown fox jumped", 0.5, id="half, and one in another form"),
        pytest.param("foxes", "fox", 0, id="fox is too short a part of foxes"),
        pytest.param("cats", "cat", 1, id="a plural"),
        pytest.param("cat", "cats", 0, id="a short word is found only as itself"),
        pytest.param("café résumé", "CAFE RESUME", 1, id="accents and case"),
        pytest.param("rooms 12 and 14", "room 12", 2 / 3, id="numbers count"),
        pytest.param("the of and a", "the of and a", 1, id="only function words, the same"),
        pytest.param("the of and a", "machine learning", 0, id="only function words, others"),
        pytest.param("", "", 1, id="both empty"),
        pytest.param("", "something", 0, id="nothing asked"),
        pytest.param("something new", "", 0, id="nothing answered"),
        pytest.param("日本語のテスト", "日本のテスト", 4 / 6, id="Japanese, by pairs of letters"),
        pytest.param("ราคาตั๋ว", "ราคาห้อง", 0.6, id="Thai, by pairs of letters"),
        pytest.param("हिन्दी", "हन्दा", 0, id="marks of other scripts are no accents"),
    ],
)
def test_scores(asked, output, score):
    assert outcome(asked, output).score == pytest.approx(score)


def test_the_reason_names_what_is_missing():
    assert outcome("Mercury, Venus, Earth", "Venus").reason == (
        '1 of 3 elements of the input are covered; not: "mercury", "earth"'
    )


def plainly_covered(wanted, answered):
    """The rule as it is written, word against word."""

    def fits(word, other):
        short, long = sorted((word, other), key=len)
        return word == other or (len(word) > 3 and short in long and len(short) / len(long) > 0.6)

    return {word for word in wanted if any(fits(word, other) for other in answered)}


@given(WORDS, WORDS)
def test_parts_find_what_the_plain_rule_finds(wanted, answered):
    assert covered(wanted, answered) == plainly_covered(wanted, answered)
