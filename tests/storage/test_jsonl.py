import asyncio
import json
import os
import resource
import subprocess
import sys
from dataclasses import replace
from tempfile import TemporaryDirectory
from time import perf_counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor import (
    Item,
    JsonlRecorder,
    MemoryRecorder,
    ProctorError,
    Recorder,
    Reply,
    Turn,
    UsageError,
    checks,
    run_evals,
    run_evals_sync,
    scorer,
    start_evals,
)
from proctor.data.column import Column
from proctor.data.outcome import NotScorable, Outcome
from proctor.data.reply import ItemResult
from proctor.data.result import EvalResult, Summary
from proctor.running.record import Event, Known
from tests.running.graded import asked, graded, saved
from tests.running.plans import plan_of
from tests.support import ROOT

ROW = ("i0", 0)
NOTHING = plan_of()
SCORED = Outcome(Column("scorer", None, "s", "s"), "scored", 0.5)
WHOLE = ItemResult(item=Item("x", id="i0"), item_id="i0", replies=(Reply("out"),), scorers=(SCORED,))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs" / "x.jsonl"


async def with_events(path, *events):
    """A recorder of that file, in which there are these events."""
    recorder = JsonlRecorder(path)
    await recorder.start(NOTHING)
    for event in events:
        await recorder.put(event)
    await recorder.flush()
    return recorder


async def known(path, plan=NOTHING):
    recorder = JsonlRecorder(path)
    found = await recorder.start(plan)
    await recorder.flush()
    return found


def rows(known):
    return known.finished, known.begun, known.notes


async def target(given):
    return given


def counting(id, ran, score=1.0, **options):
    return scorer(id=id, inline=True, **options)(lambda run: ran.append(id) or score)


# ── what is kept ───────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_file_that_is_not_there_is_made_with_its_folders(path):
    recorder: Recorder = JsonlRecorder(path)
    assert not path.exists()
    assert rows(await recorder.start(NOTHING)) == rows(Known())
    assert path.exists()
    assert await recorder.find(ROW) is None
    await recorder.flush()


async def test_what_was_put_is_in_the_file_at_once(path):
    recorder = JsonlRecorder(path)
    await recorder.start(NOTHING)
    await recorder.put(Event(ROW, Reply("out")))
    lines = path.read_bytes().splitlines()
    assert json.loads(lines[0])["schema"] == 1
    assert json.loads(lines[1])["value"] == {"$": "Reply", "output": "out"}
    await recorder.flush()


async def test_a_row_is_found_as_far_as_it_came(path):
    item = Item("x", id="i0")
    recorder = await with_events(path, Event(ROW, Reply("out"), None, item), Event(ROW, SCORED))
    assert rows(await known(path)) == rows(Known(begun={ROW}))
    found = await recorder.find(ROW)
    assert (found.status, found.item, found.output, found.outcomes) == ("not_run", item, "out", (SCORED,))
    await with_events(path, Event(ROW, WHOLE))
    assert rows(await known(path)) == rows(Known(finished={ROW}))
    assert await recorder.find(ROW) != WHOLE  # it has not looked since
    await recorder.start(NOTHING)
    assert await recorder.find(ROW) == WHOLE
    await recorder.flush()


async def test_what_was_added_to_a_finished_row_is_not_lost(path):
    other = Outcome(Column("gate", None, "g", "g"), "scored", 1.0)
    recorder = await with_events(path, Event(ROW, WHOLE), Event(ROW, other))
    assert rows(await known(path)) == rows(Known(finished={ROW}, begun={ROW}))
    found = await recorder.find(ROW)
    assert (found.status, found.output, found.outcomes) == ("not_run", "out", (other, SCORED))


async def test_a_conversation_that_is_begun_anew_leaves_its_first_beginning(path):
    events = [Event(ROW, Reply("one"), 0), Event(ROW, SCORED), Event(ROW, Reply("again"), 0), Event(ROW, Reply("b"), 1)]
    found = await (await with_events(path, *events)).find(ROW)
    assert (found.output, found.outcomes) == (["again", "b"], ())


@pytest.mark.parametrize("name", ["plain", "ünïcode 日本", 'quo"te\\', "line\nend", "\ud800", "", "}", "x" * 9000])
async def test_any_id_is_found_again(path, name):
    row = (name, 3)
    recorder = await with_events(path, Event(row, WHOLE))
    assert (await known(path)).finished == {row}
    assert await recorder.find(row) == WHOLE


