import asyncio
import gc
import warnings

import pytest

from proctor import (
    Item,
    ItemResult,
    MemoryRecorder,
    Outcome,
    Reply,
    ScorerRunError,
    UsageError,
    checks,
    create_scorer,
    run_evals,
    run_evals_sync,
    scorer,
)
from proctor.data.column import Column
from proctor.data.outcome import Outcomes
from proctor.errors import ProctorError
from proctor.running.record import Event, Known, NoRecorder, Recorder
from tests.running.graded import asked, graded, saved
from tests.running.plans import plan_of

ROW = ("i0", 0)
GATE = Outcome(Column("gate", None, "g", "g"), "scored", 1.0)
SCORED = Outcome(Column("scorer", None, "s", "s"), "scored", 0.5)
DONE = ItemResult(item=Item("x"), item_id="i0")


class Listening(MemoryRecorder):
    """Keeps every event in order."""

    def __init__(self):
        super().__init__()
        self.events = []
        self.flushed = 0

    async def put(self, event):
        self.events.append(event)
        await super().put(event)

    async def flush(self):
        self.flushed += 1


# ── in memory ──────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_new_recorder_knows_nothing():
    recorder: Recorder = MemoryRecorder()
    assert await recorder.start(plan_of()) == Known()
    assert await recorder.find(ROW) is None


async def test_a_row_that_was_begun_is_found_with_what_there_is_of_it():
    recorder = MemoryRecorder()
    for value in (Reply("out"), GATE, SCORED):
        await recorder.put(Event(ROW, value))
    found = await recorder.find(ROW)
    assert (found.item_id, found.repeat, found.status) == ("i0", 0, "not_run")
    assert (found.replies, found.gates, found.scorers) == ((Reply("out"),), Outcomes([GATE]), Outcomes([SCORED]))
    assert await recorder.start(plan_of()) == Known(begun={ROW})


async def test_a_row_that_ended_is_found_as_it_ended():
    recorder = MemoryRecorder()
    await recorder.put(Event(ROW, Reply("out")))
    await recorder.put(Event(ROW, DONE))
    assert await recorder.find(ROW) is DONE
    assert await recorder.start(plan_of()) == Known(finished={ROW})
    assert recorder.finished == {ROW: DONE}


async def test_no_recorder_keeps_nothing():
    recorder: Recorder = NoRecorder()
    await recorder.put(Event(ROW, DONE))
    assert await recorder.start(plan_of()) == Known()
    assert await recorder.find(ROW) is None


# ── what a run tells ───────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_run_tells_each_thing_when_it_ended():
    recorder = Listening()
    result = await run_evals(
        target=lambda given: "sunny",
        data=asked("x"),
        gates=[checks.includes("sunny")],
        scorers=[checks.excludes("rain"), graded()],
        recorder=recorder,
    )
    assert [event.row for event in recorder.events] == [ROW] * 5
    assert [type(event.value) for event in recorder.events] == [Reply, Outcome, Outcome, Outcome, ItemResult]
    assert [event.value for event in recorder.events[1:4]] == list(result.items[0].outcomes)
    assert recorder.events[-1].value is result.items[0]
    assert recorder.flushed == 1


async def test_a_reply_is_recorded_before_scoring_begins():
    recorder = Listening()
    seen = []
    look = graded().replace(generate_score=lambda ctx: seen.append(len(recorder.events)) or 1)
    await run_evals(target=lambda given: given, data=asked("x"), scorers=[look], recorder=recorder)
    assert seen == [1]


async def test_a_target_that_failed_is_recorded_with_its_row():
    recorder = Listening()

    def fail(given):
        raise ValueError

    await run_evals(target=fail, data=asked("x"), scorers=[graded()], recorder=recorder)
    reply, ended = (event.value for event in recorder.events)
    assert reply.error.type == "ValueError"
    assert ended.status == "error"


async def test_an_outcome_is_recorded_when_it_ended_though_a_sibling_is_at_work():
    recorded = asyncio.Event()

    class Telling(Listening):
        async def put(self, event):
            await super().put(event)
            if isinstance(event.value, Outcome) and event.value.key == "quick":
                recorded.set()

    async def quick(run):
        await asyncio.sleep(0)
        return 1

    async def slow(run):
        await asyncio.wait_for(recorded.wait(), 5)
        return 1

    recorder = Telling()
    result = await run_evals(data=saved(1.0), scorers=[scorer(slow), scorer(quick), graded()], recorder=recorder)
    assert [event.value.key for event in recorder.events if isinstance(event.value, Outcome)] == [
        "graded",
        "quick",
        "slow",
    ]
    assert [outcome.status for outcome in result.items[0].scorers] == ["scored", "scored", "scored"]


