"""Conversations: turn after turn on one thread, each scored by itself, then the whole."""

import warnings

import pytest

from proctor import Item, Threshold, ToolCall, Turn, checks, run_evals
from proctor.data.usage import Cost, Usage
from proctor.data.value import MISSING
from proctor.testing import Scripted, ScriptedAgent
from tests.running.talks import TALK, says, seeing

SEE, _ = seeing()

# ── threads and memory ─────────────────────────────────────────────────────────────────────────────────────────────


async def test_every_conversation_and_every_repeat_has_a_thread_of_its_own():
    agent = ScriptedAgent("ok")
    data = [TALK, {**TALK, "id": "other"}, {"input": "alone"}]
    result = await run_evals(target=agent, data=data, scorers=[SEE], repeats=2, concurrency=3)
    assert len(agent.threads) == 4
    assert all([one.text for one in thread[::2]] == TALK["inputs"] for thread in agent.threads.values())
    assert sum(call.thread_id is None for call in agent.calls) == 2
    assert {row.replies[0].origin.thread_id for row in result.items[:4]} == set(agent.threads)


async def test_the_resource_is_the_thread_unless_the_caller_names_one():
    agent = ScriptedAgent("ok")
    await run_evals(target=agent, data=[TALK], scorers=[SEE])
    assert {call.resource_id for call in agent.calls} == {call.thread_id for call in agent.calls}


async def test_the_callers_resource_and_options_are_kept_and_the_thread_is_not():
    agent = ScriptedAgent("ok")
    memory = {"thread": "mine", "resource": "user-42", "options": {"last": 5}}
    data = [TALK, {**TALK, "id": "other"}, {"input": "alone"}]
    await run_evals(target=agent, data=data, scorers=[SEE], target_options={"memory": memory, "max_steps": 3})
    assert {call.resource_id for call in agent.calls} == {"user-42"}
    assert all(call.options == {"memory": {"options": {"last": 5}}, "max_steps": 3} for call in agent.calls)
    assert [call.thread_id == "mine" for call in agent.calls] == [False] * 6 + [True]
    assert len({call.thread_id for call in agent.calls[:6]}) == 2


async def test_a_callable_that_asks_for_the_thread_is_told_it():
    told = []

    async def target(text, *, thread_id, resource_id, target_options):
        told.append((text, thread_id, resource_id, target_options))
        return text

    options = {"memory": {"resource": "r"}, "style": "short"}
    await run_evals(target=target, data=[TALK], scorers=[SEE], target_options=options)
    assert [text for text, *_ in told] == TALK["inputs"]
    assert len({tuple(map(str, rest)) for _, *rest in told}) == 1
    assert told[0][2:] == ("r", {"style": "short"})


@pytest.mark.parametrize("agent", [ScriptedAgent("ok", memory=False), lambda text: text], ids=["agent", "callable"])
async def test_a_target_without_memory_is_warned_of_once(agent):
    with pytest.warns(UserWarning, match="the target has no memory") as warned:
        result = await run_evals(target=agent, data=[TALK, {**TALK, "id": "b"}], scorers=[SEE], repeats=2)
    assert len(warned) == 1
    assert sum("no memory" in note for note in result.summary.notes) == 1


@pytest.mark.parametrize("action", ["always", "error"])
async def test_a_stream_is_warned_of_it_once_and_goes_on(action):
    data = [{"input": "alone"}, TALK, {**TALK, "id": "b"}]
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter(action)
        result = await run_evals(target=ScriptedAgent("ok", memory=False), data=iter(data), scorers=[SEE])
    assert len(warned) == (action == "always")
    assert [row.status for row in result.items] == ["done"] * 3
    assert sum("no memory" in note for note in result.summary.notes) == 1


async def test_a_target_without_memory_is_no_matter_where_there_are_no_conversations():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        await run_evals(target=ScriptedAgent("ok", memory=False), data=[{"input": "Hi"}], scorers=[SEE])


# ── what scorers see ───────────────────────────────────────────────────────────────────────────────────────────────


async def test_the_whole_is_the_first_input_and_everything_that_came_back():
    see, seen = seeing()
    await run_evals(target=ScriptedAgent(["one", "two", "three"]), data=[{**TALK, "ground_truth": "t"}], scorers=[see])
    (run,) = seen
    assert (run.input, run.texts, run.text) == ("Hi", ("one", "two", "three"), "one two three")
    assert [(turn.input, turn.output[0].text) for turn in run.turns] == list(
        zip(TALK["inputs"], ["one", "two", "three"], strict=True)
    )
    assert run.ground_truth == "t"


async def test_a_turn_is_its_own_input_and_output():
    see, seen = seeing()
    turns = [Turn("Hi", scorers=[see]), Turn("Bye", gates=[see])]
    await run_evals(target=ScriptedAgent(["one", "two"]), data=[Item(turns=turns)])
    assert [(run.input, run.text, run.turns) for run in seen] == [("Hi", "one", ()), ("Bye", "two", ())]


async def test_a_turns_ground_truth_is_its_own_else_the_items():
    see, seen = seeing()
    turns = [Turn("a", scorers=[see]), Turn("b", scorers=[see], ground_truth=None), Turn("c", scorers=[see])]
    await run_evals(target=ScriptedAgent("ok"), data=[Item(turns=turns, ground_truth="item")], scorers=[see])
    assert [run.ground_truth for run in seen] == ["item", None, "item", "item"]
    seen.clear()
    await run_evals(target=ScriptedAgent("ok"), data=[Item(turns=turns)])
    assert [run.ground_truth for run in seen] == [MISSING, None, MISSING]


