"""The steps of a scorer see, give and fail as the reference's do."""

from collections.abc import Mapping
from typing import Any

from proctor.data.value import MISSING
from proctor.errors import ProctorError, ScorerRunError, UsageError
from proctor.scoring.create import create_scorer
from proctor.scoring.prepare import filter_run
from proctor.scoring.run import ScorerRun
from proctor.scoring.steps import STEP_NAMES, not_scorable
from tests.golden.pipeline_judges import Judges, asked, filled, records, their_asked, their_prompts, their_records
from tests.golden.replay import Report, cases, snake
from tests.golden.scenarios import said

EXPECTED = (
    "56 equal, 0 by deviation, 14 quirks (bad-step-accepted-at-build: 2, chain-order-not-enforced: 1, "
    "duplicate-step-overwrites: 3, reason-type-not-validated: 1, schema-missing-accepted-at-build: 1, "
    "score-dropped: 2, score-type-not-validated: 3, zero-limit-ignored: 1), 0 not yet"
)


def test_scorers_run_as_the_reference_runs_them():
    report = Report("scorer_pipeline", RULES)
    for case in cases("scorer_pipeline.jsonl"):
        if "prepareRun" in case["scenario"]["config"]:
            report.compare(case, ours=cut(case["scenario"]), theirs=their_cut(case["expected"]))
        else:
            report.compare(case, ours=ours(case["scenario"]), theirs=theirs(case["expected"]))
    report.check(EXPECTED)


# ── ours ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def ours(scenario):
    seen: list[dict[str, Any]] = []
    judges = Judges(scenario.get("judgeReplies"))
    try:
        scorer = build(scenario, seen, judges)
    except UsageError as error:
        return {"refused": error.code}
    try:
        outcome = scorer.run_sync({"output": MISSING, **scenario["run"]})
    except ScorerRunError as error:
        return {
            "failed_step": error.failed_step,
            "completed_steps": error.completed_steps,
            "code": error.code,
            "cause": str(error.__cause__) if not isinstance(error.__cause__, ProctorError) else MISSING,
            "kept": None if error.result is None else of_snapshot(error.result),
            "written with its result": "result" in error.to_dict(),
            "steps saw": seen,
            "judges were asked": asked(judges, scenario),
        }
    except UsageError as error:
        return {"refused": error.code}
    declined = outcome.not_scorable
    return {
        "score": outcome.score,
        "reason": outcome.reason if declined is None else None,
        "declined": declined and (declined.step, declined.reason),
        "results": given(preprocess=outcome.preprocess_step_result, analyze=outcome.analyze_step_result),
        "judge": records(outcome.judge),
        "prompts": (outcome.evidence and outcome.evidence.prompts) or {},
        "steps saw": seen,
        "judges were asked": asked(judges, scenario),
    }


def cut(scenario):
    """What a filter leaves of a run."""
    options = {snake(key): value for key, value in scenario["config"]["prepareRun"]["filterRun"].items()}
    prepare, seen = filter_run(**options), []
    step = scenario["steps"][0]
    scorer = create_scorer(id="cut", prepare_run=prepare, range=(0, 9)).generate_score(
        lambda ctx: seen.append(ctx.run) or evaluated(step["return"], ctx)
    )
    score = scorer.run_sync(scenario["run"]).score
    (run,) = seen
    return {
        "score": score,
        "output": [said(message) for message in run.output_messages],
        "remembered": len(run.input["rememberedMessages"]),
        "ground truth": run.ground_truth is not MISSING,
    }


def build(scenario, seen, judges):
    config = {snake(key): value for key, value in scenario["config"].items() if key in {"id", "name", "description"}}
    scorer = create_scorer(**config, judge=judges.judge(scenario["config"].get("judge")))
    for step in scenario["steps"]:
        name = snake(step["step"])
        scorer = getattr(scorer, name)(step_of(step, name, seen, judges))
    return scorer


def step_of(step, name, seen, judges):
    if step["kind"] == "raw":
        return step["value"]
    if step["kind"] == "function":
        return function(step, name, seen)

    def create(ctx):
        seen.append(sight(name, ctx))
        if "promptThrow" in step:
            raise RuntimeError(step["promptThrow"])
        return filled(step["prompt"], lambda path: looked_up(path, ctx))

    return judges.prompt(step, create)


def function(step, name, seen):
    def called(ctx):
        seen.append(sight(name, ctx))
        if "throw" in step:
            raise (TypeError if step.get("throwKind") == "TypeError" else RuntimeError)(step["throw"])
        if "notScorable" in step:
            return not_scorable(step["notScorable"])
        value = evaluated(step.get("return", MISSING), ctx)
        return None if value is MISSING and name.startswith("generate") else value

    return called


def evaluated(value, ctx):
    """A recorded return value: plain, or made from what the step sees."""
    if isinstance(value, list):
        return [evaluated(item, ctx) for item in value]
    if not isinstance(value, dict):
        return value
    if "$ctx" in value:
        return looked_up(value["$ctx"], ctx)
    if "$len" in value:
        return len(evaluated(value["$len"], ctx))
    if "$div" in value:
        above, below = evaluated(value["$div"], ctx)
        return above / below
    made = {key: evaluated(item, ctx) for key, item in value.items()}
    return {key: item for key, item in made.items() if item is not MISSING}


