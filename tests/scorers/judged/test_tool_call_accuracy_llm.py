import json

import pytest

from proctor import Item, run_evals
from proctor.errors import ScorerRunError, UsageError
from proctor.scorers.judged.tool_call_accuracy_llm import formula, tool_call_accuracy_llm
from proctor.scoring.run import TurnRun
from proctor.testing import ScriptedModel
from tests.scorers.judged.asked import fenced, outcome_of

TOOLS = ["weather", {"id": "mail", "description": "Sends a mail"}]


def scorer(**options):
    return tool_call_accuracy_llm(options.pop("tools", TOOLS), **options)


def calls(*names, text="Done."):
    made = [
        {"id": str(at), "function": {"name": name, "arguments": json.dumps({"at": at})}}
        for at, name in enumerate(names, start=1)
    ]
    return [{"role": "assistant", "content": text, "tool_calls": made}]


def said(*right, missing=(), ids=None):
    numbers = ids or range(1, len(right) + 1)
    listed = [{"id": at, "reason": f"r{at}", "was_appropriate": it} for at, it in zip(numbers, right, strict=True)]
    return {"evaluations": listed, "missing_reason": "so", "missing_tools": list(missing)}


@pytest.mark.parametrize(
    ("right", "missing", "score"),
    [
        ([True], [], 1.0),
        ([True, False], [], 0.5),
        ([True, True, False], [], 0.67),
        ([], [], 1.0),
        ([], ["a"], 0.0),
        ([True], ["a", "b"], 0.33),
        ([True], ["a", "a ", ""], 0.5),
        ([False], [], 0.0),
    ],
)
def test_the_formula_counts_missing_tools_in_the_denominator(right, missing, score):
    listed = [{"was_appropriate": it} for it in right]
    assert formula({"evaluations": listed, "missing_tools": missing}, {}) == score


def test_missing_tools_may_be_left_out_and_a_word_is_no_yes():
    assert formula({"evaluations": [{"was_appropriate": "true"}]}, {}) == 0.0
    assert formula({"evaluations": []}, {}) == 1.0


async def test_the_judge_sees_request_answer_calls_with_arguments_and_tools():
    outcome, model = await outcome_of(
        scorer, [said(True, False, missing=["mail"]), "why"], input="Rome?", output=calls("weather", "weather")
    )
    judge, explain = model.calls
    assert list(fenced(judge).items()) == [
        ("question", "Rome?"),
        ("answer", "Done."),
        (
            "calls",
            "\n".join(f'{{"id": {at}, "name": "weather", "arguments": {{"at": {at}}}}}' for at in (1, 2)),
        ),
        ("tools", '{"tool": 1, "name": "weather"}\n{"tool": 2, "name": "mail", "description": "Sends a mail"}'),
    ]
    assert (outcome.score, outcome.reason) == (0.33, "why")
    assert outcome.evidence.preprocess_step_result == {"actual_tools": ["weather", "weather"], "has_tool_calls": True}
    assert '"reason": "r2", "was_appropriate": false' in fenced(explain)["calls"]
    assert fenced(explain)["missing"] == '{"id": 1, "text": "mail"}'
    assert fenced(explain)["missing_reason"] == "so"
    assert fenced(explain)["question"] == "Rome?"
    assert "0.33 of 1" in explain.messages[1].text


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "function", "function": {"name": "mail", "description": "d", "parameters": {"type": "object"}}},
        {"type": "function", "name": "mail", "description": "d", "parameters": {"type": "object"}},
        {"name": "mail", "description": "d", "input_schema": {"type": "object"}},
    ],
)
async def test_tools_of_chat_apis_are_read(tool):
    _, model = await outcome_of(scorer, [said(), "why"], options={"tools": [tool]}, input="?", output="Hi")
    line = '{"tool": 1, "name": "mail", "description": "d", "parameters": {"type": "object"}}'
    assert fenced(model.calls[0])["tools"] == line


async def test_arguments_that_no_json_can_say_are_shown_as_text():
    call = {"id": "1", "function": {"name": "weather", "arguments": "{not json"}}
    output = [{"role": "assistant", "content": "x", "tool_calls": [call]}]
    _, model = await outcome_of(scorer, [said(True), "why"], input="?", output=output)
    assert fenced(model.calls[0])["calls"] == '{"id": 1, "name": "weather", "arguments": "{not json"}'


async def test_without_calls_the_judge_is_asked_what_is_missing():
    outcome, model = await outcome_of(scorer, [said(missing=["mail"]), "why"], input="Mail me", output="No.")
    assert fenced(model.calls[0])["calls"] == ""
    assert (outcome.score, len(model.calls)) == (0.0, 2)
    outcome, _ = await outcome_of(scorer, [said(), "why"], input="Hi", output="Hello.")
    assert outcome.score == 1.0


async def test_calls_without_an_answer_are_judged_by_what_was_asked():
    asked = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    asked.append({"role": "user", "content": "Rome?"})
    outcome, model = await outcome_of(scorer, [said(True), "why"], input=asked, output=calls("weather", text=None))
    assert (fenced(model.calls[0])["question"], fenced(model.calls[0])["answer"]) == ("Rome?", "")
    assert outcome.score == 1.0