def test_what_ended_before_an_interrupt_is_recorded():
    recorder = MemoryRecorder()

    def interrupt(run):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_evals_sync(data=saved(0.5), gates=[graded("gate")], scorers=[scorer(interrupt)], recorder=recorder)
    found = asyncio.run(recorder.find(ROW))
    assert (found.status, found.output, found.gates["gate"].score, found.scorers) == ("not_run", 0.5, 0.5, ())


class Full(Listening):
    """Raises where it is told to."""

    def __init__(self, at, error):
        super().__init__()
        self.at, self.error = at, error

    def _raise_at(self, place):
        if place == self.at:
            raise self.error("no space left on device")

    async def start(self, plan):
        self._raise_at("start")
        return Known(begun={("i1", 0)})

    async def find(self, row):
        self._raise_at("find")

    async def put(self, event):
        self._raise_at(type(event.value).__name__)

    async def end(self, result):
        self._raise_at("end")

    async def flush(self):
        await super().flush()
        self._raise_at("flush")


async def wait(run):
    await asyncio.sleep(0.001)
    return 1


@pytest.mark.parametrize(
    "error", [OSError, asyncio.CancelledError, UsageError], ids=["OSError", "CancelledError", "an error of ours"]
)
@pytest.mark.parametrize("concurrency", [1, 4], ids=["one at a time", "four at once"])
@pytest.mark.parametrize("at", ["start", "find", "Reply", "Outcome", "ItemResult", "end", "flush"])
@pytest.mark.parametrize(
    "scorers",
    [
        pytest.param([graded()], id="a quick scorer"),
        pytest.param([scorer(id="one")(wait), scorer(id="two")(wait)], id="two that wait"),
    ],
)
async def test_a_recorder_that_raises_ends_the_run_with_an_error_that_names_it(scorers, at, concurrency, error):
    recorder = Full(at, error)
    with pytest.raises(ProctorError, match="no space left") as caught:
        await run_evals(data=saved(*[1.0] * 8), scorers=scorers, recorder=recorder, concurrency=concurrency)
    assert recorder.flushed == (at != "start")
    if error is UsageError:
        assert type(caught.value) is UsageError
    else:
        method = at if at in {"start", "find", "end", "flush"} else "put"
        what = f"recorder Full: its {method}() raised {error.__name__}: no space left on device"
        assert (str(caught.value), caught.value.code) == (what, "RECORDER_FAILED")
        assert type(caught.value.__cause__) is error


@pytest.mark.parametrize("why", ["raises", "is cancelled"])
async def test_a_scorer_that_was_started_is_not_left_behind_when_the_recorder(why):
    """Python would warn of a coroutine that was never awaited."""

    class Slow(MemoryRecorder):
        async def put(self, event):
            if isinstance(event.value, Outcome):
                at_work.set()
                await asyncio.sleep(60 if why == "is cancelled" else 0)
                raise OSError

    at_work = asyncio.Event()
    later = create_scorer(id="later").generate_score(wait)
    shaped = create_scorer(id="shaped", prepare_run=wait).generate_score(lambda ctx: 1)
    scorers = [later, shaped, scorer(id="def")(lambda run: 1), graded()]
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        running = asyncio.create_task(run_evals(data=saved(1.0), scorers=scorers, recorder=Slow()))
        await at_work.wait()
        if why == "is cancelled":
            running.cancel()
        await asyncio.wait([running])
        gc.collect()
    assert running.cancelled() == (why == "is cancelled")
    assert [str(warning.message) for warning in warned] == []


def never_ready(run):
    raise ValueError("not ready")


@pytest.mark.parametrize("concurrency", [1, 4], ids=["one at a time", "four at once"])
async def test_a_run_that_ends_at_its_first_failure_is_flushed(concurrency):
    recorder = Listening()
    with pytest.raises(ScorerRunError, match="not ready"):
        await run_evals(
            data=saved(*[1.0] * 8),
            scorers=[scorer(never_ready)],
            recorder=recorder,
            on_error="raise",
            concurrency=concurrency,
        )
    assert recorder.flushed == 1
    assert recorder.finished  # what failed is there to be looked at
    assert all(row.scorers[0].error for row in recorder.finished.values())


