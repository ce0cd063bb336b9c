"""A run asks, shows, scores and decides what the reference's does."""

import warnings
from collections import Counter
from typing import Any

import pytest

from proctor import run_evals_sync
from proctor.data.read import read_input
from proctor.errors import ProctorError, UsageError
from tests.golden.replay import Report, cases, recorded
from tests.golden.run_rules import (
    RULES,
    has_no_scoring_data,
    is_built_wrongly,
    is_shaped_wrongly,
    reads_the_input_of_a_conversation,
    rule_of,
    scorers_of,
)
from tests.golden.scenarios import Agent, options, said

EXPECTED = (
    "96 equal, 19 by deviation (1: 5, 2: 4, 3: 3, 4: 1, 5: 3, 7: 1, 18: 1, 24: 1), 38 quirks (broken-gate-is-"
    "score-0: 2, entry-shape-not-validated: 2, error-not-wrapped: 1, first-threshold-wins: 1, float-sum: 2, "
    "gate-mean-compensates: 1, id-collision: 7, inputs-wins-silently: 1, multi-turn-input-is-bare: 1, "
    "no-verdict-when-nothing-scored: 3, "
    "reserved-scorer-id: 4, score-type-not-validated: 10, turn-ground-truth-ignored: 1, whole-run-lost: 2), 26"
    " not yet (trajectories: 7, workflows: 19)"
)

OURS = {
    "1 (error-not-wrapped): None, 1 scorer errors": 1,
    "1 (whole-run-lost): None": 1,
    "1: None, 2 scorer errors": 1,
    "1: failed, 1 scorer errors": 4,
    "2 (whole-run-lost): None, 1 target errors": 1,
    "2: None, 1 target errors": 4,
    "3 (float-sum): passed": 1,
    "3 (gate-mean-compensates): failed, 1 scorer errors": 1,
    "3 (no-verdict-when-nothing-scored): failed, 2 declined": 2,
    "3: failed, 1 declined": 2,
    "3: failed, 4 declined": 1,
    "4 (float-sum): passed": 1,
    "4 (no-verdict-when-nothing-scored): scored, 1 declined": 1,
    "4: scored, 1 declined": 1,
    "5 (score-type-not-validated): None": 1,
    "5 (score-type-not-validated): None, 1 scorer errors": 3,
    "5 (score-type-not-validated): failed, 1 scorer errors": 3,
    "5 (score-type-not-validated): failed, 2 scorer errors": 1,
    "5 (score-type-not-validated): scored, 1 scorer errors": 2,
    "5: None, 2 scorer errors": 1,
    "5: scored, 1 scorer errors": 2,
    "6 (id-collision): None": 2,
    "6 (id-collision): failed": 2,
    "6 (id-collision): passed": 3,
    "6 (reserved-scorer-id): None": 3,
    "6 (reserved-scorer-id): passed": 1,
    "7: None, 1 target errors": 1,
    "9 (multi-turn-input-is-bare): None": 1,
    "18 (broken-gate-is-score-0): refused SCORER_FAILED_TO_RUN_MISSING_GENERATE_SCORE": 1,
    "18: refused SCORER_FAILED_TO_RUN_MISSING_GENERATE_SCORE": 1,
    "24: None": 1,
    "25 (broken-gate-is-score-0): refused None": 1,
    "25 (entry-shape-not-validated): None": 1,
    "25 (entry-shape-not-validated): passed": 1,
    "25 (first-threshold-wins): refused INVALID_SCORER_THRESHOLD": 1,
    "25 (inputs-wins-silently): refused INVALID_DATA_ITEM": 1,
    "26 (turn-ground-truth-ignored): None": 1,
}
"""What ours comes to in the cases that a rule changes (in brackets: a quirk), and in how many of them."""

ABORTS = "RUN_EXPERIMENT_TARGET", "RUN_EXPERIMENT_SCORER"


