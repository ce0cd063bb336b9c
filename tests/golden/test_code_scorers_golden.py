"""The code scorers score, and count, what the reference's do; with other word lists they keep its order."""

from collections import defaultdict
from collections.abc import Mapping
from itertools import combinations

import pytest

from proctor import scorers
from proctor.data.value import MISSING
from proctor.errors import ScorerRunError, UsageError
from proctor.scorers.code.completeness import covered
from proctor.scoring.run import ScorerRun
from tests.golden.deviations import changes_reading, messages_in
from tests.golden.replay import Report, cases, snake

FACTORIES = {
    "completeness": scorers.completeness,
    "content_similarity": scorers.content_similarity,
    "keyword_coverage": scorers.keyword_coverage,
    "textual_difference": scorers.textual_difference,
    "tone": scorers.tone,
    "tool_call_accuracy": scorers.tool_call_accuracy,
}
EXPECTED = {
    "completeness": (
        "31 equal, 6 by deviation (7: 1, 11: 1, 20: 4), 2 quirks (non-latin-dropped: 1, role-not-filtered: 1), "
        "0 not yet"
    ),
    "content_similarity": (
        "49 equal, 3 by deviation (7: 1, 11: 1, 26: 1), 4 quirks (partial-options-not-defaulted: 4), 0 not yet"
    ),
    "keyword_coverage": (
        "22 equal, 8 by deviation (7: 1, 20: 7), 4 quirks (no-keywords-scores-1: 3, role-not-filtered: 1), 0 not yet"
    ),
    "textual_difference": "32 equal, 3 by deviation (7: 1, 11: 1, 26: 1), 0 quirks, 0 not yet",
    "tone": (
        "21 equal, 21 by deviation (7: 2, 20: 19), 4 quirks (comparative-unbounded: 2, unpunctuated-tail-dropped: 2), "
        "0 not yet"
    ),
    "tool_call_accuracy": "24 equal, 3 by deviation (11: 2, 21: 1), 1 quirks (empty-order-scores-0: 1), 0 not yet",
}
FACTS = {
    "completeness": set(),
    "content_similarity": set(),
    "keyword_coverage": set(),
    "textual_difference": {"ratio", "changes", "length_diff", "confidence"},
    "tone": set(),
    "tool_call_accuracy": {
        "actual_tools",
        "strict_mode",
        "has_tool_calls",
        "correct_tool_called",
        "correct_order_called",
    },
}
# Of the pairs of cases that the reference tells apart, the share that we put in the same order at least.
SAME_ORDER = {"completeness": 0.95, "keyword_coverage": 0.94, "tone": 0.95}


@pytest.mark.parametrize("name", FACTORIES)
def test_code_scorers_give_what_the_reference_gives(name):
    report = Report(f"code_{name}", RULES)
    for case in cases(f"code_{name}.jsonl"):
        report.compare(case, ours=ours(name, case), theirs=theirs(name, case["expected"]))
    report.check(EXPECTED[name])


def test_completeness_is_the_share_of_the_recorded_elements_that_is_covered():
    replayed = 0
    for case in cases("code_completeness.jsonl"):
        found = case["expected"].get("preprocessStepResult", {})
        if wanted := found.get("inputElements"):
            assert len(covered(wanted, found["outputElements"])) / len(wanted) == case["expected"]["score"]
            replayed += 1
    assert replayed > 20


@pytest.mark.parametrize("name", SAME_ORDER)
def test_with_other_word_lists_cases_keep_their_order(name):
    groups = defaultdict(list)
    for case in cases(f"code_{name}.jsonl"):
        mine, recorded = ours(name, case).get("score"), case["expected"].get("score")
        quirk = any(tag.startswith("quirk:") for tag in case.get("tags", ()))
        if mine is not None and recorded is not None and not quirk:
            groups[case["subject"], str(case["config"])].append((recorded, mine))
    pairs = [pair for group in groups.values() for pair in combinations(group, 2)]
    steps = [(a[0] - b[0]) * (a[1] - b[1]) for a, b in pairs]
    kept, turned = sum(step > 0 for step in steps), sum(step < 0 for step in steps)
    assert kept / (kept + turned) >= SAME_ORDER[name]


# ── both sides in one form ─────────────────────────────────────────────────────────────────────────────────────────


def ours(name, case):
    try:
        scorer = FACTORIES[name](**{snake(key): value for key, value in case["config"].items()})
    except UsageError:
        return {"refused": True}
    run = ScorerRun(output=case["run"].get("output", MISSING), input=case["run"].get("input", MISSING))
    try:
        outcome = scorer.run_sync(run)
    except ScorerRunError as error:
        return {"failed_step": error.failed_step, "completed_steps": error.completed_steps, "code": error.code}
    if outcome.status == "not_scorable":
        return {"not_scorable": True}
    return {"score": outcome.score, **facts(name, outcome.preprocess_step_result)}


def theirs(name, expected):
    if "constructError" in expected:
        return {"refused": True}
    if "error" in expected:
        error = expected["error"]
        code = error["id"].removeprefix("MASTR_")
        return {"failed_step": snake(error["failedStep"]), "completed_steps": error["completedSteps"], "code": code}
    return {"score": expected["score"], **facts(name, expected["preprocessStepResult"])}


def facts(name, found: Mapping):
    named = {snake(key): value for key, value in found.items()}
    return {f"found {key}": value for key, value in named.items() if key in FACTS[name]}


# ── rules ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def reads_differently(case):
    output = case["run"].get("output", MISSING)
    return isinstance(output, str) or changes_reading(output)


def has_nothing_to_compare(case):
    """No input was given, or an exchange without a message on one side."""
    given, output = case["run"].get("input", MISSING), case["run"].get("output", MISSING)
    if given is MISSING:
        return True
    return case["subject"].startswith("tool_call_accuracy") and not (list(messages_in(given)) and output)


def rests_on_a_word_list(case):
    return case["subject"].partition(".")[0].removesuffix("_consistency") in SAME_ORDER


def has_empty_order(case):
    return case["config"].get("expectedToolOrder") == []


def is_beyond_utf16(case):
    return any(ord(letter) > 0xFFFF for letter in str(case["run"]))


RULES = {
    7: reads_differently,
    11: has_nothing_to_compare,
    20: rests_on_a_word_list,
    21: has_empty_order,
    26: is_beyond_utf16,
}
