"""Graphs of LangGraph whose tools are called through a toolbox: a copy of the graph, made once.

Which toolbox it is stands in a context variable while a turn runs. A tool that a node calls by itself does not come by
the nodes of tools: it is seen when it begins, and refused where a mock should have answered.
"""

from __future__ import annotations

from contextvars import ContextVar
from copy import copy
from functools import cache
from typing import Any

from proctor.bridge import in_thread
from proctor.running.toolbox import MockedError, Toolbox
from proctor.targets.langgraph_messages import as_text

__all__ = ["TOOLBOX", "guard", "through_toolbox"]

TOOLBOX: ContextVar[tuple[Toolbox, Any] | None] = ContextVar("proctor_toolbox", default=None)
"""The toolbox of the turn that runs, and the event loop that it is used on."""

_LIVE: ContextVar[bool] = ContextVar("proctor_live_tool", default=False)


def through_toolbox(graph: Any) -> Any:
    """A copy of a compiled graph whose nodes of tools, also those of graphs in it, call through the toolbox."""
    nodes = {name: _node(node) for name, node in graph.nodes.items()}
    changed = any(nodes[name] is not node for name, node in graph.nodes.items())
    return graph.copy({"nodes": nodes}) if changed else graph


def _node(node: Any) -> Any:
    from langgraph.prebuilt import ToolNode
    from langgraph.pregel import Pregel

    bound = node.bound
    if isinstance(bound, ToolNode):
        return node.copy({"bound": _tool_node(bound)})
    if isinstance(bound, Pregel):
        inner = through_toolbox(bound)
        if inner is not bound:
            graphs = [inner if graph is bound else graph for graph in node.subgraphs]
            return node.copy({"bound": inner, "subgraphs": graphs})
    return node


def _tool_node(node: Any) -> Any:
    """A node of tools with a wrapper more, inside of those that it has: middleware sees what it would see."""
    from langchain_core.messages import ToolMessage

    outer, outer_sync = node._awrap_tool_call, node._wrap_tool_call  # noqa: SLF001 - given when it was made

    def through(execute: Any) -> Any:
        async def inner(asked: Any) -> Any:
            return await _called(asked, execute, ToolMessage)

        return inner

    async def wrapped(request: Any, execute: Any) -> Any:
        inner = through(execute)
        if outer is not None:
            return await outer(request, inner)
        if outer_sync is None:
            return await inner(request)
        from asyncio import get_running_loop

        return await in_thread(outer_sync, request, _blocking(inner, get_running_loop()))

    def wrapped_sync(request: Any, execute: Any) -> Any:
        place = TOOLBOX.get()
        inner = execute
        if place is not None:
            inner = _blocking(through(lambda asked: in_thread(execute, asked)), place[1])
        return inner(request) if outer_sync is None else outer_sync(request, inner)

    made = copy(node)
    made._awrap_tool_call, made._wrap_tool_call = wrapped, wrapped_sync  # noqa: SLF001 - as its constructor does
    made.func, made.afunc = made._func, made._afunc  # noqa: SLF001 - they were those of the other node
    return made


def _blocking(inner: Any, loop: Any) -> Any:
    """The same for a thread that waits: it is done on the turn's own loop."""
    from asyncio import run_coroutine_threadsafe

    return lambda asked: run_coroutine_threadsafe(inner(asked), loop).result()


async def _called(request: Any, execute: Any, message: Any) -> Any:
    place = TOOLBOX.get()
    if place is None:
        return await execute(request)
    call, lived, toolbox = request.tool_call, False, place[0]

    async def live() -> Any:
        nonlocal lived
        lived = True
        token = _LIVE.set(True)
        try:
            return await execute(request)
        finally:
            _LIVE.reset(token)

    name, id = call["name"], call["id"]
    try:
        made = await toolbox.call(name, call["args"], id=id, live=live)
    except MockedError as error:
        return message(str(error), name=name, tool_call_id=id, status="error")
    if lived:
        return made
    return message(made if isinstance(made, str) else as_text(made), name=name, tool_call_id=id)


@cache
def guard() -> Any:
    """The class of callbacks that refuse a tool which a node called by itself, where a mock should have answered."""
    from langchain_core.callbacks import BaseCallbackHandler

    class Guard(BaseCallbackHandler):
        raise_error = True
        run_inline = True

        def __init__(self, toolbox: Toolbox) -> None:
            self.toolbox = toolbox

        def on_tool_start(self, serialized: Any, input_str: str, **more: Any) -> None:
            if not _LIVE.get():
                self.toolbox.came_past(more.get("name") or (serialized or {}).get("name") or "a tool")

    return Guard
