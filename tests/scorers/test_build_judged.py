"""How judged scorers are built: what all of them share."""

import inspect
from importlib import import_module

import pytest

from proctor import Judge, scorers
from proctor.errors import UsageError
from proctor.scorers.build_judged import rounded
from tests.scorers.judged.test_door import NAMES, made

every = pytest.mark.parametrize("name", NAMES)


@pytest.mark.parametrize(
    ("share", "scale", "score"),
    [
        (2 / 3, 1, 0.67),
        (1 / 3, 100, 33.33),
        (299 / 300, 1, 299 / 300),
        (1 / 300, 1, 1 / 300),
        (0.0, 1, 0.0),
        (1.0, 1, 1.0),
        (sum([0.1] * 10), 1, 1.0),
        (1.0, 0.125, 0.125),
        (0.5, 0.125, 0.06),
        (1.0, 0.004, 0.004),
        (0.5, 0.004, 0.002),
        (0.0, 0.004, 0.0),
        (0.99, 0.125, 0.12),
    ],
)
def test_no_score_is_rounded_onto_an_end_of_its_range(share, scale, score):
    assert rounded(share * scale, scale) == pytest.approx(score, abs=1e-15)
    assert 0 <= rounded(share * scale, scale) <= scale


MANY = [{"id": at, "verdict": "yes", "result": "yes", "satisfied": True} for at in range(1, 300)]
MOST = [*MANY, {"id": 300, "verdict": "no", "result": "no", "satisfied": False}]
STEP = {
    "was_necessary": True,
    "was_in_order": True,
    "was_appropriate": True,
    "relevance_level": "high",
    "was_used": True,
}


@pytest.mark.parametrize(
    ("name", "analysis"),
    [
        ("answer_relevancy", {"results": MOST}),
        ("bias", {"results": MOST}),
        ("context_recall", {"claims": ["a"] * 300, "verdicts": MOST}),
        ("faithfulness", {"verdicts": MOST}),
        ("hallucination", {"verdicts": MOST}),
        ("toxicity", {"verdicts": MOST}),
        (
            "summarization",
            {
                "alignment": [{"claim": f"{at}", "supported": at != 7} for at in range(300)],
                "questions": ["q"],
                "coverage": [{"answered": True}],
            },
        ),
        ("tool_call_accuracy_llm", {"evaluations": [STEP] * 299, "missing_tools": ["a"]}),
        ("noise_sensitivity", {"robustness_score": 0.999, "dimensions": [], "major_issues": []}),
        ("trajectory_accuracy_llm", {"step_evaluations": [*[STEP] * 299, {**STEP, "was_necessary": False}]}),
        ("context_relevance", {"evaluations": [*[STEP] * 299, {**STEP, "relevance_level": "medium"}]}),
        ("context_precision", {"verdicts": [*MANY, {"id": 300, "verdict": "no"}, {"id": 301, "verdict": "yes"}]}),
        (
            "answer_similarity",
            {"matches": [*[{"match_type": "exact"}] * 299, {"match_type": "partial"}], "contradictions": [],
             "extra_in_output": []},
        ),
        (
            "prompt_alignment",
            {
                **{name: {"score": 1} for name in ("intent_alignment", "completeness", "response_appropriateness")},
                "requirements_fulfillment": {"requirements": [], "overall_score": 0.99},
            },
        ),
    ],
)  # fmt: skip
def test_nearly_all_is_not_all(name, analysis):
    formula = import_module(f"proctor.scorers.judged.{name}").formula
    assert 0.99 < formula(analysis, {}) < 1
    assert 9.9 < formula(analysis, {"scale": 10}) < 10
    assert 0.99 * 0.004 < formula(analysis, {"scale": 0.004}) < 0.004


# ── names and arguments ────────────────────────────────────────────────────────────────────────────────────────────


@every
def test_every_message_begins_with_the_name_of_the_function(name):
    for wrong in ({"scale": 0}, {"prompts": 5}, {"prompts": {"instructions": " "}}):
        with pytest.raises(UsageError, match=f"^{name}: "):
            made(name, **wrong)
    for wrong in ({"nobody": "x"}, {"analyse": "x"}):
        with pytest.raises(UsageError, match=f"^no prompt of {name} "):
            made(name, prompts=wrong)


@every
@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({"temperature": 0}, r"temperature is a setting of the model: model=Judge\('provider:model', settings="),
        (
            {"base_url": "http://x"},
            r"base_url belongs to the judge: model=Judge\('provider:model', base_url='http://x'\)",
        ),
        ({"instructions": "Be kind"}, r"instructions are one of the prompts: prompts=\{'instructions'"),
        ({"judge": Judge("test:x")}, "judge= is called model= here"),
        ({"threshold": 0.5}, r"threshold belongs to the run, beside the scorer: .*Threshold\(min=0.5\)"),
        ({"modl": "test:x"}, "takes no modl=. Did you mean 'model'"),
    ],
)
def test_an_option_that_is_not_taken_is_refused_with_what_to_write(name, option, said):
    with pytest.raises(UsageError, match=f"^{name}(:| takes).*{said.removeprefix('takes')}"):
        made(name, **option)


@every
def test_a_model_goes_by_its_name(name):
    factory = getattr(scorers, name)
    kinds = [it.kind for it in inspect.signature(factory).parameters.values()]
    first = kinds.count(inspect.Parameter.POSITIONAL_OR_KEYWORD)
    with pytest.raises(UsageError, match=rf"{name} takes all (but \w+ )?by name: {name}\(.*model=\.\.\.\)"):
        factory(*["It is kind"] * first, "openai:gpt-5-mini")


@pytest.mark.parametrize("name", ["multi_turn_judge", "pairwise", "pass_criteria", "rubric"])
def test_a_model_in_the_place_of_a_criterion_is_refused(name):
    with pytest.raises(UsageError, match="Did you mean model='openai:gpt-5-mini'"):
        getattr(scorers, name)("openai:gpt-5-mini")


@every
def test_signatures_stay_as_they_are_written(name):
    factory = getattr(scorers, name)
    assert factory.__name__ == name
    assert "model" in inspect.signature(factory).parameters


# ── prompts ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("written", ["{answer}", "{ answer }", "{Answer}", "{answer1}", "{claims!r}"])
def test_a_place_in_the_instructions_is_refused(written):
    with pytest.raises(
        UsageError, match=r"faithfulness: prompts\['instructions'\] has .*, which is not filled in there"
    ):
        made("faithfulness", prompts={"instructions": f"Judge {written}."})


def test_other_words_in_braces_may_stand_in_the_instructions():
    text = 'Reply {"id": 1}, {name} or {{answer}}.'
    assert made("faithfulness", prompts={"instructions": text}).judge.instructions == text
