"""Everything that can be known before anything is paid for."""

import re
import warnings

import pytest

from proctor import Item, Judge, Prompt, Threshold, UsageError, checks, create_scorer, run_evals, run_evals_sync, scorer
from proctor.errors import DataErrors, UnknownName
from proctor.judging.budget import Budget
from proctor.judging.model import Price
from proctor.running.eval import Eval
from proctor.running.plan import make_plan
from proctor.testing import ScriptedModel
from tests.running.graded import asked, graded, saved

ONE = graded("one")


def never(given):
    raise AssertionError("the target was called")


def planned(**options):
    return make_plan(Eval(**{"data": saved(1.0), "scorers": [ONE]} | options))


def refused(**options):
    """The error of a run that cannot be right; its target is not called."""
    with pytest.raises(UsageError) as caught:
        run_evals_sync(**{"target": never, "data": asked("x"), "scorers": [ONE]} | options)
    return caught.value


# ── what there is to score with ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"scorers": []}, id="no scorers"),
        pytest.param({"scorers": [], "gates": []}, id="no scorers and no gates"),
        pytest.param({"scorers": (), "data": [Item(id="a", input="x", scorers=[])]}, id="none at the items either"),
    ],
)
def test_a_run_needs_something_to_score_with(options):
    assert refused(**options).code == "NO_SCORERS_PROVIDED"


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"scorers": [], "gates": [ONE]}, id="a gate"),
        pytest.param({"scorers": [], "data": [Item(id="a", output=1, scorers=[ONE])]}, id="an item's own scorer"),
        pytest.param({"scorers": [], "data": [Item(id="a", output=1, gates=[ONE])]}, id="an item's own gate"),
    ],
)
def test_a_gate_or_one_items_own_is_enough(options):
    assert len(planned(**options).cells) == 1


@pytest.mark.parametrize("position", ["gates", "scorers"])
@pytest.mark.parametrize("given", [ONE, "includes", {"agents": [ONE]}, 5, None], ids=lambda given: type(given).__name__)
def test_scorers_and_gates_are_lists(position, given):
    if position == "scorers" and isinstance(given, dict):
        return  # may say what the scorers look at: see below
    error = refused(**{position: given})
    assert error.code == ("INVALID_AGENT_SCORERS" if position == "scorers" else "USAGE")
    assert str(error).startswith(f"{position} must be a list of scorers")


def test_what_is_no_scorer_is_named_by_its_place():
    assert str(refused(scorers=[ONE, len])).startswith("scorers[1]: an entry takes a scorer, not the function len")
    assert str(refused(gates=[checks.includes])).startswith("gates[0]: ")


def test_a_mistake_is_one_traceback_where_its_causes_say_nothing_more(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    judged = create_scorer(id="s", judge=Judge("openai:gpt-5-mini", instructions="Be fair."))
    problem = refused(scorers=[judged.generate_score(Prompt("q", create=lambda ctx: "x"))])
    assert str(problem).startswith("scorers[0]: s.generate_score: ")
    assert problem.__cause__ is None
    assert problem.__suppress_context__


@pytest.mark.parametrize("position", ["gates", "scorers"])
def test_a_scorer_that_cannot_run_is_refused(position):
    error = refused(**{position: [create_scorer(id="s").analyze(lambda ctx: 1)]})
    assert error.code == "SCORER_FAILED_TO_RUN_MISSING_GENERATE_SCORE"


@pytest.mark.parametrize(
    ("judge", "said"),
    [
        (None, "s.generate_score: no model: give Judge('provider:model'), or set PROCTOR_JUDGE_MODEL"),
        (Judge(ScriptedModel("?")), "s.generate_score: the judge has no instructions"),
        (Judge(ScriptedModel("?"), instructions=" "), "s.generate_score: the judge has no instructions"),
        (Judge(3, instructions="Judge."), "s.generate_score: Judge(model=...) is 'provider:model'"),
    ],
    ids=["no model", "no instructions", "blank instructions", "no model at all"],
)
@pytest.mark.parametrize("position", ["gates", "scorers"])
def test_a_judge_that_cannot_be_asked_is_refused(position, judge, said, monkeypatch):
    monkeypatch.delenv("PROCTOR_JUDGE_MODEL", raising=False)
    judged = create_scorer(id="s", judge=judge).generate_score(Prompt("Judge", create=lambda ctx: "?"))
    assert str(refused(**{position: [judged]})).startswith(f"{position}[0]: {said}")


def test_a_budget_in_money_needs_prices():
    judge = Judge(ScriptedModel("?"), instructions="Judge.")
    judged = create_scorer(id="s", judge=judge).generate_score(Prompt("Judge", create=lambda ctx: "?"))
    assert "the price of test:scripted" in str(refused(scorers=[judged], budget=1))
    priced = Price(input_token=1e-6, output_token=1e-6, source="here")
    judge = Judge(ScriptedModel("?", price=priced), instructions="Judge.")
    assert planned(scorers=[judged.replace(judge=judge)], budget=1)
    assert planned(scorers=[judged], budget=Budget(tokens=10))


# ── thresholds ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "threshold",
    [
        pytest.param(1.5, id="above the range"),
        pytest.param(-0.1, id="below the range"),
        pytest.param({"max": 2}, id="max above the range"),
        pytest.param({"min": 0.9, "max": 0.1}, id="min above max"),
        pytest.param({}, id="no bound"),
        pytest.param("0.5", id="text"),
        pytest.param(True, id="bool"),
        pytest.param(float("nan"), id="NaN"),
    ],
)
def test_a_threshold_that_cannot_be_right_is_refused_before_the_data_is_looked_at(threshold):
    error = refused(scorers=[(ONE, threshold)], data=[])
    assert error.code == "INVALID_SCORER_THRESHOLD"
    assert str(error).startswith("scorers[0]: ")


