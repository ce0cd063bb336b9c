"""What every prebuilt code scorer promises."""

import inspect
import subprocess
import sys

import pytest

from proctor import ScorerRun, run_evals, scorers
from proctor.data.codec import dumps, loads
from proctor.data.value import MISSING
from tests.support import ROOT

OF_INPUT = [
    scorers.completeness(),
    scorers.content_similarity(),
    scorers.keyword_coverage(),
    scorers.textual_difference(),
]
OF_OUTPUT = [scorers.tone(), scorers.tone(reference_tone="Thank you!"), scorers.tool_call_accuracy(expected_tool="a")]
OF_TEXT = [scorers.rouge_l(), scorers.token_f1(), scorers.edit_distance(), scorers.embedding_similarity()]
OF_VALUE = [scorers.exact_match(), scorers.json_diff(), scorers.numeric_closeness()]
OF_TRUTH = [*OF_TEXT, *OF_VALUE]
ALL = [*OF_INPUT, *OF_OUTPUT, *OF_TRUTH]
CODE = sorted(path.stem for path in (ROOT / "src/proctor/scorers/code").glob("[a-z]*.py"))
every_scorer = pytest.mark.parametrize("scorer", ALL, ids=[scorer.key for scorer in ALL])


def test_ids_and_names():
    assert {scorer.id: scorer.name for scorer in ALL} == {
        "completeness-scorer": "Completeness Scorer",
        "content-similarity-scorer": "Content Similarity Scorer",
        "keyword-coverage-scorer": "Keyword Coverage Scorer",
        "textual-difference-scorer": "Textual Difference Scorer",
        "tone-scorer": "Tone Scorer",
        "code-tool-call-accuracy-scorer": "Tool Call Accuracy Scorer",
        "rouge-l-scorer": "ROUGE-L Scorer",
        "token-f1-scorer": "Token F1 Scorer",
        "edit-distance-scorer": "Edit Distance Scorer",
        "embedding-similarity-scorer": "Embedding Similarity Scorer",
        "exact-match-scorer": "Exact Match Scorer",
        "json-diff-scorer": "JSON Diff Scorer",
        "numeric-closeness-scorer": "Numeric Closeness Scorer",
    }
    assert len(CODE) == len({scorer.id for scorer in ALL})


@pytest.mark.parametrize("name", CODE)
def test_at_most_one_argument_has_no_name(name):
    kinds = [parameter.kind for parameter in inspect.signature(getattr(scorers, name)).parameters.values()]
    assert kinds.count(inspect.Parameter.POSITIONAL_OR_KEYWORD) <= 1


@pytest.mark.parametrize("name", CODE)
def test_every_scorer_is_on_its_page(name):
    page = (ROOT / "docs" / "scorers-code.md").read_text(encoding="utf-8")
    assert page.count(f"\n| `{name}(") == 1


@every_scorer
def test_a_scorer_needs_no_thread_for_a_usual_answer(scorer):
    assert (scorer.range, scorer.better, scorer.builtin, scorer.one_hop) == ((0, 1), "higher", True, False)
    assert list(scorer.steps) == ["preprocess", "generate_score", "generate_reason"]
    assert scorer.description


@every_scorer
def test_what_it_was_built_with_is_in_its_fingerprint(scorer):
    assert scorer.fingerprint != "unknown"


@every_scorer
@pytest.mark.parametrize(
    "output",
    ["x", "", [], "a\udc00b", "天気" * 1000, "42", '{"a": 1}'],
    ids=["x", "empty", "[]", "surrogate", "cjk", "number", "json"],
)
def test_u01_every_outcome_has_a_reason_and_can_be_written_and_read_back(scorer, output):
    outcome = scorer.run_sync(output=output, input="x", ground_truth="x")
    assert outcome.reason
    assert len(outcome.reason) < 400
    assert loads(dumps(outcome)) == outcome


@every_scorer
async def test_t09_both_forms_give_the_same(scorer):
    given = {"output": "x", "input": "y", "ground_truth": "z", "run_id": "r"}
    here, there = await scorer.run(**given), scorer.run_sync(**given)
    assert (here.score, here.reason, here.preprocess_step_result) == (
        there.score,
        there.reason,
        there.preprocess_step_result,
    )


