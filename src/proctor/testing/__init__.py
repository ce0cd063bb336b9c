"""What users and we test with: messages and runs made by hand. An adapter: it imports no sibling, and no face."""

from proctor.testing.factories import (
    create_agent_test_run,
    create_test_message,
    create_test_run,
    create_tool_invocation,
    create_trajectory_test_run,
)

__all__ = [
    "create_agent_test_run",
    "create_test_message",
    "create_test_run",
    "create_tool_invocation",
    "create_trajectory_test_run",
]
