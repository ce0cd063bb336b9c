"""Conversations that do not go as they should: a turn fails, is stopped at, takes too long, or the run breaks off."""

import asyncio

import pytest

from proctor import Item, MemoryRecorder, Turn, checks, create_scorer, not_scorable, run_evals, scorer
from proctor.errors import ProctorError
from proctor.testing import Scripted, ScriptedAgent
from tests.running.graded import graded
from tests.running.talks import TALK, by_turn, reasons, says, seeing, statuses

SEE, _ = seeing()

# ── a turn that fails ──────────────────────────────────────────────────────────────────────────────────────────────


async def test_when_a_turn_in_the_middle_fails_what_was_said_before_is_scored_and_the_rest_is_not_run():
    agent = ScriptedAgent(["fine", Scripted(throw=ConnectionError("down")), "never said"])
    good = says("fine")
    item = Item(id="talk", turns=[Turn(text, gates=[good], scorers=[SEE]) for text in "abc"])
    result = await run_evals(target=agent, data=[item], gates=[checks.no_tool_errors()], scorers=[(SEE, 0.5)])
    (row,) = result.items
    assert len(agent.calls) == 2
    assert (row.status, row.error.message, len(row.replies)) == ("error", "down", 2)
    assert by_turn(row) == [["scored", "scored"], ["not_run"] * 2, ["not_run"] * 2]
    assert set(reasons([*row.gates, *row.scorers, *row.turns[1].gates, *row.turns[2].gates])) == {"target_failed"}
    assert (result.verdict, result.summary.errors) == ("failed", 1)
    assert [mean.no_reply for means in result.turn_results.values() for mean in means] == [0, 0, 1, 1, 1, 1]


async def test_a_conversation_that_failed_leaves_the_next_one_alone():
    agent = ScriptedAgent({"bad": ConnectionError("down"), "*": "ok"})
    data = [{"id": "a", "inputs": ["x", "bad", "y"]}, {"id": "b", "inputs": ["x", "y"]}]
    result = await run_evals(target=agent, data=data, scorers=[SEE])
    assert [row.status for row in result.items] == ["error", "done"]
    assert (result.scores["see"].n, result.scores["see"].of) == (1, 2)


async def test_a_turns_scorer_that_raises_is_its_own_error_and_the_conversation_goes_on():
    def broken(ctx):
        raise ValueError("the scorer broke")

    turns = [Turn("a", scorers=[create_scorer(id="broken", inline=True).generate_score(broken)]), Turn("b")]
    result = await run_evals(target=ScriptedAgent("ok"), data=[Item(turns=turns)], scorers=[SEE])
    assert by_turn(result.items[0]) == [["error"], []]
    assert statuses(result.items[0].scorers) == [("see", "scored")]


@pytest.mark.parametrize("stop", [True, False])
async def test_stop_on_failure_ends_a_conversation_at_a_turn_whose_gate_failed(stop):
    agent = ScriptedAgent(["fine", "bad", "fine"])
    item = Item(turns=[Turn(text, gates=[says("fine")], scorers=[SEE]) for text in "abc"], stop_on_failure=stop)
    result = await run_evals(target=agent, data=[item], scorers=[SEE])
    (row,) = result.items
    last = ["not_run", "not_run"] if stop else ["scored", "scored"]
    assert by_turn(row) == [["scored", "scored"], ["scored", "scored"], last]
    assert (len(agent.calls), row.status, result.verdict) == (2 if stop else 3, "done", "failed")
    assert statuses(row.scorers) == [("see", "not_run" if stop else "scored")]
    if stop:
        assert set(reasons([*row.scorers, *row.turns[2].gates, *row.turns[2].scorers])) == {"earlier_turn_failed"}
        assert result.turn_results[2][0].passed is None
        assert result.summary.errors == 0


async def test_a_gate_that_failed_in_the_last_turn_stops_nothing():
    turns = [Turn("a", gates=[says("fine")]), Turn("b", gates=[says("fine")])]
    result = await run_evals(
        target=ScriptedAgent(["fine", "bad"]), data=[Item(turns=turns, stop_on_failure=True)], scorers=[SEE]
    )
    assert statuses(result.items[0].scorers) == [("see", "scored")]


