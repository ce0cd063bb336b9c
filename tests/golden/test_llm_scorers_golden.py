"""The scorers that ask a judge score what the reference's do, when their judges say the same.

Three replays of the recorded judges. The formula alone, of every case that is no quirk and has a score. The whole
scorer, as the case is recorded: there, many judges speak of more or fewer things than they were shown, and few
runs have a context. And the whole scorer once more, shown as many things as its judge speaks of.
"""

import re
from collections import defaultdict

import pytest

from tests.golden.llm_cases import formula_of, found_in, options_of, run_of, subject
from tests.golden.llm_shown import fitted, has_empty_list, is_declined, lists_fit
from tests.golden.replay import Report, cases, recorded, snake

FORMULA = {
    "answer_relevancy": "7 equal, 1 by deviation (11: 1), 0 quirks, 0 not yet",
    "answer_similarity": "15 equal, 0 by deviation, 0 quirks, 0 not yet",
    "bias": "6 equal, 0 by deviation, 0 quirks, 0 not yet",
    "context_precision": "8 equal, 1 by deviation (11: 1), 0 quirks, 0 not yet",
    "context_recall": "7 equal, 0 by deviation, 0 quirks, 0 not yet",
    "context_relevance": "9 equal, 2 by deviation (11: 2), 0 quirks, 0 not yet",
    "faithfulness": "7 equal, 1 by deviation (11: 1), 0 quirks, 0 not yet",
    "hallucination": "5 equal, 1 by deviation (11: 1), 0 quirks, 0 not yet",
    "multi_turn_judge": "5 equal, 0 by deviation, 0 quirks, 0 not yet",
    "noise_sensitivity": "11 equal, 0 by deviation, 0 quirks, 0 not yet",
    "prompt_alignment": "12 equal, 0 by deviation, 0 quirks, 0 not yet",
    "rubric": "4 equal, 0 by deviation, 0 quirks, 0 not yet",
    "summarization": "11 equal, 1 by deviation (11: 1), 0 quirks, 0 not yet",
    "tool_call_accuracy_llm": "6 equal, 0 by deviation, 0 quirks, 0 not yet",
    "toxicity": "2 equal, 0 by deviation, 0 quirks, 0 not yet",
    "trajectory_accuracy_llm": "5 equal, 0 by deviation, 0 quirks, 0 not yet",
}
# Each as it was recorded.
RECORDED = {
    "answer_relevancy": (
        "6 equal, 2 by deviation (11: 1, 12: 1), 4 quirks (nan-score: 3, score-out-of-range: 1), 0 not yet"
    ),
    "answer_similarity": (
        "6 equal, 10 by deviation (11: 2, 12: 8), 4 "
        "quirks (falsy-ground-truth: 1, judge-called-for-nothing: 2, nan-score: 1), 0 not yet"
    ),
    "bias": "5 equal, 1 by deviation (12: 1), 1 quirks (exact-verdict-compare: 1), 0 not yet",
    "context_precision": "3 equal, 7 by deviation (12: 7), 0 quirks, 0 not yet",
    "context_recall": "5 equal, 3 by deviation (11: 1, 12: 2), 1 quirks (judge-called-for-nothing: 1), 0 not yet",
    "context_relevance": "2 equal, 10 by deviation (12: 10), 1 quirks (scale-ignored: 1), 0 not yet",
    "faithfulness": (
        "0 equal, 8 by deviation (11: 8), 3 "
        "quirks (exact-verdict-compare: 1, judge-omission-passes: 1, score-out-of-range: 1), 0 not yet"
    ),
    "hallucination": "4 equal, 2 by deviation (11: 2), 1 quirks (scale-0-as-1: 1), 0 not yet",
    "multi_turn_judge": (
        "8 equal, 1 by deviation (21: 1), 2 quirks (judge-called-for-nothing: 1, score-out-of-range: 1), 0 not yet"
    ),
    "noise_sensitivity": "1 equal, 11 by deviation (12: 11), 0 quirks, 0 not yet",
    "prompt_alignment": (
        "15 equal, 1 by deviation (11: 1), 9 quirks (both-mode-equals-user-mode: 8, score-out-of-range: 1), 0 not yet"
    ),
    "rubric": (
        "4 equal, 1 by deviation (21: 1), 3 quirks (judge-called-for-nothing: 1, judge-omission-passes: 2), 0 not yet"
    ),
    "summarization": "8 equal, 6 by deviation (11: 1, 12: 4, 21: 1), 0 quirks, 0 not yet",
    "tool_call_accuracy_llm": "1 equal, 7 by deviation (11: 2, 12: 5), 1 quirks (missing-tools-ignored: 1), 0 not yet",
    "toxicity": "2 equal, 0 by deviation, 2 quirks (no-verdicts-means-toxic: 2), 0 not yet",
    "trajectory_accuracy_llm": "4 equal, 3 by deviation (10: 1, 12: 2), 1 quirks (never-reaches-1: 1), 0 not yet",
}
# Those whose judges speak of another number of things than they were shown, or have no context.
FITTED = {
    "answer_similarity": (
        "15 equal, 1 by deviation (11: 1), 4 "
        "quirks (falsy-ground-truth: 1, judge-called-for-nothing: 2, nan-score: 1), 0 not yet"
    ),
    "context_precision": "7 equal, 3 by deviation (12: 3), 0 quirks, 0 not yet",
    "context_relevance": "10 equal, 2 by deviation (12: 2), 1 quirks (scale-ignored: 1), 0 not yet",
    "faithfulness": (
        "5 equal, 3 by deviation (11: 2, 12: 1), 3 "
        "quirks (exact-verdict-compare: 1, judge-omission-passes: 1, score-out-of-range: 1), 0 not yet"
    ),
    "hallucination": "5 equal, 1 by deviation (11: 1), 1 quirks (scale-0-as-1: 1), 0 not yet",
    "noise_sensitivity": "8 equal, 4 by deviation (12: 4), 0 quirks, 0 not yet",
    "tool_call_accuracy_llm": "6 equal, 2 by deviation (11: 2), 1 quirks (missing-tools-ignored: 1), 0 not yet",
    "trajectory_accuracy_llm": "7 equal, 1 by deviation (10: 1), 0 quirks, 0 not yet",
}

