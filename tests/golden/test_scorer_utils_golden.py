"""The documents' helpers, and the views of a run that replace them, give what the reference gave."""

import re

from proctor.data.message import ToolCall
from proctor.data.read import read_messages
from proctor.data.value import MISSING
from proctor.scorer_utils import (
    get_assistant_message_from_run_output,
    get_conversation_history_from_run_input,
    get_user_message_from_run_input,
    is_closer_to,
    is_scorer_run_input_for_agent,
    is_scorer_run_output_for_agent,
    round_to_two_decimals,
)
from proctor.scoring.run import ScorerRun
from proctor.scoring.steps import is_not_scorable, not_scorable
from proctor.testing import (
    create_agent_test_run,
    create_test_message,
    create_test_run,
    create_tool_invocation,
    create_trajectory_test_run,
)
from tests.golden.deviations import changes_reading, messages_in
from tests.golden.replay import RECORDED_AT, Raised, Report, cases, outcome, snake

EXPECTED = "188 equal, 27 by deviation (7: 24, 9: 2, 17: 1), 0 quirks, 65 not yet (trajectories: 65)"

TRAJECTORIES = {
    "analyzeToolFailures",
    "checkTrajectoryBlacklist",
    "checkTrajectoryEfficiency",
    "compareTrajectories",
    "extractTrajectory",
    "extractTrajectoryFromTrace",
    "extractWorkflowTrajectory",
}
STATES = {
    "call": "called",
    "partial-call": "partial",
    "result": "done",
    "output-error": "failed",
    "approval-requested": "called",
}


def test_helpers_give_what_the_reference_gives():
    report = Report("scorer_utils", RULES)
    for case in cases("scorer_utils.jsonl"):
        name = case["subject"].removeprefix("scorer_utils.")
        if name in TRAJECTORIES:
            report.leave("trajectories")
        else:
            ours = outcome(lambda name=name, case=case: HELPERS[name](case))
            report.compare(case, ours=plain(name, ours), theirs=theirs(name, case["expected"]))
    report.check(EXPECTED)


# ── helpers and views, by the reference's names ────────────────────────────────────────────────────────────────────


def text(case):
    return read_messages(case["args"])[0].text


def run_of(*, input=MISSING, output=()):
    return ScorerRun(input=input, output=output)


def system_messages(case):
    messages = run_of(input=case["args"][0]).input_messages
    return [message.text for message in messages if message.role == "system" and message.text]


def calls_in(message):
    return [part for part in message.parts if type(part) is ToolCall]


def merged(case):
    return [call_fields(call) for call in calls_in(read_messages(case["args"])[0])]


def call_fields(call):
    fields = {"toolCallId": call.id, "toolName": call.name, "args": call.args, "result": call.result}
    return given({**fields, "errorText": call.error, "state": call.state})


def given(fields):
    return {key: value for key, value in fields.items() if value is not None and value is not MISSING}


def tool_calls(case):
    found = [
        (call, index, place)
        for index, message in enumerate(read_messages(case["args"][0]))
        for place, call in enumerate(calls_in(message))
        if call.made
    ]
    infos = [
        {"toolName": call.name, "toolCallId": call.id or f"{i}-{j}", "messageIndex": i, "invocationIndex": j}
        for call, i, j in found
    ]
    return {"tools": [call.name for call, *_ in found], "toolCallInfos": infos}


def tool_results(case):
    return [
        {"toolName": call.name, "toolCallId": call.id or "", "args": call.args or {}, "result": call.result}
        for call in run_of(output=case["args"][0]).tool_calls
        if call.result is not MISSING
    ]


def is_output(case):
    """Messages were given a time when they were recorded, unless the case says otherwise."""
    for message in messages_in(case["args"]):
        if not message.pop("$noCreatedAt", False):
            message["createdAt"] = RECORDED_AT
    return is_scorer_run_output_for_agent(*case["args"])


def declined(case):
    made = not_scorable(*case["args"])
    copied = {"reason": made.reason} if "JSON copy" in case.get("note", "") else made
    return given({"recognised": is_not_scorable(copied), "reason": made.reason if copied is made else None})


