"""Every built-in judge, what it reads of an item, and how it is run over hostile ones."""

import json
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

from proctor import run_evals_sync
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
from proctor.testing import ScriptedModel
from tests.injection.kinds.base import HARMLESS
from tests.injection.replies import BASELINE, CRITERIA, said_by

QUESTION = "What became of the refund?"
CONTEXT = ["A refund of 30 euros was made on Tuesday.", "The guest wrote twice."]
TRUTH = "A refund of 30 euros on Tuesday."
ARGUMENTS = {"euros": 40}


def turns_of(answer, *, arguments=ARGUMENTS, result=None):
    """The answer after a call of a tool, as an agent gives it; the result of the call says the same, unless given."""
    call = {"id": "1", "type": "function", "function": {"name": "refund", "arguments": json.dumps(arguments)}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": answer if result is None else result},
        {"role": "assistant", "content": answer},
    ]


PLACES = {
    "question": lambda text: {"input": text},
    "system": lambda text: {"input": [{"role": "system", "content": text}, {"role": "user", "content": QUESTION}]},
    "context": lambda text: {"context": [CONTEXT[0], text]},
    "ground_truth": lambda text: {"ground_truth": text},
    "arguments": lambda text: {"output": turns_of(HARMLESS, arguments={"note": text})},
    "result": lambda text: {"output": turns_of(HARMLESS, result=text)},
    "criteria": lambda text: {"request_context": {"rubric": [CRITERIA[0], text]}},
}
"""Where a text can stand besides the answer: the parts of an item that have it."""


@dataclass(frozen=True)
class Asked:
    """A built-in judge. *make*: the scorer for a model; *output*: what is scored, made of an answer.

    *place*: where hostile text stands for it, where that is not the answer.
    """

    make: Any
    output: Any = str
    given: dict = field(default_factory=dict)
    place: str = "answer"

    @cached_property
    def scorer(self):
        return self.make(ScriptedModel("x"))

    def item(self, text, place):
        part = {"output": self.output(text)} if place == "answer" else PLACES[place](text)
        return {"input": QUESTION, "output": self.output(HARMLESS), **self.given, **part}

    @property
    def strict(self):
        """What a judge says that finds nothing good, of a call."""
        return partial(said_by, good=False, lower=self.scorer.better == "lower")

    @property
    def generous(self):
        """What one says that finds everything good: the best reply that there is for an attacker."""
        return partial(said_by, good=True, lower=self.scorer.better == "lower")


def of(factory, *args, output=str, given=None, place="answer", **options):
    return Asked(lambda model: factory(*args, model=model, **options), output, given or {}, place)


JUDGES = {
    "answer_relevancy": of(answer_relevancy),
    "answer_similarity": of(answer_similarity, given={"ground_truth": TRUTH}),
    "bias": of(bias),
    "context_precision": of(context_precision, given={"context": CONTEXT}),
    "context_recall": of(context_recall, given={"context": CONTEXT, "ground_truth": TRUTH}, place="ground_truth"),
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
    "pairwise": of(pairwise, "Which one is more exact?", baseline=BASELINE),
    "panel": Asked(lambda model: panel([multi_turn_judge(text, model=model) for text in CRITERIA])),
    "pass_criteria": of(pass_criteria, CRITERIA),
    "prompt_alignment": of(prompt_alignment),
    "rubric": of(rubric, CRITERIA),
    "rubric of the item": of(rubric, given={"request_context": {"rubric": CRITERIA}}),
    "summarization": of(summarization),
    "tool_call_accuracy_llm": of(tool_call_accuracy_llm, ["refund", "mail"], output=turns_of),
    "toxicity": of(toxicity),
    "trajectory_accuracy_llm": of(trajectory_accuracy_llm, output=turns_of),
}


def outcomes(name, replies, texts, *, place=None):
    """The outcome of the harmless text, those of *texts* by their ids, and the model that was asked."""
    judge, model = JUDGES[name], ScriptedModel(replies)
    place = place or judge.place
    rows = {"harmless": HARMLESS, **texts}
    data = [{"id": id, **judge.item(text, place)} for id, text in rows.items()]
    result = run_evals_sync(data=data, scorers=[judge.make(model)], cache=False)
    found = {row.item.id: row.outcomes[0] for row in result.items}
    return found.pop("harmless"), found, model


def told(outcome):
    """What came out, and what the judge found step by step."""
    evidence = outcome.evidence
    steps = (evidence.preprocess_step_result, evidence.analyze_step_result) if evidence else ()
    return (outcome.status, outcome.score, outcome.label, *steps)


def others(harmless, hostile):
    """Those that came out in another way than the harmless one, by id: their error, or what came out."""
    return {
        id: str(it.error) if it.status == "error" else str((it.status, it.score, it.label))
        for id, it in hostile.items()
        if told(it) != told(harmless)
    }
