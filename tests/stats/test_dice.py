import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.stats.dice import dice

ANY = st.text(st.characters(), max_size=30) | st.text("ab ", max_size=30)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        # The examples in the README of the npm package string-similarity 4.0.4
        pytest.param("healed", "sealed", 0.8, id="healed, sealed"),
        pytest.param(
            "Olive-green table for sale, in extremely good condition.",
            "For sale: table in very good  condition, olive green in colour.",
            0.6060606060606061,
            id="olive-green table",
        ),
        pytest.param(
            "Olive-green table for sale, in extremely good condition.",
            "For sale: green Subaru Impreza, 210,000 miles",
            0.2558139534883721,
            id="green Subaru",
        ),
        pytest.param(
            "Olive-green table for sale, in extremely good condition.",
            "Wanted: mountain bike with at least 21 gears.",
            0.1411764705882353,
            id="mountain bike",
        ),
        # Its tests
        pytest.param("web applications", "applications of the web", 0.7878787878787878, id="web applications"),
        pytest.param("this will have a typo somewhere", "this will huve a typo somewhere", 0.92, id="typo"),
        pytest.param("this has one extra word", "this has one word", 0.7741935483870968, id="extra word"),
        pytest.param("fRaNce", "france", 0.2, id="case"),
        pytest.param("night", "nacht", 0.25, id="night, nacht"),
    ],
)
def test_published_values(left, right, expected):
    assert dice(left, right) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        pytest.param("", "", 1.0, id="both empty"),
        pytest.param(" ", "", 1.0, id="white space is left out"),
        pytest.param("a b", "ab", 1.0, id="white space between"),
        pytest.param("a", "a", 1.0, id="one character, equal"),
        pytest.param("a", "b", 0.0, id="one character, other"),
        pytest.param("a", "ab", 0.0, id="one character and two"),
        pytest.param("", "ab", 0.0, id="nothing and two"),
        pytest.param("AB", "ab", 0.0, id="case counts"),
        pytest.param("aaa", "aa", 2 / 3, id="bigrams with multiplicity"),
        pytest.param("😀😁", "😀😂", 0.0, id="emoji are one character each"),
        pytest.param("สวัสดี", "สวัสดี", 1.0, id="Thai"),
    ],
)
def test_edges(left, right, expected):
    assert dice(left, right) == pytest.approx(expected)


@given(ANY, ANY)
def test_it_is_symmetric_and_from_0_to_1(left, right):
    assert dice(left, right) == dice(right, left)
    assert 0.0 <= dice(left, right) <= 1.0


@given(ANY)
def test_d04_a_text_is_most_like_itself(text):
    assert dice(text, text) == 1.0


@given(st.text("abc", min_size=3, max_size=10))
def test_it_is_1_only_for_the_same_bigrams(text):
    assert dice(text, text + text) < 1.0


@pytest.mark.slow
def test_d05_it_is_linear():
    """A megabyte takes seconds at the very most; a quadratic measure would take hours."""
    left, right = "abcdefghij" * 100_000, "bcdefghija" * 100_000
    began = time.process_time()
    assert dice(left, right) > 0.99
    assert time.process_time() - began < 3
