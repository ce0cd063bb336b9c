"""A conversation that broke off between two turns: it goes on where its thread is still there, else it begins anew."""

import asyncio
import json
import subprocess
import sys
import warnings

import pytest

from proctor import Item, JsonlRecorder, MemoryRecorder, Reply, Turn, run_evals, start_evals
from proctor.data.outcome import Origin
from proctor.errors import ProctorError
from proctor.running.ask import Conversation
from proctor.running.eval import Eval
from proctor.running.record import Event
from proctor.running.rows import RowMaker
from proctor.running.target import as_target
from proctor.testing import Scripted, ScriptedAgent
from tests.running.talks import FileThreads, by_turn, says, seeing, statuses
from tests.support import ROOT

SEE, _ = seeing()


@pytest.fixture(params=["memory", "file"])
def recorder(request, tmp_path):
    """Gives the recorder of each sitting."""
    here = MemoryRecorder()
    return (lambda: here) if request.param == "memory" else lambda: JsonlRecorder(tmp_path / "x.jsonl")


class Breaking:
    """A recorder that breaks off when so many events have been put."""

    def __init__(self, recorder, left):
        self.recorder = recorder
        self.left = left

    def __getattr__(self, name):
        return getattr(self.recorder, name)

    async def put(self, event):
        self.left -= 1
        if self.left < 0:
            raise OSError("the disk is full")
        await self.recorder.put(event)


def talk(**fields):
    return Item(id="talk", turns=[Turn(text, gates=[says("ok")], scorers=[SEE]) for text in "abc"], **fields)


async def broken_off(recorder, after, **options):
    with pytest.raises(ProctorError, match="the disk is full"):
        await run_evals(**{"data": [talk()], "scorers": [SEE], **options}, recorder=Breaking(recorder(), after))


def texts(agent):
    return [call.messages[0].text for call in agent.calls]


def threads(agent):
    return {call.thread_id for call in agent.calls}


