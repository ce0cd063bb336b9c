import re

import pytest

from proctor import ScorerEntry, Threshold, UsageError, checks, create_scorer
from proctor.scoring.entry import read_entries, read_entry

SCORER = checks.includes("x")
SCALED = create_scorer(id="five-point", scale=5).generate_score(lambda ctx: 3)


@pytest.mark.parametrize(
    "given",
    [
        pytest.param((SCORER, 0.5), id="pair"),
        pytest.param((SCORER, Threshold(0.5)), id="pair with a Threshold"),
        pytest.param((SCORER, {"min": 0.5}), id="pair with a mapping"),
        pytest.param({"scorer": SCORER, "threshold": 0.5}, id="mapping"),
        pytest.param({"scorer": SCORER, "threshold": {"min": 0.5}}, id="mapping of mappings"),
        pytest.param(ScorerEntry(SCORER, 0.5), id="ScorerEntry"),
        pytest.param(ScorerEntry(SCORER, threshold=Threshold(min=0.5)), id="ScorerEntry with a Threshold"),
    ],
)
def test_a_threshold_is_written_in_any_of_these_ways(given):
    assert read_entry(given, "scorers[0]") == ScorerEntry(SCORER, Threshold(0.5))


@pytest.mark.parametrize("given", [(SCORER, None), {"scorer": SCORER, "threshold": None}], ids=["pair", "mapping"])
def test_a_threshold_that_is_written_is_a_bound(given):
    with pytest.raises(UsageError, match=r"scorers\[0\]: the threshold is None; give a bound, or the scorer alone"):
        read_entry(given, "scorers[0]")


@pytest.mark.parametrize("given", [SCORER, {"scorer": SCORER}, ScorerEntry(SCORER)], ids=["bare", "mapping", "entry"])
def test_an_entry_without_a_threshold_decides_nothing(given):
    assert read_entry(given, "scorers[0]").threshold is None


def test_entries_are_read_in_order_from_any_iterable():
    other = checks.excludes("y")
    assert [entry.scorer for entry in read_entries(iter([SCORER, (other, 0.5)]), "scorers")] == [SCORER, other]


def polite(run):
    return 1.0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        pytest.param(polite, "an entry takes a scorer, not the function polite; put @scorer over it", id="function"),
        pytest.param(checks.includes, "not the function includes; call it", id="check not called"),
        pytest.param("includes", "not str 'includes'", id="text"),
        pytest.param(None, "not NoneType None", id="None"),
        pytest.param((SCORER, 0.5, 1), "not tuple", id="three things"),
        pytest.param({"threshold": 0.5}, "not NoneType", id="mapping without a scorer"),
        pytest.param({"scorer": SCORER, "treshold": 1}, "Did you mean 'threshold'?", id="unknown key"),
        pytest.param((SCORER, "high"), "a threshold is a number", id="threshold that is text"),
        pytest.param((SCORER, True), "a threshold is a number", id="threshold that is a bool"),
        pytest.param((SCORER, {"mim": 1}), "Did you mean 'min'", id="misspelt bound"),
    ],
)
def test_what_is_no_entry_is_refused_with_its_place(given, message):
    with pytest.raises(UsageError, match=re.escape(message)) as caught:
        read_entries([SCORER, given], "scorers")
    assert str(caught.value).startswith("scorers[1]: ")


@pytest.mark.parametrize(
    "threshold",
    [
        pytest.param({}, id="empty"),
        pytest.param([0.5], id="list"),
        pytest.param({"min": None}, id="no bound"),
        pytest.param(float("nan"), id="NaN"),
        pytest.param(float("inf"), id="infinite"),
        pytest.param({"max": 1.5}, id="above the range"),
        pytest.param(-0.1, id="below the range"),
        pytest.param({"min": 0.8, "max": 0.2}, id="min above max"),
    ],
)
def test_thresholds_that_cannot_be_right_have_a_code_of_their_own(threshold):
    with pytest.raises(UsageError) as caught:
        read_entry((SCORER, threshold), "scorers[0]")
    assert caught.value.code == "INVALID_SCORER_THRESHOLD"


