"""Cases A07, M08, S08, S10, S11, S19 and S22: what counts, what is left out, and what a scorer sees."""

import pytest

from proctor import AgentReply, Item, Message, Turn, checks, not_scorable, run_evals, scorer
from proctor.testing import ScriptedAgent

EXPECTED = {"steps": [{"name": "get_weather"}]}


@scorer(inline=True)
def expects(run):
    """Scores whether the item's expectation came; without one it has nothing to say."""
    if run.expected_trajectory is None:
        return not_scorable("no expectation")
    return run.expected_trajectory == EXPECTED


@scorer(inline=True)
def declines(run):
    return not_scorable("nothing to judge")


@scorer(inline=True)
def breaks(run):
    raise RuntimeError("the grader is away")


async def test_s08_an_expectation_arrives_as_a_scorer_as_a_gate_and_in_a_turn():
    single = Item("Weather?", expected_trajectory=EXPECTED, scorers=[expects.named("its-own")])
    turns = Item(turns=[Turn("Weather?", gates=[expects], scorers=[expects])], expected_trajectory=EXPECTED)
    agent = ScriptedAgent({"Weather?": "Sunny."})
    result = await run_evals(target=agent, data=[single, turns], gates=[expects], scorers=[expects])
    outcomes = [outcome for row in result.items for outcome in row.outcomes]
    assert len(outcomes) == 7
    assert {(outcome.status, outcome.score) for outcome in outcomes} == {("scored", 1)}


async def test_s08_without_an_expectation_it_is_declined_and_no_0():
    result = await run_evals(target=str.upper, data=[Item("Weather?")], scorers=[expects])
    (outcome,) = result.items[0].outcomes
    assert (outcome.status, outcome.score, outcome.cause.reason) == ("not_scorable", None, "no expectation")
    assert result.means[0].mean is None


@pytest.mark.parametrize("combine", [checks.all_of, checks.any_of])
def test_s10_parts_that_decline_are_treated_alike_wherever_they_stand(combine):
    yes = checks.includes("a")
    first, last = (combine(*parts).run_sync(output="a") for parts in ([declines, yes], [yes, declines]))
    assert (first.status, first.score) == (last.status, last.score)


@pytest.mark.parametrize("combine", [checks.all_of, checks.any_of])
def test_s10_when_every_part_declines_the_whole_does(combine):
    outcome = combine(declines, declines.named("other")).run_sync(output="a")
    assert (outcome.status, outcome.score) == ("not_scorable", None)


@pytest.mark.parametrize("one", [declines, breaks], ids=["declined", "errors"])
@pytest.mark.parametrize("repeats", [1, 5])
async def test_s11_the_mean_of_nothing_is_none(one, repeats):
    result = await run_evals(target=str.upper, data=[Item("a"), Item("b")], scorers=[one], repeats=repeats)
    (mean,) = result.means
    assert (mean.mean, mean.n, mean.interval, result.verdict) == (None, 0, None, None)
    assert str(mean).startswith("- (0 of ")
    assert f"0 of {2 * repeats}" in str(result)


async def test_s11_a_repeat_that_could_not_be_scored_is_in_no_mean():
    tries = iter([1, float("nan"), 1, 1, 1])
    sometimes = scorer(lambda run: next(tries), id="sometimes", inline=True)
    result = await run_evals(target=str.upper, data=[Item("a")], scorers=[(sometimes, 1)], repeats=5)
    assert (result.means[0].mean, result.means[0].errors, result.means[0].passed) == (1, 1, False)
    assert result.means[0].decided_by == "errors"


async def test_s19_one_that_fails_leaves_the_others_as_they_are():
    good = [(checks.includes("A"), 1), (checks.excludes("b"), 1)]
    result = await run_evals(target=str.upper, data=[Item("a")], scorers=[good[0], (breaks, 1), good[1]])
    assert [mean.passed for mean in result.means] == [True, False, True]
    assert [mean.decided_by for mean in result.means] == ["scores", "errors", "scores"]
    lines = str(result).splitlines()
    assert [line.split()[-1] for line in lines if "check-" in line and "1.00" in line] == ["met", "met"]
    assert any("breaks" in line and "MISSED (errors)" in line for line in lines)


class BreaksAtTheSecond:
    """An agent whose second turn fails, after its first was answered."""

    async def generate(self, messages, *, thread_id, resource_id, options, request_context):
        if messages[-1].text == "second":
            raise RuntimeError("gone")
        return AgentReply("an answer")


async def test_s22_what_was_scored_before_the_item_broke_counts_where_the_result_says_so():
    """The turn that was answered is in its own mean; whole-item means leave the item out, and say of how many."""
    talk = Item(turns=[Turn("first", scorers=[checks.includes("answer")]), Turn("second")])
    result = await run_evals(target=BreaksAtTheSecond(), data=[talk], scorers=[checks.includes("answer")])
    row = result.items[0]
    assert row.status == "error"
    assert row.turns[0].scorers[0].score == 1
    of_turn, of_item = result.turn_results[0][0], next(mean for mean in result.means if mean.column.turn is None)
    assert (of_turn.mean, of_turn.n, of_turn.of) == (1, 1, 1)
    assert (of_item.mean, of_item.n, of_item.not_run, of_item.no_reply) == (None, 0, 1, 1)
    records = {record["turn"]: record["score"] for record in result.to_records()}
    assert records == {0: 1, None: None}


async def test_a07_an_item_that_is_edited_after_the_run_is_shown_as_it_was():
    given = {"id": "a", "input": {"question": "old"}, "metadata": {"owner": ["ann"]}}
    result = await run_evals(target=lambda given: given["question"], data=[given], scorers=[checks.includes("old")])
    given["input"]["question"] = "new"
    given["metadata"]["owner"].append("bob")
    assert result.items[0].item.input == {"question": "old"}
    assert result.items[0].item.metadata == {"owner": ["ann"]}


async def test_m08_a_saved_transcript_gives_scorers_what_the_live_run_gave():
    seen = []

    @scorer(inline=True)
    def sees(run):
        seen.append((run.input, run.messages, run.text, run.user_text, run.tool_calls, run.ground_truth))
        return 1

    live = await run_evals(
        target=ScriptedAgent({"Weather?": "Sunny."}), data=[Item("Weather?", ground_truth="sun")], scorers=[sees]
    )
    output = live.items[0].output
    assert isinstance(output[0], Message)
    await run_evals(data=[Item("Weather?", output=output, ground_truth="sun")], scorers=[sees])
    assert seen[0] == seen[1]