async def test_tool_calls_are_seen_over_all_turns_by_the_whole_and_by_turn_in_a_turn():
    looked = Scripted("found", [ToolCall("search", result="ok")])
    agent = ScriptedAgent([looked, "nothing more", Scripted("done", [ToolCall("book", result="ok")])])
    called = checks.called_tool("search")
    turns = [Turn("a", gates=[called]), Turn("b", scorers=[called]), Turn("c")]
    order = checks.tool_order(["search", "book"])
    result = await run_evals(target=agent, data=[Item(turns=turns)], gates=[called, order])
    assert [mean.mean for mean in result.gate_results] == [1.0, 1.0]
    assert [mean.mean for means in result.turn_results.values() for mean in means] == [1.0, 0.0]


async def test_texts_of_a_callable_are_one_message_each():
    see, seen = seeing()

    async def target(text, *, thread_id):
        return text.upper()

    result = await run_evals(target=target, data=[TALK], scorers=[see])
    assert seen[0].texts == ("HI", "HOW ARE YOU?", "BYE")
    assert result.items[0].output == ["HI", "HOW ARE YOU?", "BYE"]


async def test_tokens_cost_and_time_are_summed_over_the_turns():
    see, seen = seeing()
    one = Scripted("ok", usage=Usage(input_tokens=10, output_tokens=1), cost=Cost(amount=0.25, source="list"))
    two = Scripted("ok", usage=Usage(input_tokens=20, total_tokens=25), cost=Cost(amount=0.5, source="list"))
    result = await run_evals(target=ScriptedAgent([one, two]), data=[Item(inputs=["a", "b"])], scorers=[see])
    assert (result.summary.usage.input_tokens, result.summary.tokens, result.summary.cost.amount) == (30, 36, 0.75)
    (run,) = seen
    assert (run.usage.input_tokens, run.usage.total, run.cost.amount) == (30, 36, 0.75)
    assert run.duration_ms == sum(reply.duration_ms for reply in result.items[0].replies)


async def test_what_an_agent_structured_is_kept_turn_by_turn():
    agent = ScriptedAgent([Scripted("a", structured={"n": 1}), "b", Scripted("c", structured=None)])
    result = await run_evals(target=agent, data=[TALK], scorers=[SEE])
    assert [reply.structured for reply in result.items[0].replies] == [{"n": 1}, MISSING, None]


# ── columns ────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_columns_of_turns_are_pooled_by_turn_position_and_scorer():
    good = says("good")
    data = [
        Item(id="long", turns=[Turn("a", gates=[good]), Turn("b", gates=[good], scorers=[(good, 0.5)])]),
        Item(id="short", turns=[Turn("c", gates=[good])]),
        Item(id="other", turns=[Turn("d"), Turn("e", scorers=[(good, 0.5)])]),
    ]
    agent = ScriptedAgent({"a": "good", "b": "good", "c": "bad", "e": "bad", "*": "so so"})
    result = await run_evals(target=agent, data=data, gates=[checks.no_tool_errors()])
    pooled = [(m.column.label, m.mean, m.n, m.of) for means in result.turn_results.values() for m in means]
    assert pooled == [
        ("turn 0 gate says-good", 0.5, 2, 2),
        ("turn 1 gate says-good", 1.0, 1, 1),
        ("turn 1 says-good", 0.5, 2, 2),
    ]
    assert [mean.passed for means in result.turn_results.values() for mean in means] == [False, True, True]
    assert (result.verdict, result.gate_results[0].passed) == ("failed", True)
    assert "turn 0 gate says-good missed: item short scored 0" in result.sentence
    assert result.threshold_results == ()


async def test_a_threshold_of_a_turn_decides():
    data = [Item(turns=[Turn("a", scorers=[(says("good"), Threshold(min=0.5))])])]
    assert (await run_evals(target=ScriptedAgent("good"), data=data)).verdict == "passed"
    assert (await run_evals(target=ScriptedAgent("bad"), data=data)).verdict == "scored"


async def test_turns_without_scorers_are_no_columns():
    result = await run_evals(target=ScriptedAgent("ok"), data=[Item(turns=[Turn("a"), Turn("b")])], scorers=[SEE])
    assert result.turn_results == {}
    assert [turn.index for turn in result.items[0].turns] == [0, 1]


async def test_conversations_and_single_questions_in_one_run():
    good = says("good")
    data = [{"id": "one", "input": "a"}, Item(id="two", turns=[Turn("b", gates=[good]), Turn("a")])]
    data.append({"id": "saved", "output": "good"})
    result = await run_evals(target=ScriptedAgent({"a": "good", "b": "bad"}), data=data, scorers=[good])
    assert (result.scores.turn(0)["says-good"].mean, result.scores.turn(0)["says-good"].of) == (0.0, 1)
    whole = next(mean for mean in result.means if mean.column.turn is None)
    assert (whole.mean, whole.n, result.summary.items) == (1.0, 3, 3)
    assert [len(row.turns) for row in result.items] == [0, 2, 0]


async def test_an_items_own_scorers_look_at_the_whole():
    see, seen = seeing()
    item = Item(id="a", turns=[Turn("x"), Turn("y")], scorers=[see], gates=[says("two")])
    result = await run_evals(target=ScriptedAgent(["one", "two"]), data=[item])
    assert seen[0].texts == ("one", "two")
    assert result.verdict == "passed"
