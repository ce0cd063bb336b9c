import re

import pytest
import regex

from proctor import ScorerRunError, UsageError, checks, run_evals
from proctor.checks import pattern as pattern_file
from proctor.checks.pattern import PatternTimeout, compile_pattern

CATASTROPHIC = r"(a|aa)+$"
LONG = "a" * 60 + "b"


def scored(pattern, output, **options):
    return checks.matches(pattern, **options).run_sync(output=output).score


@pytest.mark.parametrize(
    ("pattern", "output", "score"),
    [
        pytest.param("hello", "Hello", 0, id="text"),
        pytest.param("(?i)hello", "Hello", 1, id="text with flags"),
        pytest.param(re.compile("hello", re.IGNORECASE), "Hello", 1, id="re"),
        pytest.param(re.compile("^b$", re.MULTILINE), "a\nb", 1, id="re, multiline"),
        pytest.param(re.compile("a.b", re.DOTALL), "a\nb", 1, id="re, dotall"),
        pytest.param(re.compile("a  b # x", re.VERBOSE), "ab", 1, id="re, verbose"),
        pytest.param(re.compile(r"^\w$", re.ASCII), "é", 0, id="re, ascii"),
        pytest.param(regex.compile("hello", regex.I), "Hello", 1, id="regex"),
        pytest.param(regex.compile(r"^\w$", regex.A), "é", 0, id="regex, ascii"),
        pytest.param(regex.compile(r"^\w$", regex.V1), "é", 1, id="regex, another version of its syntax"),
        pytest.param(r"^\w$", "é", 1, id="classes are those of Unicode"),
        pytest.param(r"^\d$", "٣", 1, id="digits too"),
        pytest.param("^.$", "😀", 1, id="an emoji is one character"),
        pytest.param("a$", "a\n", 1, id="the end as Python has it"),
        pytest.param("ไทย", "ภาษาไทย", 1, id="Thai"),
        pytest.param("\ud800", "a\ud800b", 1, id="lone surrogate"),
    ],
)
def test_a_pattern_is_text_or_compiled_and_keeps_its_flags(pattern, output, score):
    assert scored(pattern, output) == score


@pytest.mark.parametrize("exact", [False, True])
def test_a_pattern_has_no_state_between_runs(exact):
    check = checks.matches(re.compile("a"), exact=exact)
    assert [check.run_sync(output="a").score for _ in range(4)] == [1, 1, 1, 1]


def test_the_flags_are_in_the_key_and_the_reason():
    check = checks.matches(re.compile("hello", re.IGNORECASE))
    assert check.key == "check-matches[hello,flags=i]"
    assert "(?i)hello" in check.run_sync(output="no").reason


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        pytest.param("(", "is no regular expression", id="open bracket"),
        pytest.param("a{2,1}", "is no regular expression", id="range upside down"),
        pytest.param("", "the pattern is empty", id="empty"),
        pytest.param(re.compile(""), "the pattern is empty", id="empty and compiled"),
        pytest.param(re.compile(b"x"), "pattern must be text", id="bytes"),
        pytest.param(5, "pattern must be text", id="number"),
        pytest.param(None, "pattern must be text", id="None"),
    ],
)
def test_what_is_no_pattern_is_refused_when_it_is_written(pattern, message):
    with pytest.raises(UsageError, match=f"matches: .*{message}"):
        checks.matches(pattern)


def test_exact_is_true_or_false():
    with pytest.raises(UsageError, match="matches: exact must be True or False"):
        checks.matches("a", exact="yes")


@pytest.mark.parametrize("whole", [False, True])
def test_d06_a_pattern_that_backtracks_without_end_is_stopped(monkeypatch, whole):
    monkeypatch.setattr(pattern_file, "_SECONDS", 0.02)
    with pytest.raises(PatternTimeout, match=r"was still searching 61 characters after 0\.02 s") as caught:
        compile_pattern(CATASTROPHIC).find(LONG, whole=whole)
    assert caught.value.code == "TIMEOUT"


def test_d06_the_outcome_is_an_error_and_no_0(monkeypatch):
    monkeypatch.setattr(pattern_file, "_SECONDS", 0.02)
    with pytest.raises(ScorerRunError, match="was still searching") as caught:
        checks.matches(CATASTROPHIC).run_sync(output=LONG)
    assert caught.value.failed_step == "preprocess"


async def test_d06_after_three_timeouts_the_rest_of_a_run_are_timeouts_at_once(monkeypatch):
    monkeypatch.setattr(pattern_file, "_SECONDS", 0.05)
    result = await run_evals(
        data=[{"id": f"i{n}", "output": LONG} for n in range(8)],
        scorers=[checks.matches(CATASTROPHIC), checks.includes("b")],
    )
    outcomes = [item.scorers["check-matches"] for item in result.items]
    assert {(outcome.status, outcome.error.code) for outcome in outcomes} == {("error", "TIMEOUT")}
    assert [outcome.duration_ms is None for outcome in outcomes] == [False] * 3 + [True] * 5
    assert "not started" in outcomes[-1].error.message
    assert result.scores["check-includes"].mean == 1.0


async def test_d06_the_others_of_the_run_go_on(monkeypatch):
    monkeypatch.setattr(pattern_file, "_SECONDS", 0.05)
    outputs = [LONG] * 2 + ["a"] * 3
    result = await run_evals(
        data=[{"id": f"i{n}", "output": output} for n, output in enumerate(outputs)],
        scorers=[checks.matches(CATASTROPHIC)],
    )
    assert [item.scorers[0].status for item in result.items] == ["error"] * 2 + ["scored"] * 3