def test_runs_go_as_the_references_do():
    report = Report("run_evals", RULES)
    changed: Counter[str] = Counter()
    for case in cases("run_evals.jsonl"):
        if why := not_yet(case["scenario"]):
            report.leave(why)
            continue
        found, before = ours(case["scenario"]), report.deviations + report.quirks
        report.compare(case, ours=found, theirs=theirs(case))
        for why in report.deviations + report.quirks - before:
            quirk = "" if why == rule_of(case) else f" ({why})"
            changed[f"{rule_of(case)}{quirk}: {summary(found)}"] += 1
    report.check(EXPECTED)
    if recorded():
        assert changed == OURS


def test_a_run_that_is_to_raise_does_so_with_the_references_code():
    """Rules 1 and 2: `on_error="raise"` brings the abort back."""
    codes: Counter[str] = Counter()
    for case in cases("run_evals.jsonl"):
        code = case["expected"].get("error", {}).get("id", "")
        if code.startswith(ABORTS) and not not_yet(case["scenario"]) and not is_refused(case):
            with pytest.raises(ProctorError) as raised:
                run_evals_sync(**options(case["scenario"], []), on_error="raise")
            expected = NO_DATA_IS_A_FAILURE if has_no_scoring_data(case) else code
            assert raised.value.code == expected, case["id"]
            codes[code] += 1
    if recorded():
        assert codes == {
            "RUN_EXPERIMENT_SCORER_FAILED_TO_SCORE_RESULT": 3,
            "RUN_EXPERIMENT_TARGET_FAILED_TO_GENERATE_RESULT": 4,
        }


SAY_WHY = "check-", "completeness-scorer", "content-similarity-scorer"
NO_DATA_IS_A_FAILURE = "RUN_EXPERIMENT_TARGET_FAILED_TO_GENERATE_RESULT"


def is_refused(case):
    return is_shaped_wrongly(case) or is_built_wrongly(case) or reads_the_input_of_a_conversation(case)


def not_yet(scenario):
    if scenario["target"]["kind"] == "workflow":
        return "workflows"
    found = list(scorers_of(scenario))
    if any(one.get("type") == "trajectory" or "Trajectory" in one.get("factory", "") for one in found):
        return "trajectories"
    return None


def summary(found):
    """What ours came to, in short."""
    if "refused" in found:
        return f"refused {found['refused']}"
    targets, outcomes = found["errors"]
    counts = {"target errors": targets, "scorer errors": outcomes, "declined": sum(found["declined"].values())}
    return ", ".join([str(found["verdict"]), *(f"{count} {what}" for what, count in counts.items() if count)])


# ── ours ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def ours(scenario):
    seen: list[Any] = []
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            made = options(scenario, seen)
            result = run_evals_sync(**made)
        except UsageError as error:
            return {"refused": None if error.code in {"USAGE", "UNKNOWN_NAME"} else error.code}
    agent: Agent = made["target"]
    return {
        "scores": scores(mean for mean in result.means if mean.column.turn is None),
        "gates": [gate(mean) for mean in result.gate_results if mean.passed is not None],
        "thresholds": [threshold(mean) for mean in result.threshold_results if mean.passed is not None],
        "turns": [
            {
                "gates": [gate(mean) for mean in means if mean.column.position == "gate" and mean.passed is not None],
                "thresholds": [threshold(mean) for mean in means if mean.threshold and mean.passed is not None],
                "scores": scores(means),
            }
            for means in result.turn_results.values()
        ],
        "verdict": result.verdict,
        "items": result.summary.items,
        "errors": (result.summary.errors, result.summary.outcome_errors),
        "declined": dict(result.summary.not_scorable.by_id),
        "rows": [[our_outcome(one) for one in row.scorers] for row in result.items],
        "warned": bool(warned),
        "scorers saw": sorted(seen, key=repr),
        "target saw": our_calls(agent),
        **({"most at once": agent.most} if "concurrency" in scenario else {}),
    }


def scores(means):
    return {mean.id: mean.mean for mean in means if mean.column.position != "gate" and mean.mean is not None}


def gate(mean):
    return {"id": mean.id, "passed": mean.passed, "score": mean.score}