# The scores of what the reference does and we do not, and how it ends without one, in the order of the cases.
QUIRKS = {
    "both-mode-equals-user-mode": [0.0, 0.39, 0.19, 0.12, 0.59, 1.0, 0.0, 0.39, 0.32, 0.19, 0.59],  # .7 and .3
    "exact-verdict-compare": [1.0, 0.5],
    "falsy-ground-truth": [1.0],
    "judge-called-for-nothing": [*["not_scorable"] * 4, 1.0, "not_scorable"],
    "judge-omission-passes": ["error", "error", "error"],
    "judge-overrides-required-flag": [0.0],
    "missing-tools-ignored": [0.33],
    "nan-score": [0.65, 0.5, 0.65, "refused"],
    "never-reaches-1": [0.9, 0.9],  # with the reference's weights; ours add up to 1
    "no-verdicts-means-toxic": ["not_scorable", "not_scorable"],
    "scale-0-as-1": ["refused"],
    "scale-ignored": ["not_scorable", "error"],
    "score-out-of-range": ["refused", "refused", "refused", "error"],
}


@pytest.mark.parametrize("name", FORMULA)
def test_formulas_give_what_the_reference_s_give(name):
    report = Report(f"llm_scorers: formula of {name}", {11: is_declined_of_an_empty_list})
    for case in of(name):
        if "score" in case["expected"] and not is_quirk(case):
            ours = formula_of(case)
            report.compare({**case, "ours": ours}, ours=ours, theirs={"score": case["expected"]["score"]})
    report.check(FORMULA[name])


@pytest.mark.parametrize("name", RECORDED)
def test_scorers_end_as_the_reference_s_end(name):
    report = Report(f"llm_scorers: {name} as recorded", RULES)
    for case in of(name):
        compare(report, case)
    report.check(RECORDED[name])


@pytest.mark.parametrize("name", FITTED)
def test_scorers_that_are_shown_what_their_judges_speak_of_end_as_the_reference_s_end(name):
    report = Report(f"llm_scorers: {name} fitted", RULES)
    for case in of(name):
        compare(report, fitted(case))
    report.check(FITTED[name])


def test_every_recorded_scorer_is_replayed():
    assert {subject(case) for case in cases("llm_scorers.jsonl")} == FORMULA.keys() == RECORDED.keys()


def test_quirks_end_as_our_rules_say():
    ends = defaultdict(list)
    for case in cases("llm_scorers.jsonl"):
        for tag in case.get("tags", ()):
            if tag.startswith("quirk:"):
                ended = run_of(fitted(case))
                ends[tag.removeprefix("quirk:")].append(ended.status if ended.score is None else ended.score)
    if recorded():
        assert ends == QUIRKS


def of(name):
    return [case for case in cases("llm_scorers.jsonl") if subject(case) == name]


def is_quirk(case):
    return any(tag.startswith("quirk:") for tag in case.get("tags", ()))


def compare(report, case):
    ended = run_of(case)
    report.compare({**case, "ended": ended}, ours=ours(ended, case["expected"], case), theirs=theirs(case["expected"]))


# ── both sides in one form ─────────────────────────────────────────────────────────────────────────────────────────


def ours(ended, expected, case):
    if ended.status == "refused":
        return {"refused": True}
    if ended.status == "error":
        return {"failed_step": ended.step, "calls": ended.calls}
    if ended.status == "not_scorable":
        return {"not scorable": ended.reason, "calls": ended.calls}
    told = ended.reason
    if "reason" not in expected:
        told = {
            "criterion": case["config"].get("criterion", "no criterion") in told,
            "reasoning": found_in(case)[0].get("reasoning", "no reasoning") in told,
            "mentions": [name for name in expected.get("reasonMentions", ()) if re.search(rf": {name}\b.* - ", told)],
        }
    return {"score": ended.score, "calls": ended.calls, "reason": told}


def theirs(expected):
    if "constructError" in expected:
        return {"refused": True}
    if "error" in expected:
        return {"failed_step": snake(expected["error"]["failedStep"]), "calls": expected["judgeCalls"]}
    told = expected.get("reason")
    if told is None:
        told = {
            "criterion": expected.get("reasonContainsCriterion", False),
            "reasoning": expected.get("reasonContainsReasoning", False),
            "mentions": [name for name, is_there in expected.get("reasonMentions", {}).items() if is_there],
        }
    return {"score": expected["score"], "calls": expected["judgeCalls"], "reason": told}


# ── rules ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def is_declined_of_an_empty_list(case):
    return case["ours"] == {"declined": True} and has_empty_list(case)


def is_an_error_of_lists_that_do_not_fit(case):
    return case["ended"].status == "error" and not lists_fit(case)


def is_refused_for_its_options(case):
    options = options_of(case)
    return case["ended"].status == "refused" and (options.get("scale", 1) <= 0 or options.get("criterion", 1) is None)


def is_read_from_messages(case):
    return subject(case).startswith("trajectory") and isinstance(case["run"]["output"], list)


RULES = {
    10: is_read_from_messages,
    11: is_declined,
    12: is_an_error_of_lists_that_do_not_fit,
    21: is_refused_for_its_options,
}
