import json

import pytest

from proctor.data.trajectory import ExpectedStep, Step, Trajectory, TrajectoryExpectation
from proctor.errors import ScorerRunError, UsageError
from proctor.scorers.judged.trajectory_accuracy_llm import formula, trajectory_accuracy_llm
from tests.scorers.judged.asked import fenced, outcome_of

ANSWER = {"role": "assistant", "content": "It is on its way."}
CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "1", "function": {"name": "find", "arguments": '{"order": 7}'}}],
}
RESULT = {"role": "tool", "tool_call_id": "1", "content": "sent"}
NESTED = {
    "steps": [
        {
            "stepType": "agent_run",
            "name": "helper",
            "agentId": "h1",
            "durationMs": 5,
            "children": [
                {"stepType": "tool_call", "name": "find", "toolArgs": {"order": 7}, "toolResult": {"at": "x"}}
            ],
        },
        {"stepType": "tool_call", "name": "mail", "success": False, "metadata": {"secret": 1}},
    ],
    "rawOutput": [{"role": "assistant", "content": "Wait."}, ANSWER],
}


def said(*verdicts, extra=(), missing=(), ids=None):
    """*verdicts*: pairs of necessary and in order."""
    numbers = ids or range(1, len(verdicts) + 1)
    listed = [
        {"id": at, "reason": f"r{at}", "was_necessary": it[0], "was_in_order": it[1]}
        for at, it in zip(numbers, verdicts, strict=True)
    ]
    return {"step_evaluations": listed, "extra_steps": list(extra), "missing_steps": list(missing)}


GOOD = (True, True)


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize(
    ("analysis", "options", "score"),
    [
        pytest.param(said(GOOD, GOOD), {}, 1.0, id="a perfect path"),
        pytest.param(said(GOOD), {"necessary": 0.6, "in_order": 0.3}, 0.9, id="the reference's weights"),
        pytest.param(said((True, False)), {}, 0.6, id="out of order"),
        pytest.param(said((False, True)), {}, 0.4, id="not necessary"),
        pytest.param(said((False, False)), {}, 0.0, id="neither"),
        pytest.param(said(GOOD, GOOD, extra=[2]), {}, 0.7, id="an extra step is not necessary"),
        pytest.param(said(GOOD, (False, True), extra=[2]), {}, 0.7, id="and is not counted twice"),
        pytest.param(said(GOOD, missing=["a"]), {}, 0.95, id="a missing step"),
        pytest.param(said(GOOD, missing=["a", " ", "a "]), {}, 0.95, id="blanks and repeats are not missing"),
        pytest.param(said(GOOD, missing="abcdefghi"), {"in_order": 0.3}, 0.81, id="many missing"),
        pytest.param(said((False, False), missing=["a"]), {}, 0.0, id="never below 0"),
        pytest.param(said(missing=["a"], extra=["x"]), {}, 0.0, id="no steps, some missing"),
        pytest.param(said(extra=["x"]), {}, 0.5, id="no steps, some extra"),
        pytest.param({"step_evaluations": []}, {}, 1.0, id="no steps, nothing missing"),
    ],
)
def test_the_formula(analysis, options, score):
    assert formula(analysis, options) == score


def test_extra_steps_are_known_by_their_names_too():
    steps = [{"step_name": name, "was_necessary": True, "was_in_order": True} for name in ("a", "b")]
    assert formula({"step_evaluations": steps, "extra_steps": [" A "]}, {}) == 0.7
    assert formula({"step_evaluations": steps, "extra_steps": ["c", "c"]}, {}) == 0.8


