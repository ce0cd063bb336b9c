"""Proctor finds out whether an AI agent can be trusted: it runs it over test cases, scores what it did, and decides.

The front door. Names load when they are first asked for, so that `import proctor` costs next to nothing; nothing else
happens at import.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from proctor import checks, scorer_utils, scorers, testing
    from proctor.data.agent_reply import AgentReply
    from proctor.data.item import Item, Turn
    from proctor.data.mean import Mean
    from proctor.data.message import Message, Text, ToolCall
    from proctor.data.outcome import Outcome
    from proctor.data.reply import ItemResult, Reply
    from proctor.data.result import EvalResult
    from proctor.data.threshold import Threshold
    from proctor.data.tool_mock import ToolMock
    from proctor.data.value import MISSING
    from proctor.errors import ProctorError, ScorerRunError, UsageError
    from proctor.judging.budget import Budget
    from proctor.judging.judge import Judge
    from proctor.running.columns import AgentScorers
    from proctor.running.eval import Eval
    from proctor.running.record import MemoryRecorder, Recorder
    from proctor.running.rescore import rescore, rescore_sync
    from proctor.running.resume import resume, resume_sync, retry, retry_sync
    from proctor.running.retry import Retry
    from proctor.running.run_evals import RunHandle, run_evals, run_evals_sync, start_evals
    from proctor.scoring.create import create_scorer, scorer
    from proctor.scoring.entry import ScorerEntry
    from proctor.scoring.prepare import filter_run
    from proctor.scoring.run import ScorerRun
    from proctor.scoring.scorer import Scorer
    from proctor.scoring.steps import Prompt, Score, not_scorable
    from proctor.storage.jsonl import JsonlRecorder
    from proctor.storage.store import Store

__all__ = [
    "MISSING",
    "AgentReply",
    "AgentScorers",
    "Budget",
    "Eval",
    "EvalResult",
    "Item",
    "ItemResult",
    "JsonlRecorder",
    "Judge",
    "Mean",
    "MemoryRecorder",
    "Message",
    "Outcome",
    "ProctorError",
    "Prompt",
    "Recorder",
    "Reply",
    "Retry",
    "RunHandle",
    "Score",
    "Scorer",
    "ScorerEntry",
    "ScorerRun",
    "ScorerRunError",
    "Store",
    "Text",
    "Threshold",
    "ToolCall",
    "ToolMock",
    "Turn",
    "UsageError",
    "checks",
    "create_scorer",
    "filter_run",
    "not_scorable",
    "rescore",
    "rescore_sync",
    "resume",
    "resume_sync",
    "retry",
    "retry_sync",
    "run_evals",
    "run_evals_sync",
    "scorer",
    "scorer_utils",
    "scorers",
    "start_evals",
    "testing",
]

_HOME = {
    "MISSING": "data.value",
    "AgentReply": "data.agent_reply",
    "AgentScorers": "running.columns",
    "Budget": "judging.budget",
    "Eval": "running.eval",
    "EvalResult": "data.result",
    "Item": "data.item",
    "ItemResult": "data.reply",
    "JsonlRecorder": "storage.jsonl",
    "Judge": "judging.judge",
    "Mean": "data.mean",
    "MemoryRecorder": "running.record",
    "Message": "data.message",
    "Outcome": "data.outcome",
    "ProctorError": "errors",
    "Prompt": "scoring.steps",
    "Recorder": "running.record",
    "Reply": "data.reply",
    "Retry": "running.retry",
    "RunHandle": "running.run_evals",
    "Score": "scoring.steps",
    "Scorer": "scoring.scorer",
    "ScorerEntry": "scoring.entry",
    "ScorerRun": "scoring.run",
    "ScorerRunError": "errors",
    "Store": "storage.store",
    "Text": "data.message",
    "Threshold": "data.threshold",
    "ToolCall": "data.message",
    "ToolMock": "data.tool_mock",
    "Turn": "data.item",
    "UsageError": "errors",
    "create_scorer": "scoring.create",
    "filter_run": "scoring.prepare",
    "not_scorable": "scoring.steps",
    "rescore": "running.rescore",
    "rescore_sync": "running.rescore",
    "resume": "running.resume",
    "resume_sync": "running.resume",
    "retry": "running.resume",
    "retry_sync": "running.resume",
    "run_evals": "running.run_evals",
    "run_evals_sync": "running.run_evals",
    "scorer": "scoring.create",
    "start_evals": "running.run_evals",
}
_PACKAGES = frozenset({"checks", "scorer_utils", "scorers", "testing"})


def __getattr__(name: str) -> Any:
    value: Any
    if name in _PACKAGES:
        value = import_module(f"proctor.{name}")
    elif name in _HOME:
        value = getattr(import_module(f"proctor.{_HOME[name]}"), name)
    elif name == "__version__":
        from importlib.metadata import version

        value = version("proctor")
    else:
        raise AttributeError(f"module 'proctor' has no attribute {name!r}")
    globals()[name] = value  # the next look finds it without coming here
    return value


def __dir__() -> list[str]:
    return sorted([name for name in globals() if name.startswith("__")] + __all__)
