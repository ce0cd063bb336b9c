import functools
import json

import pytest

from proctor import Item, run_evals
from proctor.errors import ScorerRunError, UnknownName, UsageError
from proctor.scorers.judged.rubric import formula, rubric
from proctor.testing import ScriptedModel, create_test_run
from tests.scorers.judged.asked import fenced, outcome_of

TWO = "- Names the price\n- Names the date"
two_of = functools.partial(rubric, TWO)
OPTIONAL = [{"description": "Names the price", "id": "price"}, {"description": "Is kind", "required": False}]


def says(**satisfied):
    entries = [{"id": id, "reasoning": f"why {id}", "satisfied": word} for id, word in satisfied.items()]
    return {"criteria": entries}


@pytest.mark.parametrize(
    ("said", "score"),
    [({"c1": True, "c2": True}, 5.0), ({"c1": True, "c2": False}, 0.0), ({"c1": False, "c2": False}, 0.0)],
)
async def test_everything_required_must_be_satisfied(said, score):
    outcome, model = await outcome_of(two_of, [says(**said)], options={"scale": 5}, output="x")
    assert (outcome.score, len(model.calls)) == (score, 1)
    scorer = two_of(model=model, scale=5)
    assert (scorer.range, scorer.kind, scorer.better) == ((0.0, 5.0), "binary", "higher")


async def test_what_is_required_is_ours_to_say_and_not_the_judge_s():
    liar = says(price=False, c2=True)
    liar["criteria"][0]["required"] = False
    outcome, _ = await outcome_of(functools.partial(rubric, OPTIONAL), [liar], output="x")
    assert outcome.score == 0.0
    outcome, _ = await outcome_of(functools.partial(rubric, OPTIONAL), [says(price=True, c2=False)], output="x")
    assert outcome.score == 1.0


async def test_when_nothing_is_required_everything_counts():
    wishes = functools.partial(rubric, [{"description": text, "required": False} for text in ("a", "b")])
    outcome, _ = await outcome_of(wishes, [says(c1=True, c2=False)], output="x")
    assert outcome.score == 0.0
    assert outcome.reason.startswith("1 of 2 criteria, none of them required, satisfied\n[x] c1: a (optional) - why c1")
    outcome, _ = await outcome_of(wishes, [says(c1=True, c2=True)], output="x")
    assert outcome.score == 1.0


async def test_the_reason_tells_of_each_criterion_and_what_is_left_to_do():
    outcome, _ = await outcome_of(two_of, [says(c2=False, c1=True)], output="x")
    assert outcome.reason.splitlines() == [
        "1 of 2 required criteria satisfied",
        "[x] c1: Names the price - why c1",
        "[ ] c2: Names the date - why c2",
        "To finish: c2: Names the date",
    ]
    outcome, _ = await outcome_of(functools.partial(rubric, OPTIONAL), [says(price=True, c2=False)], output="x")
    assert outcome.reason.splitlines() == [
        "1 of 1 required criteria satisfied",
        "[x] price: Names the price - why price",
        "[ ] c2: Is kind (optional) - why c2",
        "Nothing is left to do",
    ]


async def test_the_judge_sees_task_criteria_and_the_last_answer_in_this_order():
    _, model = await outcome_of(
        functools.partial(rubric, OPTIONAL),
        [says(price=True, c2=True)],
        input="Which one?",
        output=["Let me see.", "The blue one, 20 euros."],
    )
    assert fenced(model.calls[0]) == {"task": "Which one?", "answer": "The blue one, 20 euros."}
    prompt = model.calls[0].messages[1].text
    lines = [json.loads(line) for line in prompt.splitlines() if line.startswith("{")]
    assert lines == [{"id": "price", "criterion": "Names the price"}, {"id": "c2", "criterion": "Is kind"}]
    assert prompt.index("Which one?") < prompt.index("Names the price") < prompt.index("The blue one")


async def test_the_rubric_comes_with_the_run_when_it_has_none_of_its_own():
    seen = []
    places = {
        "request_context": {"rubric": "from the context"},
        "rubric": "from the run",
        "input": {"prompt": "?", "rubric": "from the input"},
    }
    for given in (
        places,
        {**places, "request_context": {"rubric": " "}},
        {"input": places["input"], "rubric": []},
        create_test_run(None, "x", additional_context={"rubric": [{"description": "from more context"}]}),
    ):
        _, model = await outcome_of(rubric, [says(c1=True)], **{**given, "output": "x"})
        seen.append(json.loads(fenced(model.calls[0])["criteria"])["criterion"])
    assert seen == ["from the context", "from the run", "from the input", "from more context"]


async def test_its_own_rubric_wins():
    _, model = await outcome_of(two_of, [says(c1=True, c2=True)], output="x", request_context={"rubric": "other"})
    assert "Names the date" in model.calls[0].messages[1].text
    assert "other" not in fenced(model.calls[0]).get("criteria", "")


async def test_the_task_that_the_input_names_comes_before_the_question():
    for key in ("originalTask", "original_task"):
        given = {"prompt": "Go on", key: "Write a poem", "rubric": "It rhymes"}
        _, model = await outcome_of(rubric, [says(c1=True)], input=given, output="x")
        assert fenced(model.calls[0])["task"] == "Write a poem"
    _, model = await outcome_of(two_of, [says(c1=True, c2=True)], output="x")
    assert "task" not in fenced(model.calls[0])
    assert "It was not recorded." in model.calls[0].messages[1].text