async def test_a_run_that_is_done_adds_only_that_it_was_asked_for(path):
    options = {"target": target, "data": asked(0.5), "scorers": [graded()]}
    first = await run_evals(**options, recorder=JsonlRecorder(path))
    before = path.read_bytes()
    again = await run_evals(**options, recorder=JsonlRecorder(path))
    added = path.read_bytes().removeprefix(before).splitlines()
    assert [json.loads(line)["proctor"] for line in added] == ["record", "end"]
    assert again.items == first.items
    assert again.summary.notes == ()


async def test_put_without_start_says_so(path):
    with pytest.raises(ProctorError, match="no run has begun"):
        await JsonlRecorder(path).put(Event(ROW, WHOLE))


VALUES = [
    Event(("", 0), Reply("out"), None, Item("x")),
    Event(("", 0), Reply({"a": [1, b"\xff", None, "\ud800"]}), 0, Item(turns=[Turn("a"), Turn("b")])),
    Event(("", 0), Reply(float("inf")), 1),
    Event(("", 0), SCORED),
    Event(("", 0), Outcome(Column("gate", None, "g", "g"), "scored", 1.0)),
    Event(("", 0), Outcome(Column("gate", 1, "g", "g"), "not_scorable", cause=NotScorable("analyze", "none"))),
    Event(("", 0), WHOLE),
]
EVENTS = st.builds(
    lambda event, item_id, repeat: replace(event, row=(item_id, repeat)),
    st.sampled_from(VALUES),
    st.sampled_from(["i0", 'quo"te', "日本"]),
    st.integers(0, 1),
)


@pytest.mark.slow
@given(st.lists(st.one_of(st.none(), EVENTS), max_size=25))
@settings(max_examples=60, deadline=None)
def test_it_keeps_what_the_recorder_in_memory_keeps(events):
    """None: a new process."""

    async def compare(path):
        memory, file = MemoryRecorder(), JsonlRecorder(path)
        assert rows(await file.start(NOTHING)) == rows(await memory.start(NOTHING))
        for event in [*events, None]:
            if event is None:
                await file.flush()
                file = JsonlRecorder(path)
                assert rows(await file.start(NOTHING)) == rows(await memory.start(NOTHING))
            else:
                await file.put(event)
                await memory.put(event)
            for row in {event.row for event in events if event}:
                assert await file.find(row) == await memory.find(row)
        await file.flush()

    with TemporaryDirectory() as folder:
        asyncio.run(compare(f"{folder}/x.jsonl"))


# ── a second run ───────────────────────────────────────────────────────────────────────────────────────────────────

ASKED = []


async def noting(given):
    ASKED.append(given)
    return given


@pytest.fixture
def asked_for():
    ASKED.clear()
    return ASKED


async def test_a_new_scorer_runs_on_the_recorded_replies(path, asked_for):
    ran = []
    old, new = counting("old", ran, version="1"), counting("new", ran, version="1")
    options = {"target": noting, "data": asked(0.1, 0.2), "repeats": 2}
    await run_evals(**options, scorers=[old], recorder=JsonlRecorder(path))
    result = await run_evals(**options, scorers=[old, new], recorder=JsonlRecorder(path))
    assert (len(asked_for), ran) == (4, ["old"] * 4 + ["new"] * 4)
    assert [item.scorers.keys() for item in result.items] == [["old", "new"]] * 4


async def test_a_scorer_that_was_changed_runs_anew_and_the_result_says_so(path, asked_for):
    ran = []
    options = {"target": noting, "data": asked(0.1)}
    kept = counting("kept", ran, version="1")
    await run_evals(**options, scorers=[counting("s", ran, version="1"), kept], recorder=JsonlRecorder(path))
    for _ in range(2):
        changed = counting("s", ran, 0.25, version="2")
        result = await run_evals(**options, scorers=[changed, kept], recorder=JsonlRecorder(path))
    assert (asked_for, ran) == ([0.1], ["s", "kept", "s"])
    assert [outcome.score for outcome in result.items[0].scorers] == [0.25, 1.0]
    assert result.summary.notes == ()
    again = await run_evals(**options, scorers=[counting("s", ran, version="3"), kept], recorder=JsonlRecorder(path))
    assert any("run anew on the recorded replies: s" in note for note in again.summary.notes)


