"""An eval file: Python whose module-level `Eval(...)` objects are to be run.

It is loaded as Python loads a script: its folder comes first among the places to import from, and stays there, since
the file's functions may import later. The folder one stands in comes last. No bytecode is read or written, so what
runs is what is on the disk; `__name__` is not `__main__`.
"""

from __future__ import annotations

import os
import re
import sys
import sysconfig
import traceback
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from proctor.errors import UnknownName, UsageError
from proctor.running.eval import Eval

__all__ = ["find_evals", "load_evals", "load_file", "load_sources"]

_HOW = """\
Write one at module level:

  from proctor import Eval, checks

  greeting = Eval(data=[{"input": "Hello"}], target=my_function, scorers=[checks.includes("hello")])"""


def load_evals(place: str) -> list[Eval]:
    """The evaluations of `FILE.py`, in the order of the file, or the one that `FILE.py::name` names.

    An Eval without a name gets that of its variable. Raises `UsageError` for a file that cannot be loaded or has none.
    """
    return list(load_sources(place).values())


def load_sources(place: str) -> dict[str, Eval]:
    """The same, each under the place that means it alone wherever one stands: `/folder/FILE.py::variable`."""
    file, _, name = (place, "", "") if Path(place).exists() else place.partition("::")
    if "::" in place and not name and not Path(place).exists():
        raise UsageError(f"{place!r}: say which one after ::, or leave :: out to run them all")
    evals = find_evals(load_file(Path(file)))
    if not evals:
        raise UsageError(f"{file} has no Eval to run. {_HOW}")
    whole = Path(file).absolute()
    chosen = [_chosen(evals, name, file)] if name else list(evals)
    return {f"{whole}::{variable}": evals[variable] for variable in chosen}


def find_evals(module: ModuleType) -> dict[str, Eval]:
    """The Evals of a module by variable, each once, in the order of definition; an unnamed one is named after it."""
    found: dict[str, Eval] = {}
    seen: set[int] = set()
    for variable, value in vars(module).items():
        if isinstance(value, Eval) and id(value) not in seen:
            seen.add(id(value))
            found[variable] = value if value.name else replace(value, name=variable)
    return found


def load_file(path: Path) -> ModuleType:
    """The file as a module. Raises `UsageError` with the user's own lines of the traceback when it does not load."""
    if not path.exists():
        raise UsageError(f"there is no file {str(path)!r} (looked in {Path.cwd()})")
    if path.suffix != ".py" or not path.is_file():
        raise UsageError(f"{str(path)!r} is no Python file: proctor run takes FILE.py or FILE.py::name")
    path = path.resolve()
    name = f"proctor_file_{re.sub(r'[^a-zA-Z0-9]', '_', path.stem)}_{sha256(str(path).encode()).hexdigest()[:8]}"
    loader = _Loader(name, str(path))
    spec = spec_from_file_location(name, path, loader=loader)
    if spec is None:
        raise AssertionError("unreachable")
    module = module_from_spec(spec)
    sys.modules[name] = module  # before it runs: dataclasses and pickle look their module up
    _make_importable(path.parent)
    try:
        loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, KeyboardInterrupt):
            raise
        _refuse(path, error)
    return module


class _Loader(SourceFileLoader):
    """Loads from the source alone: a file saved twice within a second would be taken for its old bytecode."""

    def path_stats(self, path: Any) -> NoReturn:
        raise OSError("no bytecode")


def _make_importable(folder: Path) -> None:
    if sys.path[:1] != [str(folder)]:
        sys.path.insert(0, str(folder))
    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))


def _chosen(evals: dict[str, Eval], name: str, file: str) -> str:
    """The variable of the Eval that a name means."""
    if name in evals:
        return name
    named = [variable for variable, evaluation in evals.items() if evaluation.name == name]
    if len(named) > 1:
        raise UsageError(f"{file}: {len(named)} Evals are named {name!r}; use a variable: {', '.join(named)}")
    if not named:
        names = dict.fromkeys([*evals, *(evaluation.name or "" for evaluation in evals.values())])
        raise UnknownName("Eval", name, names, hint=f"(Looked in {file}.)")
    return named[0]


def _refuse(path: Path, error: BaseException) -> NoReturn:
    if isinstance(error, SystemExit):
        raise UsageError(
            f"{path.name} ended the program (SystemExit: {error.code}) while it was loaded; "
            'keep what runs it under if __name__ == "__main__":'
        ) from error
    told = traceback.TracebackException.from_exception(error)
    others = _folders_of_others()
    for part in _chain(told):
        part.stack = traceback.StackSummary.from_list(
            frame for frame in part.stack if not frame.filename.startswith(others)
        )
    raise UsageError(f"{path.name} cannot be loaded:\n\n{''.join(told.format()).rstrip()}") from error


def _chain(told: traceback.TracebackException | None) -> Iterator[traceback.TracebackException]:
    while told is not None:
        yield told
        told = told.__cause__ or told.__context__


def _folders_of_others() -> tuple[str, ...]:
    """Where code lies that the user did not write: ours, Python's, installed packages'."""
    paths = sysconfig.get_paths()
    folders = [
        str(Path(__file__).parents[1]),
        *(paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")),
    ]
    return ("<frozen ", *(f"{folder}{os.sep}" for folder in folders))
