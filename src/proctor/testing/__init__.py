"""What users and we test with: messages and runs made by hand, and an agent that says what it is told.

An adapter: it imports no sibling, and no face.
"""

from proctor.testing.agent import AgentCall, Scripted, ScriptedAgent
from proctor.testing.factories import (
    create_agent_test_run,
    create_test_message,
    create_test_run,
    create_tool_invocation,
    create_trajectory_test_run,
)

__all__ = [
    "AgentCall",
    "Scripted",
    "ScriptedAgent",
    "create_agent_test_run",
    "create_test_message",
    "create_test_run",
    "create_tool_invocation",
    "create_trajectory_test_run",
]
