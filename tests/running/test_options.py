"""Options that cannot be right are refused before anything runs; what can be is taken."""

import math
from types import MappingProxyType

import pytest

from proctor import Retry, checks, run_evals, run_evals_sync, start_evals
from proctor.errors import UnknownName, UsageError
from tests.running.graded import asked, graded, saved

NO_COUNTS = [0, -1, True, 1.5, "3", None, math.nan, 2.0]
NO_SECONDS = [0, -1, 0.0, True, "3", math.nan, math.inf, -math.inf, 10**400]

WRONG = [
    *(("concurrency", value, "concurrency must be a whole number, 1 or more, not ") for value in NO_COUNTS),
    *(("repeats", value, "repeats must be a whole number") for value in NO_COUNTS),
    *(("stop_after_errors", value, "stop_after_errors must be") for value in NO_COUNTS if value is not None),
    *(("timeout", value, "timeout is a number of seconds above 0, or None") for value in NO_SECONDS),
    *(("scorer_timeout", value, "scorer_timeout is a number of seconds") for value in NO_SECONDS),
    *(("retries", value, r"retries is a count of further tries, 0 or more, or a Retry\(...\), not ")
      for value in [-1, True, 1.5, "3", None, ValueError]),
    *(("on_error", value, "on_error is 'record' or 'raise', not ") for value in ["ignore", None, True, ["raise"]]),
    *(("keep", value, "keep is 'all' or 'failures' or 'none', not ") for value in ["failed", None, False, {"all"}]),
    *(("target_options", value, "target_options must be a mapping") for value in ["a", [("a", 1)], 3]),
    *(("request_context", value, "request_context must be a mapping") for value in ["a", [("a", 1)], 3]),
    ("target_options", {"memory": "me"}, r"target_options\['memory'\] must be a mapping with resource and thread"),
    ("target_options", {"memory": {"thread": 7}}, r"target_options\['memory'\]\['thread'\] must be text, not 7"),
    ("target_options", {"memory": {"resource": b"r"}}, r"\['resource'\] must be text"),
    *(("on_item_complete", value, "on_item_complete must be a function of one argument")
      for value in ["f", 3, lambda: None, lambda a, b: None]),
    *(("name", value, "name must be text") for value in [3, b"n", ["n"]]),
    ("recorder", object(), "recorder must have start, find, put, end, flush, as a Recorder has"),
    ("recorder", "memory", "recorder must be a Recorder"),
]  # fmt: skip


def never(given):
    raise AssertionError("the target was asked")


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [pytest.param(*wrong, id=f"{wrong[0]} {str(wrong[1])[:20]} ({at})") for at, wrong in enumerate(WRONG)],
)
def test_a_wrong_option_is_refused_before_anything_runs(option, value, message):
    with pytest.raises(UsageError, match=message):
        run_evals_sync(target=never, data=asked("a"), gates=[graded()], **{option: value})


def test_a_misspelt_option_is_told_what_it_may_have_meant():
    with pytest.raises(UnknownName, match="Did you mean 'scorer_timeout'"):
        run_evals_sync(target=never, data=asked("a"), gates=[graded()], scorers_timeout=3)


async def test_every_door_refuses():
    for door in (run_evals, start_evals):
        with pytest.raises(UsageError, match="repeats"):
            await door(target=never, data=asked("a"), gates=[graded()], repeats=0)


async def test_a_stream_is_not_touched_when_an_option_is_wrong():
    def items():
        raise AssertionError("the stream was asked")
        yield

    with pytest.raises(UsageError, match="timeout"):
        await run_evals(target=never, data=items(), gates=[graded()], timeout=-1)


@pytest.mark.parametrize(
    "options",
    [
        {"timeout": 5, "scorer_timeout": 0.5, "retries": 3, "concurrency": 7, "repeats": 2},
        {"retries": Retry(times=0), "on_error": "raise", "keep": "none", "stop_after_errors": 1},
        {"target_options": {}, "request_context": {}, "name": ""},
        {"target_options": {"memory": None}, "request_context": MappingProxyType({"a": 1})},
        {"target_options": {"memory": {"thread": None, "resource": "me"}}},
        {"timeout": None, "scorer_timeout": None, "stop_after_errors": None},
        {"timeout": 1e300, "scorer_timeout": 10**12},
    ],
    ids=" ".join,
)
def test_what_can_be_right_is_taken(options):
    result = run_evals_sync(target=str.upper, data=asked("a", "b"), gates=[checks.excludes("z")], **options)
    assert (result.status, result.verdict) == ("complete", "passed")


