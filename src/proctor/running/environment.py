"""What a run ran in: versions of what is loaded, and the state of the code in git."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from types import ModuleType
from typing import Any

__all__ = ["git_state", "versions_of"]

GIT_SECONDS = 2.0

_KNOWN = {
    "agents": "openai-agents",
    "agno": "agno",
    "anthropic": "anthropic",
    "autogen_agentchat": "autogen-agentchat",
    "crewai": "crewai",
    "dspy": "dspy",
    "google.adk": "google-adk",
    "google.genai": "google-genai",
    "haystack": "haystack-ai",
    "langchain_core": "langchain-core",
    "langgraph": "langgraph",
    "litellm": "litellm",
    "llama_index.core": "llama-index-core",
    "mcp": "mcp",
    "openai": "openai",
    "pydantic": "pydantic",
    "pydantic_ai": "pydantic-ai-slim",
    "semantic_kernel": "semantic-kernel",
    "smolagents": "smolagents",
    "strands": "strands-agents",
}
"""Modules of what agents are built with, and the packages that they come in."""


def versions_of(modules: Iterable[str]) -> dict[str, str]:
    """The versions of the packages of these modules, and of what agents are built with, where it is loaded.

    Only of what is loaded, so this is no list of all that is installed. A module that is part of no package is left
    out.
    """
    installed = _installed()
    found = {}
    for module in {*modules, *_KNOWN} & sys.modules.keys():
        package = _normal(_KNOWN.get(module, module))
        version, folder = installed.get(package, (None, ""))
        if version is not None and (module not in _KNOWN or _lies_in(folder, sys.modules[module])):
            found[package] = version
    return dict(sorted(found.items()))


def _installed() -> dict[str, tuple[str, str]]:
    """All versions by the names of their folders, first come first: importlib.metadata costs more than all the rest."""
    from os import scandir

    found: dict[str, tuple[str, str]] = {}
    for folder in sys.path:
        try:
            names = [entry.name for entry in scandir(folder or ".") if entry.name.endswith(".dist-info")]
        except OSError:
            continue  # an archive, or a folder that is not there
        for name in names:
            package, _, version = name.removesuffix(".dist-info").rpartition("-")
            found.setdefault(_normal(package), (version, folder))
    return found


def _lies_in(folder: str, module: ModuleType) -> bool:
    """Whether a module is that of the package, and not one of the user's own by the same name (`agents`)."""
    return (getattr(module, "__file__", None) or "").startswith(folder)


def _normal(package: str) -> str:
    import re

    return re.sub(r"[-_.]+", "-", package).lower()


def git_state() -> dict[str, Any] | None:
    """The commit, the branch, and whether tracked files differ from it, of the working directory; None without git.

    Nothing is written, not even git's index. It takes two seconds at most, and raises nothing.
    """
    import os
    import subprocess

    command = ("git", "--no-pager", "--no-optional-locks", "-c", "core.fsmonitor=false", "status")
    options = ("--porcelain=v2", "--branch", "--untracked-files=no")
    try:
        done = subprocess.run(  # noqa: S603 - no part of it is anybody's text
            [*command, *options],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=GIT_SECONDS,
            check=False,
            encoding="utf-8",
            errors="replace",
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return _state(done.stdout.splitlines()) if done.returncode == 0 else None


def _state(lines: list[str]) -> dict[str, Any]:
    told = dict(line[2:].split(" ", 1) for line in lines if line.startswith("# branch.") and line.count(" ") > 1)
    commit, branch = told.get("branch.oid"), told.get("branch.head")
    return {
        "commit": None if commit == "(initial)" else commit,
        "branch": None if branch == "(detached)" else branch,
        "dirty": any(line and not line.startswith("#") for line in lines),
    }