async def test_other_data_under_the_same_ids_is_not_taken_for_it(path, asked_for):
    options = {"target": noting, "scorers": [graded()]}
    await run_evals(**options, data=asked(0.1, 0.2), recorder=JsonlRecorder(path))
    result = await run_evals(**options, data=asked(0.1, 0.3), recorder=JsonlRecorder(path))
    assert asked_for == [0.1, 0.2, 0.3]
    assert [item.output for item in result.items] == [0.1, 0.3]
    assert any("1 of the recorded rows had another item" in note for note in result.summary.notes)


async def test_another_ground_truth_is_judged_anew_without_asking(path, asked_for):
    ran = []
    options = {"target": noting, "scorers": [counting("s", ran, version="1")]}
    for truth in ("a", "b"):
        data = [{"id": "i0", "input": "x", "ground_truth": truth}]
        result = await run_evals(**options, data=data, recorder=JsonlRecorder(path))
    assert (asked_for, ran) == (["x"], ["s", "s"])
    assert result.items[0].item.ground_truth == "b"


async def test_rows_stand_where_the_data_has_them_now(path, asked_for):
    options = {"target": noting, "scorers": [graded()]}
    one, two, three = asked(0.1, 0.2, 0.3)
    await run_evals(**options, data=[one, two], recorder=JsonlRecorder(path))
    result = await run_evals(**options, data=[three, two, one], recorder=JsonlRecorder(path))
    assert asked_for == [0.1, 0.2, 0.3]
    assert [(item.item_id, item.index) for item in result.items] == [("i2", 0), ("i1", 1), ("i0", 2)]


async def test_another_target_is_refused_before_it_is_asked_unless_it_is_accepted(path, asked_for):
    async def other(given):
        raise AssertionError

    options = {"data": asked(0.1), "scorers": [graded()]}
    await run_evals(**options, target=noting, recorder=JsonlRecorder(path))
    before = path.read_bytes()
    with pytest.raises(UsageError, match=r"the target is another\. Give another path"):
        await run_evals(**options, target=other, recorder=JsonlRecorder(path))
    with pytest.raises(UsageError, match="target_options or request_context are others"):
        await run_evals(**options, target=noting, target_options={"t": 1}, recorder=JsonlRecorder(path))
    assert path.read_bytes() == before
    accepting = JsonlRecorder(path, other_target="accept")
    result = await run_evals(**options, target=other, recorder=accepting)
    assert result.items[0].output == 0.1
    assert any("another target were accepted" in note for note in result.summary.notes)
    await run_evals(**options, target=other, recorder=JsonlRecorder(path))  # it has been accepted


async def test_a_target_that_cannot_be_compared_is_said_to_be_so(path):
    class Bot:
        async def __call__(self, given):
            return given

    options = {"target": Bot(), "data": asked(0.1), "scorers": [graded()]}
    first = await run_evals(**options, recorder=JsonlRecorder(path))
    again = await run_evals(**options, recorder=JsonlRecorder(path))
    assert first.summary.notes == ()
    assert any("whether the target is still the same cannot be told" in note for note in again.summary.notes)


async def test_state_that_a_target_closes_over_does_not_make_it_another(path):
    calls, count = [], 0

    async def stateful(given):
        nonlocal count
        count += 1
        calls.append(given)
        return given

    options = {"target": stateful, "scorers": [graded()]}
    await run_evals(**options, data=asked(0.1), recorder=JsonlRecorder(path))
    await run_evals(**options, data=asked(0.1, 0.2), recorder=JsonlRecorder(path))
    assert calls == [0.1, 0.2]


def test_settings_that_a_target_closes_over_do(path):
    def make(prompt):
        return lambda given: prompt + given

    options = {"data": asked("x"), "scorers": [checks.includes("x")]}
    run_evals_sync(**options, target=make("a"), recorder=JsonlRecorder(path))
    with pytest.raises(UsageError, match="the target is another"):
        run_evals_sync(**options, target=make("b"), recorder=JsonlRecorder(path))


async def test_conversations_are_not_held_twice(path):
    said = []

    async def talk(text, *, thread_id):
        said.append(text)
        return text

    item = Item(id="talk", turns=[Turn("a", gates=[checks.includes("a")]), Turn("b")])
    for data in ([item], [item, Item(id="more", inputs=["c", "d"])]):
        result = await run_evals(
            target=talk,
            data=data,
            scorers=[graded().replace(generate_score=lambda ctx: 1)],
            recorder=JsonlRecorder(path),
        )
    assert said == ["a", "b", "c", "d"]
    assert [turn.gates.keys() for turn in result.items[0].turns] == [["check-includes[a]"], []]


