import time

import pytest

from proctor import UsageError, checks

TWO_MESSAGES = [{"role": "assistant", "content": "ab"}, {"role": "assistant", "content": "cd ef"}]


@pytest.mark.parametrize(
    ("check", "output", "score"),
    [
        pytest.param(checks.one_of(["yes", "no"]), "yes", 1, id="one of them"),
        pytest.param(checks.one_of(["yes", "no"]), " YES\n", 1, id="other case, white space around"),
        pytest.param(checks.one_of(["yes", "no"], ignore_case=False), "YES", 0, id="case counts"),
        pytest.param(checks.one_of(["yes", "no"]), "yes, no", 0, id="both"),
        pytest.param(checks.one_of(["yes", "no"]), "yes.", 0, id="and a full stop"),
        pytest.param(checks.one_of(["yes", "no"]), "", 0, id="nothing"),
        pytest.param(checks.one_of(["a.c"]), "abc", 0, id="d06: taken literally"),
        pytest.param(checks.one_of(["abcd ef"]), TWO_MESSAGES, 1, id="messages join directly"),
        pytest.param(checks.one_of(["ΟΔΟΣ"]), "οδος", 1, id="Greek"),
        pytest.param(checks.length(max=3), "abc", 1, id="max"),
        pytest.param(checks.length(max=3), "abcd", 0, id="max, one more"),
        pytest.param(checks.length(min=1), "", 0, id="min, nothing"),
        pytest.param(checks.length(min=0), "", 1, id="min 0"),
        pytest.param(checks.length(min=3, max=3), "é" * 3, 1, id="code points"),
        pytest.param(checks.length(max=1), "👩‍👩‍👧‍👦", 0, id="an emoji of seven code points"),
        pytest.param(checks.length(min=7, max=7), TWO_MESSAGES, 1, id="characters of two messages"),
        pytest.param(checks.length(min=3, max=3, unit="words"), TWO_MESSAGES, 1, id="words of two messages"),
        pytest.param(checks.length(max=2, unit="words"), " one\n two ", 1, id="words"),
        pytest.param(checks.length(max=0, unit="words"), [], 1, id="no words"),
        pytest.param(checks.length(min=3, unit="words"), "الطقس مشمس اليوم", 1, id="words in Arabic"),
        pytest.param(checks.length(min=9, unit="words"), "Our place in Brooklyn is called 布 by all", 1, id="one sign"),
    ],
)
def test_scores(check, output, score):
    assert check.run_sync(output=output).score == score


@pytest.mark.parametrize("text", ["布鲁克林今天天气晴朗。", "สวัสดีครับ วันนี้อากาศดี", "今日はいい天気です"])
def test_words_are_not_counted_where_no_spaces_are_written(text):
    outcome = checks.length(max=5, unit="words").run_sync(output=text)
    assert (outcome.status, outcome.score) == ("not_scorable", None)
    assert "unit='characters'" in outcome.reason
    assert checks.length(max=100).run_sync(output=text).score == 1


@pytest.mark.parametrize(
    ("check", "output", "said"),
    [
        (checks.one_of(["yes", "no"]), "Yes ", 'the answer is "Yes", one of the choices'),
        (checks.one_of(["yes", "no"]), "maybe", 'the answer is "maybe", none of "yes", "no"'),
        (
            checks.one_of([str(n) for n in range(50)]),
            "x",
            'the answer is "x", none of "0", "1", "2", "3", "4", "5" and 44 more',
        ),
        (checks.length(min=2, max=4), "abcde", "5 characters, at least 2 needed and at most 4 allowed"),
        (checks.length(min=2, unit="words"), "one", "1 word, at least 2 needed"),
    ],
)
def test_the_reason(check, output, said):
    assert check.run_sync(output=output).reason == said


def test_d05_five_megabytes_are_counted_quickly():
    text = "word 布 " * 700_000
    began = time.process_time()
    checks.length(max=5, unit="words").run_sync(output=text)
    assert time.process_time() - began < 3


def test_what_they_find():
    assert checks.one_of(["Yes"]).run_sync(output="yes").preprocess_step_result == {"choice": "Yes", "passed": True}
    found = checks.length(max=3).run_sync(output="abcd").preprocess_step_result
    assert found == {"count": 4, "min": None, "max": 3, "unit": "characters", "passed": False}


@pytest.mark.parametrize("choices", ["yes", [], {"a"}, None, 5], ids=repr)
def test_choices_are_a_list(choices):
    with pytest.raises(UsageError, match="one_of: choices must be a list of texts"):
        checks.one_of(choices)


@pytest.mark.parametrize("choice", ["", " ", 1, None], ids=repr)
def test_a_choice_is_text(choice):
    with pytest.raises(UsageError, match="a choice is text that is not empty"):
        checks.one_of(["a", choice])


def test_ignore_case_is_true_or_false():
    with pytest.raises(UsageError, match="ignore_case must be True or False"):
        checks.one_of(["a"], ignore_case=1)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "give min=, max= or both"),
        ({"min": -1}, "min must be a whole number"),
        ({"max": 1.5}, "max must be a whole number"),
        ({"min": 3, "max": 2}, "min 3 is above max 2"),
        ({"max": 3, "unit": "word"}, "Did you mean 'words'"),
    ],
    ids=repr,
)
def test_bounds_are_refused_when_they_are_written(options, said):
    with pytest.raises(UsageError, match=said):
        checks.length(**options)


def test_keys():
    assert checks.one_of(["yes", "no"]).key == "check-one-of[yes,no]"
    assert checks.length(max=20, unit="words").key == "check-length[max=20,unit=words]"
