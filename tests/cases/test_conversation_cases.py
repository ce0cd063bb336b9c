"""Cases M01, M04 to M07 and M10, with the wishes P42 to P44: live agents of pydantic-ai, turn after turn."""

import asyncio
from collections import Counter

import pytest
from pydantic_ai import Agent, RunContext
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, UserPromptPart
from pydantic_ai.models.function import FunctionModel

from proctor import Item, Retry, Turn, checks, rescore, run_evals, scorer, scorers
from proctor.data.outcome import NotRun
from proctor.targets.pydantic_ai import PydanticAITarget
from proctor.testing import ScriptedModel
from tests.scorers.judged.asked import fenced

CHOICE = "My cup is broken."
OFFER = "I am sorry. A) your money back, or B) a new cup?"
TURNS = ("one", "two", "three", "four")
SATISFIED = {"reasoning": "So it is.", "satisfied": True}


def said(messages):
    return [part.content for message in messages for part in message.parts if isinstance(part, UserPromptPart)]


def saying(answer):
    """An agent whose model answers with what *answer* makes of all that the user said so far."""
    return Agent(FunctionModel(lambda messages, info: ModelResponse(parts=[TextPart(answer(said(messages)))])))


def clerk():
    """Offers two ways, and goes the one that is chosen by its letter alone."""
    return saying(lambda heard: OFFER if len(heard) == 1 else "Your money is on its way.")


def busy():
    """Looks something up twice, one call after the other, before it answers."""

    def model(messages, info):
        asked = max(at for at, message in enumerate(messages) if isinstance(message.parts[-1], UserPromptPart))
        step = (len(messages) - 1 - asked) // 2
        if step < 2:
            return ModelResponse(parts=[ToolCallPart("look", {"step": step}, tool_call_id=f"c{len(messages)}")])
        return ModelResponse(parts=[TextPart(f"answer to {said(messages)[-1]}")])

    made = Agent(FunctionModel(model))

    @made.tool_plain
    def look(step: int) -> str:
        return f"page {step}"

    return made


def seeing(seen):
    """A scorer that keeps what it is shown."""

    @scorer(id="sees", inline=True)
    def sees(run):
        seen.append(run)
        return 1

    return sees


def spoken(messages):
    return [(message.role, message.text) for message in messages]


# ── M01, P42: who said what, and how often ─────────────────────────────────────────────────────────────────────────


async def test_m01_a_scorer_is_given_all_eight_messages_of_four_turns_in_their_order():
    seen = []
    agent = saying(lambda heard: f"answer to {heard[-1]}")
    await run_evals(target=agent, data=[Item(inputs=TURNS)], scorers=[seeing(seen)])
    (run,) = seen
    assert spoken(run.messages) == [
        message for turn in TURNS for message in (("user", turn), ("assistant", f"answer to {turn}"))
    ]
    assert [(turn.input, turn.output[0].text) for turn in run.turns] == [(it, f"answer to {it}") for it in TURNS]


async def test_m01_the_calls_of_tools_stand_between_the_messages_where_they_were_made():
    seen = []
    await run_evals(target=busy(), data=[Item(inputs=TURNS[:2])], scorers=[seeing(seen)])
    (run,) = seen
    in_order = [
        "user one", ("look", 0, "page 0"), ("look", 1, "page 1"), "assistant answer to one",
        "user two", ("look", 0, "page 0"), ("look", 1, "page 1"), "assistant answer to two",
    ]  # fmt: skip
    assert in_order == [
        it
        for message in run.messages
        for it in (
            [(call.name, call.args["step"], call.result) for call in message.tool_calls]
            or [f"{message.role} {message.text}"]
        )
    ]
    ids = [call.id for call in run.tool_calls]
    assert len(set(ids)) == len(ids) == 4


async def test_p42_the_agent_is_asked_once_for_each_turn_and_never_by_two_users_in_a_row():
    heard, seen = [], []

    def answer(so_far):
        heard.append(so_far)
        return f"answer {len(so_far)}"

    await run_evals(target=saying(answer), data=[Item(inputs=TURNS)], scorers=[seeing(seen)])
    assert heard == [list(TURNS[: n + 1]) for n in range(4)]
    assert [message.role for message in seen[0].messages] == ["user", "assistant"] * 4


async def test_p42_two_turns_that_say_the_same_are_two():
    seen = []
    agent = saying(lambda heard: f"answer {len(heard)}")
    await run_evals(target=agent, data=[Item(inputs=["Hello?", "Hello?"])], scorers=[seeing(seen)])
    assert seen[0].texts == ("answer 1", "answer 2")
    assert len(seen[0].turns) == 2


# ── M04, M05, P43: what a judge is shown ───────────────────────────────────────────────────────────────────────────


