"""The documents' helpers for scorers, in snake case. Most are views of the run that a step or a `@scorer` is given.

    documents                                    here
    getUserMessageFromRunInput                   get_user_message_from_run_input; run.user_text is all the user said
    getAssistantMessageFromRunOutput             get_assistant_message_from_run_output; run.text is all of the answer
    getConversationHistoryFromRunInput           get_conversation_history_from_run_input
    isScorerRunInputForAgent                     is_scorer_run_input_for_agent
    isScorerRunOutputForAgent                    is_scorer_run_output_for_agent
    roundToTwoDecimals, isCloserTo               round_to_two_decimals, is_closer_to
    getTextContentFromMastraDBMessage            message.text, for each of run.messages
    getSystemMessagesFromRunInput                those of run.input_messages whose role is `system`
    getCombinedSystemPrompt                      run.system_text
    getReasoningFromRunOutput                    run.reasoning
    mergeToolInvocations                         message.tool_calls: both stored lists are merged when they are read
    extractToolCalls                             run.tool_calls
    extractToolResults                           run.tool_calls: those whose `result` is not MISSING
    extractInputMessages                         [message.text for message in run.input_messages]
    extractAgentResponseMessages                 run.texts
    the whole talk, one line a message           run.transcript()
    createTestMessage, createToolInvocation      proctor.testing: create_test_message, create_tool_invocation
    createTestRun, createAgentTestRun            proctor.testing: create_test_run, create_agent_test_run
    createTrajectoryTestRun                      proctor.testing: create_trajectory_test_run
    extractTrajectory, compareTrajectories       with trajectories
    checkTrajectoryEfficiency, ...Blacklist      with trajectories
    analyzeToolFailures                          with trajectories

What counts as a message's text: all of its text parts, in order, joined with nothing. The helpers take what the
documents' take, and lists of `Message` or of chat messages in any dialect that `proctor.data.read` knows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import floor, isfinite
from sys import float_info
from typing import Any

from proctor.data.message import Data, Message
from proctor.data.read import read_messages

__all__ = [
    "get_assistant_message_from_run_output",
    "get_conversation_history_from_run_input",
    "get_user_message_from_run_input",
    "is_closer_to",
    "is_scorer_run_input_for_agent",
    "is_scorer_run_output_for_agent",
    "round_to_two_decimals",
]


def get_user_message_from_run_input(input: Any) -> str | None:
    """What the user said: the text of the first user message; None when there is none, or it says nothing.

    Takes text, messages, an agent's input or a chat request (`inputMessages`, `messages`), and mappings with `prompt`,
    `text`, `content`, `input` or `user`, looked for in this order.

    >>> get_user_message_from_run_input({"messages": [{"role": "user", "content": "Refund me"}]})
    'Refund me'
    """
    if isinstance(input, str):
        return input
    if isinstance(input, Message) or _is_conversation(input):
        return _first_user_text(input, "input") or None
    if not isinstance(input, Mapping):
        return None
    for key in ("inputMessages", "messages"):
        said = _first_user_text(input.get(key), f"input.{key}")
        if said:
            return said
    for key in ("prompt", "text"):
        if isinstance(input.get(key), str):
            return str(input[key])
    return next((text for key in ("content", "input", "user") if (text := _text_under(key, input))), None)


def get_assistant_message_from_run_output(output: Any) -> str | None:
    """What the agent said: the text of the last assistant message that has some; None when none has.

    >>> get_assistant_message_from_run_output([{"role": "assistant", "content": "Done."}])
    'Done.'
    """
    if isinstance(output, str):
        return output
    if isinstance(output, Message | list | tuple):
        return next((text for message in reversed(read_messages(output)) if (text := _assistant_text(message))), None)
    if not isinstance(output, Mapping) or output.get("role", "assistant") != "assistant":
        return None
    if isinstance(output.get("text"), str):
        return str(output["text"])
    if "parts" in output:
        return read_messages({"role": "assistant", **output})[0].text or None
    return _text_under("content", output, where="output")


def get_conversation_history_from_run_input(input: Any, *, max_messages: int = 10) -> str | None:
    """What was said before: a line `role: text` for each of the last *max_messages* remembered messages that has text.

    Of a plain list of messages: those before the last user message. None when there is nothing to show.
    """
    if isinstance(input, Mapping):
        remembered = input.get("rememberedMessages")
        said = read_messages(remembered, where="input.rememberedMessages") if isinstance(remembered, list) else ()
    elif _is_conversation(input):
        messages = [message for message in read_messages(input, role="user", where="input") if message.role != "system"]
        said = tuple(messages[: max((i for i, message in enumerate(messages) if message.role == "user"), default=0)])
    else:
        return None
    last = said[-max_messages:] if max_messages > 0 else ()
    return "\n".join([f"{message.role}: {text}" for message in last if (text := message.text.strip())]) or None


def is_scorer_run_input_for_agent(input: Any) -> bool:
    """Whether this is an agent's whole input: its messages, those it remembered, system messages plain and tagged."""
    return (
        isinstance(input, Mapping)
        and all(isinstance(input.get(key), list) for key in ("inputMessages", "rememberedMessages", "systemMessages"))
        and isinstance(input.get("taggedSystemMessages"), Mapping | list)
    )


