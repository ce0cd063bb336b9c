"""Floor 1, quick checks: code, no model. Each gives a scorer with a reason that quotes what it saw.

Rule of the folder: a check looks only at the run it is given; its options are refused when they are written.
"""

from proctor.checks.answer import length, one_of
from proctor.checks.called import called_tool
from proctor.checks.combine import all_of, any_of, not_
from proctor.checks.limits import max_cost, max_duration, max_tokens
from proctor.checks.schema import json_schema
from proctor.checks.text import equals, excludes, includes, matches, similarity
from proctor.checks.tools import did_not_call, max_tool_calls, no_tool_errors, tool_order, used_no_tools

__all__ = [
    "all_of",
    "any_of",
    "called_tool",
    "did_not_call",
    "equals",
    "excludes",
    "includes",
    "json_schema",
    "length",
    "matches",
    "max_cost",
    "max_duration",
    "max_tokens",
    "max_tool_calls",
    "no_tool_errors",
    "not_",
    "one_of",
    "similarity",
    "tool_order",
    "used_no_tools",
]
