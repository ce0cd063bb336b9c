"""The one look-up of things by name: nobody imports what is not used, and no floor need know those above it.

A table for what is ours; for other names, the entry points of the group `proctor.<kind>` that installed packages
declare, read on the first miss and not before.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from proctor.errors import UnknownName, UsageError, safe_message

__all__ = ["find", "import_object", "known", "recognised"]

_OWN: dict[str, dict[str, str]] = {
    "check": {
        "all_of": "proctor.checks.combine:all_of",
        "any_of": "proctor.checks.combine:any_of",
        "called_tool": "proctor.checks.called:called_tool",
        "did_not_call": "proctor.checks.tools:did_not_call",
        "equals": "proctor.checks.text:equals",
        "excludes": "proctor.checks.text:excludes",
        "includes": "proctor.checks.text:includes",
        "json_schema": "proctor.checks.schema:json_schema",
        "length": "proctor.checks.answer:length",
        "matches": "proctor.checks.text:matches",
        "max_cost": "proctor.checks.limits:max_cost",
        "max_duration": "proctor.checks.limits:max_duration",
        "max_tokens": "proctor.checks.limits:max_tokens",
        "max_tool_calls": "proctor.checks.tools:max_tool_calls",
        "no_tool_errors": "proctor.checks.tools:no_tool_errors",
        "not_": "proctor.checks.combine:not_",
        "one_of": "proctor.checks.answer:one_of",
        "similarity": "proctor.checks.text:similarity",
        "tool_order": "proctor.checks.tools:tool_order",
        "used_no_tools": "proctor.checks.tools:used_no_tools",
    },
    "file": {
        ".csv": "proctor.files.csv:read_rows",
        ".json": "proctor.files.json:read_rows",
        ".jsonl": "proctor.files.jsonl:read_rows",
        ".yaml": "proctor.files.yaml:read_rows",
        ".yml": "proctor.files.yaml:read_rows",
    },
    "result": {
        "agents": "proctor.targets.openai_agents:reply_of",
        "langchain_core": "proctor.targets.langgraph:reply_of",
        "pydantic_ai": "proctor.targets.pydantic_ai:reply_of",
    },
    "store": {"sql": "proctor.storage.store:Store"},
    "target": {
        "agent": "proctor.targets.agent:AgentTarget",
        "agents": "proctor.targets.openai_agents:OpenAIAgentsTarget",
        "callable": "proctor.targets.callable:CallableTarget",
        "http": "proctor.targets.http:HttpTarget",
        "langchain": "proctor.targets.langgraph:LangGraphTarget",
        "langchain_core": "proctor.targets.langgraph:LangGraphTarget",
        "langgraph": "proctor.targets.langgraph:LangGraphTarget",
        "pydantic_ai": "proctor.targets.pydantic_ai:PydanticAITarget",
    },
}


def _group(kind: str) -> str:
    return "proctor.targets" if kind == "target" else f"proctor.{kind}"


def find(kind: str, name: str) -> Any:
    """The thing of this kind that has this name. Raises `UnknownName` that lists what there is."""
    own = _OWN.get(kind, {}).get(name)
    if own is not None:
        return import_object(own)
    from importlib.metadata import entry_points

    for point in entry_points(group=_group(kind), name=name):
        return point.load()
    raise UnknownName(kind, name, known(kind))


def recognised(kind: str, thing: object, *, only_own: bool = False) -> str | None:
    """The name of this kind that goes with an object: the package that its class, or a base of it, is of.

    Nothing is imported to ask. Of two packages the one of the nearer class wins. *only_own*: what installed packages
    declare is not looked up, which takes milliseconds.
    """
    packages = dict.fromkeys(base.__module__.partition(".")[0] for base in type(thing).__mro__)
    packages.pop("builtins", None)
    own = next((package for package in packages if package in _OWN.get(kind, {})), None)
    if own is not None or only_own:
        return own
    from importlib.metadata import entry_points

    names = {point.name for point in entry_points(group=_group(kind))}
    return next((package for package in packages if package in names), None)


def known(kind: str) -> list[str]:
    """The names of this kind: ours, and those that installed packages declare."""
    from importlib.metadata import entry_points

    return sorted({*_OWN.get(kind, {}), *(point.name for point in entry_points(group=_group(kind)))})


def import_object(path: str) -> Any:
    """What `package.module:name` stands for. Raises `UsageError` that says which part is not there."""
    module_name, colon, names = path.partition(":")
    if not colon or not module_name or not names:
        raise UsageError(f"{path!r} is no import path; write package.module:name")
    try:
        value = import_module(module_name)
    except ImportError as problem:
        raise UsageError(f"{path!r}: cannot import {module_name}: {safe_message(problem)}") from problem
    for name in names.split("."):
        if not hasattr(value, name):
            public = [word for word in vars(value) if not word.startswith("_")]
            raise UnknownName(f"name in {module_name}", name, public)
        value = getattr(value, name)
    return value