@every_scorer
def test_it_leaves_the_run_as_it_was(scorer):
    output = [{"role": "assistant", "content": '{"a": [1]}'}]
    run = ScorerRun(output=output, input={"a": [1]}, ground_truth={"a": [1]})
    scorer.run_sync(run)
    assert run.output == output == [{"role": "assistant", "content": '{"a": [1]}'}]
    assert run.ground_truth == {"a": [1]}


@pytest.mark.parametrize("scorer", OF_TRUTH, ids=lambda scorer: scorer.id)
@pytest.mark.parametrize("output", ["x", None, [], {"a": 1}], ids=["text", "None", "[]", "{}"])
def test_without_a_ground_truth_it_is_not_scorable_whatever_came(scorer, output):
    outcome = scorer.run_sync(output=output)
    assert (outcome.status, outcome.score) == ("not_scorable", None)
    assert outcome.reason == "there is no ground truth to compare with"


@pytest.mark.parametrize("scorer", OF_INPUT, ids=lambda scorer: scorer.id)
def test_without_an_input_it_is_not_scorable(scorer):
    assert scorer.run_sync(output="x").reason == "there is no input to compare the answer with"
    assert scorer.run_sync(output="x", input="").status == "scored"


@pytest.mark.parametrize("scorer", OF_TEXT, ids=lambda scorer: scorer.id)
@pytest.mark.parametrize("truth", [None, 5, {"a": "b"}, [], ["a", 1]], ids=repr)
def test_a_ground_truth_that_is_no_text_is_not_scorable(scorer, truth):
    outcome = scorer.run_sync(output="x", ground_truth=truth)
    assert outcome.status == "not_scorable"
    assert repr(truth) in outcome.reason


@pytest.mark.parametrize(
    "build",
    [scorers.rouge_l, scorers.token_f1, scorers.edit_distance, scorers.embedding_similarity],
    ids=lambda it: it.__name__,
)
@pytest.mark.parametrize("expected", [None, 5, b"x", [], ["a", None]], ids=repr)
def test_an_expected_text_is_text(build, expected):
    with pytest.raises(ValueError, match="expected must be text, or a list of texts"):
        build(expected)


@pytest.mark.parametrize("build", [scorers.exact_match, scorers.json_diff], ids=lambda it: it.__name__)
def test_none_is_a_value_that_can_be_expected(build):
    assert build(None).run_sync(output=None).score == 1
    assert build(None).arguments == {"expected": None}
    assert build(MISSING).arguments == {}


@pytest.mark.parametrize("scorer", OF_TRUTH, ids=lambda scorer: scorer.id)
def test_what_the_scorer_was_given_comes_before_the_ground_truth(scorer):
    given = getattr(scorers, scorer.id.removesuffix("-scorer").replace("-", "_"))(1 if "numeric" in scorer.id else "1")
    assert given.run_sync(output="1", ground_truth="2").score == 1


async def test_all_of_them_score_one_item_in_a_run():
    answer = [{"role": "assistant", "content": "42", "tool_calls": [{"function": {"name": "a", "arguments": "{}"}}]}]
    result = await run_evals(
        target=lambda question: answer,
        data=[{"input": "Six times seven?", "ground_truth": "42"}, {"input": "Six times seven?"}],
        scorers=ALL,
    )
    first, second = result.items
    assert {outcome.status for outcome in first.outcomes} == {"scored"}
    declined = {outcome.key for outcome in second.outcomes if outcome.status == "not_scorable"}
    assert declined == {scorer.key for scorer in OF_TRUTH}


def test_the_door_loads_no_provider_and_no_model():
    """What asks a model is loaded when it is asked."""
    code = "import sys, proctor.scorers; print([m for m in sys.modules if m.partition('.')[0] in sys.argv[1:]])"
    heavy = [
        "pydantic_ai",
        "openai",
        "httpx2",
        "onnxruntime",
        "tokenizers",
        "xllamacpp",
        "pydantic",
        "numpy",
        "jsonschema",
    ]
    ran = subprocess.run([sys.executable, "-c", code, *heavy], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
