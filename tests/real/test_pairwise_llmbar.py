"""Verdicts of two models in both orders, on the pairs of MT-Bench (CC BY 4.0) in LLMBar (MIT), through `pairwise`.

A case has a prompt, two answers, the one that people preferred, and for each model the answer that it preferred when
the one or the other was shown first. The judge here says what the model said then.
"""

import json
from functools import cache

import pytest

from proctor import Item, run_evals_sync
from proctor.scorers.judged.pairwise import PairwiseCounts, pairwise, pairwise_counts
from proctor.testing import ScriptedModel
from tests.scorers.judged.asked import fenced
from tests.support import shared

CHATGPT, GPT_4 = "ChatGPT/Vanilla_NoRules", "GPT-4/Vanilla_NoRules"


@cache
def rows(part):
    lines = shared("data/pairwise_llmbar/dev.jsonl").read_text("utf-8").splitlines()
    return [row for line in lines if (row := json.loads(line))["set"] == part]


def judge_of(part, model):
    """What the model said, by the question and the answers in the order in which they are shown."""
    said = {}
    for row in rows(part):
        question, a, b = (row[key].strip() for key in ("prompt", "answer_a", "answer_b"))
        verdicts = row["other_judges"][model]
        said[question, a, b] = "first" if verdicts["order_ab"] == "a" else "second"
        said[question, b, a] = "first" if verdicts["order_ba"] == "b" else "second"

    def judge(call):
        shown = fenced(call)
        return {"reason": "as recorded", "winner": said[shown["question"], shown["first"], shown["second"]]}

    return ScriptedModel(judge)


@cache
def outcomes(part, model):
    """For each pair, whether people preferred the first answer, and how the comparison ended."""
    data = [
        Item(row["prompt"], id=row["id"], output=row["answer_a"], ground_truth=row["answer_b"]) for row in rows(part)
    ]
    scorer = pairwise("Which answer follows the instruction better?", model=judge_of(part, model), ties=False)
    result = run_evals_sync(data=data, scorers=[scorer])
    liked = [row["human_preference"] == "a" for row in rows(part)]
    return list(zip(liked, (item.outcomes[0] for item in result.items), strict=True))


def counts(part, model):
    return pairwise_counts(outcome for _, outcome in outcomes(part, model))


def test_chatgpt_keeps_its_verdict_in_half_of_the_pairs_and_picks_the_first_too_often():
    found = counts("mtbench_human", CHATGPT)
    assert found == PairwiseCounts(wins=27, losses=24, inconsistent=46, first_picked=139, picks=194)
    assert round(found.consistency, 2) == 0.53
    assert round(found.position_bias, 2) == 0.72


def test_gpt_4_keeps_its_verdict_in_most_pairs_and_favours_no_place():
    found = counts("mtbench_human", GPT_4)
    assert found == PairwiseCounts(wins=39, losses=45, inconsistent=13, first_picked=100, picks=194)
    assert round(found.consistency, 2) == 0.87
    assert round(found.position_bias, 2) == 0.52


@pytest.mark.parametrize(("model", "agree", "of", "in_one_order"), [(CHATGPT, 40, 51, 0.65), (GPT_4, 69, 84, 0.78)])
def test_what_holds_in_both_orders_agrees_with_people_more_often_than_one_order_alone(model, agree, of, in_one_order):
    settled = [
        (liked, outcome.score == 1.0)
        for liked, outcome in outcomes("mtbench_human", model)
        if outcome.score is not None
    ]
    assert (sum(liked == won for liked, won in settled), len(settled)) == (agree, of)

    judges = [(row["human_preference"], row["other_judges"][model]) for row in rows("mtbench_human")]
    alone = sum((said["order_ab"] == liked) + (said["order_ba"] == liked) for liked, said in judges) / (2 * len(judges))
    assert round(alone, 2) == in_one_order < agree / of