# ── a second run ───────────────────────────────────────────────────────────────────────────────────────────────────


class Answering:
    """A target that knows what it was asked, and stops once."""

    def __init__(self, stops_at=None):
        self.asked = []
        self.stops_at = stops_at

    async def __call__(self, given):
        await asyncio.sleep(0)
        self.asked.append(given)
        if given == self.stops_at:
            self.stops_at = None
            raise KeyboardInterrupt
        return given


def test_a_second_run_with_the_same_recorder_does_only_the_rest():
    recorder, target = MemoryRecorder(), Answering(stops_at=0.3)
    options = {"target": target, "data": asked(0.1, 0.2, 0.3, 0.4), "scorers": [graded()], "recorder": recorder}
    with pytest.raises(KeyboardInterrupt):
        run_evals_sync(**options)
    assert set(recorder.finished) == {("i0", 0), ("i1", 0)}
    result = run_evals_sync(**options)
    assert target.asked == [0.1, 0.2, 0.3, 0.3, 0.4]
    whole = run_evals_sync(**{**options, "recorder": None})
    assert [item.scorers[0].score for item in result.items] == [item.scorers[0].score for item in whole.items]
    assert result.scores["graded"].mean == whole.scores["graded"].mean


def test_r02_a_row_that_was_begun_is_not_asked_again():
    """What is missing of it is done: here the scorer that the first run did not come to."""
    recorder, target, ran = MemoryRecorder(), Answering(), []

    def count(ctx):
        ran.append(ctx.run.output)
        return 1

    def interrupt(ctx):
        raise KeyboardInterrupt

    counted = graded("counted").replace(generate_score=count)
    options = {"target": target, "data": asked(0.5), "gates": [counted], "recorder": recorder}
    with pytest.raises(KeyboardInterrupt):
        run_evals_sync(**options, scorers=[graded().replace(generate_score=interrupt)])
    assert asyncio.run(recorder.start(plan_of())).begun == {ROW}
    result = run_evals_sync(**options, scorers=[graded()])
    assert (target.asked, ran) == ([0.5], [0.5])
    assert [outcome.score for outcome in result.items[0].outcomes] == [1.0, 0.5]


async def test_r03_a_run_whose_items_are_all_done_asks_for_nothing():
    recorder, target = MemoryRecorder(), Answering()
    options = {"target": target, "data": asked(0.5), "scorers": [(graded(), 0.5)], "recorder": recorder}
    first = await run_evals(**options)
    second = await run_evals(**options)
    assert target.asked == [0.5]
    assert (second.verdict, second.items) == (first.verdict, first.items)


class Finding(MemoryRecorder):
    """Knows which rows it was asked for."""

    def __init__(self):
        super().__init__()
        self.found = []

    async def find(self, row):
        self.found.append(row)
        return await super().find(row)


async def test_only_rows_that_were_begun_or_finished_are_asked_for():
    recorder = Finding()
    for n, value in enumerate([Reply(0.5), Reply(0.5)]):
        await recorder.put(Event((f"i{n}", 0), value))
    await recorder.put(Event(ROW, ItemResult(item=Item("x"), item_id="i0", replies=(Reply(0.5),))))
    await run_evals(data=saved(0.1, 0.2, 0.3, 0.4), scorers=[graded()], recorder=recorder)
    assert recorder.found == [("i1", 0), ("i0", 0)]  # new work first


def counting(id, ran, *, score=1.0):
    return scorer(id=id, inline=True)(lambda run: ran.append(id) or score)


async def test_a_finished_row_with_other_scorers_runs_the_new_ones_and_drops_those_that_are_gone():
    recorder, target, ran = Listening(), Answering(), []
    gate, kept, gone, new = (counting(id, ran) for id in ("gate", "kept", "gone", "new"))
    options = {"target": target, "data": asked(0.1, 0.2), "gates": [gate], "recorder": recorder}
    await run_evals(**options, scorers=[gone, kept])
    ran.clear()
    recorder.events.clear()
    result = await run_evals(**options, scorers=[kept, (new, 0.5)])
    assert (target.asked, ran) == ([0.1, 0.2], ["new", "new"])
    assert [item.scorers.keys() for item in result.items] == [["kept", "new"]] * 2
    assert [mean.key for mean in result.means] == ["gate", "kept", "new"]
    assert [type(event.value).__name__ for event in recorder.events] == ["Outcome", "ItemResult"] * 2
    assert [row.scorers.keys() for row in recorder.finished.values()] == [["kept", "new"]] * 2


