"""`proctor checks`: the checks that `proctor score` understands."""

from __future__ import annotations

import inspect

from proctor.cli.expression import known_checks, signature_of
from proctor.cli.streams import say

__all__ = ["EPILOG", "HELP", "command"]

HELP = """\
List the checks, each with how it is written and what it measures.

They need no model. In Python they are proctor.checks; `proctor score --help` shows how they are used here.
"""
EPILOG = ""


def command() -> int:
    """Print the list; gives the exit code."""
    for name, check in known_checks().items():
        first = (inspect.getdoc(check) or "").partition("\n\n")[0]
        say(f"{signature_of(name)}\n    {' '.join(first.split())}")
    return 0