def looked_up(path, ctx):
    head, *names = path.split(".")
    if head == "results":
        found = getattr(ctx, snake(names.pop(0)).removesuffix("_step_result").replace("generate_score", "score"))
    elif head == "run":
        found = getattr(ctx.run, snake(names.pop(0)))
    else:
        found = ctx.score
    for name in names:
        found = found.get(name, MISSING) if isinstance(found, Mapping) else MISSING
    return found


def sight(name, ctx):
    """What a step sees: the results of those before it, and what there is of the run."""
    run: ScorerRun = ctx.run
    fields = given(input=run.input, output=run.output, ground_truth=run.ground_truth)
    return {
        "step": name,
        "results": sorted(given(preprocess=ctx.preprocess, analyze=ctx.analyze, generate_score=ctx.score)),
        "run": sorted({*fields, *map(snake, run.extra)} - {"run_id"}),
    }


def of_snapshot(snapshot):
    return given(
        score=MISSING if snapshot.score is None else snapshot.score,
        preprocess=snapshot.preprocess_step_result,
        analyze=snapshot.analyze_step_result,
        judge=records(snapshot.judge),
        prompts=snapshot.prompts or {},
    )


def given(**values):
    return {key: value for key, value in values.items() if value is not MISSING}


# ── theirs ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def theirs(expected):
    if "constructError" in expected:
        return {"refused": code(expected["constructError"])}
    seen = [their_sight(context) for context in expected.get("stepContexts", ())]
    error = expected.get("error")
    if error and "failedStep" not in error:
        return {"refused": code(error)}
    if error:
        return {
            "failed_step": snake(error["failedStep"]),
            "completed_steps": [snake(step) for step in error["completedSteps"]],
            "code": code(error),
            "cause": error["cause"]["message"] if is_of_the_user(case_error=error) else MISSING,
            "kept": None if error["result"] is None else of_result(error["result"]),
            "written with its result": expected["jsonOfErrorHasResult"],
            "steps saw": seen,
            "judges were asked": their_asked(expected.get("judgeCalls")),
        }
    result = expected["result"]
    declined = result.get("notScorable")
    return {
        "score": result.get("score"),
        "reason": result.get("reason"),
        "declined": declined and (snake(declined["step"]), declined.get("reason")),
        "results": given_results(result),
        "judge": their_records(result.get("judge")),
        "prompts": their_prompts(result),
        "steps saw": seen,
        "judges were asked": their_asked(expected.get("judgeCalls")),
    }


def is_of_the_user(case_error):
    """Whether the failure came from a step or a model, in words that are not the reference's own."""
    own = ("Structured output", "structuredOutput", "Step ", "Unsupported schema")
    return not case_error["cause"]["message"].startswith(own)


def their_cut(expected):
    return {
        "score": expected["result"]["score"],
        "output": expected["preparedOutput"]["messages"],
        "remembered": expected["preparedInput"].get("remembered", 0),
        "ground truth": "groundTruth" in expected,
    }


def code(error):
    return error["id"].removeprefix("MASTR_") if "id" in error else None


def of_result(result):
    """The step results, and the score, by the step's name; and the judges' records."""
    score = given(score=result.get("score", MISSING))
    judged = {"judge": their_records(result.get("judge")), "prompts": their_prompts(result)}
    return score | given_results(result) | judged


def given_results(result):
    named = {snake(key).removesuffix("_step_result"): value for key, value in result.items()}
    return given(**{name: named.get(name, MISSING) for name in ("preprocess", "analyze")})


def their_sight(context):
    return {
        "step": snake(context["step"]),
        "results": sorted(snake(key).removesuffix("_step_result") for key in context["resultKeys"]),
        "run": sorted(snake(key) for key in context["runKeys"] if key != "runId"),
    }


# ── rules ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def gives_no_score(case):
    """A score that is no number, or outside the range; a reason that is no text."""
    given = {step["step"]: step["return"] for step in case["scenario"]["steps"] if "return" in step}
    score, reason = given.get("generateScore", 0), given.get("generateReason", "")
    in_range = isinstance(score, int | float) and 0 <= score <= 1
    return not in_range or not isinstance(reason, str)


def is_built_wrongly(case):
    """A step twice, in another order, or that is no function."""
    names = [snake(step["step"]) for step in case["scenario"]["steps"]]
    in_order = [name for name in STEP_NAMES if name in names]
    return names != in_order or any(step["kind"] == "raw" for step in case["scenario"]["steps"])


def declines_a_reason(case):
    return any(step["step"] == "generateReason" and "notScorable" in step for step in case["scenario"]["steps"])


def has_a_limit_of_0(case):
    filters = case["scenario"]["config"].get("prepareRun", {}).get("filterRun", {})
    return any(type(value) is int and value == 0 for value in filters.values())


RULES = {5: gives_no_score, 18: is_built_wrongly, 19: has_a_limit_of_0, 24: declines_a_reason}
