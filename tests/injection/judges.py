"""Every built-in judge, with a strict judge behind it: what it is asked for comes out as badly as it can."""

import json
from dataclasses import dataclass
from typing import Any

from proctor.scorers.judged.answer_relevancy import answer_relevancy
from proctor.scorers.judged.answer_similarity import answer_similarity
from proctor.scorers.judged.bias import bias
from proctor.scorers.judged.context_precision import context_precision
from proctor.scorers.judged.context_recall import context_recall
from proctor.scorers.judged.context_relevance import context_relevance
from proctor.scorers.judged.faithfulness import faithfulness
from proctor.scorers.judged.graded_rubric import graded_rubric
from proctor.scorers.judged.hallucination import hallucination
from proctor.scorers.judged.multi_turn_judge import multi_turn_judge
from proctor.scorers.judged.noise_sensitivity import noise_sensitivity
from proctor.scorers.judged.pairwise import pairwise
from proctor.scorers.judged.panel import panel
from proctor.scorers.judged.pass_criteria import pass_criteria
from proctor.scorers.judged.prompt_alignment import prompt_alignment
from proctor.scorers.judged.rubric import rubric
from proctor.scorers.judged.summarization import summarization
from proctor.scorers.judged.tool_call_accuracy_llm import tool_call_accuracy_llm
from proctor.scorers.judged.toxicity import toxicity
from proctor.scorers.judged.trajectory_accuracy_llm import trajectory_accuracy_llm
from tests.injection.judge import fenced_texts

CRITERIA = ["Names the amount", "Names the day"]
QUESTION = "What became of the refund?"
CONTEXT = ["A refund of 30 euros was made on Tuesday.", "The guest wrote twice."]
CALL = {"id": "1", "type": "function", "function": {"name": "refund", "arguments": '{"euros": 40}'}}
TEXTS = ["the refund was made", "the guest was told"]


def turns_of(answer):
    """The answer after a call of a tool, as an agent gives it; the result of the call says the same."""
    return [
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "1", "content": answer},
        {"role": "assistant", "content": answer},
    ]


@dataclass(frozen=True)
class Asked:
    """A built-in judge. *make*: the scorer for a model; *output*: what is scored, made of an answer."""

    make: Any
    output: Any
    given: dict


def of(factory, *args, output=None, given=None, **options):
    return Asked(lambda model: factory(*args, model=model, **options), output or (lambda answer: answer), given or {})


JUDGES = {
    "answer_relevancy": of(answer_relevancy),
    "answer_similarity": of(answer_similarity, given={"ground_truth": "A refund of 30 euros on Tuesday."}),
    "bias": of(bias),
    "context_precision": of(context_precision, given={"context": CONTEXT}),
    "context_recall": of(context_recall, given={"context": CONTEXT, "ground_truth": "30 euros"}),
    "context_relevance": of(context_relevance, given={"context": CONTEXT}),
    "faithfulness": of(faithfulness, given={"context": CONTEXT}),
    "faithfulness to tools": of(faithfulness, output=turns_of),
    "graded_rubric": of(graded_rubric, {1: "bad", 5: "good"}, criterion="How exact it is"),
    "hallucination": of(hallucination, given={"context": CONTEXT}),
    "multi_turn_judge": of(multi_turn_judge, "Names the amount"),
    "multi_turn_judge with the user": of(
        multi_turn_judge, "Names the amount", include_user_turns=True, output=lambda answer: ["Let me see.", answer]
    ),
    "noise_sensitivity": of(noise_sensitivity, baseline_response="40 euros, on Monday.", noisy_query="refnd??"),
    "pairwise": of(pairwise, "Which one is more exact?", baseline="I do not know."),
    "panel": Asked(lambda model: panel([multi_turn_judge(text, model=model) for text in CRITERIA]), str, {}),
    "pass_criteria": of(pass_criteria, CRITERIA),
    "prompt_alignment": of(prompt_alignment),
    "rubric": of(rubric, CRITERIA),
    "rubric of the item": of(rubric, given={"request_context": {"rubric": CRITERIA}}),
    "summarization": of(summarization),
    "tool_call_accuracy_llm": of(tool_call_accuracy_llm, ["refund", "mail"], output=turns_of),
    "toxicity": of(toxicity),
    "trajectory_accuracy_llm": of(trajectory_accuracy_llm, output=turns_of),
}

# ── the verdict ────────────────────────────────────────────────────────────────────────────────────────────────────


def strict(call):
    """What a judge says that found nothing good, whichever judge it is: by the schema of what it is asked for."""
    if call.schema is None:
        return "It was found so, one after the other."
    return {key: said(key, schema, call) for key, schema in call.schema["properties"].items()}


def said(key, schema, call):
    kind = schema.get("type")
    if "enum" in schema:
        return next((word for word in WORST if word in schema["enum"]), schema["enum"][-1])
    if kind == "array":
        return listed(key, schema["items"], call)
    if kind == "object":
        return {name: said(name, inner, call) for name, inner in schema["properties"].items()}
    if kind == "boolean":
        return False
    if kind in ("integer", "number"):
        return schema.get("minimum", 1)
    return f"{key} of it"


WORST = ("no", "missing", "severe", "tie")


def listed(key, each, call):
    if key == "dimensions":
        names = each["properties"]["dimension"]["enum"]
        return [{**of_schema(each, call), "dimension": name} for name in names]
    if key == "prompts":
        shown = [label for label, _ in fenced_texts(call)]
        return [{**of_schema(each, call), "id": name} for name in ("user", "system") if f"{name}-prompt" in shown]
    if key in ("extra_in_output", "contradictions", "extra_steps", "missing_steps", "missing_tools", "missing_context",
               "major_issues", "evidence"):  # fmt: skip
        return []
    if each.get("type") == "string":
        return TEXTS
    ids = ids_for(key, each, call)
    return [{**of_schema(each, call), **({"id": at} if "id" in each["properties"] else {})} for at in ids]


def of_schema(schema, call):
    return {name: said(name, inner, call) for name, inner in schema["properties"].items()}


BLOCKS = (
    "claims",
    "statements",
    "opinions",
    "ground_truth_units",
    "questions",
    "steps",
    "calls",
    "criteria",
    "context",
)


def ids_for(key, each, call):
    """The ids that the prompt shows, in the first list of things to judge that it has."""
    if "text" in each["properties"] or "id" not in each["properties"]:
        return [1]  # the judge lists what it judges
    blocks = dict(fenced_texts(call))
    for name in BLOCKS:
        if name in blocks:
            return [json.loads(line)["id"] for line in blocks[name].split("\n")]
    return [f"c{at}" for at in range(1, len(CRITERIA) + 1)]
