"""What every judged scorer promises."""

import inspect
import re
from importlib import import_module

import pytest

from proctor import Judge, ScorerRunError, scorers
from proctor.errors import UnknownName, UsageError
from proctor.scoring.steps import Prompt
from proctor.scoring.written import Written
from proctor.testing import ScriptedModel
from tests.support import ROOT

FOLDER = ROOT / "src" / "proctor" / "scorers" / "judged"
NAMES = sorted(path.stem for path in FOLDER.glob("*.md"))
ARGUMENTS = {
    "graded_rubric": ([{1: "bad", 5: "good"}], {"criterion": "c"}),
    "multi_turn_judge": (["c"], {}),
    "noise_sensitivity": ([], {"baseline_response": "b", "noisy_query": "n"}),
    "pairwise": (["c"], {}),
    "pass_criteria": (["c"], {}),
    "tool_call_accuracy_llm": ([["a"]], {}),
}
IDS = {
    "answer_relevancy": "answer-relevancy-scorer",
    "answer_similarity": "answer-similarity-scorer",
    "bias": "bias-scorer",
    "context_precision": "context-precision-scorer",
    "context_recall": "context-recall-scorer",
    "context_relevance": "context-relevance-scorer",
    "faithfulness": "faithfulness-scorer",
    "graded_rubric": "graded-rubric-scorer",
    "hallucination": "hallucination-scorer",
    "multi_turn_judge": "multi-turn-judge-scorer",
    "noise_sensitivity": "noise-sensitivity-scorer",
    "pairwise": "pairwise-scorer",
    "pass_criteria": "pass-criteria-scorer",
    "prompt_alignment": "prompt-alignment-scorer",
    "rubric": "rubric-scorer",
    "summarization": "summarization-scorer",
    "tool_call_accuracy_llm": "llm-tool-call-accuracy-scorer",
    "toxicity": "toxicity-scorer",
    "trajectory_accuracy_llm": "llm-trajectory-accuracy-scorer",
}
every = pytest.mark.parametrize("name", NAMES)


def made(name, **options):
    positional, named = ARGUMENTS.get(name, ([], {}))
    return getattr(scorers, name)(*positional, **{"model": ScriptedModel(["x"], name="judge"), **named, **options})


def test_every_scorer_has_a_page_and_a_row():
    page = (ROOT / "docs" / "scorers-judged.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[`(\w+)\(.*?\)`\]\(judged/(\w+)\.md\)", page, re.MULTILINE)
    assert [name for name, _ in rows] == [file for _, file in rows]
    assert sorted(name for name, _ in rows) == sorted([*NAMES, "panel"])
    assert all((ROOT / "docs" / "judged" / f"{file}.md").is_file() for _, file in rows)


def test_ids():
    assert {name: made(name).id for name in NAMES} == IDS


@every
def test_it_takes_a_model_words_and_a_language(name):
    parameters = inspect.signature(getattr(scorers, name)).parameters
    assert {"model", "scale", "language", "prompts"} <= parameters.keys()
    scorer = made(name, model=Judge("test:x", settings={"temperature": 0}), language="German")
    assert (scorer.judge.language, scorer.judge.settings) == ("German", {"temperature": 0})
    assert scorer.judge.instructions
    assert made(name, model=Judge("test:x", instructions="Mine.")).judge.instructions == "Mine."


@every
def test_its_prompts_can_be_read_and_replaced(name):
    scorer = made(name)
    written = {step: it.create for step, it in scorer.steps.items() if isinstance(it, Prompt)}
    assert written
    for step, create in written.items():
        assert isinstance(create, Written)
        assert create.text in (FOLDER / f"{name}.md").read_text(encoding="utf-8")
        longer = made(name, prompts={step: f"{create.text}\nTake your time."})
        assert longer.steps[step].create.text.endswith("Take your time.")
        assert longer.fingerprint not in {"unknown", scorer.fingerprint}
        assert longer.key != scorer.key
    with pytest.raises(UnknownName):
        made(name, prompts={"no_such_step": "x"})
    with pytest.raises(UsageError):
        made(name, prompts={next(iter(written)): "There is no place for anything in it."})


@every
def test_another_wording_of_ours_is_another_scorer(name):
    """The words of a built-in are part of what it is: after a release that changes them, runs know it."""
    before = made(name).fingerprint
    step = next(step for step, it in made(name).steps.items() if isinstance(it, Prompt))
    changed = made(name)
    changed.steps[step].create._template.text = "Another wording."
    assert changed.fingerprint != before


@every
def test_a_scale_is_its_range(name):
    assert made(name, scale=5).range == (0, 5)
    for wrong in (0, -1, float("nan"), "1", True, 10**400):
        with pytest.raises(UsageError):
            made(name, scale=wrong)


@every
def test_its_formula_takes_what_was_said_and_the_options(name):
    formula = import_module(f"proctor.scorers.judged.{name}").formula
    assert list(inspect.signature(formula).parameters) == ["analysis", "options"]
    assert formula.__doc__


@every
async def test_with_no_answer_nobody_is_asked(name):
    scorer = made(name)
    given = {"ground_truth": "t", "context": ["c"], "request_context": {"rubric": "- a"}}
    if name == "context_recall":  # which reads no answer
        del given["ground_truth"]
    outcome = await scorer.run(input="q", output=[], **given)
    assert (outcome.status, scorer.judge.model.calls) == ("not_scorable", [])
    assert outcome.reason


@every
async def test_a_judge_that_says_nothing_of_use_is_an_error_and_no_score(name):
    scorer = made(name)
    given = {"ground_truth": "t", "context": ["c"], "request_context": {"rubric": "- a"}}
    with pytest.raises(ScorerRunError):
        await scorer.run(input=[{"role": "system", "content": "s"}, {"role": "user", "content": "q"}],
                         output="an answer", **given)  # fmt: skip