@pytest.mark.parametrize("key", ["currentText", "current_text"])
@pytest.mark.parametrize("output", [None, "", []])
async def test_without_an_answer_the_text_so_far_is_it(key, output):
    given = {"originalTask": "Name the price", key: "20 euros"}
    _, model = await outcome_of(two_of, [says(c1=True, c2=True)], input=given, output=output)
    assert fenced(model.calls[0]) == {"task": "Name the price", "answer": "20 euros"}


async def test_an_answer_comes_before_the_text_so_far():
    given = {"currentText": "20 euros"}
    _, model = await outcome_of(two_of, [says(c1=True, c2=True)], input={**given, "prompt": "?"}, output="30 euros")
    assert fenced(model.calls[0])["answer"] == "30 euros"
    outcome, model = await outcome_of(two_of, [says(c1=True, c2=True)], input=given, output=None)
    assert (outcome.score, fenced(model.calls[0])) == (1.0, {"answer": "20 euros"})


@pytest.mark.parametrize("given", [{}, {"input": {"rubric": ""}}, {"request_context": {"rubric": None}}])
async def test_it_declines_without_a_rubric(given):
    outcome, model = await outcome_of(rubric, [says()], output="x", **given)
    assert (outcome.status, outcome.reason, len(model.calls)) == ("not_scorable", "there is no rubric", 0)


async def test_it_declines_without_an_answer():
    outcome, model = await outcome_of(two_of, [says()], output=" ")
    assert (outcome.status, len(model.calls)) == ("not_scorable", 0)
    assert outcome.reason.startswith("there is no answer")


async def test_a_rubric_of_the_run_that_is_none_is_an_error_before_anybody_is_asked():
    model = ScriptedModel([says(c1=True)])
    with pytest.raises(ScorerRunError, match=r"the criteria in request_context\['rubric'\] are a checklist"):
        await rubric(model=model).run(output="x", request_context={"rubric": 3})
    assert model.calls == []


@pytest.mark.parametrize("said", [says(c1=True), says(c1=True, c3=True), says(), says(c1=True, c2=True, c3=True)])
async def test_a_criterion_that_the_judge_left_out_is_an_error_and_no_pass(said):
    with pytest.raises(ScorerRunError, match="exactly once"):
        await outcome_of(two_of, [said, said], output="x")
    outcome, model = await outcome_of(two_of, [said, says(c1=True, c2=True)], output="x")
    assert (outcome.score, len(model.calls)) == (1.0, 2)


def test_options_are_refused_when_written():
    with pytest.raises(UsageError, match="rubric: criteria are empty"):
        rubric("")
    with pytest.raises(UsageError, match="'a' stands twice"):
        rubric([{"id": "a", "description": "x"}, {"id": "a", "description": "y"}])
    with pytest.raises(UnknownName, match="Did you mean 'description'"):
        rubric([{"descripton": "x"}])
    with pytest.raises(UsageError, match="scale is a number above 0"):
        rubric(TWO, scale=0)
    with pytest.raises(UsageError, match=r"has no \{criteria\}"):
        rubric(TWO, prompts={"analyze": "Is {answer} good?"})


def test_its_key_is_its_criteria():
    assert rubric("- a\n- b").key == rubric(["a", "b"]).key == "rubric-scorer[a,b]"
    keys = {rubric(["a"]).key, rubric([{"description": "a", "required": False}]).key, rubric().key}
    assert len(keys) == 3
    assert len({rubric(["a"]).fingerprint, rubric(["b"]).fingerprint, rubric().fingerprint} - {"unknown"}) == 3


async def test_words_and_language_are_the_user_s_to_change():
    prompts = {"analyze": "{answer}\nAnd now:\n{criteria}", "instructions": "Be strict."}
    options = {"language": "de", "prompts": prompts}
    _, model = await outcome_of(two_of, [says(c1=True, c2=True)], options=options, output="x")
    system, user = (message.text for message in model.calls[0].messages)
    assert system.startswith("Be strict.")
    assert "the language with the code de" in system
    assert "And now:" in user


async def test_in_a_run_every_item_can_bring_its_own_rubric():
    model = ScriptedModel({"rhymes": says(c1=True), "is short": says(c1=False)})
    result = await run_evals(
        data=[
            Item("?", output="a", request_context={"rubric": "It rhymes"}),
            Item("?", output="b", request_context={"rubric": "It is short"}),
            Item("?", output="c"),
        ],
        scorers=[(rubric(model=model), 0.5)],
    )
    mean = result.scores["rubric-scorer"]
    assert (result.verdict, mean.mean, mean.n, mean.not_scorable) == ("passed", 0.5, 2, 1)


def test_the_formula():
    assert formula({"criteria": [{"satisfied": True}, {"satisfied": True}]}, {"scale": 3}) == 3.0
    assert formula({"criteria": [{"satisfied": True}, {"satisfied": "true"}]}, {}) == 0.0
    assert formula({"criteria": [{"satisfied": False, "required": False}]}, {}) == 0.0
    assert formula({"criteria": [{"satisfied": True}, {"satisfied": False, "required": False}]}, {}) == 1.0
    assert formula({"criteria": []}, {}).reason == "there is no rubric"
