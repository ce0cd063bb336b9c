"""An agent as a target: any object with `generate`, which is what the adapters of frameworks have.

    async def generate(messages, *, thread_id, resource_id, options, request_context) -> AgentReply

It is given one turn, as messages, and the thread that the turn belongs to; remembering the earlier turns of a thread
is its own business. One that says `memory = None` (or False) remembers nothing: a conversation with it gives a warning.
One that says `durable_threads = True` still knows its threads in a later process. One that also takes `toolbox` calls
its tools by `await toolbox.call(name, args, id=..., live=...)`, so that mocks can answer.
"""

from __future__ import annotations

from inspect import signature
from typing import Any

from proctor.data.agent_reply import AgentReply
from proctor.data.read import read_input
from proctor.data.reply import Reply
from proctor.errors import TargetError
from proctor.running.target import Call, has_durable_threads

__all__ = ["AgentTarget"]


class AgentTarget:
    """Asks an agent. What it gives is `AgentReply` (or `Reply`), or messages alone."""

    def __init__(self, agent: Any) -> None:
        self.agent = agent
        memory = getattr(agent, "memory", True)
        self.remembers = memory is not None and memory is not False  # one that is empty yet is a memory
        self.durable = not self.remembers or has_durable_threads(agent)
        self.may_hang = False
        self.mocks_tools = "toolbox" in signature(agent.generate).parameters

    async def reply(self, call: Call) -> Reply:
        """One turn. What the agent raises is raised."""
        more = {"toolbox": call.toolbox} if self.mocks_tools else {}
        given = await self.agent.generate(
            read_input(call.input),
            thread_id=call.thread_id,
            resource_id=call.resource_id,
            options=call.options,
            request_context=call.request_context,
            **more,
        )
        if isinstance(given, Reply):
            return given
        if given is None or (isinstance(given, AgentReply) and given.messages is None):
            what = "None" if given is None else "an AgentReply without messages"
            raise TargetError(f"{type(self.agent).__name__}.generate gave {what}; return AgentReply(messages)")
        if not isinstance(given, AgentReply):
            return Reply(output=given)
        return Reply(
            output=given.messages,
            usage=given.usage,
            cost=given.cost,
            finish_reason=given.finish_reason,
            structured=given.structured,
            origin=given.origin,
        )
