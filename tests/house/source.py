"""The package as the house rules see it: its modules, their syntax trees and their imports."""

import ast
import importlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.support import ROOT

SRC = ROOT / "src"


@dataclass(frozen=True)
class Module:
    name: str
    path: Path
    tree: ast.Module
    lines: int

    @property
    def is_package(self) -> bool:
        return self.path.name == "__init__.py"

    @property
    def place(self) -> str:
        """The file as it is written in a message: `proctor/data/item.py`."""
        return self.path.relative_to(SRC).as_posix()


@dataclass(frozen=True)
class Import:
    """One imported thing: `import module`, or `from module import name`."""

    module: str
    name: str | None
    line: int
    in_function: bool
    for_types: bool


@cache
def modules() -> dict[str, Module]:
    found = {}
    for path in sorted(SRC.rglob("*.py")):
        parts = path.relative_to(SRC).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        text = path.read_text(encoding="utf-8")
        found[name] = Module(name, path, ast.parse(text, path), len(text.splitlines()))
    return found


@cache
def imports(name: str) -> tuple[Import, ...]:
    """Everything that the module imports, wherever it stands."""
    return tuple(_imports(modules()[name], modules()[name].tree, in_function=False, for_types=False))


def _imports(module: Module, node: ast.AST, *, in_function: bool, for_types: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield Import(alias.name, None, child.lineno, in_function, for_types)
        elif isinstance(child, ast.ImportFrom):
            for alias in child.names:
                yield Import(_absolute(module, child), alias.name, child.lineno, in_function, for_types)
        elif is_type_checking(child):
            for statement in child.body:
                wrapped = ast.Module([statement], [])
                yield from _imports(module, wrapped, in_function=in_function, for_types=True)
            for statement in child.orelse:
                wrapped = ast.Module([statement], [])
                yield from _imports(module, wrapped, in_function=in_function, for_types=for_types)
        else:
            inside = in_function or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from _imports(module, child, in_function=inside, for_types=for_types)


def is_type_checking(node: ast.AST) -> bool:
    """Whether this is an `if TYPE_CHECKING:` statement."""
    return isinstance(node, ast.If) and ast.unparse(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}


def _absolute(module: Module, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    package = module.name.split(".") if module.is_package else module.name.split(".")[:-1]
    base = package[: len(package) - node.level + 1]
    return ".".join([*base, node.module] if node.module else base)


def targets(imported: Import) -> str | None:
    """The module of ours that the import reaches: the name itself where that is a module. None for foreign ones."""
    whole = f"{imported.module}.{imported.name}"
    if imported.name and whole in modules():
        return whole
    return imported.module if imported.module in modules() else None


@cache
def promised() -> dict[str, Any]:
    """Every object of ours that an `__all__` names, under `module:name`."""
    found: dict[str, Any] = {}
    for name in modules():
        loaded = importlib.import_module(name)
        for public in getattr(loaded, "__all__", ()):
            thing = getattr(loaded, public, None)
            if str(getattr(thing, "__module__", "")).split(".")[0] == "proctor":
                found.setdefault(f"{thing.__module__}:{getattr(thing, '__qualname__', public)}", thing)
    return found


def none_of(offences: Iterable[str]) -> None:
    """Fail with one line for each offence."""
    lines = list(offences)
    if lines:
        pytest.fail("\n".join(["against the rules of the house:", *lines]), pytrace=False)