@pytest.mark.parametrize(
    ("gates", "scorers", "calls"),
    [
        pytest.param([], [(says("fine"), 1.0)], 2, id="a threshold missed"),
        pytest.param([create_scorer(id="n/a").generate_score(lambda ctx: not_scorable("no"))], [], 2, id="declined"),
        pytest.param([create_scorer(id="raises").generate_score(lambda ctx: 1 / 0)], [], 1, id="a gate that raised"),
    ],
)
async def test_what_counts_as_a_failure_to_stop_on(gates, scorers, calls):
    agent = ScriptedAgent("bad")
    item = Item(turns=[Turn("a", gates=gates, scorers=scorers), Turn("b")], stop_on_failure=True)
    await run_evals(target=agent, data=[item], scorers=[SEE])
    assert len(agent.calls) == calls


async def test_scorers_of_a_turn_are_left_out_where_its_gate_failed_and_the_others_are_not():
    item = Item(turns=[Turn(text, gates=[says("fine")], scorers=[SEE]) for text in "ab"])
    agent = ScriptedAgent(["bad", "fine"])
    result = await run_evals(target=agent, data=[item], scorers=[SEE], skip_scorers_after_gate_failure=True)
    assert by_turn(result.items[0]) == [["scored", "not_run"], ["scored", "scored"]]
    assert statuses(result.items[0].scorers) == [("see", "scored")]


async def test_the_time_of_scorers_is_not_taken_from_the_targets():
    """`timeout` is for the replies; here the scorers of the first turn alone take longer."""

    @scorer(id="slow")
    async def slow(run):
        await asyncio.sleep(0.3)
        return 1

    item = Item(turns=[Turn("a", scorers=[slow]), Turn("b"), Turn("c")])
    agent = ScriptedAgent([Scripted("ok", delay=0.001)])
    result = await run_evals(target=agent, data=[item], scorers=[SEE], timeout=0.25)
    assert result.items[0].error is None


async def test_all_replies_of_a_conversation_together_have_the_time():
    hangs = Scripted("late", delay=30)
    result = await run_evals(target=ScriptedAgent(["ok", hangs]), data=[TALK], scorers=[SEE], timeout=0.1)
    (row,) = result.items
    assert (row.error.code, len(row.replies)) == ("TIMEOUT", 2)


# ── garbage ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("replies", [[None, None, None], ["ok", None, "ok"]], ids=["all", "one"])
async def test_a_target_that_gives_none_is_an_error_of_whoever_reads_it(replies):
    left = list(replies)

    async def target(text, *, thread_id):
        return left.pop(0)

    turns = [Turn("a", scorers=[checks.includes("ok")]), Turn("b"), Turn("c")]
    gates = [checks.excludes("x"), checks.used_no_tools()]
    result = await run_evals(target=target, data=[Item(turns=turns)], gates=gates, scorers=[checks.includes("ok")])
    (row,) = result.items
    assert (row.status, result.verdict) == ("done", "failed")
    assert [outcome.status for outcome in (*row.gates, *row.scorers)] == ["error"] * 3
    assert row.turns[0].scorers[0].status == ("error" if replies[0] is None else "scored")


async def test_values_that_are_no_messages_are_read_as_data():
    see, seen = seeing()

    async def target(text, *, thread_id):
        return {"answer": text}

    item = Item(turns=[Turn("a", scorers=[see]), Turn("b")])
    await run_evals(target=target, data=[item], scorers=[see])
    turn, whole = seen
    assert turn.output == {"answer": "a"}
    assert [said.output for said in whole.turns] == [{"answer": "a"}, {"answer": "b"}]
    assert [message.parts[0].value for message in whole.output] == [{"answer": "a"}, {"answer": "b"}]


# ── resuming ───────────────────────────────────────────────────────────────────────────────────────────────────────


class Breaking(MemoryRecorder):
    """Breaks off when so many events have been put."""

    left = 10**6

    async def put(self, event):
        self.left -= 1
        if self.left < 0:
            raise OSError("the disk is full")
        await super().put(event)


def talk():
    return Item(id="talk", turns=[Turn(text, gates=[says("ok")]) for text in "abc"])


async def broken_off(recorder, after, **options):
    recorder.left = after
    with pytest.raises(ProctorError, match="the disk is full"):
        await run_evals(data=[talk()], scorers=[SEE], recorder=recorder, **options)
    recorder.left = 10**6


