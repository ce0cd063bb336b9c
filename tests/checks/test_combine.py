import asyncio
import time

import pytest

from proctor import ScorerRunError, UsageError, checks, create_scorer, not_scorable, run_evals_sync, scorer
from proctor.checks.combine import PartFailed


def part(value, id="part", **options):
    """A scorer of the user's own that gives *value*, declines for `n/a` and raises for `boom`."""

    def decide(ctx):
        if value == "boom":
            raise ValueError("it broke")
        return not_scorable("no policy") if value == "n/a" else value

    return create_scorer(id=id, **options).generate_score(decide)


def come_to(check):
    """1, 0, `n/a` or `boom`."""
    try:
        outcome = check.run_sync(output="x")
    except ScorerRunError:
        return "boom"
    return "n/a" if outcome.status == "not_scorable" else outcome.score


PASS, FAIL, DECLINE, BREAK = 1, 0, "n/a", "boom"


@pytest.mark.parametrize(
    ("parts", "all_of", "any_of"),
    [
        ([PASS, PASS], 1, 1),
        ([PASS, FAIL], 0, 1),
        ([FAIL, FAIL], 0, 0),
        ([PASS, DECLINE], "n/a", 1),
        ([FAIL, DECLINE], 0, "n/a"),
        ([DECLINE, DECLINE], "n/a", "n/a"),
        ([PASS, BREAK], "boom", "boom"),
        ([FAIL, BREAK], "boom", "boom"),
        ([DECLINE, BREAK], "boom", "boom"),
        ([PASS, FAIL, DECLINE], 0, 1),
        ([PASS], 1, 1),
        ([FAIL], 0, 0),
    ],
    ids=repr,
)
def test_what_parts_come_to_in_any_order(parts, all_of, any_of):
    for order in (parts, parts[::-1]):
        made = [part(value, id=f"part{n}") for n, value in enumerate(order)]
        assert come_to(checks.all_of(*made)) == all_of
        assert come_to(checks.any_of(*made)) == any_of


@pytest.mark.parametrize(("value", "score"), [(PASS, 0), (FAIL, 1), (DECLINE, "n/a"), (BREAK, "boom")])
def test_not(value, score):
    assert come_to(checks.not_(part(value))) == score


@pytest.mark.parametrize(
    ("check", "said"),
    [
        (
            checks.all_of(checks.includes("a"), checks.includes("b"), checks.includes("z"), checks.includes("y")),
            """2 of 4 failed: check-includes[z]: "z" is not in the answer "a b c"; \
check-includes[y]: "y" is not in the answer "a b c\"""",
        ),
        (
            checks.all_of(checks.includes("a"), checks.includes("b")),
            'all of 2 passed: check-includes[a]: found "a" in "a b c"; check-includes[b]: found "b" in "a b c"',
        ),
        (
            checks.any_of(checks.includes("z"), checks.includes("b")),
            '1 of 2 passed: check-includes[b]: found "b" in "a b c"',
        ),
        (
            checks.any_of(checks.includes("z"), checks.equals("b")),
            """none of 2 passed: check-includes[z]: "z" is not in the answer "a b c"; \
check-equals[b]: the answer is "a b c", not "b": they part at character 1""",
        ),
        (
            checks.not_(checks.includes("z")),
            'it failed, as it should: check-includes[z]: "z" is not in the answer "a b c"',
        ),
        (checks.not_(checks.includes("b")), 'it passed, and should not: check-includes[b]: found "b" in "a b c"'),
        (checks.not_(part(1)), "it passed, and should not: part"),
    ],
)
def test_the_reason_says_which_part_decided(check, said):
    assert check.run_sync(output="a b c").reason == said


def test_the_reason_of_many_parts_is_short():
    check = checks.all_of(*(checks.includes("needle" * 20 + str(n)) for n in range(50)))
    assert len(check.run_sync(output="hay" * 100).reason) < 300


def test_a_decline_says_who_declined():
    outcome = checks.all_of(checks.includes("x"), part("n/a")).run_sync(output="x")
    assert outcome.reason == "part declined: no policy"


def test_an_error_names_its_part_and_keeps_its_cause_and_code():
    with pytest.raises(ScorerRunError, match=r"check-includes\[x\]: UnreadableMessages") as caught:
        checks.any_of(part(1), checks.includes("x")).run_sync(output=None)
    inner = caught.value.__cause__
    assert (type(inner), inner.code) == (PartFailed, "UNREADABLE_OUTPUT")
    assert type(inner.__cause__).__name__ == "UnreadableMessages"


def test_a_score_between_is_neither_a_pass_nor_a_fail():
    with pytest.raises(ScorerRunError, match=r"part scored 0.7, neither a pass \(1\) nor a fail \(0\)") as caught:
        checks.all_of(part(0.7)).run_sync(output="x")
    assert caught.value.__cause__.code == "PART_NOT_BINARY"


def test_a_part_passes_at_the_top_of_its_own_range():
    assert come_to(checks.all_of(part(5, scale=5))) == 1
    assert come_to(checks.not_(part(-1, range=(-1, 1)))) == 1
    assert come_to(checks.all_of(part(1, scale=5))) == "boom"


def test_they_may_stand_in_each_other():
    check = checks.all_of(checks.not_(checks.includes("z")), checks.any_of(checks.includes("q"), checks.includes("x")))
    assert come_to(check) == 1


def test_findings_hold_every_part():
    found = checks.all_of(checks.includes("x"), part(0)).run_sync(output="x").preprocess_step_result
    assert found == {
        "passed": False,
        "parts": [
            {"key": "check-includes[x]", "passed": True, "reason": 'found "x" in "x"'},
            {"key": "part", "passed": False, "reason": ""},
        ],
        "decided_by": [1],
    }


