"""What the judge of a recorded case is shown, whether what it says fits that, and what to change so that it does."""

from tests.golden.deviations import messages_in, parts_of
from tests.golden.llm_cases import EXTRACTED, found_in, listed, options_of, subject
from tests.golden.replay import snake

DIMENSIONS = ("accuracy", "completeness", "relevance", "consistency", "hallucination")
# What a scorer declines without.
NEEDS = {
    "answer_relevancy": ("question", "answer"),
    "answer_similarity": ("truth", "answer"),
    "bias": ("answer",),
    "context_precision": ("context", "question", "answer"),
    "context_recall": ("context", "truth"),
    "context_relevance": ("context", "question", "answer"),
    "faithfulness": ("context", "answer"),
    "hallucination": ("context", "answer"),
    "multi_turn_judge": ("answer",),
    "prompt_alignment": ("question", "answer"),
    "rubric": ("rubric", "answer"),
    "summarization": ("answer",),
    "tool_call_accuracy_llm": ("question", "answer"),
}


# ── what the judge is shown ────────────────────────────────────────────────────────────────────────────────────────


def shown_in(case):
    """How many things the judge goes through, in the order of their numbers."""
    name, options = subject(case), options_of(case)
    if name in EXTRACTED:
        extracted = found_in(case)[0][EXTRACTED[name][0]]
        return min(len(extracted), options.get("max_questions", 10)) if name == "summarization" else len(extracted)
    if name in {"context_precision", "context_relevance"}:
        return len(options.get("context", ()))
    if name == "trajectory_accuracy_llm":
        return steps_in(case["run"]["output"])
    if name == "tool_call_accuracy_llm":
        return len(calls_in(case))
    if name == "rubric":
        criteria = options.get("criteria") or rubric_in(case["run"])
        return len(criteria.split("\n")) if isinstance(criteria, str) else len(criteria)
    return len(DIMENSIONS)


def steps_in(path):
    """The steps of every depth."""
    return sum(1 + steps_in({"steps": step.get("children", [])}) for step in path["steps"])


def calls_in(case):
    parts = [part for message in messages_in(case["run"]["output"]) for part in parts_of(message)]
    return [part for part in parts if part.get("type") == "tool-invocation"]


def has_empty_list(case):
    """Whether the judge finds nothing to be judged, or says nothing of what it found."""
    keys = {listed(case), EXTRACTED.get(subject(case), ("",))[0]}
    return any(found.get(key) == [] for found in found_in(case) for key in keys)


def is_declined(case):
    """Whether ours declined with nothing to judge: before anybody was asked, or after a list that is empty."""
    ended = case["ended"]
    lacks = not all(there_is(need, case) for need in NEEDS.get(subject(case), ()))
    asked_once = has_empty_list(case) and ended.calls == 1
    return ended.status == "not_scorable" and (ended.calls == 0 if lacks else asked_once)


def lists_fit(case):
    """Whether the judge speaks of each thing that it is shown, once, and in words that are known."""
    key, name = listed(case), subject(case)
    entries = [entry for found in found_in(case) for entry in found.get(key, ())]
    if key is None or name == "toxicity":
        return True
    if name == "noise_sensitivity":
        return sorted(entry["dimension"] for entry in entries) == sorted(DIMENSIONS)
    if name == "answer_similarity":
        units, found = found_in(case)
        if len(entries) + len(found["extra_in_output"]) > len(units["output_units"]):
            return False
    words = {str(entry.get(field, "no")).strip().lower() for entry in entries for field in ("verdict", "result")}
    known = {"yes", "no", "unsure"} if name in {"faithfulness", "answer_relevancy"} else {"yes", "no"}
    return sorted(entry["id"] for entry in entries) == list(range(1, shown_in(case) + 1)) and words <= known


# ── what there is ──────────────────────────────────────────────────────────────────────────────────────────────────


def there_is(need, case):
    """Whether a case has a question, an answer, a context, a truth, a rubric."""
    run = case["run"]
    if need == "truth":
        return run.get("groundTruth", "") != ""
    if need == "context":
        return bool(options_of(case).get("context") or run.get("context"))
    if need == "rubric":
        return bool(options_of(case).get("criteria") or rubric_in(run))
    said = run["input"]["inputMessages"] if need == "question" else run["output"]
    return bool(texts_in(said))


