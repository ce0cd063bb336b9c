"""One row of a run as text: what it came to, then what it was: the item, and the replies. Nothing is cut.

Left out are long prompts, unless they are asked for, and where in Proctor's own code its errors were raised.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from proctor.data.codec import encode
from proctor.data.item import item_label
from proctor.data.judge_text import execution_text
from proctor.data.message import Message, Reasoning, Text, ToolCall
from proctor.data.outcome import Failure, NotRun, NotScorable, Outcome
from proctor.data.read import read_messages
from proctor.data.reply import ItemResult, Reply
from proctor.data.value import MISSING
from proctor.data.width import printable, wrapped
from proctor.errors import ProctorError, visible

__all__ = ["row_text"]

_ITEM = ("ground_truth", "context", "label", "tags", "cluster", "severity", "metadata", "request_context")


_LONG_PROMPT = 200


def row_text(row: ItemResult, *, width: int, prompts: bool = False) -> str:
    """The outcomes, the item and its replies, in lines of at most *width* columns. *prompts*: long ones, too."""
    name = item_label(row.item, item_id=row.item_id, index=row.index)
    repeat = f" (repeat {row.repeat})" if row.repeat else ""
    lines = [f"{printable(name)}{repeat}: {row.status}"]
    if row.item.id is None:
        lines.append(f"id {row.item_id}, made of its content")
    error = () if row.error is None else _failure(row.error, indent=0)
    for line in (*error, *_outcomes(row, prompts=prompts), "", *_item(row), *_replies(row)):
        depth = len(line) - len(line.lstrip(" "))
        lines += wrapped(line, width, indent=" " * (depth + 2))
    return "\n".join(lines)


def _item(row: ItemResult) -> Iterator[str]:
    item = row.item
    asked = [("input", item.input), ("inputs", item.inputs)]
    for name, value in asked:
        if value is not MISSING:
            yield from _named(name, value)
    if isinstance(item.turns, Sequence):
        for number, turn in enumerate(item.turns):
            yield from _named(f"turn {number}", turn.input)
            if turn.ground_truth is not MISSING:
                yield from _named(f"turn {number}, ground truth", turn.ground_truth)
    for name in _ITEM:
        value = getattr(item, name)
        if value is not MISSING and value is not None and value != ():
            yield from _named(name.replace("_", " "), value)


def _replies(row: ItemResult) -> Iterator[str]:
    for number, reply in enumerate(row.replies):
        yield ""
        which = f"reply {number}" if len(row.replies) > 1 else "reply"
        yield f"{which}{_costs(reply)}"
        if reply.output is not MISSING:
            yield from _output(reply.output)
        if reply.structured is not MISSING:
            yield from _named("structured", reply.structured, indent=2)
        if reply.error is not None and reply.error != row.error:
            yield from _failure(reply.error, indent=2)
    if row.item.tool_mocks:
        yield f"tools: {visible(str(row.tool_report))}"


def _costs(reply: Reply) -> str:
    known = [
        f"{reply.duration_ms:.0f} ms" if reply.duration_ms is not None else "",
        f"{reply.usage.total} tokens" if reply.usage is not None and reply.usage.total is not None else "",
        f"{reply.cost.amount:.4f} {reply.cost.unit}" if reply.cost is not None else "",
        reply.finish_reason or "",
    ]
    told = ", ".join(each for each in known if each)
    return f" ({told}):" if told else ":"


def _output(output: Any) -> Iterator[str]:
    try:
        messages = read_messages(output) if not isinstance(output, str) else []
    except ProctorError:
        messages = []
    if not messages:
        yield from _text(output, indent=2)
    for message in messages:
        yield from _message(message)


def _message(message: Message) -> Iterator[str]:
    for part in message.parts:
        if isinstance(part, ToolCall):
            args = "" if part.args is MISSING else _written(part.args)
            took = "" if part.duration_ms is None else f", {part.duration_ms:.0f} ms"
            by = "" if part.mock is None else f", by mock {part.mock}"
            yield f"  {visible(part.name)}({visible(args)}), {part.state}{took}{by}"
            if part.result is not MISSING:
                yield from _named("gave", part.result, indent=4)
            if part.error is not None:
                yield from _named("error", part.error, indent=4)
        elif isinstance(part, Text | Reasoning):
            kind = message.role if isinstance(part, Text) else f"{message.role} thinks"
            yield from _named(kind, part.text, indent=2)
        else:
            yield from _named(message.role, part, indent=2)


def _outcomes(row: ItemResult, *, prompts: bool) -> Iterator[str]:
    for outcome in row.outcomes:
        yield ""
        kind = "scorer " if outcome.column.position == "scorer" else ""
        score = "" if outcome.score is None else f" {outcome.score:g}"
        label = f", {visible(outcome.label)}" if outcome.label else ""
        yield f"{visible(kind + outcome.column.label)}: {outcome.status}{score}{label}"
        if outcome.reason and outcome.not_scorable is None:
            yield from _text(outcome.reason, indent=2)
        yield from _cause(outcome)
        yield from _evidence(outcome, prompts=prompts)


def _cause(outcome: Outcome) -> Iterator[str]:
    cause = outcome.cause
    if isinstance(cause, NotScorable):
        yield from _named(f"declined in {cause.step}", cause.reason or "no reason given", indent=2)
    elif isinstance(cause, NotRun):
        yield f"  not run: {cause.why.replace('_', ' ')}"
    elif cause is not None:
        yield from _failure(cause, indent=2)


def _evidence(outcome: Outcome, *, prompts: bool) -> Iterator[str]:
    seen = outcome.evidence
    if seen is None:
        return
    for name, value in (("preprocess", seen.preprocess_step_result), ("analyze", seen.analyze_step_result)):
        if value is not MISSING:
            yield from _named(name, value, indent=2)
    if outcome.recovered is not None:
        yield f"  its finished steps gave {outcome.recovered:g}, which counts nowhere"
    for step, record in outcome.judge.items():
        for execution in record.executions:
            model = execution.answered_by or execution.judge_model_id or "a judge"
            yield f"  {visible(step)} asked {visible(model)}: {execution_text(execution)}"
            if prompts or len(execution.prompt) <= _LONG_PROMPT:
                yield from _named("prompt", execution.prompt, indent=4)
            else:
                yield f"    prompt: {len(execution.prompt):,} characters, which --prompts shows"
            if execution.output is not MISSING:
                yield from _named("answer", execution.output, indent=4)
            elif execution.raw_output is not None:
                yield from _named("answer", execution.raw_output, indent=4)
            if execution.error is not None:
                yield from _named("error", execution.error, indent=4)


def _failure(failure: Failure, *, indent: int) -> Iterator[str]:
    code = f" [{failure.code}]" if failure.code else ""
    yield from _named("error", f"{failure}{code}", indent=indent)
    if failure.traceback and not _is_ours(failure):
        yield from _text(failure.traceback, indent=indent + 2)


def _is_ours(failure: Failure) -> bool:
    """Whether it is one of Proctor's errors, whose message says it all."""
    return bool(re.search(rf"^proctor\.[\w.]+\.{re.escape(failure.type)}\b", failure.traceback or "", re.MULTILINE))


def _named(name: str, value: Any, *, indent: int = 0) -> Iterator[str]:
    """A value behind its name: on one line when it is one, else below it."""
    written = _written(value)
    if "\n" not in written:
        yield f"{' ' * indent}{name}: {visible(written)}"
        return
    yield f"{' ' * indent}{name}:"
    yield from _text(value, indent=indent + 2)


def _text(value: Any, *, indent: int) -> Iterator[str]:
    for line in _written(value).splitlines():
        yield " " * indent + visible(line)


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(encode(value), ensure_ascii=False)
