"""The time of a run in several sittings, as its file tells it."""

import asyncio
import json
import re

import pytest

from proctor import Item, JsonlRecorder, Reply, run_evals, start_evals
from proctor.data.reply import ItemResult
from proctor.data.result import EvalResult, Summary
from proctor.running.record import Event
from tests.running.graded import asked, echo, graded, until_done
from tests.running.plans import plan_of

NOTHING = plan_of()
EVENTS = [Event((f"i{n}", 0), ItemResult(item=Item("x"), item_id=f"i{n}", replies=(Reply("out"),))) for n in range(3)]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "x.jsonl"


async def sit(path, *ats, lasted=None):
    """A sitting of that file with one event at each of these times; killed, or ended when *lasted* says so."""
    recorder = JsonlRecorder(path)
    found = await recorder.start(NOTHING)
    size = path.stat().st_size
    for event, _ in zip(EVENTS, ats, strict=False):
        await recorder.put(event)
    if lasted is not None:
        await recorder.end(EvalResult(eval_id="e", summary=Summary(duration_ms=lasted)))
    await recorder.flush()
    content, times = path.read_bytes(), iter(ats)
    written = re.sub(rb'"at":[\d.]+', lambda _: b'"at":%r' % next(times), content[size:])
    path.write_bytes(content[:size] + written)
    return found


def heads(path):
    return [line for line in map(json.loads, path.read_bytes().splitlines()) if line.get("proctor") == "record"]


async def test_a_sitting_that_was_killed_took_as_long_as_its_last_line_says(path):
    first = await sit(path, 5.5, 20.25, 1000.0)
    second = await sit(path)
    third = await sit(path, 7)
    fourth = await sit(path)
    assert [found.spent_ms for found in (first, second, third, fourth)] == [0.0, 1000.0, 1000.0, 1007.0]


async def test_the_first_start_is_that_of_all_sittings(path):
    found = [await sit(path, 1.0), await sit(path, 1.0, lasted=2.0), await sit(path)]
    began = [head["started_at"] for head in heads(path)]
    assert began == sorted(set(began))
    assert len(began) == 3
    assert [known.started_at for known in found] == [began[0]] * 3
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00", began[0])


async def test_an_end_says_the_time_of_all_sittings_so_far(path):
    await sit(path, 10.0)
    await sit(path, 20.0, lasted=35.5)
    assert (await sit(path, 4.0)).spent_ms == 35.5
    assert (await sit(path)).spent_ms == 39.5


async def test_a_result_that_says_no_time_has_that_of_the_recorder(path):
    recorder = JsonlRecorder(path)
    await recorder.start(NOTHING)
    await recorder.end(EvalResult(eval_id="e"))
    await recorder.flush()
    assert json.loads(path.read_bytes().splitlines()[-1])["duration_ms"] > 0


async def test_a_file_without_times_is_gone_on_from(path):
    await sit(path, 1.0, 2.0, lasted=3.0)
    head, *events, _ = path.read_bytes().splitlines(keepends=True)
    timeless = [re.sub(rb'"(at":2?1?\.0|started_at":"[^"]*"),', b"", line) for line in (head, *events)]
    path.write_bytes(b"".join(timeless))
    assert b'"at"' not in path.read_bytes()
    found = await sit(path)
    assert (len(found.finished), found.spent_ms, found.notes) == (2, 0.0, ())
    assert found.started_at == heads(path)[1]["started_at"]


@pytest.mark.parametrize("bad", [b"soon", b'"soon"', b"null", b"{}", b"NaN", b"1e999", b"-1"])
async def test_an_end_that_is_damaged_is_told_and_the_last_line_counts(path, bad):
    await sit(path, 12.0, lasted=15.0)
    path.write_bytes(path.read_bytes().replace(b'"duration_ms":15.0', b'"duration_ms":' + bad))
    found = await sit(path)
    assert found.spent_ms == 12.0
    assert "1 line is damaged" in found.notes[0]


async def test_a_beginning_that_is_damaged_costs_no_time(path):
    await sit(path, 12.0)
    await sit(path, 100.0)
    content = path.read_bytes()
    second = content.rindex(b'"session"')
    path.write_bytes(content[:second] + b"\xff" + content[second + 1 :])
    assert (await sit(path)).spent_ms == 112.0


# ── of runs ────────────────────────────────────────────────────────────────────────────────────────────────────────


def ends(path):
    return [line for line in map(json.loads, path.read_bytes().splitlines()) if line.get("proctor") == "end"]


async def test_a_run_that_is_gone_on_with_adds_to_what_it_took(path):
    options = {"target": echo, "scorers": [graded()]}
    results = [
        await run_evals(data=asked(*given), recorder=JsonlRecorder(path), **options)
        for given in ([0.1], [0.1, 0.2], [0.1, 0.2])
    ]
    durations = [result.summary.duration_ms for result in results]
    assert durations == sorted(set(durations))
    assert [(end["status"], end["duration_ms"]) for end in ends(path)] == [("complete", took) for took in durations]
    assert {result.summary.started_at for result in results} == {heads(path)[0]["started_at"]}


async def test_the_time_of_a_killed_sitting_is_in_the_result(path):
    await sit(path, 1e6)
    result = await run_evals(target=echo, data=asked(0.1), scorers=[graded()], recorder=JsonlRecorder(path))
    assert 1e6 < result.summary.duration_ms < 1.1e6
    assert result.summary.started_at == heads(path)[0]["started_at"]
    assert (await sit(path)).spent_ms == result.summary.duration_ms


async def test_a_cancelled_run_has_its_end_in_the_file(path):
    opened = asyncio.Event()

    async def gate(given):
        if given == 0.2:
            await opened.wait()
        return given

    options = {"target": gate, "data": asked(0.1, 0.2), "scorers": [graded()]}
    run = start_evals(**options, recorder=JsonlRecorder(path))
    await until_done(run, 1)
    run.cancel()
    cancelled = await run
    assert ends(path) == [{"proctor": "end", "status": "cancelled", "duration_ms": cancelled.summary.duration_ms}]
    opened.set()
    result = await run_evals(**options, recorder=JsonlRecorder(path))
    assert result.summary.duration_ms > cancelled.summary.duration_ms
    assert result.summary.started_at == cancelled.summary.started_at


async def test_a_run_that_stopped_has_its_end_in_the_file(path):
    options = {"target": echo, "data": asked("fail", 0.2), "scorers": [graded()], "stop_after_errors": 1}
    stopped = await run_evals(**options, recorder=JsonlRecorder(path), concurrency=1)
    assert ends(path) == [{"proctor": "end", "status": "stopped", "duration_ms": stopped.summary.duration_ms}]