async def test_a_finished_row_with_fewer_scorers_runs_none():
    recorder, ran = MemoryRecorder(), []
    kept, gone = counting("kept", ran), counting("gone", ran)
    await run_evals(data=saved(0.5), scorers=[kept, gone], recorder=recorder)
    result = await run_evals(data=saved(0.5), scorers=[kept], recorder=recorder)
    assert ran == ["kept", "gone"]
    assert result.items[0].scorers.keys() == ["kept"]


async def test_a_scorer_that_became_a_gate_is_another_column():
    recorder, ran = MemoryRecorder(), []
    moved = counting("moved", ran)
    await run_evals(data=saved(0.5), scorers=[moved], recorder=recorder)
    result = await run_evals(data=saved(0.5), gates=[moved], recorder=recorder)
    assert ran == ["moved", "moved"]
    assert [outcome.column.label for outcome in result.items[0].outcomes] == ["gate moved"]


async def test_a_finished_row_whose_target_failed_is_taken_as_it_is():
    recorder, times = MemoryRecorder(), []

    def fail(given):
        times.append(given)
        raise ConnectionError("lost")

    options = {"target": fail, "data": asked("x"), "recorder": recorder}
    await run_evals(**options, scorers=[graded()])
    same = await run_evals(**options, scorers=[graded()])
    other = await run_evals(**options, scorers=[graded("other")])
    assert times == ["x"]
    assert [(result.items[0].status, result.summary.errors) for result in (same, other)] == [("error", 1)] * 2
    assert other.items[0].scorers["other"].status == "not_run"


async def test_r02_outcomes_of_a_begun_row_stand_in_their_order():
    recorder, ran = MemoryRecorder(), []
    first, second, third = (counting(id, ran, score=n / 4) for n, id in enumerate(("first", "second", "third")))
    kept = Outcome(Column("scorer", None, "second", "second"), "scored", 0.75)
    await recorder.put(Event(ROW, Reply("as before")))
    await recorder.put(Event(ROW, kept))
    result = await run_evals(target=Answering(), data=asked("x"), scorers=[first, second, third], recorder=recorder)
    assert ran == ["first", "third"]
    assert [outcome.score for outcome in result.items[0].scorers] == [0.0, 0.75, 0.5]
    assert result.items[0].scorers[1] is kept
    assert result.items[0].output == "as before"
    assert result.scores["second"].mean == 0.75


@pytest.mark.parametrize("concurrency", [1, 4], ids=["one at a time", "four at once"])
async def test_r01_a_run_that_broke_off_ends_as_it_would_have(concurrency):
    recorder, target = MemoryRecorder(), Answering()

    async def later(run):
        await asyncio.sleep(0)
        return run.output

    options = {
        "data": asked(*(n / 10 for n in range(10))),
        "gates": [graded("gate")],
        "scorers": [(scorer(later), 0.4)],
        "concurrency": concurrency,
    }
    running, stopped = None, 0
    while running is None or running.cancelled():
        running = asyncio.create_task(run_evals(**options, target=target, recorder=recorder))
        for _ in range(3 + stopped):
            await asyncio.sleep(0)
        stopped += running.cancel()
        await asyncio.wait([running])
    assert stopped > 3
    assert sorted(target.asked) == [n / 10 for n in range(10)]
    result, whole = running.result(), await run_evals(**options, target=Answering())
    assert [mean.mean for mean in result.means] == [mean.mean for mean in whole.means]
    assert [item.scorers[0].score for item in result.items] == [item.scorers[0].score for item in whole.items]


async def test_finished_rows_leave_the_loop_to_others_now_and_then():
    recorder = MemoryRecorder()
    data = saved(*[1.0] * 300)
    await run_evals(data=data, scorers=[graded()], recorder=recorder)
    turns = 0

    async def count():
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    await run_evals(data=data, scorers=[graded()], recorder=recorder, concurrency=1)
    counting.cancel()
    assert turns >= 300 // 64