def test_a_gate_takes_no_threshold():
    assert "a gate asks for the top of the range; put it in scorers" in str(refused(gates=[(ONE, 0.5)]))


def test_a_gate_of_a_scorer_whose_top_is_bad_is_refused_with_what_to_write():
    error = refused(gates=[graded("toxicity", better="lower")])
    assert "use scorers=[(toxicity, Threshold(max=0))]" in str(error)


def test_two_items_may_not_give_one_column_two_thresholds():
    data = [Item(id="a", output=1, scorers=[(ONE, 0.5)]), Item(id="b", output=1, scorers=[(ONE, 0.6)])]
    error = refused(scorers=[], data=data)
    assert error.code == "INVALID_SCORER_THRESHOLD"
    assert "one has different thresholds in different items: >= 0.5 and >= 0.6" in str(error)


def test_an_item_may_not_change_the_runs_threshold():
    error = refused(scorers=[(ONE, 0.5)], data=[Item(id="a", output=1, scorers=[(ONE, 0.6)])])
    assert "item 0 (a): one has another threshold here than in the run" in str(error)


def test_an_item_may_not_give_the_runs_key_to_another_function():
    own = graded("one").replace(generate_score=lambda ctx: 0)
    error = refused(scorers=[ONE], data=[Item(id="a", output=1), Item(id="b", output=1, scorers=[own])])
    assert error.problems == ("item 1 (b): one is another scorer here than in the run: give one of them .named('...')",)


@pytest.mark.parametrize(
    ("position", "common", "own"),
    [
        pytest.param("gates", ONE, ONE, id="gate, the same object"),
        pytest.param("scorers", ONE, ONE, id="scorer, the same object"),
        pytest.param("gates", checks.includes("x"), checks.includes("x"), id="gate, a built-in of the same arguments"),
        pytest.param("scorers", checks.includes("x"), checks.includes("x"), id="scorer, a built-in likewise"),
        pytest.param("scorers", (ONE, 0.5), (ONE, Threshold(0.5)), id="scorer with the same threshold"),
    ],
)
def test_an_item_may_repeat_what_the_run_has(position, common, own):
    options = {"gates": [], "scorers": [], position: [common]}
    plan = planned(**options, data=[Item(id="a", output=1, **{position: [own]}), Item(id="b", output=1)])
    assert len(plan.cells) == 1
    assert [len(row.gates + row.scorers) for row in plan.rows] == [1, 1]


def test_a_built_in_with_a_step_of_ones_own_is_another_scorer():
    own = checks.includes("x").analyze(lambda ctx: 1)
    error = refused(scorers=[checks.includes("x")], data=[Item(id="a", output=1, scorers=[own])])
    assert "check-includes[x] is another scorer here than in the run" in str(error)


# ── options ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("concurrency", [0, -1, 1.5, "2", True, None], ids=repr)
def test_concurrency_is_a_count(concurrency):
    assert "concurrency must be a whole number, 1 or more" in str(refused(concurrency=concurrency))


def test_on_item_complete_is_a_function():
    assert "on_item_complete must be a function" in str(refused(on_item_complete="print"))


@pytest.mark.parametrize(
    "listener", ["print", 5, lambda: None, lambda item, more: None], ids=["text", "number", "0", "2"]
)
def test_on_item_complete_takes_one_argument(listener):
    assert "on_item_complete must be a function of one argument" in str(refused(on_item_complete=listener))