def threshold(mean):
    bounds = mean.threshold.min, mean.threshold.max
    return {"id": mean.id, "passed": mean.passed, "averageScore": mean.average_score, "threshold": bounds}


def our_outcome(outcome):
    """Checks and code scorers of ours say why; the reference's do not."""
    found = {"id": outcome.column.scorer_id, "score": outcome.score}
    if outcome.status == "not_scorable":
        found["declined"] = outcome.not_scorable.step, outcome.not_scorable.reason
    elif outcome.reason is not None and not outcome.column.scorer_id.startswith(SAY_WHY):
        found["reason"] = outcome.reason
    return found


def our_calls(agent):
    calls = []
    for call in agent.calls:
        rest = dict(call.options or {})
        place = {"thread": call.thread_id, "resource": call.resource_id, **rest.pop("memory", {})}
        memory = {key: value for key, value in place.items() if value is not None}
        calls.append({"input": [said(message) for message in call.messages], "memory": memory, "options": rest})
    return numbered(calls)


def numbered(calls):
    """Threads that were made, called by their number: two that are the same stay the same."""
    made: dict[str, str] = {}
    for call in calls:
        for name in ("thread", "resource"):
            place = call["memory"].get(name)
            if place is not None and len(place) == len("8b1c3f8e-5a1f-4d9c-9c39-7a2f4a6f6f0e"):
                call["memory"][name] = made.setdefault(place, f"<uuid{len(made) + 1}>")
    return calls


# ── theirs ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def theirs(case):
    scenario, expected = case["scenario"], case["expected"]
    error = expected.get("error")
    if error:
        return {"refused" if not expected["targetCalls"] else "aborted": error.get("id")}
    result = expected["result"]
    rows = sorted(expected["onItemComplete"], key=lambda row: row.get("itemIndex", 0))
    return {
        "scores": of_config(result["scores"]),
        "gates": result.get("gateResults", []),
        "thresholds": [their_threshold(found) for found in result.get("thresholdResults", [])],
        "turns": [their_turn(found) for found in result.get("turnResults", []) if found.keys() != {"index"}],
        "verdict": result.get("verdict"),
        "items": result["summary"]["totalItems"],
        "errors": (0, 0),
        "declined": result["summary"].get("notScorable", {}),
        "rows": [[their_outcome(id, one) for id, one in of_config(row["scorerResults"]).items()] for row in rows],
        "warned": bool(expected["warnings"]),
        "scorers saw": sorted(map(their_sight, expected["scorerCalls"]), key=repr),
        "target saw": [their_call(call) for call in expected["targetCalls"]],
        **({"most at once": expected["maxActive"]} if "concurrency" in scenario else {}),
    }


def of_config(found):
    """The scorers of an agent, when they stand under that name."""
    return found["agent"] if found.keys() == {"agent"} and "score" not in found["agent"] else found


def their_turn(found):
    return {
        "gates": found.get("gateResults", []),
        "thresholds": [their_threshold(one) for one in found.get("thresholdResults", [])],
        "scores": found.get("scores", {}),
    }


def their_threshold(found):
    bound = found["threshold"]
    bounds = (bound.get("min"), bound.get("max")) if isinstance(bound, dict) else (bound, None)
    return {**found, "threshold": bounds}


def their_outcome(id, result):
    found = {"id": id, "score": result.get("score")}
    if "notScorable" in result:
        declined = result["notScorable"]
        found["declined"] = declined["step"].replace("generateS", "generate_s"), declined.get("reason")
    if "reason" in result:
        found["reason"] = result["reason"]
    return found


def their_sight(call):
    asked = call["input"]["inputMessages"] if isinstance(call["input"], dict) else messages(call["input"])
    found = {"scorer": call["scorer"], "input": asked, "output": call["output"]["messages"]}
    return found | ({"groundTruth": call["groundTruth"]} if "groundTruth" in call else {})


def their_call(call):
    return {"input": messages(call["input"]), "memory": call.get("memory", {}), "options": call["options"]}


def messages(given):
    return [said(message) for message in read_input("null" if given is None else given)]
