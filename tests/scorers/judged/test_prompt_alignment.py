import itertools

import pytest

from proctor import Item, run_evals
from proctor.errors import ScorerRunError, UnknownName, UsageError
from proctor.scorers.judged.prompt_alignment import formula, prompt_alignment
from proctor.testing import ScriptedModel, create_agent_test_run, create_test_message
from tests.scorers.judged.asked import fenced, outcome_of

TALK = [
    {"role": "system", "content": "Answer in French."},
    {"role": "user", "content": "Capital?"},
]


def four(*scores, requirements=None):
    """What is said of one prompt; the second score may also be given as the verdicts on its requirements."""
    intent, overall, completeness, fitting = scores
    listed = [{"requirement": "q", "reasoning": "r", "is_fulfilled": word} for word in requirements or ()]
    requirements = {"requirements": listed} | ({} if overall is None else {"overall_score": overall})
    return {
        "intent_alignment": {"reasoning": "r", "score": intent},
        "requirements_fulfillment": requirements,
        "completeness": {"reasoning": "r", "score": completeness},
        "response_appropriateness": {"reasoning": "r", "score": fitting},
    }


def says(**words):
    """The judge's answer: all dimensions are 1 but the requirements, of which these are fulfilled."""
    return {"prompts": [{"id": id, **four(1, None, 1, 1, requirements=said)} for id, said in words.items()]}


@pytest.mark.parametrize(
    ("mode", "scores", "score"),
    [
        ("user", (1, 1, 1, 1), 1.0),
        ("user", (0, 1, 0, 0), 0.3),
        ("user", (0, 0, 1, 0), 0.2),
        ("user", (0.8, 0.6, 0.4, 0.2), 0.6),
        ("system", (1, 0, 0, 0), 0.35),
        ("system", (0, 0, 1, 0), 0.15),
        ("system", (0.8, 0.6, 0.4, 0.2), 0.58),
        ("both", (1, 0.5, 0.5, 1), 0.75),
        ("both", (1, 0, 0, 0), 0.39),
        ("both", (0, 0, 0, 1), 0.12),
    ],
)
def test_one_set_of_dimensions_stands_for_either_prompt(mode, scores, score):
    assert formula(four(*scores), {"evaluation_mode": mode}) == score
    assert formula(four(*scores), {"evaluation_mode": mode, "scale": 10}) == pytest.approx(score * 10, abs=0.06)


def test_both_are_seven_parts_user_and_three_system():
    bad, good = four(0, 0, 0, 0), four(1, 1, 1, 1)
    for user, system, score in ((good, bad, 0.7), (bad, good, 0.3), (good, good, 1.0), (bad, bad, 0.0)):
        said = {"prompts": [{"id": "system", **system}, {"id": "user", **user}]}
        assert formula(said, {}) == score
        assert formula(said, {"evaluation_mode": "user"}) == float(user is good)
        assert formula(said, {"evaluation_mode": "system"}) == float(system is good)


def test_a_prompt_that_is_alone_counts_whole():
    assert formula({"prompts": [{"id": "system", **four(1, 0, 0, 0)}]}, {}) == 0.35
    assert formula({"prompts": []}, {}).reason == "there is neither a user prompt nor a system prompt"


def test_requirements_are_counted_and_none_are_no_number():
    assert formula(four(0, None, 0, 0, requirements=[True, False, "true"]), {"evaluation_mode": "user"}) == 0.1
    assert formula(four(1, None, 1, 1), {"evaluation_mode": "user"}).reason.startswith("the judge found no requirement")


async def test_the_score_is_blended_and_the_reason_is_the_judge_s():
    outcome, model = await outcome_of(
        prompt_alignment,
        [says(user=[True], system=[False]), "It is not in French."],
        input=TALK,
        output="Paris.",
        options={"scale": 10},
    )
    assert (outcome.score, outcome.reason, len(model.calls)) == (8.95, "It is not in French.", 2)
    assert "8.95 of 10" in model.calls[1].messages[1].text
    assert prompt_alignment(scale=10).range == (0.0, 10.0)
    assert prompt_alignment().better == "higher"


