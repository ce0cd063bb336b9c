import asyncio

import pytest

from proctor import Item, ItemResult, MemoryRecorder, Outcome, Reply, checks, run_evals
from proctor.data.column import Column
from proctor.data.outcome import Outcomes
from proctor.running.eval import Eval
from proctor.running.record import Event, Known, NoRecorder, Recorder
from tests.running.graded import asked, graded, saved

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
    assert await recorder.start(Eval(data=[])) == Known()
    assert await recorder.find(ROW) is None


async def test_a_row_that_was_begun_is_found_with_what_there_is_of_it():
    recorder = MemoryRecorder()
    for value in (Reply("out"), GATE, SCORED):
        await recorder.put(Event(ROW, value))
    found = await recorder.find(ROW)
    assert (found.item_id, found.repeat, found.status) == ("i0", 0, "not_run")
    assert (found.replies, found.gates, found.scorers) == ((Reply("out"),), Outcomes([GATE]), Outcomes([SCORED]))
    assert await recorder.start(Eval(data=[])) == Known(begun={ROW})


async def test_a_row_that_ended_is_found_as_it_ended():
    recorder = MemoryRecorder()
    await recorder.put(Event(ROW, Reply("out")))
    await recorder.put(Event(ROW, DONE))
    assert await recorder.find(ROW) is DONE
    assert await recorder.start(Eval(data=[])) == Known(finished={ROW})
    assert recorder.finished == {ROW: DONE}


async def test_no_recorder_keeps_nothing():
    recorder: Recorder = NoRecorder()
    await recorder.put(Event(ROW, DONE))
    assert await recorder.start(Eval(data=[])) == Known()
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


async def test_a_recorder_that_cannot_write_stops_the_run():
    class Full(MemoryRecorder):
        async def put(self, event):
            raise OSError("no space left on device")

    with pytest.raises(OSError, match="no space left"):
        await run_evals(data=saved(1.0), scorers=[graded()], recorder=Full())


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


async def test_a_second_run_with_the_same_recorder_does_only_the_rest():
    recorder, target = MemoryRecorder(), Answering(stops_at=0.3)
    options = {"target": target, "data": asked(0.1, 0.2, 0.3, 0.4), "scorers": [graded()], "recorder": recorder}
    with pytest.raises(KeyboardInterrupt):
        await run_evals(**options)
    assert set(recorder.finished) == {("i0", 0), ("i1", 0)}
    result = await run_evals(**options)
    assert target.asked == [0.1, 0.2, 0.3, 0.3, 0.4]
    whole = await run_evals(**{**options, "recorder": None})
    assert [item.scorers[0].score for item in result.items] == [item.scorers[0].score for item in whole.items]
    assert result.scores["graded"].mean == whole.scores["graded"].mean


async def test_r02_a_row_that_was_begun_is_not_asked_again():
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
        await run_evals(**options, scorers=[graded().replace(generate_score=interrupt)])
    assert (await recorder.start(Eval(data=[]))).begun == {ROW}
    result = await run_evals(**options, scorers=[graded()])
    assert (target.asked, ran) == ([0.5], [0.5])
    assert [outcome.score for outcome in result.items[0].outcomes] == [1.0, 0.5]


async def test_r03_a_run_whose_items_are_all_done_asks_for_nothing():
    recorder, target = MemoryRecorder(), Answering()
    options = {"target": target, "data": asked(0.5), "scorers": [(graded(), 0.5)], "recorder": recorder}
    first = await run_evals(**options)
    second = await run_evals(**options)
    assert target.asked == [0.5]
    assert (second.verdict, second.items) == (first.verdict, first.items)