async def test_of_a_conversation_all_that_was_asked_is_shown():
    turns = [TurnRun("Rome?", calls("weather", text="Sunny.")), TurnRun("Mail it", calls("mail", text="Sent."))]
    output = [*turns[0].output, *turns[1].output]
    _, model = await outcome_of(scorer, [said(True, True), "why"], input="Rome?", output=output, turns=turns)
    shown = fenced(model.calls[0])
    assert (shown["question turn 1 user"], shown["question turn 3 user"]) == ("Rome?", "Mail it")
    assert len(shown["calls"].splitlines()) == 2


async def test_a_call_without_verdict_is_asked_for_and_then_an_error():
    run = {"input": "?", "output": calls("weather", "mail")}
    with pytest.raises(ScorerRunError, match=r"exactly once: 2 is missing") as caught:
        await outcome_of(scorer, [said(True), said(True)], **run)
    assert caught.value.failed_step == "analyze"
    outcome, model = await outcome_of(scorer, [said(True), said(True, True), "why"], **run)
    assert (outcome.score, len(model.calls)) == (1.0, 3)


@pytest.mark.parametrize(
    "answer",
    [
        said(True, ids=[2]),
        said(True, True, ids=[1, 1]),
        said(True, missing=["telephone"]),
        said("perhaps"),
    ],
    ids=["another id", "an id twice", "a tool that there is not", "no verdict"],
)
async def test_what_does_not_fit_is_an_error(answer):
    with pytest.raises(ScorerRunError):
        await outcome_of(scorer, [answer, answer], input="?", output=calls("weather"))


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"input": "?", "output": []}, "there is no answer and no tool call"),
        ({"input": [], "output": calls("weather")}, "there is no question"),
        ({"output": calls("weather")}, "there is no question"),
    ],
)
async def test_it_declines_before_the_call(given, why):
    outcome, model = await outcome_of(scorer, [said()], **given)
    assert (outcome.status, outcome.score, len(model.calls)) == ("not_scorable", None, 0)
    assert outcome.reason.startswith(why)


@pytest.mark.parametrize(
    ("tools", "message"),
    [
        ("weather", "is a list of tools that is not empty"),
        ({"weather": "d"}, "is a list of tools that is not empty"),
        ([], "is a list of tools that is not empty"),
        ([1], r"available_tools\[0\] is a name, or a mapping"),
        (["a", {"description": "d"}], r"available_tools\[1\] has no name"),
        ([" "], "has no name"),
        ([{"name": "a", "description": 1}], "description is text"),
        (["a", {"id": "a"}], "has 'a' more than once"),
    ],
)
def test_tools_are_refused_when_written(tools, message):
    with pytest.raises(UsageError, match=message):
        tool_call_accuracy_llm(tools)


async def test_prompts_and_language_are_the_user_s():
    with pytest.raises(UsageError, match=r"has no \{tools\}"):
        scorer(prompts={"analyze": "{question} {calls}"})
    options = {"language": "French", "prompts": {"analyze": "{tools} {calls} {question}"}}
    _, model = await outcome_of(scorer, [said(True), "why"], options=options, input="?", output=calls("weather"))
    assert list(fenced(model.calls[0])) == ["tools", "calls", "question"]
    assert all("French" in call.messages[0].text for call in model.calls)


def test_the_tools_are_in_the_key_and_the_fingerprint():
    one, other = scorer(model="test:m", tools=["a"]), scorer(model="test:m", tools=["b"])
    assert one.key != other.key
    assert one.fingerprint != other.fingerprint
    assert (one.range, one.better, one.kind) == ((0.0, 1.0), "higher", "graded")


async def test_in_a_run_it_counts_what_it_could_judge():
    model = ScriptedModel({"Judge every call": said(True, False), "*": "why"})
    result = await run_evals(
        data=[Item("Rome?", output=calls("weather", "mail")), Item("Rome?", output="")],
        scorers=[(scorer(model=model).named("tools"), 0.6)],
    )
    mean = result.scores["tools"]
    assert (result.verdict, mean.mean, mean.n, mean.not_scorable) == ("scored", 0.5, 1, 1)


async def test_a_scale_multiplies_the_score():
    outcome, model = await outcome_of(
        scorer, [said(True, missing=["mail"]), "why"], options={"scale": 10}, input="Rome?", output=calls("weather")
    )
    assert outcome.score == 5.0
    assert "5 of 10" in model.calls[1].messages[1].text
    assert formula({"evaluations": []}, {"scale": 10}) == 10.0


async def test_a_chat_request_is_a_request_though_the_agent_said_nothing():
    request = {"messages": [{"role": "user", "content": "Rome?"}]}
    outcome, model = await outcome_of(scorer, [said(True), "why"], input=request, output=calls("weather", text=None))
    assert outcome.score == 1.0
    assert fenced(model.calls[0])["question"] == "Rome?"
