"""Agents of the OpenAI Agents SDK whose tools are called through a toolbox: copies, for one turn.

The SDK makes a text of what a tool raises before anybody else can see it. So the toolbox stands inside of that: around
the tool's own function, where there is one.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from copy import copy
from functools import cache, wraps
from typing import Any

from proctor.running.toolbox import MockedError, Toolbox

__all__ = ["args_of", "with_toolbox"]


def with_toolbox(agent: Any, toolbox: Toolbox) -> Any:
    """A copy of the agent, and of all that it may hand over to, whose tools call through the toolbox."""
    return _Copies(toolbox).of(agent)


def args_of(text: Any) -> Any:
    """The arguments of a call; what the model wrote where that is no JSON."""
    if not isinstance(text, str):
        return text
    try:
        return json.loads(text) if text.strip() else {}
    except ValueError:
        return text


class _Copies:
    """Each agent is copied once, also where agents hand over to each other."""

    def __init__(self, toolbox: Toolbox) -> None:
        self._toolbox = toolbox
        self._made: dict[int, Any] = {}

    def of(self, agent: Any) -> Any:
        found = self._made.get(id(agent))
        if found is not None:
            return found
        made = agent.clone(tools=[self._tool(tool) for tool in agent.tools])
        self._made[id(agent)] = self._made[id(made)] = made
        if agent.handoffs:
            made.handoffs = [self._handoff(it) for it in agent.handoffs]
        if agent.mcp_servers:
            made.get_mcp_tools = self._tools_of(made.get_mcp_tools)
        return made

    def _handoff(self, handoff: Any) -> Any:
        if not hasattr(handoff, "on_invoke_handoff"):
            return self.of(handoff)
        made, given = copy(handoff), handoff.on_invoke_handoff

        @wraps(given)
        async def invoked(context: Any, arguments: str) -> Any:
            return self.of(await given(context, arguments))

        made.on_invoke_handoff = invoked
        return made

    def _tools_of(self, given: Callable[[Any], Awaitable[list[Any]]]) -> Callable[[Any], Awaitable[list[Any]]]:
        async def tools(context: Any) -> list[Any]:
            return [self._tool(tool) for tool in await given(context)]

        return tools

    def _tool(self, tool: Any) -> Any:
        from agents import FunctionTool

        if not isinstance(tool, FunctionTool):
            self._toolbox.refuse_unseen([tool.name], why="run elsewhere, or by code of their own")
            return tool
        made = copy(tool)
        made.on_invoke_tool = _through(made.on_invoke_tool, tool.name, self._toolbox)
        return made


def _through(invoke: Any, name: str, toolbox: Toolbox) -> Any:
    """What invokes a tool, by way of the toolbox."""
    inner = getattr(invoke, "_invoke_tool_impl", None)  # of a function that the SDK wrapped; nothing public has it
    if inner is None:
        return _around(invoke, name, toolbox, told=str)

    through = copy(invoke)
    kind: Any = type(invoke)
    through.__class__ = _invoker(kind)
    through.toolbox = toolbox
    through._invoke_tool_impl = _around(inner, name, toolbox)  # noqa: SLF001 - held by a test of what the agent is told
    return through


@cache
def _invoker(kind: type[Any]) -> Any:
    """A class of what invokes a tool, below the SDK's own, which it looks for."""

    class Invoker(kind):  # type: ignore[misc]  # known only then
        toolbox: Toolbox

        async def __call__(self, context: Any, arguments: str) -> Any:
            made = await super().__call__(context, arguments)
            if self.toolbox.failure is not None:
                raise self.toolbox.failure  # it was made a text of
            return made

    return Invoker


def _around(
    invoke: Any, name: str, toolbox: Toolbox, *, told: Callable[[MockedError], Any] | None = None
) -> Callable[[Any, str], Awaitable[Any]]:
    """*told*: what the agent is given for a mock's failure, where nobody else makes a text of it."""

    @wraps(invoke)
    async def called(context: Any, arguments: str) -> Any:
        id = getattr(context, "tool_call_id", None)
        try:
            return await toolbox.call(name, args_of(arguments), id=id, live=lambda: invoke(context, arguments))
        except MockedError as error:
            if told is None:
                raise
            return told(error)

    return called
