"""How a recorded case of a scorer that asks a judge becomes ours: its options, its run, and what the judge says.

The reference's judges answer with lists whose entries have no number. Here each entry gets the number of its place, as
if the judge had gone through what it was shown in order.
"""

from collections.abc import Mapping
from fractions import Fraction
from importlib import import_module
from typing import NamedTuple

from proctor.data.value import MISSING
from proctor.errors import ScorerRunError, UsageError
from proctor.scoring.steps import Declined
from proctor.testing import ScriptedModel
from tests.golden.replay import snake

# Where our defaults are others: what the reference's are.
USUAL = {
    "answer_similarity": {"exact_match_bonus": 0.2, "semantic_weight": 0.8},
    "trajectory_accuracy_llm": {"necessary": 0.6, "in_order": 0.3},
}
NEEDED = {
    "multi_turn_judge": ("criterion",),
    "noise_sensitivity": ("baseline_response", "noisy_query"),
}
FIRST = ("available_tools", "criterion", "criteria")
NAMES = {"semantic_threshold": "semantic_weight"}  # what a semantic match counts is all that it decides there
UNUSED = {"require_ground_truth"}
# What a judge lists first, and then goes through: the two lists by their names.
EXTRACTED = {
    "answer_relevancy": ("statements", "results"),
    "answer_similarity": ("ground_truth_units", "matches"),
    "bias": ("opinions", "results"),
    "context_recall": ("claims", "verdicts"),
    "faithfulness": ("claims", "verdicts"),
    "hallucination": ("claims", "verdicts"),
    "summarization": ("questions", "coverage"),
}
# The list with which a judge goes through what is there already.
GIVEN = {
    "context_precision": "verdicts",
    "context_relevance": "evaluations",
    "noise_sensitivity": "dimensions",
    "rubric": "criteria",
    "tool_call_accuracy_llm": "evaluations",
    "toxicity": "verdicts",
    "trajectory_accuracy_llm": "step_evaluations",
}


class Ended(NamedTuple):
    """How a scorer's run ended. *calls*: how often the judge was asked. *prompts*: what it was asked, by step."""

    status: str
    score: float | None = None
    reason: str | None = None
    step: str | None = None
    calls: int = 0
    prompts: Mapping[str, str] = {}


def subject(case):
    """The name of the scorer, which is that of its module and of its factory."""
    name = case["subject"].removeprefix("prompt_facts.")
    return "trajectory_accuracy_llm" if name == "trajectory_llm" else name


def listed(case):
    """The list with which the judge goes through what it is shown, by name; None where there is none."""
    name = subject(case)
    return EXTRACTED[name][1] if name in EXTRACTED else GIVEN.get(name)


def options_of(case):
    """What the factory is given, but for the model. Groups of options are flat in ours."""
    name = subject(case)
    config = renamed({key: value for key, value in case["config"].items() if key != "factory"})
    given = {**dict.fromkeys(NEEDED.get(name, ())), **USUAL.get(name, {}), **config.pop("options", {}), **config}
    for group in ("scoring", "penalties"):
        given |= given.pop(group, {})
    return {NAMES.get(key, key): value for key, value in given.items() if key not in UNUSED}


# ── what the judge says ────────────────────────────────────────────────────────────────────────────────────────────


def renamed(value):
    """The value with every key in Python's spelling."""
    if isinstance(value, list):
        return [renamed(item) for item in value]
    return {snake(key): renamed(item) for key, item in value.items()} if isinstance(value, Mapping) else value


def found_in(case):
    """What the judge finds, step by step, its reason in free text left out."""
    found = [said for said in case["judgeOutputs"] if not isinstance(said, str)]
    return [numbered(renamed(said), listed(case)) for said in found]


def replies_of(case):
    """What the judge says, in our form; the last of it is the reason in free text, where there is one."""
    form = FORMS.get(subject(case), as_it_is)
    told = [said for said in case["judgeOutputs"] if isinstance(said, str)]
    return [*[form(found, case) for found in found_in(case)], *told]


def numbered(said, key):
    """Each entry of the list *key* with its number, and with its reason as `reason`; the reference counts from 0."""
    entries = [
        {"id": entry.get("context_index", at) + 1, "reason": entry.get("reasoning", "r"), **entry}
        for at, entry in enumerate(said.get(key, ()))
    ]
    return {**said, key: entries} if key in said else said