def test_a_threshold_is_in_the_scorers_own_units():
    assert read_entry((SCALED, 4), "scorers[0]").threshold == Threshold(4)
    with pytest.raises(UsageError, match="min 6 of five-point is outside the scorer's range 0 to 5"):
        read_entry((SCALED, 6), "scorers[0]")


def test_a_share_in_place_of_a_bound_on_a_wider_range_is_warned_of():
    with pytest.warns(
        UserWarning, match=r"threshold 0\.8 of five-point is on its range, 0 to 5; for 80% of it write 4"
    ):
        read_entry((SCALED, 0.8), "scorers[0]")


@pytest.mark.parametrize("bound", [1.5, 0, {"max": 0.8}, Threshold(min=4, max=5)], ids=repr)
def test_bounds_that_may_be_meant_are_not_warned_of(bound):
    read_entry((SCALED, bound), "scorers[0]")
    read_entry((SCORER, 0.1), "scorers[0]")


TOXICITY = create_scorer(id="toxicity", better="lower").generate_score(lambda ctx: 0)


@pytest.mark.parametrize("bound", [0.2, 0, 1], ids=repr)
def test_a_number_for_a_scorer_whose_low_end_is_good_is_refused_with_what_to_write(bound):
    """A number is the least mean; of such a scorer nobody means that."""
    with pytest.raises(UsageError, match=re.escape(f"lower is better: use Threshold(max={bound!r})")) as caught:
        read_entry((TOXICITY, bound), "scorers[0]")
    assert caught.value.code == "INVALID_SCORER_THRESHOLD"
    with pytest.raises(UsageError, match=re.escape(f"use Threshold(max={bound!r})")):
        ScorerEntry(TOXICITY, bound)


@pytest.mark.parametrize(
    "threshold", [Threshold(max=0.2), {"max": 0.2}, Threshold(min=0.1), {"min": 0.1, "max": 0.2}], ids=repr
)
def test_bounds_that_are_named_are_taken_whichever_end_is_good(threshold):
    assert read_entry((TOXICITY, threshold), "scorers[0]").threshold == Threshold.of(threshold)


@pytest.mark.parametrize(
    ("threshold", "hint"),
    [
        pytest.param(80, "; for 80% write 0.8", id="80"),
        pytest.param(99.5, "; for 99.5% write 0.995", id="99.5"),
        pytest.param({"max": 5}, "; for 5% write 0.05", id="max"),
        pytest.param(Threshold(100), "; for 100% write 1", id="100"),
        pytest.param(101, "0 to 1", id="more than 100"),
        pytest.param(-5, "0 to 1", id="below 0"),
    ],
)
def test_what_was_meant_in_percent_is_hinted_at(threshold, hint):
    with pytest.raises(UsageError) as caught:
        read_entry((SCORER, threshold), "scorers[0]")
    assert str(caught.value).endswith(hint)


def test_a_scorer_of_another_range_takes_no_percent():
    with pytest.raises(UsageError) as caught:
        read_entry((SCALED, 80), "scorers[0]")
    assert "%" not in str(caught.value)


@pytest.mark.parametrize("name", ["includes", "called_tool", "no_tool_errors", "similarity"])
def test_a_check_that_was_not_called_is_named(name):
    with pytest.raises(UsageError, match=re.escape(f"scorers[0]: an entry takes a scorer, not the function {name}")):
        read_entries([getattr(checks, name)], "scorers")
    with pytest.raises(UsageError, match=re.escape(f"; call it: checks.{name}(...)")):
        read_entries([(getattr(checks, name), 0.5)], "scorers")


@pytest.mark.parametrize("where", ["gates", "scorers"])
def test_one_scorer_alone_is_to_be_put_in_a_list(where):
    with pytest.raises(UsageError, match=rf"{where} must be a list of scorers, not .*; put it in a list: \[\.\.\.\]"):
        read_entries(SCORER, where)


@pytest.mark.parametrize("given", [SCORER, "includes", {"agent": [SCORER]}, 5, None], ids=repr)
def test_what_is_no_list_of_scorers_is_refused(given):
    with pytest.raises(UsageError, match="scorers must be a list of scorers") as caught:
        read_entries(given, "scorers")
    assert caught.value.code == "INVALID_AGENT_SCORERS"