def texts_in(said):
    if isinstance(said, str):
        return [said]
    return [part["text"] for message in messages_in(said) for part in parts_of(message) if part.get("text", "").strip()]


def rubric_in(run):
    places = (run.get("requestContext", {}), run.get("additionalContext", {}), run.get("input"))
    return next((place["rubric"] for place in places if isinstance(place, dict) and "rubric" in place), [])


# ── fitting ────────────────────────────────────────────────────────────────────────────────────────────────────────


def fitted(case):
    """The case with as many things shown as its judge speaks of, where the recorder let that differ.

    What a judge says of its own list is left as it is.
    """
    case = with_context(case)
    found, name = found_in(case), subject(case)
    entries = found[-1].get(listed(case), []) if found else []
    config, run, outputs = dict(case["config"]), dict(case["run"]), list(case["judgeOutputs"])
    options = config.get("options", {})
    if name in {"context_precision", "context_relevance"} and entries:
        config["options"] = {**options, "context": [f"p{at}" for at, _ in enumerate(entries)]}
    elif name == "answer_similarity":
        extras = found[-1]["extra_in_output"]
        units = {"outputUnits": [f"o{at}" for at, _ in enumerate([*entries, *extras])]}
        outputs[0] = {**units, "groundTruthUnits": [f"g{at}" for at, _ in enumerate(entries)]}
    elif name == "noise_sensitivity" and len(entries) == 1:
        five = [{**outputs[0]["dimensions"][0], "dimension": dimension} for dimension in DIMENSIONS]
        outputs[0] = {**outputs[0], "dimensions": five}
    elif name == "trajectory_accuracy_llm" and isinstance(run["output"], dict):
        steps = [{"stepType": "tool_call", "name": entry["step_name"]} for entry in entries]
        run["output"] = {**run["output"], "steps": steps}
    elif name == "tool_call_accuracy_llm" and run["output"]:
        called = [entry["tool_called"] for entry in entries]
        run["output"] = with_calls(run["output"], called)
        tools = sorted({*called, *found[-1].get("missing_tools", ()), "t0"})
        config["availableTools"] = [{"id": tool} for tool in tools]
    return {**case, "config": config, "run": run, "judgeOutputs": outputs}


def with_calls(messages, names):
    """The messages with these calls, and no others, in the last."""
    *others, last = messages
    texts = [part for part in last["content"]["parts"] if part["type"] == "text"]
    calls = [
        {"type": "tool-invocation", "toolInvocation": {"toolCallId": f"c{at}", "toolName": name, "state": "call"}}
        for at, name in enumerate(names)
    ]
    return [*others, {**last, "content": {**last["content"], "parts": [*calls, *texts]}}]


def with_context(case):
    """The case with a piece of context where its scorer has none; to faithfulness the results of tools are one."""
    lacks = "context" in NEEDS.get(subject(case), ()) and not there_is("context", case)
    has_results = subject(case) == "faithfulness" and results_in(case["run"])
    return {**case, "run": {**case["run"], "context": ["c"]}} if lacks and not has_results else case


def filled(case):
    """The case with a judge that speaks of each thing that it is shown: its last words are repeated, or cut."""
    *others, said = [said for said in case["judgeOutputs"] if not isinstance(said, str)]
    reasons = [said for said in case["judgeOutputs"] if isinstance(said, str)]
    key = next((key for key in said if snake(key) == listed(case)), None)
    if key is None or not said[key]:
        return case
    entries = [said[key][min(at, len(said[key]) - 1)] for at in range(shown_in(case))]
    return {**case, "judgeOutputs": [*others, {**said, key: entries}, *reasons]}


def results_in(run):
    """What tools gave back, in every form."""
    found = []
    for message in messages_in(run["output"]):
        legacy = message["content"].get("toolInvocations", ()) if isinstance(message["content"], dict) else ()
        calls = [*legacy, *(part["toolInvocation"] for part in parts_of(message) if "toolInvocation" in part)]
        found += [call["result"] for call in calls if call.get("state") == "result"]
    return found
