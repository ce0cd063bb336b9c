import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.stats.words import folded, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", [], id="empty"),
        pytest.param("... !", [], id="no letters"),
        pytest.param("The cat sat.", ["the", "cat", "sat"], id="capitals and stops"),
        pytest.param("a-b_c d.e", ["a", "b", "c", "d", "e"], id="what is no letter parts words"),
        pytest.param("don't DON’T 'quoted'", ["don't", "don't", "quoted"], id="apostrophes inside"),
        pytest.param("30.00 2nd", ["30", "00", "2nd"], id="digits"),
        pytest.param("café cafe\u0301 ﬁn Straße", ["café", "café", "fin", "strasse"], id="one form of each letter"),
        pytest.param("हिन्दी में", ["हिन्दी", "में"], id="marks belong to their letters"),
        pytest.param("가나다 한국어", ["가나다", "한국어"], id="Korean has spaces"),
        pytest.param("القاهرة ٢١", ["القاهرة", "٢١"], id="Arabic"),
        pytest.param("天气 ok", ["天", "气", "ok"], id="Chinese"),
        pytest.param("วันนี้", ["วั", "น", "นี้"], id="a Thai letter has its marks with it"),
        pytest.param("コーヒー、", ["コ", "ー", "ヒ", "ー"], id="Japanese"),
        pytest.param("iPhone手机2台", ["iphone", "手", "机", "2", "台"], id="mixed"),
        pytest.param("a\udc00b", ["a", "b"], id="lone surrogate"),
    ],
)
def test_words(text, expected):
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("天气晴朗", ["天气", "气晴", "晴朗"], id="overlapping"),
        pytest.param("天，气", ["天", "气"], id="a letter by itself stands alone"),
        pytest.param("วันนี้", ["วัน", "นนี้"], id="Thai"),
        pytest.param("the cat", ["the", "cat"], id="words with spaces stay as they are"),
    ],
)
def test_pairs(text, expected):
    assert words(text, pairs=True) == expected


@given(st.text(st.characters(codec=None)))
def test_words_are_the_same_whatever_their_case_and_form(text):
    assert words(text.upper().lower()) == words(text.upper().lower().upper().lower())
    assert all(word and not word.isspace() for word in words(text))


def test_one_form_of_sigma():
    assert folded("ΟΔΟΣ") == folded("οδος")


@pytest.mark.parametrize(
    "text", ["x" * 5_000_000, "天" * 1_700_000, "ab 天" * 300_000], ids=["one word", "han", "mixed"]
)
def test_d05_it_is_linear(text):
    began = time.process_time()
    words(text)
    words(text, pairs=True)
    assert time.process_time() - began < 5