@pytest.mark.parametrize(
    ("mode", "shown"),
    [("both", ["user-prompt", "system-prompt"]), ("user", ["user-prompt"]), ("system", ["system-prompt"])],
)
async def test_the_judge_sees_the_prompts_that_count_and_the_last_answer(mode, shown):
    said = says(**{name.removesuffix("-prompt"): [True] for name in shown})
    _, model = await outcome_of(
        prompt_alignment,
        [said, "why"],
        options={"evaluation_mode": mode},
        input=TALK,
        output=["Let me see.", "Paris."],
    )
    texts = {"user-prompt": "Capital?", "system-prompt": "Answer in French.", "answer": "Paris."}
    analyze, explain = (fenced(call) for call in model.calls)
    assert list(analyze) == [*shown, "answer"]
    assert analyze == {name: texts[name] for name in (*shown, "answer")}
    assert list(explain) == [*shown, "findings"]
    assert '"is_fulfilled": true' in explain["findings"]


@pytest.mark.parametrize("missing", ["user", "system"])
async def test_with_one_prompt_both_is_that_one(missing):
    there = "system" if missing == "user" else "user"
    given = [message for message in TALK if message["role"] == there]
    outcome, model = await outcome_of(prompt_alignment, [says(**{there: [False]}), "why"], input=given, output="x")
    assert outcome.score == (0.7 if there == "user" else 0.65)
    assert list(fenced(model.calls[0])) == [f"{there}-prompt", "answer"]
    assert f"Give one entry for each prompt ({there})" in model.calls[0].messages[1].text


@pytest.mark.parametrize(
    ("mode", "given", "why"),
    [
        ("both", {"output": "x"}, "there is neither a user prompt nor a system prompt"),
        ("user", {"input": TALK[:1], "output": "x"}, "there is no user prompt"),
        ("system", {"input": TALK[1:], "output": "x"}, "there is no system prompt"),
        ("both", {"input": TALK, "output": ""}, "there is no answer: the assistant said nothing"),
    ],
)
async def test_it_declines_without_what_counts(mode, given, why):
    outcome, model = await outcome_of(prompt_alignment, [says(user=[True])], options={"evaluation_mode": mode}, **given)
    assert (outcome.status, outcome.score, outcome.reason, len(model.calls)) == ("not_scorable", None, why, 0)


REMEMBERED = [("user", "one"), ("assistant", "two"), ("user", "three")]


def agent_run():
    return create_agent_test_run(
        input_messages=[create_test_message(content="now?", role="user")],
        remembered_messages=[create_test_message(content=text, role=role) for role, text in REMEMBERED],
        output=[create_test_message(content="answer", role="assistant")],
    )


@pytest.mark.parametrize(
    ("option", "shown"),
    [(False, []), (True, ["one", "two", "three"]), ({"max_messages": 2}, ["two", "three"])],
)
async def test_the_conversation_is_shown_before_the_prompts_when_it_is_told_to(option, shown):
    _, model = await outcome_of(
        prompt_alignment,
        [says(user=[True]), "why"],
        options={"include_conversation_history": option, "evaluation_mode": "user"},
        **agent_run(),
    )
    for call, last in zip(model.calls, ("answer", "findings"), strict=True):
        labels = list(fenced(call))
        assert [fenced(call)[label] for label in labels if label.startswith("history turn ")] == shown
        assert labels[-2:] == ["user-prompt", last]
        assert len(labels) == len(shown) + 2


async def test_ten_messages_are_shown_at_most_unless_it_is_said():
    past = [{"role": role, "content": f"{n}"} for n, role in zip(range(12), itertools.cycle(["user", "assistant"]))]
    _, model = await outcome_of(
        prompt_alignment,
        [says(user=[True]), "why"],
        options={"include_conversation_history": True},
        input=[*past, {"role": "user", "content": "now?"}, {"role": "user", "content": "please"}],
        output="x",
    )
    blocks = fenced(model.calls[0])
    assert [text for label, text in blocks.items() if label.startswith("history")] == [f"{n}" for n in range(2, 12)]
    assert blocks["user-prompt"] == "now?"


