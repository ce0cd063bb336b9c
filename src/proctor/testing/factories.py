"""Messages and runs made by hand, to try a scorer on: the documents' factories.

A message is a plain dict in the documents' stored form. A run is a dict that `Scorer.run` takes as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from proctor.data.value import MISSING

__all__ = [
    "create_agent_test_run",
    "create_test_message",
    "create_test_run",
    "create_tool_invocation",
    "create_trajectory_test_run",
]


def create_test_message(
    *,
    content: str,
    role: str,
    id: str = "test-message",
    tool_invocations: Sequence[Mapping[str, Any]] = (),
    parts: Sequence[Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """A message. *tool_invocations*: see `create_tool_invocation`. *parts*: instead of the one text part.

    >>> create_test_message(role="user", content="Hi")["content"]
    {'format': 2, 'parts': [{'type': 'text', 'text': 'Hi'}], 'content': 'Hi'}
    """
    body: dict[str, Any] = {
        "format": 2,
        "parts": [{"type": "text", "text": content}] if parts is None else [dict(part) for part in parts],
        "content": content,
    }
    if tool_invocations:
        body["toolInvocations"] = [dict(invocation) for invocation in tool_invocations]
    return {"id": id, "role": role, "content": body}


def create_tool_invocation(
    *,
    tool_call_id: str,
    tool_name: str,
    args: Any,
    result: Any = MISSING,
    state: str = "result",
    error_text: str | None = None,
    is_error: bool | None = None,
) -> dict[str, Any]:
    """A tool call, for `create_test_message`. *state*: `call`, `partial-call`, `result` or `output-error`.

    >>> create_tool_invocation(tool_call_id="1", tool_name="clock", args={}, result="noon")["state"]
    'result'
    """
    given = {"result": result, "state": state, "errorText": error_text, "isError": is_error}
    shown = {key: value for key, value in given.items() if key == "result" or value is not None}
    if result is MISSING:
        del shown["result"]
    return {"toolCallId": tool_call_id, "toolName": tool_name, "args": args, **shown}


def create_test_run(
    input: str,
    output: str,
    *,
    additional_context: Mapping[str, Any] | None = None,
    request_context: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """A run of one question and one answer.

    >>> create_test_run("Hi", "Hello")["output"]
    {'role': 'assistant', 'text': 'Hello'}
    """
    return {
        "input": [{"role": "user", "content": input}],
        "output": {"role": "assistant", "text": output},
        "additional_context": dict(additional_context or {}),
        "request_context": dict(request_context or {}),
    }


def create_agent_test_run(
    *,
    output: Any,
    input_messages: Sequence[Any] = (),
    remembered_messages: Sequence[Any] = (),
    system_messages: Sequence[Any] = (),
    tagged_system_messages: Mapping[str, Sequence[Any]] | None = None,
    request_context: Mapping[str, Any] | None = None,
    run_id: str | None = None,
) -> dict[str, Any]:
    """A run of an agent, with all that it was given. *run_id*: random when there is none.

    >>> run = create_agent_test_run(output=[create_test_message(role="assistant", content="Hello")], run_id="r1")
    >>> run["input"]
    {'inputMessages': [], 'rememberedMessages': [], 'systemMessages': [], 'taggedSystemMessages': {}}
    """
    return {
        "input": {
            "inputMessages": list(input_messages),
            "rememberedMessages": list(remembered_messages),
            "systemMessages": list(system_messages),
            "taggedSystemMessages": dict(tagged_system_messages or {}),
        },
        "output": output,
        "request_context": dict(request_context or {}),
        "run_id": run_id or str(uuid4()),
    }


def create_trajectory_test_run(
    *,
    trajectory: Any,
    expected_trajectory: Any = MISSING,
    input_messages: Sequence[Any] = (),
    remembered_messages: Sequence[Any] = (),
    system_messages: Sequence[Any] = (),
    tagged_system_messages: Mapping[str, Sequence[Any]] | None = None,
    request_context: Mapping[str, Any] | None = None,
    run_id: str | None = None,
) -> dict[str, Any]:
    """A run whose output is a trajectory, for scorers of the path taken."""
    run = create_agent_test_run(
        output=trajectory,
        input_messages=input_messages,
        remembered_messages=remembered_messages,
        system_messages=system_messages,
        tagged_system_messages=tagged_system_messages,
        request_context=request_context,
        run_id=run_id,
    )
    return run if expected_trajectory is MISSING else {**run, "expected_trajectory": expected_trajectory}
