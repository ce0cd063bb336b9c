"""What is wrong with a conversation is known before anything is asked, with the places of the item and the turn."""

import pytest

from proctor import Item, Judge, Prompt, Threshold, Turn, UsageError, checks, create_scorer, run_evals, run_evals_sync
from proctor.errors import DataErrors
from proctor.running.eval import Eval
from proctor.running.plan import make_plan
from tests.running.graded import graded

ONE = graded("one")
PAY = {"name": "pay", "output": None}
FINE = {"id": "fine", "turns": [{"input": "x", "scorers": [ONE]}]}


class Never:
    """An agent that must not be asked."""

    async def generate(self, messages, **place):
        raise AssertionError("the target was called")


def refused(*items, **options):
    with pytest.raises(UsageError) as caught:
        run_evals_sync(target=Never(), data=[FINE, *items], **options)
    return caught.value


def problem(item):
    """The one problem there is, of the item after the one that is fine."""
    error = refused(item)
    assert isinstance(error, DataErrors)
    (found,) = error.problems
    assert found.startswith("item 1")
    return error.code, found.partition(": ")[2]


@pytest.mark.parametrize(
    ("item", "message"),
    [
        pytest.param({"turns": None}, "has none of input, inputs, turns and output", id="turns null"),
        pytest.param({"turns": "x"}, "turns must be a list that is not empty, not 'x'", id="turns text"),
        pytest.param({"turns": {"input": "x"}}, "turns must be a list that is not empty", id="turns a mapping"),
        pytest.param({"turns": 5}, "turns must be a list that is not empty, not 5", id="turns a number"),
        pytest.param({"turns": [{"input": "x"}, None]}, "turns[1] must be a Turn or a mapping", id="turn null"),
        pytest.param({"turns": [{"input": "x"}, ["x"]]}, "turns[1] must be a Turn or a mapping", id="turn a list"),
        pytest.param({"turns": [{"scorers": [ONE]}]}, "turns[0] has no input", id="turn without input"),
        pytest.param({"turns": [{"input": "x", "gate": []}]}, "no field of turns[0] 'gate'", id="turn, unknown key"),
        pytest.param({"turns": [{"input": "x"}], "input": None}, "input and turns are both there", id="with input"),
        pytest.param({"turns": [{"input": "x"}], "inputs": ["x"]}, "inputs and turns are both there", id="and inputs"),
        pytest.param({"turns": [{"input": "x"}], "output": "y"}, "output and turns are both there", id="and output"),
        pytest.param({"inputs": ["x"], "output": "y"}, "output and inputs are both there", id="inputs and output"),
        pytest.param({"inputs": ["x"], "input": None}, "input and inputs are both there", id="inputs and input"),
        pytest.param({"inputs": {"a": 1}}, "inputs must be a list that is not empty", id="inputs a mapping"),
        pytest.param({"inputs": b"ab"}, "inputs must be a list that is not empty", id="inputs bytes"),
        pytest.param({"inputs": 5}, "inputs must be a list that is not empty, not 5", id="inputs a number"),
        pytest.param({"inputs": ["x"], "stop_on_failure": "no"}, "stop_on_failure is True or False", id="stop text"),
        pytest.param({"inputs": ["x"], "request_context": [1]}, "request_context must be a mapping", id="context"),
        pytest.param({"inputs": ["x"], "tool_mocks": [PAY]}, "has tool_mocks, and this target's tools", id="mocks"),
        pytest.param({"inputs": ["x"], "unmocked": "deny"}, "has unmocked, and this target's tools", id="unmocked"),
        pytest.param({"inputs": ["x"], "unmocked": "no"}, "unmocked is 'allow' or 'deny', not 'no'", id="policy"),
        pytest.param({"inputs": ["x"], "tool_mocks": "pay"}, "tool_mocks must be a list of ToolMocks", id="no list"),
        pytest.param({"inputs": ["x"], "tool_mocks": ["pay"]}, "tool_mocks[0] must be a ToolMock", id="no mock"),
        pytest.param({"input": "x", "driver": object(), "id": "d"}, "has driver, which this version", id="driver"),
        pytest.param({"input": "x", "metadata": "v1"}, "metadata must be a mapping, not 'v1'", id="metadata"),
    ],
)
def test_a_conversation_that_cannot_be_right_is_named_by_its_index(item, message):
    code, found = problem(item)
    assert code == "INVALID_DATA_ITEM"
    assert message in found


@pytest.mark.parametrize(
    ("turn", "message"),
    [
        pytest.param({"gates": ONE}, "turns[1].gates must be a list of scorers", id="gates, one scorer"),
        pytest.param({"gates": "includes"}, "turns[1].gates must be a list of scorers", id="gates, text"),
        pytest.param({"scorers": 5}, "turns[1].scorers must be a list of scorers", id="scorers, a number"),
        pytest.param({"scorers": [ONE, len]}, "turns[1].scorers[1]: an entry takes a scorer", id="no scorer"),
        pytest.param({"scorers": {"steps": []}}, "no field of turns[1].scorers 'steps'", id="another configuration"),
        pytest.param({"scorers": {"agent": []}}, "turns[1].scorers has no scorer in it", id="empty configuration"),
        pytest.param({"gates": [(ONE, 0.5)]}, "turns[1].gates[0]: gate one has a threshold", id="gate, threshold"),
        pytest.param(
            {"gates": [ONE, graded("bad", better="lower")]}, "turns[1].gates[1]: gate bad: lower", id="gate, lower"
        ),
        pytest.param(
            {"scorers": [create_scorer(id="s").analyze(lambda ctx: 1)]}, "turns[1].scorers[0]: ", id="cannot run"
        ),
        pytest.param(
            {"scorers": [create_scorer(id="s", judge=Judge("m")).generate_score(Prompt("J", create=lambda ctx: "?"))]},
            "turns[1].scorers[0]: ",
            id="judged",
        ),
        pytest.param(
            {"scorers": [create_scorer(id="path", type="trajectory").generate_score(lambda ctx: 1)]},
            "turns[1].scorers[0]: path scores trajectories",
            id="trajectory",
        ),
    ],
)
def test_scorers_of_a_turn_that_cannot_be_right_are_named_by_item_and_turn(turn, message):
    code, found = problem({"id": "bad", "turns": [{"input": "x"}, {"input": "y", **turn}]})
    assert code == "INVALID_DATA_ITEM"
    assert message in found