async def test_the_judge_sees_request_last_answer_and_all_steps_depth_first():
    outcome, model = await outcome_of(
        trajectory_accuracy_llm,
        [said(GOOD, GOOD, (False, True), missing=["pay"]), "why"],
        input="Where is order 7?",
        output=NESTED,
        expected_trajectory={"steps": [{"name": "find", "children": {"steps": [{"name": "open"}]}}]},
    )
    judge, explain = model.calls
    shown = fenced(judge)
    assert list(shown) == ["question", "answer", "steps", "expected"]
    assert (shown["question"], shown["answer"]) == ("Where is order 7?", "It is on its way.")
    find = {"name": "find", "type": "tool_call", "arguments": {"order": 7}, "result": {"at": "x"}}
    assert lines(shown["steps"]) == [
        {"id": 1, "name": "helper", "type": "agent_run", "agent_id": "h1"},
        {"id": 2, "within": 1, **find},
        {"id": 3, "name": "mail", "type": "tool_call", "success": False},
    ]
    assert lines(shown["expected"]) == [{"expected": 1, "name": "find"}, {"expected": 2, "within": 1, "name": "open"}]
    assert outcome.score == 0.78
    assert outcome.evidence.preprocess_step_result == {
        "actual_steps": ["helper", "find", "mail"],
        "has_steps": True,
        "expected_steps": ["find", "open"],
    }
    told = fenced(explain)
    assert told["question"] == "Where is order 7?"
    assert lines(told["steps"])[2] == {
        "id": 3,
        "name": "mail",
        "reason": "r3",
        "was_necessary": False,
        "was_in_order": True,
        "was_extra": False,
    }
    assert told["missing"] == '{"id": 1, "text": "pay"}'
    assert "0.78 of 1" in explain.messages[1].text


@pytest.mark.parametrize(
    "run",
    [
        {"output": [CALL, RESULT, ANSWER]},
        {
            "output": Trajectory(
                steps=[Step(name="find", step_type="tool_call", tool_args={"order": 7}, tool_result="sent")],
                raw_output=[ANSWER],
            )
        },
        {
            "output": [ANSWER],
            "trajectory": Trajectory(
                steps=(Step(name="find", step_type="tool_call", tool_args={"order": 7}, tool_result="sent"),)
            ),
        },
    ],
    ids=["messages", "an output that is a trajectory", "a trajectory beside the output"],
)
async def test_steps_come_from_a_trajectory_else_from_the_calls(run):
    _, model = await outcome_of(trajectory_accuracy_llm, [said(GOOD), "why"], input="Where?", **run)
    shown = fenced(model.calls[0])
    assert lines(shown["steps"]) == [
        {"id": 1, "name": "find", "type": "tool_call", "arguments": {"order": 7}, "result": "sent"}
    ]
    assert shown["answer"] == "It is on its way."


OWN = TrajectoryExpectation(steps=[ExpectedStep(name="own", step_type="tool_call", fields={"tool_args": {"a": 1}})])
OWN_LINE = {"expected": 1, "name": "own", "type": "tool_call", "arguments": {"a": 1}}


@pytest.mark.parametrize(
    ("own", "item", "expected"),
    [
        pytest.param(OWN, None, [OWN_LINE], id="the scorer's own"),
        pytest.param(["a", "b"], None, [{"expected": 1, "name": "a"}, {"expected": 2, "name": "b"}], id="names"),
        pytest.param(OWN, {"steps": [{"name": "x"}]}, [{"expected": 1, "name": "x"}], id="the item's wins"),
        pytest.param(OWN, {"max_steps": 3}, [OWN_LINE], id="an item that says nothing of steps"),
        pytest.param(OWN, {"steps": []}, None, id="an item that expects no steps"),
        pytest.param(None, {"steps": []}, None, id="no steps, and no own"),
        pytest.param(None, None, None, id="nothing is expected"),
    ],
)
async def test_the_item_s_expectation_wins(own, item, expected):
    _, model = await outcome_of(
        trajectory_accuracy_llm,
        [said(GOOD), "why"],
        options={"expected_trajectory": own},
        input="Where?",
        output=[CALL, RESULT, ANSWER],
        expected_trajectory=item,
    )
    shown = fenced(model.calls[0])
    assert (lines(shown["expected"]) if "expected" in shown else None) == expected
    assert ("Nothing was said of the steps to expect" in model.calls[0].messages[1].text) == (expected is None)