# ── parts that take time ───────────────────────────────────────────────────────────────────────────────────────────


def test_parts_of_every_kind_work_together():
    @scorer
    def plain(run):
        return "x" in run.text

    @scorer
    async def waits(run):
        await asyncio.sleep(0.001)
        return True

    @scorer(inline=True)
    def inline(run):
        return True

    check = checks.all_of(plain, waits, inline, checks.matches("x"), checks.not_(waits.named("again").replace(id="b")))
    outcome = check.run_sync(output="x")
    assert outcome.score == 0
    assert outcome.preprocess_step_result["decided_by"] == [4]


async def test_parts_that_wait_wait_at_the_same_time():
    @scorer
    async def slow(run):
        await asyncio.sleep(0.2)
        return True

    began = time.monotonic()
    outcome = await checks.all_of(*(slow.named(str(n)) for n in range(5))).run(output="x")
    assert outcome.score == 1
    assert time.monotonic() - began < 0.8


async def test_a_cancelled_run_cancels_its_parts():
    ended = []

    @scorer
    async def slow(run):
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(1)

    task = asyncio.ensure_future(checks.any_of(slow, slow.named("other"), part(1)).run(output="x"))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == [1, 1]


def test_a_part_that_somebody_else_cancelled_is_an_error():
    @scorer
    async def stray(run):
        raise asyncio.CancelledError

    assert come_to(checks.all_of(stray, part(1))) == "boom"
    assert come_to(checks.all_of(stray, stray.named("other"))) == "boom"


@pytest.mark.parametrize("combine", [checks.all_of, checks.any_of])
def test_a_part_that_raises_what_ends_a_generator_is_named(combine):
    async def leave(ctx):
        await asyncio.sleep(0)
        raise GeneratorExit("enough")

    async def wait(ctx):
        await asyncio.sleep(60)

    leaves = create_scorer(id="leaves").generate_score(leave)
    waits = create_scorer(id="waits").generate_score(wait)
    outcome = run_evals_sync(data=[{"output": "x"}], scorers=[combine(waits, leaves)]).items[0].scorers[0]
    assert outcome.status == "error"
    assert outcome.error.message.startswith("leaves: GeneratorExit: enough (test_combine.py:")
    assert outcome.error.type == "PartFailed"


def test_in_a_run():
    data = [{"id": "a", "output": "sunny"}, {"id": "b", "output": "rain"}]
    gate = checks.any_of(checks.includes("sunny"), part(0))
    result = run_evals_sync(data=data, gates=[gate], scorers=[(checks.not_(checks.includes("rain")), 0.5)])
    assert (result.verdict, result.gate_results[0].mean) == ("failed", 0.5)
    assert "none of 2 passed" in result.sentence
    assert result.threshold_results[0].passed


# ── keys, fingerprints, options ────────────────────────────────────────────────────────────────────────────────────


def test_keys_are_made_of_the_keys_of_the_parts():
    assert checks.not_(checks.includes("x")).key == 'check-not["check-includes[x]"]'
    assert checks.all_of(part(1, id="a"), part(1, id="b")).key == "check-all-of[a,b]"
    one, other = (
        checks.all_of(checks.includes("a long text that does not fit"), checks.includes(needle)) for needle in "xy"
    )
    assert one.key != other.key


def test_fingerprints_are_made_of_the_fingerprints_of_the_parts():
    one, same, other = (checks.not_(checks.includes(needle)) for needle in "xxy")
    assert one.fingerprint == same.fingerprint != other.fingerprint
    versions = {checks.all_of(part(1, version=version)).fingerprint for version in "12"}
    assert len(versions) == 2
    unknown = checks.all_of(create_scorer(id="a").generate_score(print))
    assert unknown.fingerprint == "unknown"


@pytest.mark.parametrize(
    ("make", "said"),
    [
        pytest.param(checks.all_of, "give the scorers it is made of", id="none"),
        pytest.param(lambda: checks.any_of([checks.includes("x")]), r"without the list: any_of\(a, b\)", id="a list"),
        pytest.param(lambda: checks.not_(checks.includes), "takes scorers, not <function includes", id="not called"),
        pytest.param(lambda: checks.not_(checks.similarity("x")), "give it a threshold=", id="graded"),
        pytest.param(lambda: checks.not_(part(1, better="lower")), "lower is better", id="lower is better"),
        pytest.param(lambda: checks.all_of(create_scorer(id="a")), "has no generate_score", id="it cannot run"),
        pytest.param(
            lambda: checks.all_of(part(1), part(1, type="trajectory")), "cannot be mixed", id="answers and trajectories"
        ),
    ],
)
def test_parts_are_refused_when_they_are_written(make, said):
    with pytest.raises(UsageError, match=said):
        make()


def test_similarity_with_a_threshold_is_a_part():
    assert come_to(checks.all_of(checks.similarity("x", threshold=0.9))) == 1


def test_a_whole_of_trajectory_scorers_is_one():
    assert checks.all_of(part(1, type="trajectory")).type == "trajectory"
    assert checks.all_of(part(1)).type == "agent"


def test_the_same_combination_of_an_item_and_of_the_run_is_one_column():
    def gate():
        return checks.any_of(checks.includes("sunny"), checks.not_(checks.called_tool("pay", args={"n": 1})))

    data = [{"id": "a", "output": "sunny", "gates": [gate()]}, {"id": "b", "output": "rain"}]
    result = run_evals_sync(data=data, gates=[gate()])
    assert [(mean.n, mean.of) for mean in result.means] == [(2, 2)]
