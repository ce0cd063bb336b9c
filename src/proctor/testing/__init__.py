"""What users and we test with: messages and runs made by hand, an agent and a model that say what they are told.

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
from proctor.testing.model import ScriptedModel
from proctor.testing.replies import ScriptedReply

__all__ = [
    "AgentCall",
    "Scripted",
    "ScriptedAgent",
    "ScriptedModel",
    "ScriptedReply",
    "create_agent_test_run",
    "create_test_message",
    "create_test_run",
    "create_tool_invocation",
    "create_trajectory_test_run",
]