async def test_a_cancelled_run_is_gone_on_with(path, asked_for):
    begun, hold = asyncio.Event(), asyncio.Event()

    async def slow(run):
        if run.output == 0.2:
            begun.set()
            await hold.wait()
        return 1

    options = {"target": noting, "data": asked(0.1, 0.2, 0.3), "scorers": [scorer(version="1")(slow)]}
    run = start_evals(**options, recorder=JsonlRecorder(path))
    await asyncio.wait_for(begun.wait(), 10)
    run.cancel()
    assert (await run).status == "cancelled"
    hold.set()
    result = await run_evals(**options, recorder=JsonlRecorder(path))
    assert (asked_for, result.status, len(result.items)) == ([0.1, 0.2, 0.3], "complete", 3)


# ── files that cannot be used ──────────────────────────────────────────────────────────────────────────────────────


async def refused(path, match):
    with pytest.raises(UsageError, match=match):
        await run_evals(target=noting, data=asked(0.1), scorers=[graded()], recorder=JsonlRecorder(path))


@pytest.mark.parametrize("bad", [None, 3, ""], ids=repr)
def test_a_path_that_is_none_is_refused(bad):
    with pytest.raises(UsageError, match="JsonlRecorder needs the path of a file"):
        JsonlRecorder(bad)


def test_a_misspelt_option_value_is_refused():
    with pytest.raises(UsageError, match="'refuse' or 'accept'"):
        JsonlRecorder("x.jsonl", other_target="yes")


def test_a_bare_path_is_told_how_to_say_it():
    with pytest.raises(UsageError, match=r"recorder=JsonlRecorder\('x.jsonl'\)"):
        run_evals_sync(data=saved(1.0), scorers=[graded()], recorder="x.jsonl")


async def test_what_is_no_file_is_refused_before_anything_is_asked(tmp_path, asked_for):
    await refused(tmp_path, "it is not a file")
    (tmp_path / "file").write_text("x")
    await refused(tmp_path / "file" / "x.jsonl", "File exists|Not a directory")
    await refused("nul\0l", "null")
    await refused("/proc/self/x.jsonl", "No such file|Permission denied")
    os.mkfifo(tmp_path / "pipe")
    await refused(tmp_path / "pipe", "it is not a file")
    assert asked_for == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
async def test_a_folder_that_cannot_be_written_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    await refused(tmp_path / "x.jsonl", "Permission denied")


@pytest.mark.parametrize(
    "content",
    [
        b'{"input": "a question"}\n',
        b"\n",
        b"\xff\xfe\x00",
        b"proctor",
        b'{"proctor":"other"}\n',
        b'{"proctor":"record"\n',
    ],
)
async def test_a_file_that_no_recorder_wrote_is_refused_and_stays_as_it_is(path, content, asked_for):
    path.parent.mkdir()
    path.write_bytes(content)
    await refused(path, "it is not a recorder's file")
    assert (path.read_bytes(), asked_for) == (content, [])


async def test_a_file_of_a_newer_version_is_refused(path):
    await with_events(path, Event(ROW, WHOLE))
    path.write_bytes(path.read_bytes().replace(b'"schema":1', b'"schema":2'))
    with pytest.raises(UsageError, match=r"x\.jsonl: written in form 2 by a newer Proctor") as caught:
        await known(path)
    assert caught.value.code == "SCHEMA_TOO_NEW"


ANOTHER = """
import sys
from proctor import JsonlRecorder, checks, run_evals_sync
run_evals_sync(target=lambda text: print("asked") or text, data=[{"input": "x"}], scorers=[checks.includes("x")],
               recorder=JsonlRecorder(sys.argv[1]))
"""


@pytest.mark.slow
async def test_two_runs_on_one_file_are_refused(path, asked_for):
    recorder = JsonlRecorder(path)
    await recorder.start(NOTHING)
    await refused(path, "another run is writing to it")
    with pytest.raises(UsageError, match="a run that has not ended"):
        await recorder.start(NOTHING)
    done = started("-c", ANOTHER, path)
    assert ("another run is writing to it" in done.stderr, done.stdout) == (True, "")
    await recorder.flush()
    assert rows(await known(path)) == rows(Known())


