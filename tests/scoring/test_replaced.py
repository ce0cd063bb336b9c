"""Built-in scorers with a part of their own replaced go on working, and are known for what they are."""

import pytest

from proctor import Item, Judge, Prompt, checks, run_evals, scorers
from proctor.errors import UnknownName, UsageError
from proctor.testing import ScriptedModel

YES = {"reasoning": "r", "satisfied": True}


class Embedder:
    id = "letters"

    def embed(self, texts):
        return [[float(text.count(letter)) + 0.1 for letter in "abc"] for text in texts]


def jury():
    return scorers.panel([scorers.multi_turn_judge(text, model=ScriptedModel([YES], name="j")) for text in ("a", "b")])


BUILT = {
    "panel": jury,
    "combined": lambda: checks.all_of(scorers.multi_turn_judge("a", model=ScriptedModel([YES], name="j"))),
    "embedding": lambda: scorers.embedding_similarity("abc", model=Embedder()),
    "judged": lambda: scorers.multi_turn_judge("a", model=ScriptedModel([YES], name="j")),
    "check": lambda: checks.includes("a"),
}
CHANGES = {
    "reason": ({"generate_reason": lambda ctx: "mine"}, "mine"),
    "score": ({"generate_score": lambda ctx: 0.5}, None),
    "run": ({"prepare_run": lambda run: run}, None),
}


@pytest.mark.parametrize("name", BUILT)
@pytest.mark.parametrize("what", CHANGES)
async def test_it_runs_with_a_part_replaced(name, what):
    changes, reason = CHANGES[what]
    scorer = BUILT[name]().replace(**changes)
    outcome = await scorer.run(output="abc")
    assert outcome.status == "scored"
    assert outcome.score == (0.5 if what == "score" else pytest.approx(1.0))
    assert reason is None or outcome.reason == reason
    assert scorer.fingerprint != BUILT[name]().fingerprint


@pytest.mark.parametrize("name", ["faithfulness", "pairwise", "rubric", "summarization", "context_recall"])
def test_with_another_reason_its_fingerprint_is_still_known(name):
    positional = {"pairwise": ["better?"], "rubric": ["- a"]}.get(name, [])
    made = getattr(scorers, name)(*positional, model="openai:x")
    one, two = (made.replace(generate_reason=reason) for reason in (lambda ctx: "one", lambda ctx: "two"))
    assert len({made.fingerprint, one.fingerprint, two.fingerprint} - {"unknown"}) == 3


async def test_a_trajectory_scorer_with_another_reason_runs_in_an_evaluation():
    said = {
        "step_evaluations": [{"id": 1, "reason": "r", "was_necessary": True, "was_in_order": True}],
        "extra_steps": [],
        "missing_steps": [],
    }
    scorer = scorers.trajectory_accuracy_llm(model=ScriptedModel([said])).replace(generate_reason=lambda ctx: "mine")
    call = {"id": "1", "function": {"name": "pay", "arguments": "{}"}}
    result = await run_evals(
        data=[Item("Pay", output=[{"role": "assistant", "content": "Paid.", "tool_calls": [call]}])], scorers=[scorer]
    )
    assert (result.items[0].scorers[0].score, result.items[0].scorers[0].reason) == (1.0, "mine")


async def test_what_is_replaced_is_the_user_s_and_runs_away_from_the_loop():
    import threading

    seen = []
    scorer = BUILT["judged"]().replace(generate_score=lambda ctx: seen.append(threading.current_thread().name) or 1)
    await scorer.run(output="x")
    assert seen
    assert seen[0] != threading.main_thread().name


def test_another_judge_keeps_instructions_and_language():
    made = scorers.faithfulness(model=Judge("openai:a", settings={"temperature": 0}), language="German")
    other = made.replace(judge=Judge("openai:b"))
    assert (other.judge.model, other.judge.language, other.judge.settings) == ("openai:b", "German", None)
    assert other.judge.instructions == made.judge.instructions
    assert made.replace(judge=Judge("openai:b", instructions="Mine.", language="French")).judge.language == "French"


def test_what_cannot_be_replaced_is_refused():
    with pytest.raises(UsageError, match="its parts have theirs"):
        jury().replace(judge=Judge("openai:b"))
    with pytest.raises(UsageError, match="it asks no judge"):
        checks.includes("x").replace(judge=Judge("openai:b"))
    with pytest.raises(UnknownName, match="parts"):
        jury().replace(parts=())


async def test_a_prompt_that_is_replaced_is_asked_by_the_same_judge():
    made = BUILT["judged"]()
    prompt = Prompt("Mine", output={"type": "object", "properties": {"satisfied": {"type": "boolean"}}, "required": []},
                    create=lambda ctx: f"Is it? {ctx.fence(ctx.run.text, 'answer')}")  # fmt: skip
    scorer = made.replace(analyze=prompt, generate_reason=lambda ctx: "mine")
    assert (await scorer.run(output="x")).score == 1.0
    assert made.judge.model.calls[0].messages[1].text.startswith("Is it?")
