"""Recorded preferences of people and of two judges, put to the vote."""

import json

from proctor import Item, Score, not_scorable, run_evals, scorer
from proctor.scorers.judged.panel import panel
from tests.support import shared

WORTH = {"a": 1.0, "tie": 0.5, "b": 0.0}


def cases():
    with shared("data/pairwise_pandalm/dev.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def voter(at, of):
    """One recorded voter: the share of a win that it gives to answer a."""

    @scorer(id=f"voter-{at}", inline=True)
    def vote(run):
        said = of(json.loads(run.input))
        return not_scorable("no verdict was recorded") if said is None else Score(WORTH[said], label=said)

    return vote


def items(found):
    return [Item(json.dumps(case), id=case["id"], output=case["answer_a"]) for case in found]


async def test_the_majority_of_three_people_is_the_recorded_preference():
    found = cases()
    people = [voter(at, lambda case, at=at: case["human_votes"][at]) for at in range(3)]
    result = await run_evals(data=items(found), scorers=[panel(people)], concurrency=8)
    outcomes = [item.scorers[0] for item in result.items]
    assert len(outcomes) == 300
    for case, outcome in zip(found, outcomes, strict=True):
        votes = case["human_votes"]
        most = max(set(votes), key=votes.count)
        if votes.count(most) == 1:
            assert outcome.status == "not_scorable", case["id"]
        else:
            assert outcome.score == WORTH[case["human_preference"]], case["id"]


async def test_two_judges_that_differ_are_no_majority():
    found = cases()
    judges = [
        voter(name, lambda case, name=name: case["other_judges"].get(name)) for name in ("gpt-3.5-turbo", "pandalm-7b")
    ]
    result = await run_evals(data=items(found), scorers=[panel(judges)], concurrency=8)
    mean = result.scores["panel-scorer"]
    agree = sum(len(set(case["other_judges"].values())) == 1 for case in found)
    assert (mean.n, mean.not_scorable, mean.errors) == (agree, 300 - agree, 0)
    assert 0 < agree < 300
