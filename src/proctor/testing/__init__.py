"""What users and we test with: messages and runs made by hand, an agent and a model that say what they are told.

An adapter: it imports no sibling, and no face. The server loads when it is first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from proctor.testing.agent import AgentCall, Scripted, ScriptedAgent
from proctor.testing.classifier import ClassifierCall, ScriptedClassifier
from proctor.testing.factories import (
    create_agent_test_run,
    create_test_message,
    create_test_run,
    create_tool_invocation,
    create_trajectory_test_run,
)
from proctor.testing.faults import Drop, Html, Malformed, Plain, Slow, Status, Truncated
from proctor.testing.model import ScriptedModel
from proctor.testing.replies import ScriptedReply
from proctor.testing.served import ServedRequest

if TYPE_CHECKING:
    from proctor.testing.server import ModelServer

__all__ = [
    "AgentCall",
    "ClassifierCall",
    "Drop",
    "Html",
    "Malformed",
    "ModelServer",
    "Plain",
    "Scripted",
    "ScriptedAgent",
    "ScriptedClassifier",
    "ScriptedModel",
    "ScriptedReply",
    "ServedRequest",
    "Slow",
    "Status",
    "Truncated",
    "create_agent_test_run",
    "create_test_message",
    "create_test_run",
    "create_tool_invocation",
    "create_trajectory_test_run",
]


def __getattr__(name: str) -> Any:
    if name == "ModelServer":
        return import_module("proctor.testing.server").ModelServer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