@pytest.mark.parametrize(
    "threshold",
    [5, -0.1, {}, {"min": 2}, {"min": 0.8, "max": 0.2}, {"min": "0.5"}, [0.5], True, None, float("nan"), "0.5"],
    ids=repr,
)
@pytest.mark.parametrize("written", [tuple, dict], ids=["pair", "mapping"])
def test_a_turns_threshold_that_cannot_be_right_is_refused(threshold, written):
    entry = (ONE, threshold) if written is tuple else {"scorer": ONE, "threshold": threshold}
    code, found = problem({"turns": [{"input": "x"}, {"input": "y", "scorers": [entry]}]})
    assert code == "INVALID_SCORER_THRESHOLD"
    assert found.startswith("turns[1].scorers[0]: ")


def test_one_turn_has_one_threshold_in_all_conversations():
    data = [
        {"id": name, "turns": [{"input": "x", "scorers": [(ONE, bound)]}]} for name, bound in (("a", 0.5), ("b", 1))
    ]
    error = refused(*data)
    assert error.code == "INVALID_SCORER_THRESHOLD"
    assert [found.split(": ")[0] for found in error.problems] == ["item 1 (a)", "item 2 (b)"]
    assert "turn 0 one has different thresholds in different items" in error.problems[0]


def test_the_same_scorer_may_have_another_threshold_in_another_turn_and_for_the_whole():
    turns = [Turn("x", scorers=[(ONE, 0.2)]), Turn("y", scorers=[(ONE, 0.3)])]
    plan = make_plan(Eval(target=Never(), data=[Item(turns=turns)], scorers=[(ONE, 0.4)]))
    assert [(cell.column.label, cell.threshold) for cell in plan.cells] == [
        ("one", Threshold(0.4)),
        ("turn 0 one", Threshold(0.2)),
        ("turn 1 one", Threshold(0.3)),
    ]


def test_thresholds_of_the_run_come_before_the_data():
    assert refused({}, scorers=[(ONE, 5)]).code == "INVALID_SCORER_THRESHOLD"


def test_all_conversations_that_cannot_be_right_are_named_at_once():
    error = refused({"inputs": []}, {"id": "c", "turns": [{"input": "x", "gates": [len]}]}, {"inputs": ["fine"]})
    assert [found.split(": ")[0] for found in error.problems] == ["item 1", "item 2 (c)"]


@pytest.mark.parametrize("turns", [[Turn("x")], [Turn("x", gates=[], scorers=[])]], ids=["bare", "empty lists"])
def test_turns_without_scorers_need_some_for_the_whole(turns):
    with pytest.raises(UsageError) as caught:
        run_evals_sync(target=Never(), data=[Item(turns=turns)])
    assert caught.value.code == "NO_SCORERS_PROVIDED"
    assert make_plan(Eval(target=Never(), data=[Item(turns=turns)], gates=[ONE])).cells


def test_one_turn_with_one_gate_is_enough():
    plan = make_plan(Eval(target=Never(), data=[Item(turns=[Turn("x"), Turn("y", gates=[ONE])])]))
    assert [cell.column.label for cell in plan.cells] == ["turn 1 gate one"]


@pytest.mark.parametrize("scorers", [{}, {"agent": []}, {"agent": [], "trajectory": []}], ids=str)
def test_gates_do_not_make_up_for_an_empty_configuration(scorers):
    assert refused(scorers=scorers, gates=[ONE]).code == "NO_SCORERS_PROVIDED"


@pytest.mark.parametrize(
    "scorers", [{"workflow": [ONE]}, {"steps": {"x": [ONE]}}, {"agents": [ONE]}, ONE, "x"], ids=str
)
def test_a_configuration_for_something_else_is_refused(scorers):
    assert refused(scorers=scorers).code == "INVALID_AGENT_SCORERS"


def test_a_conversation_needs_a_target():
    with pytest.raises(DataErrors, match=r"item 0 \(fine\): has no output, and there is no target"):
        run_evals_sync(data=[FINE])


def test_a_saved_reply_may_say_how_its_tools_were_mocked():
    assert make_plan(Eval(data=[Item(output="x", tool_mocks=[PAY])], scorers=[ONE])).rows


@pytest.mark.parametrize("id", [[1], "", 7.5], ids=repr)
async def test_an_item_of_a_stream_whose_id_is_none_is_called_by_its_place(id):
    result = await run_evals(data=iter([Item(id="a", output=1), Item(id=id, output=1)]), scorers=[ONE])
    assert [(row.item_id, row.status) for row in result.items] == [("a", "done"), ("item 1", "error")]


async def test_an_item_of_a_stream_that_is_refused_leaves_no_columns():
    other = create_scorer(id="other", range=(0, 5)).generate_score(lambda ctx: 1)
    first = Item(id="a", output=1, scorers=[other])
    second = Item(id="b", output=1, scorers=[checks.includes("x"), other.replace(range=(0, 9))])
    result = await run_evals(data=iter([first, second]), gates=[ONE])
    assert [row.status for row in result.items] == ["done", "error"]
    assert [mean.column.label for mean in result.means] == ["gate one", "other"]