# ── on the same thread ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("after", range(11))
async def test_it_goes_on_at_its_next_turn_when_its_thread_outlives_the_process(recorder, tmp_path, after):
    """Events: a reply, a gate and a scorer for each of three turns, the scorer of the whole, the row."""
    memory = FileThreads(tmp_path)
    first, second = (ScriptedAgent("ok", memory=memory) for _ in range(2))
    await broken_off(recorder, after, target=first)
    result = await run_evals(target=second, data=[talk()], scorers=[SEE], recorder=recorder())
    kept = -(-after // 3)  # replies that were put
    assert texts(second) == list("abc")[kept:]
    (row,) = result.items
    assert by_turn(row) == [["scored", "scored"]] * 3
    assert statuses(row.scorers) == [("see", "scored")]
    assert (len(row.replies), row.status, row.output[0].text) == (3, "done", "ok")
    if 0 < kept < 3:
        (thread,) = threads(first) | threads(second)
        assert {call.resource_id for call in (*first.calls, *second.calls)} == {thread}
        assert {reply.origin.thread_id for reply in row.replies} == {thread}
        said = [message.text for message in await memory.load(thread)][::2]
        assert sorted(set(said)) == list("abc")
    again = ScriptedAgent("ok", memory=memory)
    same = await run_evals(target=again, data=[talk()], scorers=[SEE], recorder=recorder())
    assert (same.items[0].replies, same.items[0].outcomes) == (row.replies, row.outcomes)
    assert not again.calls


async def test_scorers_that_were_there_are_not_run_again(recorder, tmp_path):
    see, seen = seeing("counted")
    item = Item(id="talk", turns=[Turn(text, scorers=[see]) for text in "abc"])
    options = {"data": [item], "scorers": [see.named("whole")]}
    memory = FileThreads(tmp_path)
    await broken_off(recorder, 4, target=ScriptedAgent("ok", memory=memory), **options)  # the last was not put
    await run_evals(target=ScriptedAgent("ok", memory=memory), recorder=recorder(), **options)
    assert [run.input for run in seen] == ["a", "b", "c", "a"]


async def test_a_cancelled_one_goes_on(recorder, tmp_path):
    begun = asyncio.Event()
    memory = FileThreads(tmp_path)

    class Hanging(ScriptedAgent):
        async def generate(self, messages, **place):
            if messages[0].text == "b":
                begun.set()
                await asyncio.sleep(60)
            return await super().generate(messages, **place)

    first, second = Hanging("ok", memory=memory), ScriptedAgent("ok", memory=memory)
    run = start_evals(target=first, data=[talk()], scorers=[SEE], recorder=recorder())
    await asyncio.wait_for(begun.wait(), 10)
    run.cancel()
    assert (await run).status == "cancelled"
    result = await run_evals(target=second, data=[talk()], scorers=[SEE], recorder=recorder())
    assert (texts(first), texts(second)) == (["a"], ["b", "c"])
    assert threads(first) == threads(second)
    assert result.verdict == "passed"


async def test_it_may_break_off_at_every_turn(recorder, tmp_path):
    agent = ScriptedAgent("ok", memory=FileThreads(tmp_path))
    for _ in range(3):
        await broken_off(recorder, 3, target=agent)
    result = await run_evals(target=agent, data=[talk()], scorers=[SEE], recorder=recorder())
    assert len(threads(agent)) == 1
    assert texts(agent) == ["a", "b", "b", "c", "c"]  # of a sitting that broke off the last was not put
    assert result.verdict == "passed"


async def test_each_repeat_has_its_own_thread(recorder, tmp_path):
    agent = ScriptedAgent("ok", memory=FileThreads(tmp_path))
    await broken_off(recorder, 15, target=agent, repeats=2)
    result = await run_evals(target=agent, data=[talk()], scorers=[SEE], repeats=2, recorder=recorder())
    one, two = ({reply.origin.thread_id for reply in row.replies} for row in result.items)
    assert (len(one), len(two), one & two) == (1, 1, set())


# ── without a memory ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.filterwarnings("ignore:the target has no memory")
async def test_a_target_that_remembers_nothing_is_asked_only_what_is_missing(recorder):
    asked = []

    async def target(text):
        asked.append(text)
        return "ok"

    await broken_off(recorder, 4, target=target)
    result = await run_evals(target=target, data=[talk()], scorers=[SEE], recorder=recorder())
    assert asked == ["a", "b", "c"]
    assert result.verdict == "passed"


# ── anew ───────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_it_begins_anew_on_a_fresh_thread_when_its_own_is_gone(recorder):
    first, second = ScriptedAgent("ok"), ScriptedAgent("ok")
    await broken_off(recorder, 4, target=first)
    result = await run_evals(target=second, data=[talk()], scorers=[SEE], recorder=recorder())
    assert texts(second) == ["a", "b", "c"]
    assert (len(threads(second)), threads(first) & threads(second)) == (1, set())
    assert {reply.origin.thread_id for reply in result.items[0].replies} == threads(second)


@pytest.mark.parametrize("scorers", [[SEE], [SEE, says("ok")]], ids=["row", "begun row"])
async def test_one_whose_reply_failed_is_not_talked_on_with(recorder, tmp_path, scorers):
    """A row that ended so is taken as it is; with other scorers it begins anew."""
    memory = FileThreads(tmp_path)
    first = ScriptedAgent(["ok", Scripted(throw=ConnectionError("down"))], memory=memory)
    await run_evals(target=first, data=[talk()], scorers=[SEE], recorder=recorder())
    second = ScriptedAgent("ok", memory=memory)
    result = await run_evals(target=second, data=[talk()], scorers=scorers, recorder=recorder())
    assert texts(second) == ([] if scorers == [SEE] else ["a", "b", "c"])
    assert result.items[0].status == ("error" if scorers == [SEE] else "done")
    assert not threads(first) & threads(second)


async def test_one_that_broke_off_after_a_reply_that_failed_begins_anew(recorder, tmp_path):
    memory = FileThreads(tmp_path)
    first = ScriptedAgent(["ok", Scripted(throw=ConnectionError("down"))], memory=memory)
    await broken_off(recorder, 4, target=first)
    second = ScriptedAgent("ok", memory=memory)
    await run_evals(target=second, data=[talk()], scorers=[SEE], recorder=recorder())
    assert texts(second) == ["a", "b", "c"]


async def test_one_that_asks_something_else_now_begins_anew(recorder, tmp_path):
    agent = ScriptedAgent("ok", memory=FileThreads(tmp_path))
    await broken_off(recorder, 3, target=agent)
    agent.calls.clear()
    await run_evals(target=agent, data=[Item(id="talk", inputs=["a", "x"])], scorers=[SEE], recorder=recorder())
    assert texts(agent) == ["a", "x"]


async def test_a_thread_that_no_reply_names_cannot_be_gone_on_with():
    for origins in ([None, None], [Origin(source="s")] * 2, [Origin(thread_id="1"), Origin(thread_id="2")]):
        recorder, agent = MemoryRecorder(), ScriptedAgent("ok")
        agent.memory.durable = True
        for turn, origin in enumerate(origins):
            await recorder.put(Event(("talk", 0), Reply("ok", origin=origin), turn, talk()))
        await run_evals(target=agent, data=[talk()], scorers=[SEE], recorder=recorder)
        assert texts(agent) == ["a", "b", "c"]


async def test_where_the_middle_of_a_file_is_lost_it_goes_on_before_that(tmp_path):
    path, agent = tmp_path / "x.jsonl", ScriptedAgent("ok", memory=FileThreads(tmp_path))
    await broken_off(lambda: JsonlRecorder(path), 7, target=agent)  # three replies
    lines = path.read_bytes().splitlines(keepends=True)
    second = next(n for n, line in enumerate(lines) if b'"turn":1' in line and b'"reply"' in line)
    lines[second] = b"?" + lines[second]
    path.write_bytes(b"".join(lines))
    agent.calls.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        result = await run_evals(target=agent, data=[talk()], scorers=[SEE], recorder=JsonlRecorder(path))
    assert texts(agent) == ["b", "c"]
    assert by_turn(result.items[0]) == [["scored", "scored"]] * 3
    again = await run_evals(target=agent, data=[talk()], scorers=[SEE], recorder=JsonlRecorder(path))
    assert (len(agent.calls), again.items[0].outcomes) == (2, result.items[0].outcomes)


# ── gates of its turns ─────────────────────────────────────────────────────────────────────────────────────────────


async def test_gates_that_are_missing_are_run_on_the_recorded_reply_before_the_next_turn_is_sent(recorder, tmp_path):
    agent = ScriptedAgent(["ok", "bad", "never"], memory=FileThreads(tmp_path))
    options = {"target": agent, "data": [talk(stop_on_failure=True)]}
    await broken_off(recorder, 4, **options)  # the reply of turn 1, without its gate
    result = await run_evals(**options, scorers=[SEE], recorder=recorder())
    assert texts(agent) == ["a", "b"]
    assert by_turn(result.items[0]) == [["scored", "scored"], ["scored", "scored"], ["not_run", "not_run"]]


@pytest.mark.parametrize("durable", [True, False])
async def test_one_that_a_gate_ended_is_only_scored(recorder, tmp_path, durable):
    agent = ScriptedAgent(["ok", "bad", "never"], memory=FileThreads(tmp_path) if durable else True)
    options = {"target": agent, "scorers": [SEE]}
    await broken_off(recorder, 5, data=[talk(stop_on_failure=True)], **options)  # the gate of turn 1, not its scorer
    for more in ([], [says("bad")]):
        turns = [Turn(text, gates=[says("ok")], scorers=[SEE, *more]) for text in "abc"]
        data = [Item(id="talk", turns=turns, stop_on_failure=True)]
        result = await run_evals(data=data, recorder=recorder(), **options)
        assert texts(agent) == ["a", "b"]
    assert by_turn(result.items[0]) == [["scored"] * 3, ["scored"] * 3, ["not_run"] * 3]
    assert result.items[0].turns[1].scorers["says-bad"].score == 1.0


async def test_one_that_a_gate_ended_goes_on_when_it_no_longer_stops(recorder, tmp_path):
    agent = ScriptedAgent(["ok", "bad", "ok"], memory=FileThreads(tmp_path))
    await run_evals(target=agent, data=[talk(stop_on_failure=True)], scorers=[SEE], recorder=recorder())
    more = [SEE, says("ok")]
    result = await run_evals(target=agent, data=[talk()], scorers=more, recorder=recorder())
    assert (texts(agent), len(threads(agent))) == (["a", "b", "c"], 1)
    assert by_turn(result.items[0]) == [["scored", "scored"]] * 3


# ── what a conversation is given ───────────────────────────────────────────────────────────────────────────────────


def row():
    return RowMaker((), (), has_target=True).make(talk(), 0)


def test_it_has_what_is_left_of_its_time_and_its_place():
    earlier = [Reply("ok", duration_ms=1500.0, origin=Origin(thread_id="t", resource_id="r")), Reply("ok")]
    fresh = Conversation(row(), Eval(data=[], timeout=4.0))
    assert (fresh.left, fresh.resource_id) == (4.0, fresh.thread_id)
    gone_on = Conversation(row(), Eval(data=[], timeout=4.0), earlier=earlier[:1])
    assert (gone_on.left, gone_on.thread_id, gone_on.resource_id) == (2.5, "t", "r")
    assert Conversation(row(), Eval(data=[]), earlier=earlier).left is None


def told(text, *, thread_id):
    return text


async def generate(messages, **place):
    return "ok"


@pytest.mark.parametrize(
    ("target", "durable"),
    [
        (lambda text: text, True),
        (told, False),
        (ScriptedAgent("ok"), False),
        (ScriptedAgent("ok", memory=False), True),
        (ScriptedAgent("ok", memory=FileThreads(".")), True),
        (type("Bot", (), {"generate": staticmethod(generate)})(), False),
        (type("Bot", (), {"generate": staticmethod(generate), "durable_threads": True})(), True),
        (type("Bot", (), {"generate": staticmethod(generate), "durable_threads": "yes"})(), False),
        (type("Own", (), {"reply": staticmethod(generate)})(), False),
        (type("Own", (), {"reply": staticmethod(generate), "remembers": False})(), True),
        (type("Own", (), {"reply": staticmethod(generate), "durable_threads": True})(), True),
    ],
)
def test_whose_threads_outlive_the_process(target, durable):
    assert as_target(target).durable is durable


def test_a_function_that_is_told_the_thread_may_say_so():
    def target(text, *, thread_id):
        return text

    target.durable_threads = True
    assert as_target(target).durable


async def test_the_thread_stands_in_the_origin_that_a_target_gives_without_one():
    class Bot:
        async def reply(self, call):
            return Reply("ok", origin=Origin(trace_id="trace"))

    result = await run_evals(target=Bot(), data=[talk(), {"id": "one", "input": "x"}], scorers=[SEE])
    talked, single = result.items
    assert {reply.origin.trace_id for reply in talked.replies} == {"trace"}
    (thread,) = {reply.origin.thread_id for reply in talked.replies}
    assert thread is not None
    assert single.replies[0].origin == Origin(trace_id="trace")


# ── killed ─────────────────────────────────────────────────────────────────────────────────────────────────────────

PROGRAM = """
import os, signal, sys
from proctor import Item, JsonlRecorder, Turn, checks, run_evals_sync
from proctor.testing import ScriptedAgent
from tests.running.talks import FileThreads

class Agent(ScriptedAgent):
    async def generate(self, messages, *, thread_id, **place):
        if messages[0].text == sys.argv[2]:
            os.kill(os.getpid(), signal.SIGKILL)
        with open(f"{sys.argv[1]}/calls", "a") as calls:
            print(thread_id, messages[0].text, len(await self.memory.load(thread_id)), file=calls)
        return await super().generate(messages, thread_id=thread_id, **place)

memory = FileThreads(sys.argv[1]) if sys.argv[3] == "durable" else True
item = Item(id="talk", turns=[Turn(text, gates=[checks.includes("ok")]) for text in "abc"])
recorder = JsonlRecorder(sys.argv[1] + "/x.jsonl")
result = run_evals_sync(target=Agent("ok", memory=memory), data=[item], recorder=recorder)
print(result.verdict, len(result.items[0].replies))
"""


def program(*words):
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, words)],
        cwd=ROOT,
        env={"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["durable", "in the process"])
def test_a_killed_one_goes_on_or_begins_anew(tmp_path, kind):
    assert program(tmp_path, "b", kind).returncode == -9
    assert program(tmp_path, "c", kind).returncode == -9
    last = program(tmp_path, "", kind)
    assert (last.stdout.split(), last.stderr) == (["passed", "3"], "")
    calls = [line.split() for line in (tmp_path / "calls").read_text().splitlines()]
    replies = [json.loads(line) for line in (tmp_path / "x.jsonl").read_text().splitlines() if '"turn"' in line]
    if kind == "durable":
        assert [call[1:] for call in calls] == [["a", "0"], ["b", "2"], ["c", "4"]]
        assert len({call[0] for call in calls}) == 1
        assert [line["kind"] for line in replies if line["kind"] in ("begin", "reply")] == ["begin", "reply", "reply"]
    else:
        assert [call[1] for call in calls] == ["a", "a", "b", "a", "b", "c"]
        assert len({call[0] for call in calls}) == 3