def is_scorer_run_output_for_agent(output: Any) -> bool:
    """Whether this is a list of stored messages, or of `Message`: each with id, role, content and `createdAt`."""
    return isinstance(output, list | tuple) and all(_is_stored_message(message) for message in output)


def round_to_two_decimals(number: float) -> float:
    """Rounded half up, as people expect of the decimal that they see. NaN and the infinities stay as they are.

    >>> round_to_two_decimals(1.005), round_to_two_decimals(-0.125), round(1.005, 2)
    (1.01, -0.12, 1.0)
    """
    # The nudge lifts decimals whose binary form lies a hair below the half.
    hundredths = (number + float_info.epsilon) * 100 + 0.5
    return float(floor(hundredths)) / 100 if isfinite(hundredths) else number


def is_closer_to(value: float, near: float, *, than: float) -> bool:
    """Whether *value* is closer to *near* than to *than*; False when it is as close to both.

    >>> is_closer_to(0.3, 0, than=1)
    True
    """
    return abs(value - near) < abs(value - than)


def _is_conversation(value: Any) -> bool:
    return isinstance(value, list | tuple) and any(
        isinstance(item, Message) or (isinstance(item, Mapping) and "role" in item) for item in value
    )


def _first_user_text(value: Any, where: str) -> str:
    if not isinstance(value, list | tuple | Message):
        return ""
    messages: Sequence[Message] = read_messages(value, role="user", where=where)
    return next((message.text for message in messages if message.role == "user"), "")


def _text_under(key: str, fields: Mapping[str, Any], *, where: str = "input") -> str | None:
    """The text of a value that stands for what a message says: text, parts, or a mapping that holds them."""
    value = fields.get(key)
    if isinstance(value, str):
        return value
    if isinstance(value, Message) or _is_conversation(value):
        return _first_user_text(value, f"{where}.{key}")
    if isinstance(value, list | tuple | Mapping):
        read = read_messages({"role": "user", "content": value}, where=where)
        return read[0].text or None
    return None


def _assistant_text(message: Message) -> str:
    """What an assistant message says; a value that is no text says nothing."""
    is_value = any(type(part) is Data for part in message.parts)
    return "" if message.role != "assistant" or is_value else message.text


def _is_stored_message(message: Any) -> bool:
    if isinstance(message, Message):
        return True
    return (
        isinstance(message, Mapping)
        and isinstance(message.get("id"), str)
        and isinstance(message.get("role"), str)
        and "content" in message
        and "createdAt" in message
    )
