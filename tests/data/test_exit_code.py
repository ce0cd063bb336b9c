"""The exit code of a run, exhaustively."""

from itertools import combinations, product

import pytest

from proctor.data.column import Column
from proctor.data.exit_code import DEFAULT_FAIL_ON, exit_code
from proctor.data.mean import Mean
from proctor.data.threshold import Threshold
from proctor.errors import UnknownName


def gate(**given):
    return Mean(column=Column("gate", None, "g", "g"), **{"mean": 1.0, "n": 4, "of": 4, **given})


def scorer(**given):
    return Mean(column=Column("scorer", None, "s", "s"), **{"mean": 1.0, "n": 4, "of": 4, **given})


MISSED = {"passed": False, "decided_by": "scores", "mean": 0.0}
BY_ERRORS = {"passed": False, "decided_by": "errors", "errors": 4, "mean": None, "n": 0}
BY_DECLINES = {"passed": False, "decided_by": "declines", "not_scorable": 4, "mean": None, "n": 0}
BOUND = Threshold(0.5)

CASES = {
    "nothing to decide": ([], 0),
    "all passed": ([gate(passed=True), scorer(passed=True, threshold=BOUND)], 0),
    "a score nobody bounds": ([scorer(mean=0.0)], 0),
    "gate missed": ([gate(**MISSED)], 1),
    "gate of a turn missed": ([Mean(column=Column("gate", 3, "g", "g"), n=4, of=4, **MISSED)], 1),
    "gate missed by errors": ([gate(**BY_ERRORS)], 4),
    "gate missed by declines": ([gate(**BY_DECLINES)], 4),
    "threshold missed": ([scorer(threshold=BOUND, **MISSED)], 3),
    "threshold of a step missed": ([Mean(column=Column("step:a", None, "s", "s"), n=4, of=4, **MISSED)], 3),
    "threshold missed by errors": ([scorer(threshold=BOUND, **BY_ERRORS)], 4),
    "threshold missed by declines": ([scorer(threshold=BOUND, **BY_DECLINES)], 4),
    "errors without a threshold": ([scorer(errors=1, n=3)], 4),
    "targets that failed": ([scorer(not_run=1, no_reply=1, n=3)], 4),
    "not asked for, after a gate that missed": ([scorer(not_run=1, n=3)], 0),
    "errors that are allowed": ([scorer(errors=1, n=3, threshold=Threshold(0.5, max_errors=0.25), passed=True)], 0),
    "failed targets that are allowed": (
        [scorer(not_run=1, no_reply=1, n=3, threshold=Threshold(0, max_errors=0.25))],
        0,
    ),
    "one error too many": ([scorer(errors=1, not_run=1, no_reply=1, n=2, threshold=Threshold(0, max_errors=0.25))], 4),
    "a third of three": ([scorer(errors=1, of=3, n=2, threshold=Threshold(0, max_errors=1 / 3))], 0),
    "declines": ([scorer(not_scorable=1, n=3)], 0),
    "gate before threshold": ([scorer(threshold=BOUND, **MISSED), gate(**MISSED)], 1),
    "gate before errors": ([scorer(errors=4, n=0), gate(**MISSED)], 1),
    "errors before threshold": ([scorer(threshold=BOUND, **MISSED), scorer(errors=1)], 4),
    "gate by errors before threshold": ([scorer(threshold=BOUND, **MISSED), gate(**BY_ERRORS)], 4),
    "measured gate before gate by errors": ([gate(**BY_ERRORS), gate(**MISSED)], 1),
}


@pytest.mark.parametrize("name", CASES)
def test_the_code_of(name):
    means, expected = CASES[name]
    assert exit_code(means) == expected
    assert exit_code(means[::-1]) == expected


def test_a_stopped_or_empty_run_measured_nothing():
    assert exit_code([], items=0) == 4
    assert exit_code([], status="stopped") == 4
    assert exit_code([scorer(passed=True)], status="stopped") == 4
    assert exit_code([scorer(threshold=BOUND, **MISSED)], status="stopped") == 4
    assert exit_code([gate(**MISSED)], status="stopped") == 1


@pytest.mark.parametrize("means", [case[0] for case in CASES.values()], ids=CASES)
def test_cancelled_wins_over_everything(means):
    for fail_on in (DEFAULT_FAIL_ON, ("none",)):
        assert exit_code(means, status="cancelled", items=0, fail_on=fail_on) == 130


# What can go wrong, each with its code; in a run with several, the first of 1, 4, 3 wins.
WRONG = {
    "gate": (gate(**MISSED), 1),
    "gate by errors": (gate(**BY_ERRORS), 4),
    "threshold": (scorer(threshold=BOUND, **MISSED), 3),
    "threshold by declines": (scorer(threshold=BOUND, **BY_DECLINES), 4),
    "error": (scorer(errors=1), 4),
}
TOGETHER = [names for size in range(len(WRONG) + 1) for names in combinations(WRONG, size)]


@pytest.mark.parametrize("names", TOGETHER, ids=", ".join)
def test_the_first_of_gate_unmeasured_threshold_wins(names):
    codes = {WRONG[name][1] for name in names}
    expected = next((code for code in (1, 4, 3) if code in codes), 0)
    assert exit_code([WRONG[name][0] for name in names]) == expected


COUNTS = {
    "failed": ("gate", gate(**MISSED), 1),
    "scored": ("threshold", scorer(threshold=BOUND, **MISSED), 3),
    "error": ("error", scorer(errors=1), 4),
    "not-scorable": ("decline", scorer(not_scorable=1), 4),
}


@pytest.mark.parametrize(("word", "counted"), list(product(COUNTS, COUNTS)))
def test_only_what_is_named_counts(word, counted):
    _, mean, code = COUNTS[word]
    assert exit_code([mean], fail_on=[counted]) == (code if word == counted else 0)


def test_none_counts_nothing():
    everything = [mean for _, mean, _ in COUNTS.values()]
    assert exit_code(everything, fail_on=["none"]) == 0
    assert exit_code(everything, fail_on=["none", "failed"]) == 0
    assert exit_code([], items=0, status="stopped", fail_on=["none"]) == 0


def test_nothing_named_still_tells_a_run_that_measured_nothing():
    assert exit_code([gate(**MISSED)], fail_on=[]) == 0
    assert exit_code([], items=0, fail_on=[]) == 4


def test_an_unknown_word_is_refused_with_the_nearest():
    with pytest.raises(UnknownName, match=r"no fail_on word 'errors'\. Did you mean 'error'\?"):
        exit_code([], fail_on=["errors"])