@pytest.mark.parametrize("word", ["stop", "ignore", None, True], ids=repr)
def test_on_error_is_one_of_two_words(word):
    assert str(refused(on_error=word)) == f"on_error is 'record' or 'raise', not {word!r}"


@pytest.mark.parametrize("name", [5, b"x", ["x"]], ids=repr)
def test_a_name_is_text(name):
    assert str(refused(name=name)) == f"name must be text, not {name!r}"


class HalfARecorder:
    async def put(self, event):
        raise AssertionError("the run was begun")

    async def flush(self):
        raise AssertionError("the run was begun")


@pytest.mark.parametrize(
    ("recorder", "missing"),
    [
        pytest.param(HalfARecorder(), "start, find, end", id="half of one"),
        pytest.param(5, "start, find, put, end, flush", id="number"),
        pytest.param({}, "start, find, put, end, flush", id="mapping"),
    ],
)
def test_a_recorder_has_what_a_recorder_has(recorder, missing):
    assert f"recorder must have {missing}, as a Recorder has" in str(refused(recorder=recorder))


@pytest.mark.parametrize(
    ("argument", "guess"),
    [("scorer", "scorers"), ("gate", "gates"), ("on_item_completed", "on_item_complete"), ("Target", "target")],
)
def test_an_argument_that_is_not_there_is_refused_with_the_nearest(argument, guess):
    with pytest.raises(UnknownName, match=f"no argument of run_evals_sync '{argument}'. Did you mean '{guess}'"):
        run_evals_sync(data=saved(1), scorers=[ONE], **{argument: [ONE]})


async def test_the_async_form_refuses_it_too():
    with pytest.raises(UnknownName, match=r"no argument of run_evals 'recorders'\. Did you mean 'recorder'\?"):
        await run_evals(data=saved(1), scorers=[ONE], recorders=[])


# ── data ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("data", [[], (), iter([])], ids=["list", "tuple", "iterator"])
def test_no_data_is_refused(data):
    assert refused(data=data).code == "RUN_EXPERIMENT_FAILED_NO_DATA_PROVIDED"


@pytest.mark.parametrize("data", [5, None, {"input": "x"}, Item("x")], ids=lambda data: type(data).__name__)
def test_data_is_a_list_of_items(data):
    error = refused(data=data)
    assert error.code == "INVALID_DATA_ITEM"
    assert "data must be a list of items or the path of a file" in str(error)


@pytest.mark.parametrize(
    ("item", "message"),
    [
        pytest.param(5, 'mapping such as {"input": ...}, not int 5', id="number"),
        pytest.param("x", "mapping such as {\"input\": ...}, not str 'x'", id="text"),
        pytest.param({}, "has none of input, inputs, turns and output", id="empty"),
        pytest.param({"ground_truth": 1}, "has none of input, inputs, turns and output", id="nothing to ask"),
        pytest.param({"input": "x", "inputs": ["x"]}, "input and inputs are both there", id="input and inputs"),
        pytest.param({"input": "x", "turns": [{"input": "x"}]}, "input and turns are both there", id="input and turns"),
        pytest.param({"inputs": [], "turns": []}, "inputs and turns are both there", id="inputs and turns"),
        pytest.param({"inputs": []}, "inputs must be a list that is not empty", id="inputs empty"),
        pytest.param({"inputs": "x"}, "inputs must be a list that is not empty", id="inputs text"),
        pytest.param({"turns": []}, "turns must be a list that is not empty", id="turns empty"),
        pytest.param({"turns": ["x"]}, "turns[0] must be a Turn or a mapping with input", id="turn that is text"),
        pytest.param({"turns": [{"input": "x"}, {}]}, "turns[1] has no input", id="turn without input"),
        pytest.param({"input": "x", "groundTruht": 1}, "Did you mean 'ground_truth'", id="unknown key"),
        pytest.param({"input": "x", "id": ""}, "id must be text that is not empty", id="empty id"),
        pytest.param({"input": "x", "id": "é" * 501}, "give at most 500, or leave it out", id="long id"),
        pytest.param({"input": "x", "id": 10**5000}, "more than 500 digits", id="endless number as id"),
        pytest.param({"input": "x", "id": 7.5}, "id must be text that is not empty", id="id that is a fraction"),
        pytest.param({"input": "x", "id": "ok"}, "the id 'ok' is taken by an earlier item", id="id taken"),
        pytest.param(
            {"input": "x", "ground_truth": 1, "requestContext": {}}, "mixes snake_case and camelCase", id="both styles"
        ),
        pytest.param({"input": "x", "scorers": [len]}, "scorers[0]: an entry takes a scorer", id="own scorer"),
        pytest.param({"input": "x", "gates": ONE}, "gates must be a list of scorers", id="own gates"),
        pytest.param({"input": object()}, "has no plain form", id="input without an id"),
    ],
)
def test_an_item_that_cannot_be_right_is_named_by_its_index(item, message):
    error = refused(data=[{"id": "ok", "input": "fine"}, item])
    assert isinstance(error, DataErrors)
    assert error.code == "INVALID_DATA_ITEM"
    assert re.match(r"item 1( \(\w+\))?: ", error.problems[0])
    assert message in error.problems[0]