def environment():
    return {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}"}


def started(*words):
    command = [sys.executable, *map(str, words)]
    return subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=False)


FULL = """
import resource, signal, sys
from proctor import JsonlRecorder, checks, run_evals_sync
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
data = [{"id": f"i{n}", "input": "x" * 100} for n in range(50)]
run_evals_sync(target=lambda text: print("asked") or text, data=data, scorers=[checks.includes("x")],
               recorder=JsonlRecorder(sys.argv[1]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("room", [0, 100, 2500, 3001])
async def test_when_there_is_no_more_room_the_run_ends_and_the_file_is_whole(path, room):
    done = started("-c", FULL, path, room)
    assert "File too large" in done.stderr.splitlines()[-1]
    written = path.read_bytes()
    assert len(written) <= room
    if room <= 100:
        assert ("UsageError" in done.stderr, done.stdout, written) == (True, "", b"")
    else:
        assert f"cannot write to {path}" in done.stderr
        assert written.endswith(b"}\n")
        assert len((await known(path)).finished) > 0


# ── what a kill leaves ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
async def test_a_last_line_cut_at_any_byte_is_mended(tmp_path):
    path = tmp_path / "x.jsonl"
    recorder = JsonlRecorder(path)
    await recorder.start(NOTHING)
    for event in (Event(ROW, Reply("öut")), Event(ROW, SCORED), Event(("i1", 0), WHOLE)):
        await recorder.put(event)
    await recorder.end(EvalResult(eval_id="e", summary=Summary(duration_ms=1e9)))
    await recorder.flush()
    content = path.read_bytes()
    lines = content.splitlines(keepends=True)
    for cut in range(len(content)):
        path.write_bytes(content[:cut])
        whole = sum(content[:cut].count(line) for line in lines)
        ended = content[cut : cut + 1] == b"\n"
        await with_events(path, Event(("i2", 0), WHOLE))
        after = path.read_bytes()
        assert after.startswith(b"".join(lines[: whole + ended]))
        assert [bool(json.loads(line)) for line in after.splitlines()] == [True] * (whole + ended + 2)
        found = await known(path)
        assert found.notes == ()
        assert (found.spent_ms >= 1e9) == (whole + ended == len(lines))


@pytest.mark.parametrize("garbage", [b"\xff\xfe\x80", b"{", b'{"item":"i9","repeat":0,"kind":"row",', b"\0" * 5000])
async def test_garbage_between_lines_is_told_and_costs_no_more_than_itself(path, garbage):
    await with_events(path, Event(ROW, WHOLE), Event(("i1", 0), WHOLE))
    first, second, third = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + second + garbage + b"\n" + third)
    found = await known(path)
    assert (found.finished, found.begun) == ({ROW, ("i1", 0)}, set())
    assert "1 line is damaged" in found.notes[0]


async def test_a_line_that_is_damaged_inside_is_done_again(path, asked_for):
    options = {"target": noting, "data": asked(0.1, 0.2), "scorers": [graded()]}
    await run_evals(**options, recorder=JsonlRecorder(path))
    lines = path.read_bytes().splitlines(keepends=True)
    lines[3] = lines[3][:60] + b"\xff\xff" + lines[3][62:]
    path.write_bytes(b"".join(lines))
    with pytest.warns(RuntimeWarning, match="is damaged, and is done again"):
        result = await run_evals(**options, recorder=JsonlRecorder(path))
    assert (asked_for, len(result.items)) == ([0.1, 0.2, 0.1], 2)


@pytest.mark.slow
async def test_a_finished_run_of_100_000_items_starts_in_one_look(path):
    path.parent.mkdir()
    await with_events(path, Event(("i0", 0), Reply("out"), None, WHOLE.item), Event(("i0", 0), WHOLE))
    first, *lines = path.read_bytes().splitlines(keepends=True)
    with path.open("wb") as file:
        file.write(first)
        for number in range(100_000):
            file.writelines(line.replace(b'"item":"i0"', b'"item":"i%d"' % number, 1) for line in lines)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = perf_counter()
    found = await known(path)
    assert perf_counter() - began < 20  # about a second: one pass, and nothing is parsed whole
    assert len(found.finished) == 100_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak < 150_000  # KiB: no reply is held
