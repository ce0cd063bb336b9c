"""Builds what a recorded scenario of a run describes: the agent, its scorers and the items."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from proctor import create_scorer, not_scorable
from proctor import scorers as prebuilt
from proctor.data.message import ToolCall
from proctor.data.value import MISSING
from proctor.testing import Scripted, ScriptedAgent
from tests.golden.test_checks_golden import build as build_check

NO_DATA = "no scoring data"
PREBUILT = {
    "createCompletenessScorer": prebuilt.completeness,
    "createContentSimilarityScorer": prebuilt.content_similarity,
}


class Agent(ScriptedAgent):
    """The scenario's agent. *most*: how many calls it answered at the same time, at most."""

    def __init__(self, target: Mapping[str, Any]) -> None:
        replies = target["replies"]
        scripted = (
            [reply(given) for given in replies]
            if isinstance(replies, list)
            else {asked: reply(given) for asked, given in replies.items()}
        )
        super().__init__(scripted, memory=target.get("memory", True))
        self.most = self._active = 0

    async def generate(self, messages, **place):
        self._active += 1
        self.most = max(self.most, self._active)
        try:
            given = await super().generate(messages, **place)
        finally:
            self._active -= 1
        return None if given.finish_reason == NO_DATA else given


def reply(given: Mapping[str, Any]) -> Scripted:
    calls = [
        ToolCall(
            name=call["toolName"],
            args=call.get("args", {}),
            result=MISSING if "error" in call else call.get("result"),
            error=call.get("error"),
        )
        for call in given.get("toolCalls", ())
    ]
    return Scripted(
        given.get("text"),
        tool_calls=calls,
        throw=RuntimeError(given["throw"]) if "throw" in given else None,
        delay=given.get("delayMs", 0) / 1000,
        finish_reason=NO_DATA if given.get("noScoringData") else None,
    )


def scorers(given: Any, seen: list[Any]) -> Any:
    """The scorers of a list or a configuration; anything else as it is."""
    if isinstance(given, list):
        return [scorers(one, seen) for one in given]
    if not isinstance(given, dict):
        return given
    if "kind" not in given:
        return {key: scorers(value, seen) if key != "threshold" else unset(value) for key, value in given.items()}
    if given["kind"] == "check":
        return build_check(given["check"], given["args"])
    if given["kind"] == "prebuilt":
        return PREBUILT[given["factory"]]()
    made = create_scorer(id=given["id"])
    if given["kind"] == "noGenerateScore":
        return made.preprocess(lambda ctx: 1)
    return mapped(made, given, seen) if given["kind"] == "map" else fixed(made, given, seen)


def unset(value: Any) -> Any:
    return None if value is MISSING else value


def fixed(made: Any, given: Mapping[str, Any], seen: list[Any]) -> Any:
    """A scorer of set values, one for each run of it; the last repeats."""
    values = list(given["values"])

    def score(ctx):
        seen.append(sight(given["id"], ctx.run))
        value = values.pop(0) if len(values) > 1 else values[0]
        if isinstance(value, dict) and "throw" in value:
            raise RuntimeError(value["throw"])
        if isinstance(value, dict):  # an empty one declines without a reason
            return value["score"] if value.get("step") == "generateReason" else not_scorable(value.get("notScorable"))
        return unset(value)

    def reason(ctx):
        late = [value["notScorable"] for value in given["values"] if isinstance(value, dict) and "step" in value]
        return not_scorable(late[0]) if late else given["reason"]

    made = made.generate_score(score)
    return made.generate_reason(reason) if "reason" in given else made


def mapped(made: Any, given: Mapping[str, Any], seen: list[Any]) -> Any:
    """A scorer that looks its score up by what it was shown."""
    look = {
        "outputText": lambda run: run.text,
        "inputText": lambda run: run.user_text,
        "groundTruth": lambda run: run.ground_truth if isinstance(run.ground_truth, str) else as_json(run.ground_truth),
    }[given["on"]]

    def score(ctx):
        seen.append(sight(given["id"], ctx.run))
        return given["map"].get(look(ctx.run), given.get("default"))

    return made.generate_score(score)


def as_json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), default=str)


def sight(scorer: str, run: Any) -> dict[str, Any]:
    """What a scorer saw."""
    found = {
        "scorer": scorer,
        "input": [said(message) for message in run.input_messages],
        "output": [said(message) for message in run.output_messages],
    }
    return found if run.ground_truth is MISSING else {**found, "groundTruth": run.ground_truth}


def said(message: Any) -> dict[str, Any]:
    calls = [f"{part.name}:{STATES[part.state]}" for part in message.parts if type(part) is ToolCall]
    return {"role": message.role, "text": message.text, **({"tools": calls} if calls else {})}


STATES = {"done": "result", "failed": "output-error"}


def items(given: Any, seen: list[Any]) -> Any:
    """The items, with their turns' scorers built."""
    return [item(one, seen) for one in given] if isinstance(given, list) else given


def item(given: Any, seen: list[Any]) -> Any:
    if not isinstance(given, dict) or not isinstance(given.get("turns"), list):
        return given
    return {**given, "turns": [turn(one, seen) for one in given["turns"]]}


def turn(given: Any, seen: list[Any]) -> Any:
    if not isinstance(given, dict):
        return given
    return {key: scorers(value, seen) if key in ("gates", "scorers") else value for key, value in given.items()}


def options(scenario: Mapping[str, Any], seen: list[Any]) -> dict[str, Any]:
    """The arguments of `run_evals`."""
    made = {
        "target": Agent(scenario["target"]),
        "data": items(scenario["data"], seen),
        "scorers": scorers(scenario.get("scorers", []), seen),
        "gates": scorers(scenario.get("gates", []), seen),
        "concurrency": scenario.get("concurrency", 1),
        "target_options": scenario.get("targetOptions"),
    }
    if "onItemComplete" in scenario:
        made["on_item_complete"] = raiser(scenario["onItemComplete"]["throw"])
    return made


def raiser(message: str) -> Any:
    async def listen(result):
        await asyncio.sleep(0)
        raise RuntimeError(message)

    return listen
