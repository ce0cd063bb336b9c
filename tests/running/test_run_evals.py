import asyncio
import inspect
import random
import threading
import time

import pytest

from proctor import (
    Eval,
    Item,
    MemoryRecorder,
    ScorerEntry,
    ScorerRunError,
    Threshold,
    checks,
    not_scorable,
    run_evals,
    run_evals_sync,
    scorer,
)
from proctor.errors import TargetError
from tests.running.graded import asked, echo, graded, saved

NUMBERS = ("column", "mean", "n", "of", "errors", "not_scorable", "not_run", "passed", "decided_by", "sentence")


def statuses(result, column=0):
    return [item.scorers[column].status for item in result.items]


def numbers(result):
    return [tuple(getattr(mean, name) for name in NUMBERS) for mean in result.means]


# ── the whole path ─────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_run_answers_scores_and_decides():
    result = await run_evals(
        name="weather",
        target=echo,
        data=asked("It is sunny in Brooklyn.", "It rains in Brooklyn."),
        gates=[checks.includes("Brooklyn"), checks.no_tool_errors()],
        scorers=[(checks.similarity("It is sunny in Brooklyn."), 0.5), checks.includes("sunny")],
    )
    assert (result.name, result.status, result.verdict) == ("weather", "complete", "passed")
    assert result.sentence == "2 gates and 1 threshold met"
    assert [mean.mean for mean in result.gate_results] == [1.0, 1.0]
    assert result.scores["check-includes[sunny]"].mean == 0.5
    assert [item.output for item in result.items] == ["It is sunny in Brooklyn.", "It rains in Brooklyn."]
    assert result.items[1].scorers["check-includes[sunny]"].score == 0.0
    assert (result.summary.items, result.summary.errors, result.exit_code()) == (2, 0, 0)


def test_l01_the_sync_form_gives_the_same_and_may_be_called_twice():
    for _ in range(2):
        result = run_evals_sync(target=echo, data=asked("a"), gates=[checks.includes("a")])
        assert result.verdict == "passed"


async def test_l01_the_sync_form_works_under_a_running_loop():
    assert run_evals_sync(data=saved(1.0), gates=[graded()]).verdict == "passed"


def test_both_forms_take_the_arguments_of_eval():
    names = list(inspect.signature(Eval).parameters)
    assert list(inspect.signature(run_evals).parameters) == names
    assert list(inspect.signature(run_evals_sync).parameters) == names
    assert (run_evals.__name__, run_evals_sync.__name__) == ("run_evals", "run_evals_sync")


@pytest.mark.parametrize(
    ("gates", "scorers", "verdict"),
    [
        pytest.param([0.5], [], "failed", id="gate missed"),
        pytest.param([1.0], [], "passed", id="gate met"),
        pytest.param([], [(0.5, 0.6)], "scored", id="threshold missed"),
        pytest.param([], [(0.5, 0.5)], "passed", id="threshold met"),
        pytest.param([1.0], [(0.5, 0.6)], "scored", id="gate met, threshold missed"),
        pytest.param([0.5], [(0.5, 0.6)], "failed", id="both missed"),
        pytest.param([], [(0.0, None)], None, id="nothing to decide"),
    ],
)
async def test_the_verdict(gates, scorers, verdict):
    def giving(score, name):
        return scorer(id=name)(lambda run: score)

    result = await run_evals(
        data=saved("x"),
        gates=[giving(score, f"gate {n}") for n, score in enumerate(gates)],
        scorers=[ScorerEntry(giving(score, f"scorer {n}"), bound) for n, (score, bound) in enumerate(scorers)],
    )
    assert result.verdict == verdict


async def test_every_run_has_an_id_of_its_own():
    results = [await run_evals(data=saved(1), scorers=[graded()]) for _ in range(2)]
    assert results[0].eval_id != results[1].eval_id


# ── items ──────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_an_items_own_gates_and_scorers_count_only_the_items_that_have_them():
    data = [
        Item(id="a", output="sunny", gates=[checks.includes("sunny")], scorers=[(graded("own"), 0.5)]),
        Item(id="b", output=0.5, scorers=[(graded("own"), 0.5)]),
        Item(id="c", output="x"),
    ]
    result = await run_evals(data=data, scorers=[checks.excludes("z")])
    assert {mean.key: mean.of for mean in result.means} == {
        "check-includes[sunny]": 1,
        "check-excludes[z]": 3,
        "own": 2,
    }
    assert [[outcome.key for outcome in item.outcomes] for item in result.items] == [
        ["check-includes[sunny]", "check-excludes[z]", "own"],
        ["check-excludes[z]", "own"],
        ["check-excludes[z]"],
    ]


