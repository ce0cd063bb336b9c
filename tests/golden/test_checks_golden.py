"""The eleven checks score, and find, what the reference's do."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from proctor import checks
from proctor.data.value import MISSING
from proctor.errors import ScorerRunError, UsageError
from proctor.scoring.run import ScorerRun
from tests.golden.deviations import changes_reading, messages_in, parts_of
from tests.golden.replay import Regex, Report, cases, snake

EXPECTED = (
    "154 equal, 17 by deviation (7: 4, 8: 5, 21: 4, 23: 4), 27 quirks (exact-alternation-not-grouped: 1, "
    "js-sticky-flag: 1, js-truthiness: 2, only-last-text-part: 4, option-not-validated: 8, part-kind-not-seen: 6, "
    "stateful-regex: 1, utf16-units: 4), 0 not yet"
)

FOUND = {
    "target", "found", "excluded", "is_equal", "matched", "score", "threshold", "tool_name", "expected_times",
    "actual_count", "count", "max", "error_count", "total_calls", "passed", "expected_order", "actual_tools",
}  # fmt: skip


def test_checks_give_what_the_reference_gives():
    report = Report("checks", RULES)
    for case in cases("checks.jsonl"):
        report.compare(case, ours=ours(case), theirs=theirs(case["expected"]))
    report.check(EXPECTED)


# ── both sides in one form ─────────────────────────────────────────────────────────────────────────────────────────


def ours(case):
    try:
        check = build(case["subject"].removeprefix("checks."), case["config"]["args"])
    except (UsageError, TypeError):  # Python itself refuses an option that is not there
        return {"refused": True}
    run = ScorerRun(output=case["run"].get("output", MISSING), input=case["run"]["input"])
    try:
        outcomes = [check.run_sync(run) for _ in range(case.get("repeat", 1))]
    except ScorerRunError as error:
        return {"failed_step": error.failed_step, "completed_steps": error.completed_steps, "code": error.code}
    if "repeat" in case:
        return {"scores": [outcome.score for outcome in outcomes]}
    return {"score": outcomes[0].score, **facts(outcomes[0].preprocess_step_result)}


def build(name, args):
    """The check; results that are text were no errors in the reference."""
    if name == "noToolErrors":
        args = [*args, {"text": False}]
    *positional, options = [*args, {}] if not args or not isinstance(args[-1], dict) else args
    if name == "matches" and isinstance(positional[0], Regex):
        positional = [in_python(positional[0])]
    return getattr(checks, snake(name))(*positional, **{snake(key): value for key, value in options.items()})


def in_python(regex):
    """A JavaScript expression in Python's syntax: `$` is the very end, flags stand in front; g, u, y mean nothing."""
    source = regex.source
    if "m" not in regex.flags:
        source = re.sub(r"\\.|\[(?:\\.|[^\]\\])*\]|\$", lambda found: r"\Z" if found[0] == "$" else found[0], source)
    flags = "".join(flag for flag in "ims" if flag in regex.flags)
    return f"(?{flags}){source}" if flags else source


def theirs(expected):
    if "constructError" in expected:
        return {"refused": True}
    if "error" in expected:
        error = expected["error"]
        code = error["id"].removeprefix("MASTR_")
        return {"failed_step": snake(error["failedStep"]), "completed_steps": error["completedSteps"], "code": code}
    if "scores" in expected:
        return {"scores": expected["scores"]}
    return {"score": expected["score"], **facts(expected["preprocessStepResult"])}


def facts(found: Mapping[str, Any]) -> dict[str, Any]:
    named = {snake(key): value for key, value in found.items()}
    return {f"found {key}": value for key, value in named.items() if key in FOUND and value is not None}


# ── rules ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def reads_differently(case):
    output = case["run"].get("output", MISSING)
    return isinstance(output, str) or changes_reading(output) or has_loose_call(output)


def has_loose_call(output):
    """A call without a state was made; one that was still being written is no call; one that is empty is unreadable."""
    parts = [part for message in messages_in(output) for part in parts_of(message) if isinstance(part, dict)]
    calls = [part.get("toolInvocation", {}) for part in parts if part.get("type") == "tool-invocation"]
    return any(call.get("state", "partial-call") == "partial-call" for call in calls)


def is_another_expression(case):
    """Python's character classes and case folding where the text is more than ASCII; text as a pattern."""
    if case["subject"] != "checks.matches":
        return False
    pattern = case["config"]["args"][0]
    if not isinstance(pattern, Regex):
        return isinstance(pattern, str)
    folds = "i" in pattern.flags or re.search(r"\\[wWdDbBsS]", pattern.source)
    return bool(folds) and not str(case["run"].get("output")).isascii()


def has_refused_option(case):
    """An option or argument of a kind that is refused when it is written."""
    try:
        build(case["subject"].removeprefix("checks."), case["config"]["args"])
    except (UsageError, TypeError):
        return not has_empty_needle(case)
    return False


def has_empty_needle(case):
    return case["subject"] in {"checks.includes", "checks.excludes"} and case["config"]["args"][0] == ""


RULES: Mapping[int, Callable[[dict[str, Any]], bool]] = {
    7: reads_differently,
    8: is_another_expression,
    21: has_refused_option,
    23: has_empty_needle,
}
