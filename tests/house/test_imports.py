"""Who may import what. The floors themselves are a contract in pyproject.toml, held by lint-imports.

Here `it` is a module and one import that stands in it.
"""

import graphlib
from collections.abc import Iterator

import pytest

from tests.house.source import Import, Module, imports, modules, none_of, targets

# The floors below running's adapters: they load nothing heavy when they are imported.
LIGHT = (
    "bridge",
    "checks",
    "data",
    "errors",
    "judging",
    "plugins",
    "running",
    "scorer_utils",
    "scorers",
    "scoring",
    "stats",
)
HEAVY = {
    "numpy", "opentelemetry", "pydantic", "pydantic_ai", "ray", "rich", "scipy", "sqlalchemy", "starlette", "typer",
    "genai_prices", "httpx2", "onnxruntime", "openai", "tokenizers", "xllamacpp",
    "jsonschema", "rapidfuzz", "referencing", "regex", "vaderSentiment", "wcwidth", "yaml",
}  # fmt: skip

# The ground: values and numbers. No I/O, no clock, no threads, no chance.
NOT_ON_THE_GROUND = {"asyncio", "logging", "os", "random", "socket", "threading", "time"}

# Looking a thing up by name is the purpose of these.
LAZY = {"proctor", "proctor.plugins", "proctor.cli.main"}


def test_the_lower_floors_load_no_heavy_library():
    none_of(written(*it) for it in everything() if floor(it[0]) in LIGHT and at_the_top(it[1]) and root(it[1]) in HEAVY)


def test_data_touches_neither_clock_nor_loop_nor_system():
    none_of(
        written(*it) for it in everything() if floor(it[0]) in ("data", "stats") and root(it[1]) in NOT_ON_THE_GROUND
    )


def test_our_own_modules_are_imported_at_the_top():
    none_of(written(*it) for it in everything() if it[0].name not in LAZY and it[1].in_function and is_ours(it[1]))


def test_everything_is_imported_from_the_file_that_defines_it():
    """A door (a package's `__init__`) is for those outside; inside it would hide where things are, and make cycles."""
    none_of(written(*it) for it in everything() if it[0].name not in LAZY and through_a_door(it[1]))


def test_an_import_of_ours_exists():
    none_of(written(*it) for it in everything() if is_ours(it[1]) and targets(it[1]) is None)


def test_modules_do_not_import_each_other_in_a_circle():
    graph = {name: {targets(it) for it in imports(name) if at_the_top(it)} - {None, name} for name in modules()}
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        pytest.fail("imported in a circle: " + " <- ".join(error.args[1]), pytrace=False)


def everything() -> Iterator[tuple[Module, Import]]:
    """Every import of the package, with the module that it stands in."""
    for module in modules().values():
        for imported in imports(module.name):
            yield module, imported


def written(module: Module, imported: Import) -> str:
    what = f"from {imported.module} import {imported.name}" if imported.name else f"import {imported.module}"
    return f"{module.place}:{imported.line}: {what}"


def floor(module: Module) -> str:
    return module.name.split(".")[1] if "." in module.name else ""


def root(imported: Import) -> str:
    return imported.module.split(".")[0]


def at_the_top(imported: Import) -> bool:
    """Whether it happens when the module is imported."""
    return not imported.in_function and not imported.for_types


def is_ours(imported: Import) -> bool:
    return root(imported) == "proctor"


def through_a_door(imported: Import) -> bool:
    reached = modules().get(targets(imported) or "")
    return reached is not None and reached.is_package and not is_defined_in(reached, imported.name)


def is_defined_in(package: Module, name: str | None) -> bool:
    """Whether the package's `__init__` defines the name itself, so that it is the defining file."""
    defined = {getattr(node, "name", None) for node in package.tree.body}
    for node in package.tree.body:
        for target in [*getattr(node, "targets", ()), getattr(node, "target", None)]:
            defined.add(getattr(target, "id", None))
    return name is not None and name in defined