async def test_an_own_scorer_that_the_run_has_too_runs_once():
    ran = []
    count = scorer(id="count", inline=True)(lambda run: ran.append(1) or 1)
    result = await run_evals(
        data=[Item(id="a", output="x", scorers=[count]), Item(id="b", output="x")], scorers=[count]
    )
    assert (len(ran), result.scores["count"].of) == (2, 2)


async def test_items_that_carry_an_output_are_scored_without_the_target():
    asked_for = []

    def target(given):
        asked_for.append(given)
        return "made"

    data = [Item(id="a", input="q", output="saved"), Item(id="b", input="q")]
    result = await run_evals(target=target, data=data, scorers=[checks.includes("saved")])
    assert [item.output for item in result.items] == ["saved", "made"]
    assert asked_for == ["q"]
    assert [item.replies[0].duration_ms is None for item in result.items] == [True, False]


async def test_a_saved_output_may_be_none():
    result = await run_evals(data=[Item(id="a", output=None)], scorers=[checks.excludes("x")])
    assert statuses(result) == ["error"]


async def test_a10_a_target_that_changes_its_input_changes_nothing_for_the_scorers():
    def target(given):
        given["messages"].append("changed")
        return "done"

    result = await run_evals(
        target=target,
        data=[{"input": {"messages": ["as given"]}}],
        scorers=[scorer(id="input")(lambda run: run.input == {"messages": ["as given"]})],
    )
    assert result.items[0].scorers[0].score == 1.0
    assert result.items[0].item.input == {"messages": ["as given"]}


async def test_what_a_target_changes_after_it_answered_changes_nothing():
    output = {"text": "sunny"}

    async def target(given):
        asyncio.get_running_loop().call_soon(output.clear)
        return output

    async def look(run):
        await asyncio.sleep(0.01)
        return run.output == {"text": "sunny"}

    result = await run_evals(target=target, data=asked("x"), gates=[scorer(look)])
    assert result.verdict == "passed"
    assert result.items[0].output == {"text": "sunny"}


async def test_scorers_see_the_item():
    seen = []
    item = Item(
        id="a", output="out", input="in", ground_truth=0, context=["fact"], request_context={"u": 1}, metadata={"m": 2}
    )
    await run_evals(data=[item], scorers=[scorer(id="s", inline=True)(lambda run: seen.append(run) or 1)])
    run = seen[0]
    assert (run.input, run.output, run.ground_truth, run.context) == ("in", "out", 0, ["fact"])
    assert (run.request_context, run.extra) == ({"u": 1}, {"metadata": {"m": 2}})


async def test_all_scorers_of_an_item_see_one_run():
    seen = []

    def look(run):
        seen.append(run)
        return 1

    with pytest.warns(UserWarning, match="more than once"):
        await run_evals(data=saved("x"), gates=[scorer(look)], scorers=[scorer(look), scorer(look)])
    assert len(set(map(id, seen))) == 1


async def test_x07_no_calls_expected_and_none_made():
    result = await run_evals(
        target=lambda given: "It is noon.",
        data=asked("What time is it?"),
        gates=[checks.used_no_tools(), checks.no_tool_errors(), checks.max_tool_calls(0)],
        scorers=[checks.called_tool("clock")],
    )
    assert result.verdict == "passed"
    assert result.scores["check-called-tool"].mean == 0.0


# ── concurrency ────────────────────────────────────────────────────────────────────────────────────────────────────


class Counting:
    """Knows how many calls ran at once, each of which waits until *concurrency* of them do."""

    def __init__(self, concurrency):
        self.active = self.most = 0
        self.lock = threading.Lock()
        self.barrier = threading.Barrier(concurrency, timeout=10)
        self.barrier_later = asyncio.Barrier(concurrency)

    def __enter__(self):
        with self.lock:
            self.active += 1
            self.most = max(self.most, self.active)

    def __exit__(self, *raised):
        with self.lock:
            self.active -= 1

    def answer(self, given):
        with self:
            self.barrier.wait()
        return given

    async def answer_later(self, given):
        with self:
            await asyncio.wait_for(self.barrier_later.wait(), 10)
        return given


