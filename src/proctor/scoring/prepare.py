"""Cuts a run before a scorer sees it: a long one to the messages that matter, and off what must not be known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from proctor.data.message import Data, File, Message, Part, Reasoning, ToolCall
from proctor.data.read import read_messages
from proctor.data.value import MISSING, shown
from proctor.errors import UsageError
from proctor.scoring.run import ScorerRun, TurnRun

__all__ = ["filter_run"]

_REMEMBERED = ("rememberedMessages", "remembered_messages")


def filter_run(
    *,
    part_types: Sequence[str] | None = None,
    tool_names: Sequence[str] | None = None,
    max_remembered_messages: int | None = None,
    max_output_messages: int | None = None,
    drop_request_context: bool = False,
    drop_expected_trajectory: bool = False,
    drop_ground_truth: bool = False,
) -> Callable[[ScorerRun], ScorerRun]:
    """A `prepare_run` that leaves out messages of the output and of the remembered ones; never what the user asked.

    A message stays or goes as a whole. *part_types*: it has a part whose type begins with one of these: `text`,
    `tool-invocation`, `reasoning`, `file`, `image`, `data`, or a data part's own type. *tool_names*: if it calls tools,
    one of them has a name that begins so. The limits take the last messages of those that stay; 0 leaves none.

    >>> from proctor import create_scorer
    >>> last = create_scorer(id="last", prepare_run=filter_run(max_output_messages=1))
    >>> last.generate_score(lambda ctx: ctx.run.text == "b").run_sync(output=["a", "b"]).score
    1.0
    """
    types, names = _prefixes("part_types", part_types), _prefixes("tool_names", tool_names)
    limits = (
        _limit("max_remembered_messages", max_remembered_messages),
        _limit("max_output_messages", max_output_messages),
    )
    drops = {
        **({"request_context": None} if drop_request_context else {}),
        **({"expected_trajectory": None} if drop_expected_trajectory else {}),
        **({"ground_truth": MISSING} if drop_ground_truth else {}),
    }

    def prepare(run: ScorerRun) -> ScorerRun:
        changes: dict[str, Any] = dict(drops)
        given, output = run.input, run.output
        if isinstance(given, dict):
            cut = {key: _cut(given[key], types, names, limits[0]) for key in _REMEMBERED if key in given}
            changes["input"] = given | cut
        changes["output"] = _cut(output, types, names, limits[1])
        if run.turns:
            changes["turns"] = _turns(run.turns, types, names, limits[1])
        return run.replace(**changes)

    return prepare


def _turns(
    turns: Sequence[TurnRun], types: Sequence[str] | None, names: Sequence[str] | None, limit: int | None
) -> tuple[TurnRun, ...]:
    """The limit is of the conversation: the last turns are cut last."""
    made: list[TurnRun] = []
    for turn in reversed(turns):
        output = _cut(turn.output, types, names, limit)
        if limit is not None:
            limit -= len(output) if isinstance(output, list) else 1
            limit = max(limit, 0)
        made.append(TurnRun(turn.input, output))
    return tuple(reversed(made))


def _cut(given: Any, types: Sequence[str] | None, names: Sequence[str] | None, limit: int | None) -> Any:
    """The messages of a list that stay; what is no list of messages, as it is."""
    if not isinstance(given, list | tuple):
        return given
    messages = read_messages(list(given))
    if any(type(part) is Data and part.type is None for message in messages for part in message.parts):
        return given
    kept = [message for message in messages if _stays(message, types, names)]
    return kept if limit is None else kept[max(len(kept) - limit, 0) :]


def _stays(message: Message, types: Sequence[str] | None, names: Sequence[str] | None) -> bool:
    called = [part.name for part in message.parts if type(part) is ToolCall]
    if names is not None and called and not any(_begins(name, names) for name in called):
        return False
    return types is None or any(_begins(one, types) for part in message.parts for one in _types_of(part))


def _begins(text: str, prefixes: Sequence[str]) -> bool:
    return text.startswith(tuple(prefixes))


def _types_of(part: Part) -> tuple[str, ...]:
    if type(part) is ToolCall:
        return ("tool-invocation",)
    if type(part) is Reasoning:
        return ("reasoning",)
    if type(part) is File:
        return ("file", "image") if (part.media_type or "").startswith("image") else ("file",)
    if type(part) is Data:
        return (part.type or "data",)
    return ("text",)


def _prefixes(option: str, given: Any) -> tuple[str, ...] | None:
    if given is None:
        return None
    if isinstance(given, str) or not isinstance(given, Sequence) or not all(isinstance(one, str) for one in given):
        raise UsageError(f"{option} is a list of names, not {shown(given)}")
    return tuple(given)


def _limit(option: str, given: Any) -> int | None:
    if given is None or (type(given) is int and given >= 0):
        return given
    raise UsageError(f"{option} is a count of messages, 0 or more, not {shown(given)}")
