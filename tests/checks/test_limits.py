import pytest

from proctor import ScorerRun, UsageError, checks, run_evals_sync
from proctor.data.usage import Cost, Usage


def outcome(check, **known):
    return check.run_sync(ScorerRun(output="x", **known))


@pytest.mark.parametrize(
    ("check", "known", "score"),
    [
        (checks.max_duration(2), {"duration_ms": 2000.0}, 1),
        (checks.max_duration(2), {"duration_ms": 2000.1}, 0),
        (checks.max_duration(0), {"duration_ms": 0}, 1),
        (checks.max_tokens(10), {"usage": Usage(total_tokens=10)}, 1),
        (checks.max_tokens(10), {"usage": Usage(total_tokens=11)}, 0),
        (checks.max_tokens(10), {"usage": Usage(input_tokens=6, output_tokens=5)}, 0),
        (checks.max_tokens(10), {"usage": Usage(output_tokens=11)}, 0),
        (checks.max_cost(0.1), {"cost": Cost(amount=0.1)}, 1),
        (checks.max_cost(0.3), {"cost": Cost(amount=0.1 + 0.2)}, 1),
        (checks.max_cost(0.1), {"cost": Cost(amount=0.11)}, 0),
    ],
)
def test_scores(check, known, score):
    assert outcome(check, **known).score == score


@pytest.mark.parametrize(
    ("check", "known", "said"),
    [
        (checks.max_duration(2), {}, "duration of the reply is not known"),
        (checks.max_tokens(10), {}, "tokens of the reply are not known"),
        (checks.max_tokens(10), {"usage": Usage()}, "tokens of the reply are not known"),
        (checks.max_tokens(10), {"usage": Usage(output_tokens=3)}, "only a part of the tokens is known: 3"),
        (checks.max_cost(1), {}, "cost of the reply is not known"),
        (checks.max_cost(1), {"cost": Cost(amount=0.1, unit="EUR")}, "known in EUR, not in USD"),
    ],
)
def test_what_nobody_measured_is_no_pass(check, known, said):
    found = outcome(check, **known)
    assert (found.status, found.score) == ("not_scorable", None)
    assert said in found.reason


@pytest.mark.parametrize(
    ("check", "known", "said"),
    [
        (checks.max_duration(2), {"duration_ms": 2500.0}, "took 2.5 s, at most 2 s allowed"),
        (checks.max_duration(2), {"duration_ms": 2000.001}, "took 2.000001 s, at most 2 s allowed"),
        (
            checks.max_tokens(10),
            {"usage": Usage(total_tokens=12345678)},
            "used 12345678 tokens, at most 10 tokens allowed",
        ),
        (checks.max_cost(0.01), {"cost": Cost(amount=0.0025)}, "cost 0.0025 USD, at most 0.01 USD allowed"),
    ],
)
def test_the_reason(check, known, said):
    assert outcome(check, **known).reason == said


def test_a_gate_on_saved_replies_fails_closed():
    result = run_evals_sync(data=[{"input": "x", "output": "y"}], gates=[checks.max_duration(60)])
    assert (result.verdict, result.gate_results[0].decided_by) == ("failed", "declines")


def test_a_live_reply_is_timed():
    result = run_evals_sync(target=lambda given: given, data=[{"input": "x"}], gates=[checks.max_duration(60)])
    assert result.verdict == "passed"


@pytest.mark.parametrize("check", [checks.max_duration, checks.max_cost], ids=lambda check: check.__name__)
@pytest.mark.parametrize("value", [-1, float("nan"), float("inf"), "1", True, None], ids=repr)
def test_a_bound_is_a_finite_number(check, value):
    with pytest.raises(UsageError, match="must be a finite number, 0 or more"):
        check(value)


@pytest.mark.parametrize("value", [-1, 1.5, True, "1", None], ids=repr)
def test_a_bound_of_tokens_is_a_count(value):
    with pytest.raises(UsageError, match="max_tokens: n must be a whole number"):
        checks.max_tokens(value)


def test_keys():
    assert checks.max_duration(2).key == "check-max-duration[2]"
    assert checks.max_cost(0.05).key == "check-max-cost[0.05]"
