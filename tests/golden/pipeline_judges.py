"""Judged steps of the recorded pipelines: the scripted judge, and what its records are compared by.

Not compared: durations, the finish reason of a reply that could not be used, and where the schema was put.
"""

import json
import re

from proctor.data.usage import Usage
from proctor.data.value import MISSING
from proctor.judging.judge import Judge
from proctor.scoring.steps import Prompt
from proctor.testing import ScriptedModel, ScriptedReply
from tests.golden.replay import snake

MODELS = {"mock": "judge-model", "mock2": "step-model"}
USAGE = {"inputTokens": 10, "outputTokens": 5, "totalTokens": 15}


class Judges:
    """The models of a scenario. They take their replies from one list, in the order of all calls."""

    def __init__(self, replies):
        self.replies = iter(replies or ())
        self.asked = []
        self.models = {name: ScriptedModel(self.reply, name=called) for name, called in MODELS.items()}

    def reply(self, call):
        system, user = call.messages[:2]
        self.asked.append({"prompt": user.text, "system": system.text, "temperature": call.settings.get("temperature")})
        given = next(self.replies)
        if failure := given.get("throw") or given.get("streamError"):
            return RuntimeError(failure)
        text = json.dumps(given["object"], separators=(",", ":")) if "object" in given else given["text"]
        return ScriptedReply(
            text=text, finish_reason=given.get("finishReason", "stop"), usage=usage_of(given.get("usage", USAGE))
        )

    def judge(self, config):
        """A judge as it is configured there; None when there is none."""
        if config is None:
            return None
        model = self.models.get(config.get("model"))
        return Judge(model, instructions=config.get("instructions"), settings=config.get("modelSettings"))

    def prompt(self, step, create):
        schema = step.get("outputSchema")
        return Prompt("d", output=schema, create=create, judge=self.judge(step.get("judge")))


def usage_of(recorded):
    counts = {snake(name).replace("cached_input", "cached_input"): count for name, count in recorded.items()}
    return Usage(**counts)


def filled(template, look_up):
    """A recorded prompt: `{{path}}` is what the context has there."""
    return re.sub(r"\{\{(.+?)\}\}", lambda found: str(look_up(found[1])), template)


# ── what is compared ───────────────────────────────────────────────────────────────────────────────────────────────


def records(judge):
    """Our records, by step."""
    return {step: [record_of(execution) for execution in record.executions] for step, record in (judge or {}).items()}


def record_of(it):
    failed = it.status == "failed"
    return {
        "status": it.status,
        "prompt": it.prompt,
        "model": it.judge_model_id.removeprefix("test:"),
        "attempts": it.attempt_count,
        "calls": it.model_call_count,
        "usage": it.usage,
        "output": it.output,
        "raw": it.raw_output if failed else None,
        "error": it.error["code"] if failed and "code" in it.error else None,
        "message": it.error["message"] if failed and "code" not in it.error else None,
    }


def their_records(judge):
    return {
        snake(step): [their_record(execution) for execution in record["executions"]]
        for step, record in (judge or {}).items()
    }


def their_record(it):
    error = it.get("error", {})
    return {
        "status": it["status"],
        "prompt": it["prompt"],
        "model": it["judgeModelId"],
        "attempts": it["attemptCount"],
        "calls": it["modelCallCount"],
        "usage": usage_of(it["usage"]) if it.get("usage") else None,
        "output": it.get("output", MISSING),
        "raw": it.get("rawOutput"),
        "error": error.get("code"),
        "message": error.get("message") if error and "code" not in error else None,
    }


def their_prompts(result):
    """The prompts of the steps that ended well, by step."""
    ending = "Prompt"
    return {snake(key.removesuffix(ending)): text for key, text in result.items() if key.endswith(ending)}


def asked(judges, scenario):
    """What the judges were sent: the prompt, whether the instructions stand first, the temperature."""
    instructions = [config.get("instructions") for config in configs(scenario)]
    return [
        {
            "prompt": call["prompt"],
            "instructed": any(call["system"].startswith(text) for text in instructions if text),
            "temperature": call["temperature"],
        }
        for call in judges.asked
    ]


def their_asked(calls):
    """A judge of a step has instructions that the recorder did not look for."""
    return [
        {"prompt": call["userPrompt"], "instructed": True, "temperature": call.get("temperature")}
        for call in calls or ()
    ]


def configs(scenario):
    return [
        config for config in (scenario["config"].get("judge"), *(s.get("judge") for s in scenario["steps"])) if config
    ]
