"""The options of an evaluation, refused when they cannot be right."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from sys import float_info
from typing import TYPE_CHECKING, Any

from proctor.data.value import shown
from proctor.errors import UsageError
from proctor.judging.budget import as_budget
from proctor.running.retry import as_retry
from proctor.running.tool_recording import check_recording
from proctor.scoring.callables import takes_one

if TYPE_CHECKING:
    from proctor.running.eval import Eval

__all__ = ["check_options"]

_RECORDER = ("start", "find", "put", "end", "flush")


def check_options(evaluation: Eval) -> None:
    """Raise a `UsageError` for the first option that cannot be right."""
    for name in ("concurrency", "repeats"):
        _count(name, getattr(evaluation, name))
    if evaluation.stop_after_errors is not None:
        _count("stop_after_errors", evaluation.stop_after_errors)
    for name in ("timeout", "scorer_timeout"):
        _seconds(name, getattr(evaluation, name))
    as_retry(evaluation.retries)
    _one_of("on_error", evaluation.on_error, ("record", "raise"))
    _one_of("keep", evaluation.keep, ("all", "failures", "none"))
    if not isinstance(evaluation.cache, bool):
        raise UsageError(f"cache is True or False, not {shown(evaluation.cache)}; store= says where answers are kept")
    as_budget(evaluation.budget)
    for name in ("target_options", "request_context"):
        value = getattr(evaluation, name)
        if value is not None and not isinstance(value, Mapping):
            raise UsageError(f"{name} must be a mapping, not {shown(value)}")
    _memory(evaluation.target_options)
    _one_of("unmocked", evaluation.unmocked, ("allow", "deny"))
    _tool_files(evaluation)
    listener = evaluation.on_item_complete
    if listener is not None and not (callable(listener) and takes_one(listener)):
        raise UsageError(f"on_item_complete must be a function of one argument, the ItemResult, not {shown(listener)}")
    if evaluation.name is not None and not isinstance(evaluation.name, str):
        raise UsageError(f"name must be text, not {shown(evaluation.name)}")
    missing = [name for name in _RECORDER if not hasattr(evaluation.recorder, name)]
    if isinstance(evaluation.recorder, str | PathLike):
        raise UsageError(f"recorder must be a Recorder; for a file: recorder=JsonlRecorder({evaluation.recorder!r})")
    if evaluation.recorder is not None and missing:
        raise UsageError(
            f"recorder must have {', '.join(missing)}, as a Recorder has; not {shown(evaluation.recorder)}"
        )


def _tool_files(evaluation: Eval) -> None:
    for name in ("record_tools", "replay_tools"):
        check_recording(name, getattr(evaluation, name))
    if evaluation.record_tools is not None and evaluation.redact is not None:
        raise UsageError("record_tools= and redact= are both there: what is redacted could not be replayed")
    if evaluation.replay_tools is not None and evaluation.unmocked == "deny":
        raise UsageError("replay_tools= lets no tool be called: leave out unmocked='deny'")


def _count(name: str, value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise UsageError(f"{name} must be a whole number, 1 or more, not {shown(value)}")


def _seconds(name: str, value: Any) -> None:
    if value is None:
        return
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value <= float_info.max:
        raise UsageError(f"{name} is a number of seconds above 0, or None for no limit, not {shown(value)}")


def _one_of(name: str, value: Any, known: tuple[str, ...]) -> None:
    if value not in known:
        raise UsageError(f"{name} is {' or '.join(map(repr, known))}, not {shown(value)}")


def _memory(options: Mapping[str, Any] | None) -> None:
    memory = (options or {}).get("memory")
    if memory is None:
        return
    if not isinstance(memory, Mapping):
        raise UsageError(f"target_options['memory'] must be a mapping with resource and thread, not {shown(memory)}")
    for name in ("resource", "thread"):
        if memory.get(name) is not None and not isinstance(memory[name], str):
            raise UsageError(f"target_options['memory'][{name!r}] must be text, not {shown(memory[name])}")