def test_all_items_that_cannot_be_right_are_named_at_once():
    error = refused(data=[{"input": "fine"}, {}, {"inputs": []}, {"input": 1}])
    assert [problem.split(":")[0] for problem in error.problems] == ["item 1", "item 2"]
    error = refused(data=[5, {"input": "fine"}, {"inptu": 1}])
    assert [problem.split(":")[0] for problem in error.problems] == ["item 0", "item 2"]


def test_an_item_without_output_needs_a_target():
    error = refused(target=None, data=[{"output": 1}, {"input": "x"}])
    assert len(error.problems) == 1
    assert error.problems[0].startswith("item 1: has no output, and there is no target to make one")


@pytest.mark.parametrize(
    "style", [{"ground_truth": 1, "request_context": {}}, {"groundTruth": 1, "requestContext": {}}]
)
def test_an_item_is_written_in_either_style(style):
    row = planned(data=[{"input": "x", "output": 1} | style]).rows[0]
    assert (row.item.ground_truth, row.item.request_context) == (1, {})


@pytest.mark.parametrize("value", [None, 0, False, "", []], ids=repr)
def test_an_empty_input_is_an_input(value):
    assert planned(data=[{"input": value}], target=never).rows[0].item.input == value


# ── ids ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def ids(*items):
    return [row.id[0] for row in planned(data=list(items)).rows]


def test_an_item_without_an_id_has_one_made_of_its_content():
    first, second = ids({"output": 1}, {"output": 2})
    assert re.fullmatch("[0-9a-f]{12}", first)
    assert first != second
    assert ids({"output": 2}, {"output": 1}) == [second, first]


def test_items_of_equal_content_are_numbered():
    first, second, third = ids({"output": 1}, {"output": 1}, {"output": 1, "metadata": {"a": 1}})
    assert (second, third) == (f"{first}-2", f"{first}-3")


def test_an_id_that_is_given_is_kept():
    assert ids({"id": "天気", "output": 1}, {"id": "b c", "output": 1}) == ["天気", "b c"]


def test_no_two_rows_share_an_id():
    made = ids({"output": 1})[0]
    found = ids({"output": 1}, {"id": f"{made}-2", "output": 5}, {"output": 1})
    assert len(set(found)) == 3


def test_an_object_without_a_plain_form_may_be_an_input_when_there_is_an_id():
    thing = object()
    row = planned(data=[Item(thing, id="a")], target=never).rows[0]
    assert row.given.input is thing


# ── columns ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_columns_come_in_the_order_of_reports():
    other = graded("other")
    plan = planned(
        gates=[ONE], scorers=[(other, 0.5)], data=[Item(id="a", output=1, gates=[other], scorers=[ONE]), Item(output=1)]
    )
    assert [cell.column.label for cell in plan.cells] == ["gate one", "gate other", "other", "one"]
    assert [cell.threshold for cell in plan.cells] == [None, None, Threshold(0.5), None]


def test_rows_share_their_columns():
    first, second = planned(data=saved(1, 1)).rows
    assert first.scorers is second.scorers


def test_a_duplicate_is_warned_of_once_for_each_place():
    with pytest.warns(UserWarning, match="scorer one is given more than once; it is shown as one#2") as warned:
        plan = planned(scorers=[ONE, ONE])
    assert len(warned) == 1
    assert [cell.column.key for cell in plan.cells] == ["one", "one#2"]


def test_named_scorers_are_no_duplicates():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plan = planned(scorers=[ONE, ONE.named("again")])
    assert [cell.column.key for cell in plan.cells] == ["one", "again"]


def test_two_functions_under_one_id_are_two_columns():
    with pytest.warns(UserWarning, match="more than once"):
        plan = planned(scorers=[scorer(id="s")(lambda run: 1), scorer(id="s")(lambda run: 0)])
    assert [cell.column.key for cell in plan.cells] == ["s", "s#2"]