async def test_m04_the_judge_of_a_conversation_reads_the_offer_that_the_letter_stands_for():
    model = ScriptedModel([SATISFIED])
    judge = scorers.multi_turn_judge("The user gets what was chosen", model=model, include_user_turns=True)
    await run_evals(target=clerk(), data=[Item(inputs=[CHOICE, "A"])], scorers=[judge])
    assert fenced(model.calls[0]) == {
        "conversation turn 1 user": CHOICE,
        "conversation turn 2 assistant": OFFER,
        "conversation turn 3 user": "A",
        "conversation turn 4 assistant": "Your money is on its way.",
    }


async def test_m04_so_does_the_judge_that_is_shown_the_assistant_alone():
    model = ScriptedModel([SATISFIED])
    judge = scorers.multi_turn_judge("It offers a choice and goes by it", model=model)
    await run_evals(target=clerk(), data=[Item(inputs=[CHOICE, "A"])], scorers=[judge])
    assert list(fenced(model.calls[0]).values()) == [OFFER, "Your money is on its way."]


async def test_m04_an_offer_that_came_with_the_input_is_read_by_the_agent_and_by_the_judge():
    model = ScriptedModel([SATISFIED])
    judge = scorers.multi_turn_judge("The user gets what was chosen", model=model, include_user_turns=True)
    given = [
        {"role": "user", "content": CHOICE},
        {"role": "assistant", "content": OFFER},
        {"role": "user", "content": "A"},
    ]
    await run_evals(target=clerk(), data=[Item(given)], scorers=[judge])
    assert list(fenced(model.calls[0]).values()) == [CHOICE, OFFER, "A", "Your money is on its way."]


async def test_m05_the_judge_goes_by_the_criterion_and_knows_nothing_else_of_the_scenario():
    """One that sees the voucher anywhere says that it is missing."""

    def strict(call):
        asked = "\n".join(message.text for message in call.messages).casefold()
        return {"reasoning": "As asked.", "satisfied": "voucher" not in asked}

    model = ScriptedModel(strict)
    item = Item(
        turns=[Turn(CHOICE, ground_truth="offers a voucher"), Turn("A, and my voucher?")],
        id="the voucher scenario",
        ground_truth="The agent hands out a voucher",
        expected_trajectory={"steps": [{"name": "send_voucher"}]},
        context=["Customers with a broken cup get a voucher"],
        metadata={"scenario": "A customer wants a voucher"},
        request_context={"goal": "voucher"},
        tags=["voucher"],
    )
    judge = scorers.multi_turn_judge("The agent says that it is sorry", model=model)
    result = await run_evals(target=clerk(), data=[item], gates=[judge], name="voucher scenarios")
    assert result.verdict == "passed"
    (call,) = model.calls
    assert "The agent says that it is sorry" in call.messages[1].text


async def test_m05_what_the_user_said_is_shown_only_where_that_was_asked_for():
    model = ScriptedModel([SATISFIED])
    judges = [
        scorers.multi_turn_judge("The agent is sorry", model=model, include_user_turns=shown) for shown in (False, True)
    ]
    await run_evals(target=clerk(), data=[Item(inputs=[CHOICE, "A"])], scorers=judges)
    assert sorted(any(CHOICE in text for text in fenced(call).values()) for call in model.calls) == [False, True]


async def test_p43_the_steps_of_a_turn_are_one_turn_with_one_row_and_one_judgement():
    model = ScriptedModel([SATISFIED])
    judge = scorers.multi_turn_judge("It answers", model=model)
    turns = [Turn("one", scorers=[judge, checks.called_tool("look", exactly=2)]), Turn("two", scorers=[judge])]
    result = await run_evals(target=busy(), data=[Item(turns=turns)])
    (row,) = result.items
    assert (len(row.replies), len(row.turns), len(model.calls)) == (2, 2, 2)
    assert [len(reply.output) for reply in row.replies] == [3, 3]
    assert [(record["turn"], record["score"]) for record in result.to_records()] == [(0, 1.0), (0, 1.0), (1, 1.0)]
    assert sorted(list(fenced(call).values()) for call in model.calls) == [["answer to one"], ["answer to two"]]


# ── M06, M07, P44: a score for each turn, and one for the whole ────────────────────────────────────────────────────


def forgetful(heard):
    return "I do not know." if len(heard) == 4 else f"good answer to {heard[-1]}"


def by_rule(name, rule):
    """The whole by the turns, as the rule has it."""
    return scorer(lambda run: float(rule([float("good" in turn.output[0].text) for turn in run.turns])), id=name)


