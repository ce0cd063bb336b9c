"""An agent that says what it is told to: for tests of evaluations, without a model.

It implements the agent protocol in full: memory by thread, tool calls with results and errors, failures, delays, usage.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from proctor.data.agent_reply import AgentReply
from proctor.data.message import Message, Part, Text, ToolCall
from proctor.data.usage import Cost, Usage
from proctor.data.value import MISSING, Value, shown
from proctor.errors import UsageError
from proctor.running.threads import MemoryThreads, ThreadMemory

__all__ = ["AgentCall", "Scripted", "ScriptedAgent"]


@dataclass(frozen=True, slots=True, repr=False)
class Scripted(Value):
    """One reply. *tool_calls*: made before the text; one with a result is done, one with an error failed.

    *throw*: raised instead. *delay*: seconds before either.
    """

    text: str | None = None
    tool_calls: Sequence[ToolCall] = ()
    throw: BaseException | None = None
    delay: float = 0.0
    usage: Usage | None = None
    cost: Cost | None = None
    structured: Any = MISSING
    finish_reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AgentCall(Value):
    """What the agent was asked, as it was asked."""

    messages: tuple[Message, ...]
    thread_id: str | None
    resource_id: str | None
    options: Mapping[str, Any] | None
    request_context: Mapping[str, Any] | None


class ScriptedAgent:
    """An agent with set replies. *replies*: by the text of the turn's last message, with `*` for all others; or a list,
    taken in the order of the calls, whose last one repeats. A reply is a `Scripted`, a text, or an exception to raise.

    *calls*: what it was asked. *threads*: what it remembers, by thread; with *memory* False it remembers nothing, and
    with a `ThreadMemory` it remembers there instead.

    >>> import asyncio
    >>> agent = ScriptedAgent({"Hi": "Hello!", "*": "Pardon?"})
    >>> asyncio.run(agent.generate([Message("user", (Text("Hi"),))])).messages[0].text
    'Hello!'
    """

    def __init__(self, replies: Mapping[str, Any] | Sequence[Any] | str, *, memory: bool | ThreadMemory = True) -> None:
        if isinstance(replies, str):
            replies = [replies]
        if not isinstance(replies, Mapping | Sequence):
            raise UsageError(f"ScriptedAgent takes a list or mapping of replies, or one text, not {shown(replies)}")
        if not replies:
            raise UsageError("ScriptedAgent needs at least one reply")
        if isinstance(replies, Mapping):
            self.replies: Mapping[str, Scripted] | Sequence[Scripted] = {
                asked: _reply(given, repr(asked)) for asked, given in replies.items()
            }
        else:
            self.replies = [_reply(given, str(number)) for number, given in enumerate(replies)]
        here = MemoryThreads()
        self.memory: ThreadMemory | None = (here if memory else None) if isinstance(memory, bool) else memory
        self.calls: list[AgentCall] = []
        self.threads: Mapping[str, list[Message]] = here.threads

    @property
    def durable_threads(self) -> bool:
        """Whether its memory outlives the process: then a conversation that broke off goes on."""
        return self.memory is not None and self.memory.durable

    async def generate(
        self,
        messages: Sequence[Message],
        *,
        thread_id: str | None = None,
        resource_id: str | None = None,
        options: Mapping[str, Any] | None = None,
        request_context: Mapping[str, Any] | None = None,
    ) -> AgentReply:
        """The scripted reply to these messages."""
        number = len(self.calls)
        self.calls.append(
            AgentCall(
                messages=tuple(messages),
                thread_id=thread_id,
                resource_id=resource_id,
                options=options,
                request_context=request_context,
            )
        )
        scripted = self._scripted(messages[-1].text if messages else "", number)
        if scripted.delay:
            await asyncio.sleep(scripted.delay)
        if scripted.throw is not None:
            raise scripted.throw.with_traceback(None)  # else it would grow with each time that it is raised
        parts: tuple[Part, ...] = tuple(_ended(call) for call in scripted.tool_calls)
        if scripted.text is not None:
            parts += (Text(scripted.text),)
        answer = Message("assistant", parts)
        if self.memory is not None and thread_id is not None:
            await self.memory.append(thread_id, [*messages, answer], resource_id=resource_id)
        return AgentReply(
            [answer],
            usage=scripted.usage,
            cost=scripted.cost,
            structured=scripted.structured,
            finish_reason=scripted.finish_reason,
        )

    def _scripted(self, asked: str, number: int) -> Scripted:
        if isinstance(self.replies, Mapping):
            if asked not in self.replies and "*" not in self.replies:
                raise UsageError(f"ScriptedAgent has no reply to {asked!r}, and none for '*'")
            return self.replies[asked if asked in self.replies else "*"]
        return self.replies[min(number, len(self.replies) - 1)]


def _reply(given: Any, where: str) -> Scripted:
    if isinstance(given, Scripted):
        return given
    if isinstance(given, BaseException):
        return Scripted(throw=given)
    if not isinstance(given, str):
        raise UsageError(f"reply {where} is a Scripted, a text or an exception to raise, not {shown(given)}")
    return Scripted(given)


def _ended(call: ToolCall) -> ToolCall:
    """The call in the state that its result or error says."""
    if call.state != "called" or (call.error is None and call.result is MISSING):
        return call
    return replace(call, state="done" if call.error is None else "failed")
