"""The shape of files, functions and of what is promised."""

import ast
import dataclasses
import importlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.house.source import Module, is_type_checking, modules, none_of, promised

LINES_AT_MOST = 500
LINES_WITHOUT_A_REASON = 300
FUNCTION_LINES = 80
POSITIONAL = 2
SENTENCE_WORDS = 5

# Files over 300 lines, each with its reason: {"proctor/data/codec.py": "..."}
LONG_FILES: dict[str, str] = {}
# Functions with more positional parameters, each with its reason: {"proctor.stats.rates:wilson": "..."}
MANY_POSITIONAL: dict[str, str] = {}


def test_files_are_short():
    none_of(f"{m.place}: {m.lines} lines" for m in all_modules() if m.lines > most_lines(m))


def test_the_list_of_long_files_is_true():
    lines = {module.place: module.lines for module in all_modules()}
    none_of(f"{place} is not long" for place in LONG_FILES if lines.get(place, 0) <= LINES_WITHOUT_A_REASON)


def test_functions_are_short():
    none_of(
        f"{module.place}:{node.lineno}: {node.name} has {length} lines"
        for module in all_modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (length := (node.end_lineno or 0) - node.lineno + 1) > FUNCTION_LINES
    )


def test_every_door_states_its_rule():
    """A package's docstring says what the package is for and what its floor may do: a sentence or more."""
    none_of(m.place for m in doors() if len((ast.get_docstring(m.tree) or "").split()) < SENTENCE_WORDS)


def test_every_door_says_what_it_promises():
    """`__all__` names each thing once, and each is there. Its order is ruff's (RUF022)."""
    wrong = []
    for module in doors():
        door = importlib.import_module(module.name)
        names = getattr(door, "__all__", None)
        if names is None:
            wrong.append(f"{module.place}: no __all__")
        elif len(set(names)) < len(names):
            wrong.append(f"{module.place}: a name stands twice in __all__")
        else:
            wrong += [f"{module.place}: {name} is promised and not there" for name in names if not hasattr(door, name)]
    none_of(wrong)


def test_the_front_door_is_the_same_for_type_checkers():
    """The names that the lazy door gives are those that a type checker sees under TYPE_CHECKING."""
    front = modules()["proctor"].tree
    seen = {
        alias.asname or alias.name
        for block in ast.walk(front)
        if is_type_checking(block)
        for node in block.body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    given = {name for name in importlib.import_module("proctor").__all__ if not name.startswith("__")}
    assert seen == given


def test_the_front_door_has_no_other_names():
    with pytest.raises(AttributeError):
        importlib.import_module("proctor").no_such_name  # noqa: B018


def test_what_is_promised_is_documented():
    things = {name: it for name, it in promised().items() if inspect.isclass(it) or inspect.isroutine(it)}
    none_of(name for name, it in {**things, **methods()}.items() if not own_doc(it))


def test_values_are_frozen_and_slotted():
    values = {name: it for name, it in classes().items() if dataclasses.is_dataclass(it)}
    none_of(
        name
        for name, it in values.items()
        if not issubclass(it, BaseException) and not (it.__dataclass_params__.frozen and "__slots__" in vars(it))
    )


def test_two_positional_arguments_at_most():
    none_of(
        f"{name}({', '.join(parameter.name for parameter in positional)}, ...)"
        for name, positional in signatures()
        if len(positional) > POSITIONAL and name not in MANY_POSITIONAL
    )


def test_no_flag_is_positional():
    """`sort(items, True)` says nothing to its reader."""
    none_of(
        f"{name}: {parameter.name}"
        for name, positional in signatures()
        for parameter in positional
        if parameter.annotation in {bool, "bool"} or isinstance(parameter.default, bool)
    )


def all_modules() -> list[Module]:
    return list(modules().values())


def doors() -> list[Module]:
    return [module for module in all_modules() if module.is_package]


def most_lines(module: Module) -> int:
    return LINES_AT_MOST if module.place in LONG_FILES else LINES_WITHOUT_A_REASON


def classes() -> dict[str, type]:
    return {name: it for name, it in promised().items() if inspect.isclass(it)}


def methods() -> dict[str, Any]:
    """Public methods and properties of the promised classes, as they stand in the class."""
    kinds = classmethod | staticmethod | property
    return {
        f"{name}.{attribute}": value
        for name, cls in classes().items()
        for attribute, value in vars(cls).items()
        if not attribute.startswith("_") and (isinstance(value, kinds) or inspect.isfunction(value))
    }


def own_doc(thing: Any) -> str | None:
    """The docstring; not the one that `dataclass` makes of the fields."""
    doc = inspect.getdoc(thing)
    made = doc is not None and inspect.isclass(thing) and doc.startswith(f"{thing.__name__}(")
    return None if made else doc


def signatures() -> Iterator[tuple[str, list[inspect.Parameter]]]:
    """Each promised function and method with its positional parameters, `self` left out."""
    for name, it in promised().items():
        if inspect.isfunction(it):
            yield name, positional(it)
    for name, method in methods().items():
        if isinstance(method, staticmethod):
            yield name, positional(method.__func__)
        elif isinstance(method, classmethod):
            yield name, positional(method.__func__)[1:]
        elif inspect.isfunction(method):
            yield name, positional(method)[1:]


def positional(function: Callable[..., Any]) -> list[inspect.Parameter]:
    kinds = {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD}
    return [parameter for parameter in inspect.signature(function).parameters.values() if parameter.kind in kinds]