async def test_m06_one_wrong_turn_is_0_in_its_own_column_and_the_three_before_it_keep_theirs():
    good = checks.includes("good")
    data = [Item(turns=[Turn(turn, scorers=[good]) for turn in TURNS])]
    result = await run_evals(target=saying(forgetful), data=data)
    assert [outcome.score for turn in result.items[0].turns for outcome in turn.scorers] == [1, 1, 1, 0]
    assert [[mean.mean for mean in means] for means in result.turn_results.values()] == [[1], [1], [1], [0]]
    lines = [line.split() for line in str(result).splitlines() if "check-includes[good]" in line]
    assert [(line[2], line[4]) for line in lines] == [("0", "1.00"), ("1", "1.00"), ("2", "1.00"), ("3", "0.00")]


async def test_m06_the_whole_is_scored_by_the_rule_that_was_chosen():
    rules = {"least": min, "average": lambda scores: sum(scores) / len(scores), "last": lambda scores: scores[-1]}
    wholes = [by_rule(name, rule) for name, rule in rules.items()]
    result = await run_evals(target=saying(forgetful), data=[Item(inputs=TURNS)], scorers=wholes)
    assert {name: result.scores[name].mean for name in rules} == {"least": 0, "average": 0.75, "last": 0}


def stopping(**options):
    gates = [checks.excludes("wrong")]
    turns = [Turn(turn, gates=gates, scorers=[checks.includes("answer")]) for turn in TURNS]
    return Item(turns=turns, **options)


async def test_m07_after_a_turn_that_failed_the_rest_is_not_run_and_the_agent_is_not_asked():
    heard = []

    def answer(so_far):
        heard.append(so_far[-1])
        return "wrong answer" if so_far[-1] == "two" else "answer"

    data = [stopping(stop_on_failure=True)]
    result = await run_evals(target=saying(answer), data=data, scorers=[checks.includes("answer")])
    (row,) = result.items
    assert (heard, len(row.replies)) == (["one", "two"], 2)
    scores = [[(it.status, it.score) for it in (*turn.gates, *turn.scorers)] for turn in row.turns]
    skipped = [("not_run", None)] * 2
    assert scores == [
        [("scored", 1.0), ("scored", 1.0)],
        [("scored", 0.0), ("scored", 1.0)],
        skipped,
        skipped,
    ]
    causes = {outcome.cause for turn in row.turns[2:] for outcome in (*turn.gates, *turn.scorers)}
    assert causes == {NotRun("earlier_turn_failed")}
    of_last = result.turn_results[3]
    assert [(mean.mean, mean.n, mean.not_run) for mean in of_last] == [(None, 0, 1)] * 2
    whole = next(mean for mean in result.means if mean.column.turn is None)
    assert (whole.mean, whole.not_run, result.verdict) == (None, 1, "failed")


async def test_m07_without_that_policy_the_turns_after_it_are_asked_and_scored():
    agent = saying(lambda heard: "wrong answer" if heard[-1] == "two" else "answer")
    result = await run_evals(target=agent, data=[stopping()])
    gates = [turn.gates["check-excludes[wrong]"].score for turn in result.items[0].turns]
    assert gates == [1, 0, 1, 1]


async def test_m07_after_a_turn_that_broke_the_rest_is_not_run_either():
    def answer(heard):
        if heard[-1] == "two":
            raise RuntimeError("the model is away")
        return "answer"

    result = await run_evals(target=saying(answer), data=[stopping()])
    (row,) = result.items
    assert (row.status, "the model is away" in row.error.message) == ("error", True)
    found = [[outcome.status for outcome in (*turn.gates, *turn.scorers)] for turn in row.turns]
    assert found == [["scored"] * 2, *[["not_run"] * 2] * 3]


async def test_p44_a_turn_s_scorer_sees_its_turn_and_the_item_s_the_whole():
    of_turn, of_whole = [], []
    turns = [Turn(turn, scorers=[seeing(of_turn)]) for turn in TURNS[:2]]
    await run_evals(target=busy(), data=[Item(turns=turns)], scorers=[seeing(of_whole)])
    assert [(run.input, run.text, len(run.tool_calls)) for run in of_turn] == [
        ("one", "answer to one", 2),
        ("two", "answer to two", 2),
    ]
    assert [(run.texts, len(run.tool_calls)) for run in of_whole] == [(("answer to one", "answer to two"), 4)]


