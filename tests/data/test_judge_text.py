"""What judges did and took, in words."""

import pytest

from proctor.data.judge import JudgeExecution, JudgeTotals
from proctor.data.judge_text import execution_text, judge_text
from proctor.data.usage import Cost, Usage


@pytest.mark.parametrize(
    ("cost", "shown"),
    [
        (Cost(amount=0.0000045), "under $0.0001"),
        (Cost(amount=0.0001), "$0.0001"),
        (Cost(amount=0.0), "$0.0000"),
        (Cost(amount=0.00001, unit="EUR"), "under 0.0001 EUR"),
    ],
    ids=["too little to show", "the least", "nothing", "another unit"],
)
def test_a_little_money_is_not_shown_as_none(cost, shown):
    totals = JudgeTotals(executions=1, calls=1, usage=Usage(total_tokens=4), cost=cost)
    assert judge_text(totals) == f"1 judged; 1 call; 4 tokens; {shown}; 0 ms each"
    assert shown in execution_text(JudgeExecution(status="success", prompt="?", cost=cost))


def test_of_judges_that_nobody_answered_no_price_is_missing():
    totals = JudgeTotals(executions=1, failed=1, duration_ms=26)
    assert judge_text(totals) == "1 judged, of them 1 failed; 0 calls; 26 ms each"


def test_calls_that_were_not_answered_are_told():
    totals = JudgeTotals(executions=3, outcomes=3, failed=3, requests=12)
    assert judge_text(totals) == "3 judged, of them 3 failed; 0 of 12 calls answered; 0 ms each"


def test_steps_are_told_where_they_are_more_than_what_was_judged():
    totals = JudgeTotals(executions=4, outcomes=2, cached=4)
    assert judge_text(totals) == "2 judged in 4 steps, of them 4 from the cache"