async def test_of_a_conversation_the_last_turn_is_judged_and_the_others_are_history():
    model = ScriptedModel([says(user=[True]), "why"])
    await run_evals(
        data=[Item(inputs=["London?", "And Paris?"])],
        target=lambda said, thread_id: {"London?": "Rain.", "And Paris?": "Sun."}[said],
        scorers=[prompt_alignment(model=model, include_conversation_history=True)],
    )
    assert fenced(model.calls[0]) == {
        "history turn 1 user": "London?",
        "history turn 2 assistant": "Rain.",
        "user-prompt": "And Paris?",
        "answer": "Sun.",
    }


def changed(score):
    said = says(user=[True])
    said["prompts"][0]["completeness"]["score"] = score
    return said


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        (says(user=[True], system=[True]), "exactly once"),
        (says(system=[True]), "exactly once"),
        (says(), "exactly once"),
        (says(user=[]), "requirements of user must not be empty"),
        (changed(1.5), "score"),
        (changed(-1), "score"),
        (changed("high"), "score"),
    ],
)
async def test_answers_that_do_not_fit_are_asked_for_again_and_then_errors(said, problem):
    with pytest.raises(ScorerRunError, match=problem) as caught:
        await outcome_of(prompt_alignment, [said, said], input="Capital?", output="Paris")
    assert caught.value.failed_step == "analyze"
    outcome, model = await outcome_of(
        prompt_alignment, [said, says(user=[True]), "why"], input="Capital?", output="Paris"
    )
    assert (outcome.score, len(model.calls)) == (1.0, 3)


def test_options_are_refused_when_written():
    with pytest.raises(UnknownName, match="Did you mean 'system'"):
        prompt_alignment(evaluation_mode="systm")
    with pytest.raises(UnknownName, match="Did you mean 'max_messages'"):
        prompt_alignment(include_conversation_history={"max_message": 3})
    for wrong in (3, "yes", None, {}):
        with pytest.raises(UsageError, match="include_conversation_history is"):
            prompt_alignment(include_conversation_history=wrong)
    for wrong in (0, -1, True, "3"):
        with pytest.raises(UsageError, match=r"\['max_messages'\] must be a whole number, 1 or more"):
            prompt_alignment(include_conversation_history={"max_messages": wrong})
    with pytest.raises(UsageError, match="scale is a number above 0"):
        prompt_alignment(scale=True)
    with pytest.raises(UsageError, match=r"has no \{prompts\}"):
        prompt_alignment(prompts={"analyze": "{answer}"})


async def test_words_and_language_are_the_user_s_to_change():
    options = {
        "language": "German",
        "prompts": {"analyze": "Judge {ids}.\n{prompts}\n{answer}", "generate_reason": "Why?"},
    }
    _, model = await outcome_of(prompt_alignment, [says(user=[True]), "why"], options=options, input="?", output="x")
    assert all("in German" in call.messages[0].text for call in model.calls)
    assert model.calls[0].messages[1].text.startswith("Judge user.\n")
    assert model.calls[1].messages[1].text == "Why?"


async def test_in_a_run_it_counts_what_it_could_judge():
    model = ScriptedModel({"The answer was given": "why", "Paris": says(user=[True]), "Rome": says(user=[False])})
    result = await run_evals(
        data=[Item("Capital?", output="Paris"), Item("Capital?", output="Rome"), Item("Capital?", output="")],
        scorers=[(prompt_alignment(model=model), 0.9)],
    )
    mean = result.scores["prompt-alignment-scorer"]
    assert (result.verdict, mean.mean, mean.n, mean.not_scorable) == ("scored", 0.85, 2, 1)