async def test_p44_live_kept_and_saved_conversations_give_scorers_the_same_history(tmp_path):
    seen, store = [], tmp_path / "runs.db"
    data = [Item(inputs=TURNS[:3], id="talk", ground_truth="g")]
    live = await run_evals(target=busy(), data=data, scorers=[seeing(seen)], store=store)
    await rescore(live.run, scorers=[seeing(seen)], store=store)
    first, *rest = seen[0].messages
    await run_evals(data=[Item(first.text, output=rest, ground_truth="g")], scorers=[seeing(seen)])
    histories = [(run.input, run.messages, run.texts, run.user_text, run.tool_calls, run.ground_truth) for run in seen]
    assert len(histories) == 3
    assert histories[0] == histories[1] == histories[2]
    assert len(histories[0][1]) == 3 * 4
    of_turns = [[(turn.input, turn.output) for turn in run.turns] for run in seen]
    assert of_turns[0] == of_turns[1]
    assert len(of_turns[0]) == 3


# ── M10: nobody hears what others were told ────────────────────────────────────────────────────────────────────────


def echo(heard=None):
    """An agent that repeats all that it knows of, through a tool that is told whose it is."""

    async def model(messages, info):
        await asyncio.sleep(0.001)
        if isinstance(messages[-1].parts[-1], UserPromptPart):
            return ModelResponse(parts=[ToolCallPart("whose", {}, tool_call_id=f"c{len(messages)}")])
        results = [part.content for message in messages for part in message.parts if part.part_kind == "tool-return"]
        return ModelResponse(parts=[TextPart(" ".join(said(messages)) + " | " + " ".join(results))])

    made = Agent(FunctionModel(model), deps_type=dict)

    @made.tool
    async def whose(ctx: RunContext[dict]) -> str:
        await asyncio.sleep(0.001)
        return ctx.deps["owner"]

    return made


async def test_m10_repeats_and_items_side_by_side_hear_only_their_own_turns_and_tools():
    data = [Item(inputs=[f"{n}a", f"{n}b"], id=f"i{n}", request_context={"owner": f"o{n}"}) for n in range(10)]
    target = PydanticAITarget(echo())
    result = await run_evals(target=target, data=data, repeats=5, concurrency=40, scorers=[checks.no_tool_errors()])
    assert len(result.items) == 50
    for row in result.items:
        n = row.item_id[1:]
        assert row.replies[0].output[-1].text == f"{n}a | o{n}"
        assert row.replies[1].output[-1].text == f"{n}a {n}b | o{n} o{n}"
    threads = Counter(row.replies[0].origin.thread_id for row in result.items)
    assert set(threads.values()) == {1}
    assert all(len({reply.origin.thread_id for reply in row.replies}) == 1 for row in result.items)


async def test_m10_items_that_say_the_same_are_conversations_of_their_own():
    data = [Item(inputs=["Hi", "Bye"], id=f"i{n}", request_context={"owner": "o"}) for n in range(10)]
    result = await run_evals(target=echo(), data=data, repeats=2, concurrency=20, scorers=[checks.no_tool_errors()])
    assert {row.replies[1].output[-1].text for row in result.items} == {"Hi Bye | o o"}


async def test_m10_single_questions_and_later_runs_of_one_target_remember_nothing():
    target, context = PydanticAITarget(echo()), {"owner": "o"}
    for _ in range(2):
        data = [Item(["first", "second"][n % 2], id=f"i{n}") for n in range(10)]
        data.append(Item(inputs=["third"], id="talk"))
        result = await run_evals(
            target=target, data=data, request_context=context, concurrency=5, scorers=[checks.no_tool_errors()]
        )
        assert {row.output[-1].text for row in result.items} == {"first | o", "second | o", "third | o"}


async def test_m10_two_runs_at_once_on_one_target_keep_apart():
    target = PydanticAITarget(echo())

    async def run(owner):
        data = [Item(inputs=["a", "b"], id="same", request_context={"owner": owner})]
        return await run_evals(target=target, data=data, repeats=5, scorers=[checks.no_tool_errors()])

    results = await asyncio.gather(run("ann"), run("bob"))
    found = [{row.replies[1].output[-1].text for row in result.items} for result in results]
    assert found == [{"a b | ann ann"}, {"a b | bob bob"}]


@pytest.mark.parametrize("breaks_at", [0, 1], ids=["first turn", "second turn"])
async def test_m10_a_try_that_failed_leaves_nothing_for_the_next_to_hear(breaks_at):
    heard, fails = [], [True]

    def answer(so_far):
        heard.append(so_far)
        if len(so_far) == breaks_at + 1 and fails:
            fails.pop()
            raise ConnectionError("lost")
        return "ok"

    result = await run_evals(
        target=saying(answer),
        data=[Item(inputs=["a", "b"])],
        retries=Retry(times=2, first_wait=0.0),
        scorers=[checks.includes("ok")],
    )
    assert result.items[0].status == "done"
    expected = [["a"], ["a", "b"]]
    assert heard == [*expected[: breaks_at + 1], *expected[breaks_at:]]