async def test_each_step_must_be_judged_once():
    run = {"input": "Where?", "output": NESTED}
    with pytest.raises(ScorerRunError, match="3 is missing") as caught:
        await outcome_of(trajectory_accuracy_llm, [said(GOOD, GOOD), said(GOOD, GOOD)], **run)
    assert caught.value.failed_step == "analyze"
    outcome, model = await outcome_of(trajectory_accuracy_llm, [said(GOOD, GOOD), said(GOOD, GOOD, GOOD), "why"], **run)
    assert (outcome.score, len(model.calls)) == (1.0, 3)
    assert "3 is missing" in model.calls[1].messages[-1].text


@pytest.mark.parametrize(
    "answer",
    [
        said(GOOD, ids=[2]),
        said(GOOD, GOOD, ids=[1, 1]),
        said(GOOD, extra=[2]),
        said(GOOD, extra=[0]),
        said(("yes", True)),
    ],
    ids=["another id", "an id twice", "an extra step that there is not", "a step 0", "a word"],
)
async def test_what_does_not_fit_is_an_error(answer):
    with pytest.raises(ScorerRunError):
        await outcome_of(trajectory_accuracy_llm, [answer, answer], input="?", output=[CALL, RESULT, ANSWER])


async def test_an_answer_without_steps_is_judged_by_what_is_missing():
    for missing, score in ((["find"], 0.0), ([], 1.0)):
        outcome, model = await outcome_of(
            trajectory_accuracy_llm, [said(missing=missing), "why"], input="Where?", output="I do not know."
        )
        assert (outcome.score, len(model.calls), fenced(model.calls[0])["steps"]) == (score, 2, "")


async def test_steps_without_an_answer_are_judged():
    outcome, model = await outcome_of(
        trajectory_accuracy_llm, [said(GOOD), "why"], input="Where?", output=[CALL, RESULT]
    )
    assert (outcome.score, fenced(model.calls[0])["answer"]) == (1.0, "")


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"input": "Where?", "output": {"steps": []}}, "there is no answer and no step"),
        ({"input": "Where?", "output": []}, "there is no answer and no step"),
        ({"output": NESTED}, "there is no question"),
    ],
)
async def test_it_declines_before_the_call(given, why):
    outcome, model = await outcome_of(trajectory_accuracy_llm, [said()], **given)
    assert (outcome.status, outcome.score, len(model.calls)) == ("not_scorable", None, 0)
    assert outcome.reason.startswith(why)


@pytest.mark.parametrize(
    ("output", "why"),
    [
        ({"steps": [{"stepType": "tool_call"}]}, r"output.steps\[0\] has no name"),
        ({"steps": [{"name": "a", "children": [7]}]}, r"output.steps\[0\].children.steps\[0\] is a step"),
    ],
)
async def test_steps_that_cannot_be_read_are_an_error(output, why):
    with pytest.raises(ScorerRunError, match=why):
        await outcome_of(trajectory_accuracy_llm, [said()], input="Where?", output=output)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"necessary": -0.1}, "trajectory_accuracy_llm: necessary must be a number, 0 or more"),
        ({"in_order": "much"}, "in_order must be a number"),
        ({"missing_penalty": float("nan")}, "missing_penalty must be a number"),
        ({"necessary": 0, "in_order": 0}, "add up to more than 0 and at most 1"),
        ({"necessary": 0.7}, "add up to more than 0 and at most 1"),
        ({"expected_trajectory": []}, "with one step or more"),
        ({"expected_trajectory": TrajectoryExpectation(max_steps=2)}, "with one step or more"),
        ({"expected_trajectory": "find"}, "steps are a list"),
        ({"expected_trajectory": [{"step_type": "tool_call"}]}, "has no name"),
        ({"prompts": {"analyze": "{question} {steps}"}}, r"has no \{expected\}"),
        ({"prompts": {"analyze": "{question} {stepz} {expected}"}}, "Did you mean 'steps'"),
    ],
)
def test_options_are_refused_when_written(options, message):
    with pytest.raises(UsageError, match=message):
        trajectory_accuracy_llm(**options)


async def test_prompts_and_language_are_the_user_s():
    options = {"language": "Spanish", "prompts": {"analyze": "{steps} {expected} {question}"}}
    _, model = await outcome_of(
        trajectory_accuracy_llm, [said(GOOD), "why"], options=options, input="?", output=[CALL, RESULT, ANSWER]
    )
    assert list(fenced(model.calls[0])) == ["steps", "question"]
    assert all("Spanish" in call.messages[0].text for call in model.calls)