def by_keyword(function):
    return lambda case: camel(function(**{snake(key): value for key, value in case["args"][0].items()}))


def test_run(case):
    return camel(create_test_run(*case["args"][:2], **dict(zip(CONTEXTS, case["args"][2:], strict=False))))


test_run.__test__ = False
CONTEXTS = ("additional_context", "request_context")


def camel(fields):
    return {re.sub(r"_(.)", lambda letter: letter[1].upper(), key): value for key, value in fields.items()}


HELPERS = {
    "getTextContentFromMastraDBMessage": text,
    "getUserMessageFromRunInput": lambda case: get_user_message_from_run_input(*case["args"]),
    "getSystemMessagesFromRunInput": system_messages,
    "getCombinedSystemPrompt": lambda case: run_of(input=case["args"][0]).system_text,
    "getAssistantMessageFromRunOutput": lambda case: get_assistant_message_from_run_output(*case["args"]),
    "getConversationHistoryFromRunInput": lambda case: history(*case["args"]),
    "getReasoningFromRunOutput": lambda case: run_of(output=case["args"][0]).reasoning or None,
    "mergeToolInvocations": merged,
    "extractToolCalls": tool_calls,
    "extractToolResults": tool_results,
    "extractInputMessages": lambda case: [m.text for m in run_of(input=case["args"][0]).input_messages],
    "extractAgentResponseMessages": lambda case: run_of(output=case["args"][0]).texts,
    "isScorerRunInputForAgent": lambda case: is_scorer_run_input_for_agent(*case["args"]),
    "isScorerRunOutputForAgent": is_output,
    "roundToTwoDecimals": lambda case: round_to_two_decimals(*case["args"]),
    "isCloserTo": lambda case: is_closer_to(*case["args"][:2], than=case["args"][2]),
    "createTestRun": test_run,
    "createTestMessage": by_keyword(create_test_message),
    "createToolInvocation": by_keyword(create_tool_invocation),
    "createAgentTestRun": by_keyword(create_agent_test_run),
    "createTrajectoryTestRun": by_keyword(create_trajectory_test_run),
    "notScorable": declined,
    "isNotScorable": lambda case: is_not_scorable(*case["args"]),
}


def history(input, options=None):
    return get_conversation_history_from_run_input(
        input, **{snake(key): value for key, value in (options or {}).items()}
    )


# ── both sides in one form ─────────────────────────────────────────────────────────────────────────────────────────


def plain(name, ours):
    if isinstance(ours, Raised):
        return ours
    if "runId" in (ours if isinstance(ours, dict) else ()) and re.fullmatch(r"[0-9a-f-]{36}", ours["runId"]):
        return {**ours, "runId": "<uuid>"}
    return ours


def theirs(name, expected):
    if name == "notScorable":
        return {key: value for key, value in expected.items() if key != "stringKeys"}
    value = expected.get("value")
    if name == "mergeToolInvocations":
        return [their_call(dict(call)) for call in value]
    if name.endswith("TestRun") and "registry" in value["requestContext"]:
        return {**value, "requestContext": value["requestContext"]["registry"]}
    return value


def their_call(call):
    failed = call.pop("isError", False) and call["state"] == "result"
    return {**call, "state": "failed" if failed else STATES[call["state"]]}


# ── rules ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def reads_differently(case):
    return any(changes_reading(argument) for argument in case["args"]) or has_system_mapping(case)


def has_system_mapping(case):
    return any(
        message["role"] == "system" and isinstance(message.get("content"), dict)
        for message in messages_in(case["args"])
    )


def shapes_input_differently(case):
    """Tagged system messages come before the input's own; a mapping without messages is the user's message."""
    input = case["args"][0]
    return isinstance(input, dict) and (
        not input or bool(input.get("taggedSystemMessages") and input.get("inputMessages"))
    )


def says_that_a_call_failed(case):
    return any(
        call.get("isError") for call in case["args"][0].get("toolInvocations", ()) if isinstance(case["args"][0], dict)
    )


RULES = {7: reads_differently, 9: shapes_input_differently, 17: says_that_a_call_failed}