# ── those with no file of their own ────────────────────────────────────────────────────────────────────────────────


async def test_a_target_sees_the_options_without_the_place_and_the_items_context_wins():
    seen = []

    async def target(text, *, thread_id, resource_id, target_options, request_context):
        seen.append((thread_id, resource_id, target_options, request_context))
        return text

    data = [{"input": "a", "request_context": {"who": "item", "own": 1}}, {"input": "b"}]
    await run_evals(
        target=target,
        data=data,
        gates=[checks.excludes("z")],
        target_options={"memory": {"thread": "t", "resource": "r", "last": 5}, "model": "small"},
        request_context={"who": "run", "all": 2},
    )
    rest = {"memory": {"last": 5}, "model": "small"}
    assert seen == [
        ("t", "r", rest, {"who": "item", "own": 1, "all": 2}),
        ("t", "r", rest, {"who": "run", "all": 2}),
    ]


async def test_scorers_are_saved_where_a_gate_failed_and_only_there():
    result = await run_evals(
        data=saved(1.0, 0.0, "boom", "n/a"),
        gates=[graded("gate")],
        scorers=[checks.includes("x"), graded("mark")],
        skip_scorers_after_gate_failure=True,
    )
    assert [item.scorers["mark"].status for item in result.items] == ["scored", "not_run", "not_run", "not_scorable"]
    assert [item.scorers["mark"].cause.why for item in result.items[1:3]] == ["gate_failed"] * 2
    assert result.scores["mark"].not_run == 2


async def test_scorers_run_beside_a_failed_gate_unless_told():
    result = await run_evals(data=saved(0.0), gates=[graded("gate")], scorers=[graded("mark")])
    assert result.items[0].scorers["mark"].status == "scored"


@pytest.mark.parametrize(("allow", "verdict", "code"), [(False, "failed", 4), (True, None, 0)])
async def test_s09_a_gate_on_which_every_item_declined(allow, verdict, code):
    result = await run_evals(data=saved("n/a", "n/a"), gates=[graded()], allow_unscored_gates=allow)
    assert (result.verdict, result.exit_code()) == (verdict, code)
    if allow:
        assert result.sentence == "nothing to decide: gate graded decides nothing: every item declined"


@pytest.mark.parametrize("bad", ["boom", 0.0])
async def test_an_unscored_gate_may_be_left_out_a_broken_or_failed_one_may_not(bad):
    result = await run_evals(data=saved("n/a", bad), gates=[graded()], allow_unscored_gates=True)
    assert result.verdict == "failed"


@pytest.mark.parametrize(
    ("keep", "kept"),
    [("all", ["i0", "i1", "i2", "i3", "i4"]), ("failures", ["i1", "i2", "i4"]), ("none", [])],
)
async def test_keep_says_which_rows_stay_and_changes_no_number(keep, kept):
    data = [*saved(1.0, 0.2, "boom", "n/a"), {"id": "i4", "input": "x"}]
    result = await run_evals(target=never, data=data, scorers=[(graded(), 0.5)], keep=keep)
    assert [item.item_id for item in result.items] == kept
    mean = result.means[0]
    assert (mean.mean, mean.n, mean.of, mean.errors, mean.not_scorable, mean.no_reply) == (0.6, 2, 5, 1, 1, 1)
    assert (result.summary.items, result.summary.errors, result.summary.outcome_errors) == (5, 1, 1)
    assert result.exit_code() == 4


async def test_keep_failures_takes_a_gate_that_fell_short_and_no_score_without_a_threshold():
    result = await run_evals(data=saved(0.5, 1.0), scorers=[graded()], keep="failures")
    assert result.items == ()
    result = await run_evals(data=saved(0.5, 1.0), gates=[graded()], keep="failures")
    assert [item.item_id for item in result.items] == ["i0"]