def test_it_is_a_trajectory_scorer_known_by_its_options():
    one, other = (
        trajectory_accuracy_llm(model="test:m"),
        trajectory_accuracy_llm(model="test:m", expected_trajectory=OWN),
    )
    assert (one.type, one.key, one.range, one.better) == (
        "trajectory",
        "llm-trajectory-accuracy-scorer",
        (0.0, 1.0),
        "higher",
    )
    assert one.key != other.key
    assert len({one.fingerprint, other.fingerprint, "unknown"}) == 3


# ── what steps call themselves ─────────────────────────────────────────────────────────────────────────────────────


async def test_a_step_s_own_fields_do_not_replace_its_number_and_place():
    inner = {"name": "pay", "id": 9, "within": 7}
    path = {"steps": [{"name": "plan", "id": 2, "within": 5, "expected": 3, "children": [inner]}]}
    wanted = [{"name": "plan", "expected": 4, "id": 8, "within": 6}]
    _, model = await outcome_of(
        trajectory_accuracy_llm,
        [said(GOOD, GOOD), "why"],
        options={"expected_trajectory": wanted},
        input="Pay",
        output=path,
    )
    assert lines(fenced(model.calls[0])["steps"]) == [
        {"id": 1, "name": "plan", "own_id": 2, "own_within": 5, "expected": 3},
        {"id": 2, "within": 1, "name": "pay", "own_id": 9, "own_within": 7},
    ]
    assert lines(fenced(model.calls[0])["expected"]) == [
        {"expected": 1, "name": "plan", "own_expected": 4, "own_id": 8, "own_within": 6}
    ]


async def test_a_field_that_is_called_name_does_not_rename_an_expected_step():
    wanted = [ExpectedStep(name="plan", fields={"name": "forged"})]
    _, model = await outcome_of(
        trajectory_accuracy_llm,
        [said(GOOD), "why"],
        options={"expected_trajectory": wanted},
        input="Pay",
        output={"steps": [{"name": "plan"}]},
    )
    assert lines(fenced(model.calls[0])["expected"]) == [{"expected": 1, "name": "plan", "own_name": "forged"}]


def test_steps_within_themselves_are_refused():
    step = {"name": "plan", "children": []}
    step["children"] += [step, step]
    with pytest.raises(UsageError, match="steps are nested deeper than 200 levels, or are within themselves"):
        trajectory_accuracy_llm(expected_trajectory=[step])
    deep = {"name": "a"}
    for _ in range(5000):
        deep = {"name": "a", "children": [deep]}
    with pytest.raises(UsageError, match="steps are nested deeper than 200 levels"):
        trajectory_accuracy_llm(expected_trajectory=[deep])


async def test_an_item_s_steps_within_themselves_are_an_error():
    step = {"name": "plan", "children": []}
    step["children"].append(step)
    with pytest.raises(ScorerRunError, match="within themselves") as caught:
        await outcome_of(
            trajectory_accuracy_llm, [said(GOOD)], input="q", output=[ANSWER], expected_trajectory={"steps": [step]}
        )
    assert not isinstance(caught.value.__cause__, RecursionError)


def test_a_number_is_the_same_step_however_it_is_written():
    told = said(GOOD, GOOD, extra=[2.0])
    assert (
        formula(told, {})
        == formula(said(GOOD, GOOD, extra=[2]), {})
        == formula(said(GOOD, GOOD, extra=["2"]), {})
        == 0.7
    )


async def test_a_scale_multiplies_the_score():
    outcome, model = await outcome_of(
        trajectory_accuracy_llm,
        [said(GOOD, (False, True)), "why"],
        options={"scale": 10},
        input="Pay",
        output={"steps": [{"name": "plan"}, {"name": "pay"}]},
    )
    assert outcome.score == 7.0
    assert "7 of 10" in model.calls[1].messages[1].text
    assert formula(said(), {"scale": 10}) == 10.0
