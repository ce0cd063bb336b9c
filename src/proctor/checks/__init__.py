"""Floor 1, quick checks: code, no model. Each gives a scorer with a reason that quotes what it saw.

Rule of the folder: a check looks only at the run it is given; its options are refused when they are written.
"""

from proctor.checks.text import equals, excludes, includes, matches, similarity
from proctor.checks.tools import called_tool, did_not_call, max_tool_calls, no_tool_errors, tool_order, used_no_tools

__all__ = [
    "called_tool",
    "did_not_call",
    "equals",
    "excludes",
    "includes",
    "matches",
    "max_tool_calls",
    "no_tool_errors",
    "similarity",
    "tool_order",
    "used_no_tools",
]
