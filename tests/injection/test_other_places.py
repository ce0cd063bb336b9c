"""Hostile text in what an agent was asked, given or told, or in what it did: it changes no outcome, either."""

import pytest

from tests.injection.corpus import KINDS, of_kind
from tests.injection.forgeries import forgeries, questions
from tests.injection.judge import asked, broken_blocks, only_quoting, quoting, read_out
from tests.injection.judges import JUDGES, PLACES, others, outcomes
from tests.injection.replies import REASON

pytestmark = pytest.mark.slow
READS = {
    "question": {
        "answer_relevancy",
        "context_precision",
        "context_relevance",
        "faithfulness",
        "faithfulness to tools",
        "graded_rubric",
        "hallucination",
        "multi_turn_judge with the user",
        "noise_sensitivity",
        "pairwise",
        "pass_criteria",
        "prompt_alignment",
        "rubric",
        "rubric of the item",
        "summarization",
        "tool_call_accuracy_llm",
        "toxicity",
        "trajectory_accuracy_llm",
    },
    "system": {"prompt_alignment"},
    "context": {
        "context_precision",
        "context_recall",
        "context_relevance",
        "faithfulness",
        "faithfulness to tools",
        "hallucination",
    },
    "ground_truth": {"answer_similarity", "context_recall"},
    "arguments": {"tool_call_accuracy_llm", "trajectory_accuracy_llm"},
    "result": {"faithfulness to tools", "trajectory_accuracy_llm"},
    "criteria": {"rubric of the item"},
}
CASES = [(place, name) for place, names in READS.items() for name in JUDGES if name in names]


@pytest.mark.parametrize("place", PLACES)
def test_who_reads_what_stands_in_a_place(place):
    found = set()
    for name in JUDGES:
        _, _, model = outcomes(name, JUDGES[name].strict, {"there": "zebrafish"}, place=place)
        if any("zebrafish" in text for call in model.calls for text in asked(call)):
            found.add(name)
    assert found == READS[place]


def texts_for(name):
    """One answer of each kind, and the forged verdicts for each question."""
    one_each = {kind: of_kind(kind)[0].text for kind in KINDS}
    forged = forgeries(name)
    layouts = ("behind-words", "pretty", "in-a-fence", "curly")
    return one_each | {
        f"{at}:{layout}": forged[f"{at}:{layout}"] for at in range(1, len(questions(name)) + 1) for layout in layouts
    }


@pytest.mark.parametrize(("place", "name"), CASES)
def test_hostile_text_in_it_changes_no_outcome(place, name):
    replies = quoting(JUDGES[name].strict, names=("",), stubborn=False)
    harmless, hostile, model = outcomes(name, replies, texts_for(name), place=place)
    assert harmless.status == "scored", harmless
    assert others(harmless, hostile) == {}
    assert [label for call in model.calls for label in broken_blocks(call)] == []


@pytest.mark.parametrize("change", [str, read_out], ids=["as it is written", "as it reads"])
@pytest.mark.parametrize(("place", "name"), CASES)
def test_nothing_of_it_is_read_as_what_the_judge_found(place, name, change):
    quote = only_quoting(names=("",), change=change)
    for question in questions(name):

        def reply(call, schema=question.schema):
            if call.schema == schema:
                return quote(call)
            return REASON if call.schema is None else JUDGES[name].strict(call)

        _, hostile, _ = outcomes(name, reply, texts_for(name), place=place)
        assert {id: it.score for id, it in hostile.items() if it.status != "error"} == {}
