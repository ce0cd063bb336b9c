"""What the reference's scores store holds after a run, ours holds too, and (rule 14) all that it leaves out."""

import asyncio
import warnings
from collections import Counter

from proctor import Store, run_evals_sync
from tests.golden.replay import Report, cases
from tests.golden.run_rules import scorers_of
from tests.golden.scenarios import options

EXPECTED = (
    "3 equal, 4 by deviation (14: 4), 3 quirks (gates-not-persisted: 1, row-overwritten: 1, "
    "unscorable-value-swallowed: 1), 3 not yet (trajectories: 1, workflows: 2)"
)


def test_stored_scores_are_those_of_the_reference(tmp_path):
    report = Report("run_evals_storage", {14: lambda case: True})
    for case in cases("run_evals_storage.jsonl"):
        if why := not_yet(case["scenario"]):
            report.leave(why)
            continue
        found, theirs = ours(case["scenario"], tmp_path / f"{case['id']}.db"), theirs_of(case)
        assert not theirs - found, f"{case['id']}: the reference stores what ours does not: {theirs - found}"
        report.compare(case, ours=dict(found), theirs=dict(theirs))
    report.check(EXPECTED)


def not_yet(scenario):
    if scenario["target"]["kind"] == "workflow":
        return "workflows"
    return "trajectories" if any(one.get("type") == "trajectory" for one in scorers_of(scenario)) else None


def theirs_of(case):
    """A row for each score: the scorer, the turn, the score, and how many replies were scored."""
    return Counter(
        (row["scorerId"], row.get("metadata", {}).get("turnIndex"), float(row["score"]))
        for row in case["expected"]["storedScores"]
        if is_in_range(row["score"])
    )


def is_in_range(score):
    """Rule 5: a score out of the range of its scorer is an error, which we store."""
    return 0 <= score <= 1


def ours(scenario, path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = run_evals_sync(**options(scenario, []), store=path)
    stored = asyncio.run(read(path))
    assert stored == result
    found = [outcome for row in stored.items for outcome in row.outcomes]
    assert Counter(found) == Counter(outcome for row in result.items for outcome in row.outcomes)
    return Counter(
        (outcome.scorer_id, outcome.turn_index, outcome.score if outcome.status == "scored" else outcome.status)
        for outcome in found
    )


async def read(path):
    async with Store(path) as store:
        return await store.result("latest")
