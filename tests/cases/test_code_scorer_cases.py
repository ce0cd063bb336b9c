"""Cases D02, D04, D05 and D06: scorers that are arithmetic, on values of every kind and texts of every size."""

import time
from functools import lru_cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor import checks, scorers

ANY = st.text(st.characters(codec=None), max_size=40) | st.text("ab c日本ด้วย😀\u0301.", max_size=40)
MEGABYTES = 5_000_000
SECONDS = 5.0

# By (scorer, what is compared with the answer): `input` or `ground_truth`.
SIMILARITIES = {
    "content_similarity": (scorers.content_similarity(), "input"),
    "textual_difference": (scorers.textual_difference(), "input"),
    "rouge_l": (scorers.rouge_l(), "ground_truth"),
    "token_f1": (scorers.token_f1(), "ground_truth"),
    "edit_distance": (scorers.edit_distance(), "ground_truth"),
    "json_diff": (scorers.json_diff(), "ground_truth"),
    "exact_match": (scorers.exact_match(), "ground_truth"),
}
COVERAGES = {
    "completeness": (scorers.completeness(), "input"),
    "keyword_coverage": (scorers.keyword_coverage(), "input"),
}
EVERY = SIMILARITIES | COVERAGES
every_text_scorer = pytest.mark.parametrize("name", [*EVERY, "tone", "numeric_closeness"])


def scored(name, other, answer):
    scorer, field = EVERY[name]
    return scorer.run_sync(**{field: other}, output=answer).score


@pytest.mark.parametrize(
    ("expected", "output"),
    [
        pytest.param(None, {"a": 1}, id="None and dict"),
        pytest.param({"a": 1}, None, id="dict and None"),
        pytest.param(5, "5", id="5 and text"),
        pytest.param("5", 5, id="text and 5"),
        pytest.param(True, {"a": 1}, id="bool and dict"),
        pytest.param(True, 1, id="True and 1"),
        pytest.param(1, True, id="1 and True"),
        pytest.param(b"x", "x", id="bytes and text"),
        pytest.param("x", b"x", id="text and bytes"),
        pytest.param([], {}, id="list and dict"),
        pytest.param("", None, id="empty text and None"),
    ],
)
def test_d02_values_of_different_kinds_are_no_match(expected, output):
    outcome = scorers.exact_match().run_sync(output=output, ground_truth=expected)
    assert (outcome.status, outcome.score) == ("scored", 0)
    assert outcome.reason


@pytest.mark.slow
@settings(max_examples=1000)
@given(text=ANY)
def test_d04_a_text_is_most_like_itself(text):
    assert {name: scored(name, text, text) for name in EVERY} == dict.fromkeys(EVERY, 1)


@pytest.mark.slow
@settings(max_examples=1000)
@given(left=ANY, right=ANY)
def test_d04_similarities_are_symmetric_and_all_are_in_range(left, right):
    there = {name: scored(name, left, right) for name in EVERY}
    back = {name: scored(name, right, left) for name in SIMILARITIES}
    assert all(0 <= score <= 1 for score in there.values())
    assert {name: there[name] for name in SIMILARITIES} == back


@pytest.mark.slow
@settings(max_examples=1000)
@given(text=ANY | st.text("GodbaveryTil.! ", max_size=60), reference=st.sampled_from([None, "Thank you so much!"]))
def test_d04_tone_is_in_range_or_declined(text, reference):
    outcome = scorers.tone(reference_tone=reference).run_sync(output=text)
    assert outcome.status == "not_scorable" or 0 <= outcome.score <= 1


def a_mixture(size):
    """Text without a space in which hardly a pair of letters comes twice."""
    return "".join(map(chr, (0x4E00 + number * 7919 % 20_000 for number in range(size))))


# Two texts each, of 5 MB in UTF-8; made when they are needed.
LONG = {
    "one word": lambda: ("x" * MEGABYTES, "y" * MEGABYTES),
    "many words": lambda: (" ".join(map(str, range(700_000))), " ".join(f"w{number}" for number in range(600_000))),
    "chinese": lambda: (a_mixture(MEGABYTES // 3), a_mixture(MEGABYTES // 3)[::-1]),
    "thai": lambda: ("วันนี้อากาศแจ่มใสในกรุงเทพ" * (MEGABYTES // 78), "กรุงเทพอากาศแจ่มใสวันนี้" * (MEGABYTES // 72)),
    "stops": lambda: ("." * MEGABYTES, '."' * (MEGABYTES // 2)),
}


@lru_cache(maxsize=1)
def long_texts(kind):
    return LONG[kind]()


@pytest.mark.slow
@every_text_scorer
@pytest.mark.parametrize("kind", LONG)
def test_d05_five_megabytes_are_scored_in_seconds(name, kind):
    left, right = long_texts(kind)
    truth = {"ground_truth": 1} if name == "numeric_closeness" else {"ground_truth": left}
    scorer = getattr(scorers, name)(**({"take": "last"} if name == "numeric_closeness" else {}))
    began = time.process_time()
    outcome = scorer.run_sync(input=left, output=right, **truth)
    spent = time.process_time() - began
    assert outcome.status == "not_scorable" or 0 <= outcome.score <= 1
    assert len(outcome.reason) < 400
    assert spent < SECONDS


@every_text_scorer
@pytest.mark.parametrize(
    "answer", ["", "x", "😀", "e\u0301", "ไทย", "天", "שלום", "\u202eabc", "\x00", "\ud83d"], ids=repr
)
def test_d05_answers_that_are_hardly_text(name, answer):
    outcome = getattr(scorers, name)().run_sync(input="x", ground_truth="x", output=answer)
    assert outcome.reason
    assert outcome.status == "not_scorable" or 0 <= outcome.score <= 1


@pytest.mark.parametrize("needle", [".*", "a+b", "[x]", "(", "\\d", "$^"])
def test_d06_a_needle_is_taken_literally(needle):
    assert checks.includes(needle).run_sync(output=f"the text {needle} itself").score == 1
    assert checks.includes(needle).run_sync(output="aab x 5").score == 0
    assert checks.excludes(needle).run_sync(output="aab x 5").score == 1