@pytest.mark.parametrize("later", [False, True], ids=["def", "async def"])
@pytest.mark.parametrize("concurrency", [1, 3, 8])
async def test_so_many_items_are_in_flight_and_no_more(concurrency, later):
    counting = Counting(concurrency)
    result = await run_evals(
        target=counting.answer_later if later else counting.answer,
        data=asked(*range(24)),
        scorers=[checks.includes("1")],
        concurrency=concurrency,
    )
    assert (counting.most, result.summary.errors) == (concurrency, 0)


async def test_items_come_in_input_order_whatever_the_order_in_which_they_end():
    ended = []

    async def answer(given):
        await asyncio.sleep(0.001 * (20 - given))
        return given

    result = await run_evals(
        target=answer,
        data=asked(*range(20)),
        scorers=[checks.includes("1")],
        concurrency=20,
        on_item_complete=lambda item: ended.append(item.item_id),
    )
    assert [item.item_id for item in result.items] == [f"i{n}" for n in range(20)]
    assert [item.output for item in result.items] == list(range(20))
    assert ended != [item.item_id for item in result.items]


@pytest.mark.slow
async def test_every_number_is_the_same_at_any_concurrency():
    chance = random.Random(7)
    outputs = [chance.choice([chance.random(), chance.random(), 0.1, "boom", "n/a"]) for _ in range(120)]

    async def answer(given):
        await asyncio.sleep(random.random() * 0.002)
        return given

    async def look_later(run):
        await asyncio.sleep(random.random() * 0.002)
        return run.output if isinstance(run.output, float) else not_scorable()

    results = [
        await run_evals(
            target=answer,
            data=asked(*outputs),
            scorers=[graded(), (scorer(look_later), Threshold(0.5, max_errors=1))],
            gates=[graded("gate")],
            concurrency=concurrency,
        )
        for concurrency in (1, 16)
    ]
    assert numbers(results[0]) == numbers(results[1])
    assert (results[0].verdict, results[0].sentence) == (results[1].verdict, results[1].sentence)


async def test_scorers_that_wait_wait_at_the_same_time():
    def waiting(n):
        async def wait(run):
            await asyncio.sleep(0.05)
            return 1

        return scorer(id=f"s{n}")(wait)

    began = time.perf_counter()
    await run_evals(data=saved("x"), scorers=[waiting(n) for n in range(20)])
    assert time.perf_counter() - began < 0.5


async def test_t07_one_scorer_on_many_items_at_once_keeps_them_apart():
    @scorer(scale=50)
    def own(run):
        time.sleep(random.uniform(0, 0.01))
        return int(run.output.removeprefix("answer "))

    async def answer(given):
        await asyncio.sleep(random.uniform(0, 0.01))
        return f"answer {given}"

    result = await run_evals(target=answer, data=asked(*range(50)), scorers=[own], concurrency=16)
    assert [item.scorers[0].score for item in result.items] == list(range(50))


async def test_more_workers_than_items_do_no_harm():
    assert (await run_evals(data=saved(1.0), gates=[graded()], concurrency=64)).verdict == "passed"


async def test_a_run_that_is_cancelled_is_cancelled():
    async def answer(given):
        await asyncio.sleep(60)

    running = asyncio.create_task(run_evals(target=answer, data=asked(1, 2, 3), scorers=[graded()], concurrency=2))
    await asyncio.sleep(0.01)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


# ── gates come before scorers ──────────────────────────────────────────────────────────────────────────────────────


async def test_gates_are_done_before_scorers_begin():
    order = []

    async def gate(run):
        await asyncio.sleep(0.01)
        order.append("gate")
        return 1

    def grade(run):
        order.append("scorer")
        return 1

    await run_evals(data=saved("x"), gates=[scorer(gate)], scorers=[scorer(grade)])
    assert order == ["gate", "scorer"]


# ── ending at the first failure ────────────────────────────────────────────────────────────────────────────────────

at_any_concurrency = pytest.mark.parametrize("concurrency", [1, 4], ids=["one at a time", "four at once"])