def as_it_is(said, case):
    return said


def in_units(said, case):
    """Answer similarity: units are named by their numbers, and what is extra stands behind what matches."""
    if "matches" not in said:
        return said
    matches = [{**m, "output_unit": 0 if m["output_unit"] is None else m["id"]} for m in said["matches"]]
    against = [{**c, "output_unit": place(c["output_unit"]), "ground_truth_unit": place(c["ground_truth_unit"])}
               for c in said["contradictions"]]  # fmt: skip
    extras = [len(matches) + at for at, _ in enumerate(said["extra_in_output"], start=1)]
    return {"matches": matches, "contradictions": against, "extra_in_output": extras}


def place(unit):
    """`o0` is the first unit."""
    return int(unit[1:]) + 1


def with_text(said, case):
    """Toxicity: the judge lists the remarks itself."""
    return {"verdicts": [{"text": f"remark {entry['id']}", **entry} for entry in said["verdicts"]]}


def by_criterion(said, case):
    return {"criteria": [{**entry, "id": f"c{entry['id']}"} for entry in said["criteria"]]}


def by_prompt(said, case):
    """Prompt alignment: each prompt is judged by itself, and the share of the requirements is ours to work out."""
    share = Fraction(said["requirements_fulfillment"]["overall_score"]).limit_denominator(10)
    made = [{"requirement": f"q{at}", "reasoning": "r", "is_fulfilled": at < share.numerator}
            for at in range(share.denominator)]  # fmt: skip
    judged = {
        "intent_alignment": said["intent_alignment"],
        "requirements_fulfillment": {"requirements": made},
        "completeness": said["completeness"],
        "response_appropriateness": said["response_appropriateness"],
    }
    mode = options_of(case).get("evaluation_mode", "both")
    return {"prompts": [{"id": id, **judged} for id in (("user", "system") if mode == "both" else (mode,))]}


def with_missing_tools(said, case):
    return {"missing_reason": "r", "missing_tools": [], **said}


def by_step(said, case):
    """LLM trajectory: what is extra is a step that was made; of the recorded ones none is."""
    return {"missing_steps": [], **said, "extra_steps": []}


FORMS = {
    "answer_similarity": in_units,
    "prompt_alignment": by_prompt,
    "rubric": by_criterion,
    "tool_call_accuracy_llm": with_missing_tools,
    "toxicity": with_text,
    "trajectory_accuracy_llm": by_step,
}


# ── ours ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def module_of(case):
    return import_module(f"proctor.scorers.judged.{subject(case)}")


def formula_of(case):
    """The score that the formula gives of all that the judge found, or that it declines."""
    analysis = {key: value for found in found_in(case) for key, value in found.items()}
    found = module_of(case).formula(analysis, options_of(case))
    return {"declined": True} if isinstance(found, Declined) else {"score": found}


class Judge:
    """A model that says in turn what it is told to, and the same again when it is asked again."""

    def __init__(self, replies):
        self.replies = iter(replies)
        self.last = None
        self.model = ScriptedModel(self.reply)

    def reply(self, call):
        if sum(message.role == "user" for message in call.messages) == 1:
            self.last = next(self.replies)
        return self.last


def run_of(case):
    """How our scorer ends on the run of the case, with the judge of the case."""
    judge, options = Judge(replies_of(case)), options_of(case)
    first = [options.pop(name) for name in FIRST if name in options]
    try:
        scorer = getattr(module_of(case), subject(case))(*first, model=judge.model, **options)
    except UsageError:
        return Ended("refused")
    try:
        outcome = scorer.run_sync({"output": MISSING, **case["run"]})
    except ScorerRunError as error:
        records = (error.result and error.result.judge) or {}
        return Ended("error", None, str(error), error.failed_step, len(judge.model.calls), prompts_of(records))
    asked = len(judge.model.calls)
    return Ended(outcome.status, outcome.score, outcome.reason, None, asked, prompts_of(outcome.judge))


def prompts_of(records):
    return {step: record.executions[0].prompt for step, record in records.items()}