async def test_a_conversation_that_broke_off_in_the_middle_is_held_anew():
    recorder, agent = Breaking(), ScriptedAgent("ok")
    await broken_off(recorder, 3, target=agent)
    before = len(agent.calls)
    result = await run_evals(target=agent, data=[talk()], scorers=[SEE], recorder=recorder)
    again = agent.calls[before:]
    assert [call.messages[0].text for call in again] == ["a", "b", "c"]
    assert len({call.thread_id for call in again}) == 1
    assert again[0].thread_id != agent.calls[0].thread_id
    assert by_turn(result.items[0]) == [["scored"], ["scored"], ["scored"]]


async def test_one_that_broke_off_twice_is_not_put_together_of_two_halves():
    """One reply of the first attempt and two of the second are not the three of one conversation."""
    recorder = Breaking()
    await broken_off(recorder, 2, target=ScriptedAgent("ok first"))
    await broken_off(recorder, 4, target=ScriptedAgent("ok second"))
    agent = ScriptedAgent("ok third")
    result = await run_evals(target=agent, data=[talk()], scorers=[SEE], recorder=recorder)
    assert [reply.output[0].text for reply in result.items[0].replies] == ["ok third"] * 3
    assert len(agent.calls) == 3


async def test_one_whose_replies_are_all_there_is_only_scored():
    recorder, agent = Breaking(), ScriptedAgent("ok")
    await broken_off(recorder, 5, target=agent)  # three replies, the gates of two
    never = ScriptedAgent([Scripted(throw=AssertionError("asked again"))])
    result = await run_evals(target=never, data=[talk()], scorers=[SEE], recorder=recorder)
    assert by_turn(result.items[0]) == [["scored"], ["scored"], ["scored"]]
    assert statuses(result.items[0].scorers) == [("see", "scored")]
    assert not never.calls


async def test_one_that_is_finished_is_taken_as_it_is_or_scored_anew_without_the_target():
    recorder, agent = MemoryRecorder(), ScriptedAgent("ok")
    first = await run_evals(target=agent, data=[talk()], scorers=[SEE], recorder=recorder)
    second = await run_evals(target=agent, data=[talk()], scorers=[SEE], recorder=recorder)
    assert second.items[0].replies == first.items[0].replies
    third = await run_evals(target=agent, data=[talk()], scorers=[SEE, says("ok")], recorder=recorder)
    assert statuses(third.items[0].scorers) == [("see", "scored"), ("says-ok", "scored")]
    assert len(agent.calls) == 3


# ── saved conversations ────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_saved_conversation_is_scored_without_a_target():
    said = [("user", "Hi"), ("assistant", "Hello"), ("user", "Bye"), ("assistant", "See you")]
    messages = [{"role": role, "content": text} for role, text in said]
    see, seen = seeing()
    result = await run_evals(
        data=[{"id": "saved", "messages": messages}], scorers=[see], gates=[checks.includes("See")]
    )
    assert result.verdict == "passed"
    assert (seen[0].user_text, seen[0].texts) == ("Hi Bye", ("Hello", "See you"))


async def test_outputs_of_a_run_are_scored_again_as_they_were():
    result = await run_evals(target=ScriptedAgent(["one", "two", "three"]), data=[TALK], gates=[says("two")])
    saved = Item(id="talk", input="Hi", output=result.items[0].output)
    again = await run_evals(data=[saved], gates=[says("two")])
    assert (again.verdict, again.gate_results[0].mean) == (result.verdict, result.gate_results[0].mean)


# ── order of rows ──────────────────────────────────────────────────────────────────────────────────────────────────


async def test_rows_that_were_there_stand_where_their_items_stand_now():
    recorder = MemoryRecorder()
    first = [{"id": "a", "output": 0.25}, {"id": "b", "output": 0.5}]
    await run_evals(data=first, scorers=[graded()], recorder=recorder)
    result = await run_evals(
        data=[{"id": "new", "output": 1.0}, *reversed(first)], scorers=[graded()], recorder=recorder
    )
    assert [(row.item_id, row.index, row.scorers[0].score) for row in result.items] == [
        ("new", 0, 1.0),
        ("b", 1, 0.5),
        ("a", 2, 0.25),
    ]