@at_any_concurrency
async def test_a_run_can_end_at_the_first_failure_of_the_target(concurrency):
    recorder, told = MemoryRecorder(), []
    with pytest.raises(TargetError, match="item i1: the target failed: ConnectionError: unable to answer") as caught:
        await run_evals(
            target=echo,
            data=asked(1.0, "fail", *[1.0] * 20),
            scorers=[graded()],
            recorder=recorder,
            on_item_complete=lambda item: told.append(item.item_id),
            on_error="raise",
            concurrency=concurrency,
        )
    assert caught.value.code == "RUN_EXPERIMENT_TARGET_FAILED_TO_GENERATE_RESULT"
    assert recorder.finished["i1", 0].status == "error"
    assert "i1" in told
    assert len(recorder.finished) < 22


@at_any_concurrency
@pytest.mark.parametrize("position", ["gates", "scorers"])
async def test_a_run_can_end_at_the_first_failure_of_a_scorer(position, concurrency):
    recorder = MemoryRecorder()
    broken = graded().preprocess(lambda ctx: "kept")
    with pytest.raises(
        ScorerRunError, match=r"item i1: .*graded failed: ValueError in generate_score: the scorer broke"
    ) as caught:
        await run_evals(
            data=saved(1.0, "boom", *[1.0] * 20),
            **{position: [checks.excludes("z"), broken]},
            recorder=recorder,
            on_error="raise",
            concurrency=concurrency,
        )
    error = caught.value
    assert error.code == "RUN_EXPERIMENT_SCORER_FAILED_TO_SCORE_RESULT"
    assert (error.failed_step, error.completed_steps) == ("generate_score", ("preprocess",))
    assert error.result.preprocess_step_result == "kept"
    assert [outcome.status for outcome in recorder.finished["i1", 0].outcomes] == ["scored", "error"]


async def test_a_run_without_failures_ends_as_usual_whatever_is_asked_of_failures():
    result = await run_evals(data=saved(1.0, "n/a", 0.0), scorers=[(graded(), 0.9)], on_error="raise")
    assert (result.verdict, len(result.items)) == ("scored", 3)


# ── gates on which every item declined ─────────────────────────────────────────────────────────────────────────────


async def test_a_gate_on_which_every_item_declined_may_be_left_out():
    options = {"data": saved("n/a", "n/a"), "gates": [graded()], "scorers": [checks.excludes("z")]}
    assert (await run_evals(**options)).verdict == "failed"
    result = await run_evals(**options, allow_unscored_gates=True)
    gate = result.gate_results[0]
    assert (result.verdict, gate.passed, gate.decided_by, result.exit_code()) == (None, None, None, 0)
    assert gate.sentence == "gate graded decides nothing: every item declined"
    assert result.sentence == f"nothing to decide: {gate.sentence}"


@pytest.mark.parametrize("outputs", [("n/a", "boom"), ("n/a", 0.5), ("boom",)], ids=str)
async def test_a_gate_that_is_missed_otherwise_is_missed_all_the_same(outputs):
    result = await run_evals(data=saved(*outputs), gates=[graded()], allow_unscored_gates=True)
    assert (result.verdict, result.gate_results[0].passed) == ("failed", False)


async def test_gates_that_were_scored_decide_beside_one_that_was_not():
    result = await run_evals(
        data=saved("n/a"), gates=[graded(), checks.includes("n")], scorers=[], allow_unscored_gates=True
    )
    assert (result.verdict, result.sentence) == ("passed", "1 gate met")


# ── notes ──────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_items_that_carry_an_output_beside_a_target_are_noted():
    data = [{"input": "q"}, {"input": "q", "output": 1.0}, {"output": None}]
    result = await run_evals(target=lambda given: 1.0, data=data, scorers=[graded()])
    assert result.summary.notes == ("2 of 3 items carry an output: the target was not called for them",)
    assert "1 note: 2 of 3 items carry an output" in str(result)


async def test_saved_outputs_alone_are_no_surprise():
    assert (await run_evals(data=saved(1.0), scorers=[graded()])).summary.notes == ()
    assert (await run_evals(target=echo, data=asked(1.0), scorers=[graded()])).summary.notes == ()


async def test_an_item_of_a_stream_that_nothing_scores_is_an_error_of_its_own():
    items = iter([{"output": 1.0}, {"output": 1.0, "scorers": [graded()]}])
    result = await run_evals(data=items)
    assert [row.status for row in result.items] == ["error", "done"]
    assert "nothing to score with" in result.items[0].error.message
