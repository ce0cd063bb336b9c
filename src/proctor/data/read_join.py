"""Joins tool results to the calls that they answer, while a conversation is read.

A result joins the nearest earlier call of its id that has no result yet: ids repeat within real conversations. Without
an id (legacy function calls, and runtimes that give none) it joins the nearest such call of its name that has no id
either. Calls of one message are answered in the order in which they were made. A result that answers no call becomes a
`ToolCall` in a message of role `tool`; a call that is never answered stays `called`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from proctor.data.message import CallState, Message, Part, ToolCall
from proctor.data.value import MISSING, Missing, quick_maker

__all__ = ["Answer", "Conversation", "make_call"]

_make_message = quick_maker(Message)
make_call = quick_maker(ToolCall)
"""`ToolCall` by position and all fields, for the thousands that a conversation has."""

_OPEN = frozenset({"called", "partial"})


class Answer(NamedTuple):
    """What came back from a tool."""

    id: str | None
    name: str
    result: Any
    state: CallState = "done"
    error: str | None = None


class Conversation:
    """The messages read so far, and the calls among them that still wait for their result. Linear in messages."""

    __slots__ = ("_answered", "_by_id", "_by_name", "_said")

    def __init__(self) -> None:
        self._said: list[tuple[str, list[Part], str | None, Mapping[str, Any] | Missing]] = []
        self._by_id: dict[str, list[ToolCall]] = {}
        self._by_name: dict[str, list[ToolCall]] = {}
        self._answered: dict[int, tuple[ToolCall, ToolCall]] = {}  # by identity: equal calls are still two calls

    def add(
        self, role: str, parts: list[Part], *, id: str | None = None, metadata: Mapping[str, Any] | Missing = MISSING
    ) -> None:
        """The next message. Its calls wait for results once they are given to `open`."""
        self._said.append((role, parts, id, metadata))

    def open(self, parts: Sequence[Part]) -> None:
        """The calls among *parts*, if they have no result, wait for it."""
        for part in reversed(parts):
            if type(part) is ToolCall and part.state in _OPEN:
                waiting, key = (self._by_id, part.id) if part.id else (self._by_name, part.name)
                waiting.setdefault(key, []).append(part)

    def answer(self, answer: Answer) -> None:
        """The next result."""
        waiting, key = (self._by_id, answer.id) if answer.id else (self._by_name, answer.name)
        stack = waiting.get(key)
        if stack:
            call = stack.pop()
            done = make_call(call.name, call.args, call.id, answer.result, answer.error, answer.state)
            self._answered[id(call)] = call, done  # the call itself too: while it lives, no other has its identity
        else:
            orphan = ToolCall(answer.name, MISSING, answer.id, answer.result, answer.error, answer.state)
            self._said.append(("tool", [orphan], None, MISSING))

    def messages(self) -> tuple[Message, ...]:
        """What was said, with every result in its call."""
        if self._answered:
            return tuple(
                [
                    _make_message(role, self._with_results(parts), id, metadata)
                    for role, parts, id, metadata in self._said
                ]
            )
        return tuple([_make_message(role, tuple(parts), id, metadata) for role, parts, id, metadata in self._said])

    def _with_results(self, parts: list[Part]) -> tuple[Part, ...]:
        answered = self._answered
        return tuple([answered[id(part)][1] if id(part) in answered else part for part in parts])
