"""The examples of README.md and docs: Python and console blocks.

A document's blocks share one namespace and one folder, empty but for the checkout's `examples`. A Python block may
`await`. In a console block each `$ proctor ...` command is run and its output compared, line by line; the name of a run
stands for any other. Other commands are left alone:

    ```console
    $ proctor run examples/refunds.py
    ...                                    any lines; within a line, any text
    exit code: 1                           expected when it is not 0
    ```

`<!-- skip: next "reason" -->` before a block leaves it out.
"""

import ast
import asyncio
import inspect
import os
import re
import shlex
import subprocess
import sys
from contextlib import chdir
from doctest import ELLIPSIS
from pathlib import Path
from tempfile import TemporaryDirectory

from sybil import Document, Example
from sybil.evaluators.doctest import DocTestEvaluator
from sybil.parsers.abstract.doctest import DocTestStringParser
from sybil.parsers.markdown import CodeBlockParser

from proctor.storage.names import FIRST, SECOND
from tests.support import ROOT

COMMAND_S = 120
NAME = re.compile(rf"\b(?:{'|'.join(FIRST)})-(?:{'|'.join(SECOND)})-\d+\b")
"""What a run is called."""


class PythonBlocks(CodeBlockParser):
    """Python blocks: statements, which may `await`, or `>>>` examples."""

    language = "python"

    def __call__(self, document: Document):
        prompts = DocTestStringParser(DocTestEvaluator(ELLIPSIS))
        for block in super().__call__(document):
            if block.parsed.startswith(">>>"):
                for example in prompts(block.parsed, document.path):
                    example.adjust(block, block.parsed)
                    yield example
            else:
                yield block

    def evaluate(self, example: Example) -> None:
        __tracebackhide__ = True
        source = "\n" * (example.line + example.parsed.line_offset) + example.parsed
        code = compile(source, example.path, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        example.namespace.setdefault("__name__", "__document__")
        with chdir(folder_of(example)):
            ended = eval(code, example.namespace)
            if inspect.iscoroutine(ended):
                asyncio.run(ended)


class ConsoleBlocks(CodeBlockParser):
    """Console blocks: `$ proctor ...` with what it prints."""

    language = "console"

    def evaluate(self, example: Example) -> str | None:
        for command, expected in commands(example.parsed):
            if command.split()[0] != "proctor":
                continue
            printed = run(command, folder_of(example))
            if not matches(expected, printed):
                return f"$ {command}\n--- expected\n{expected}\n--- printed\n{printed}\n"
        return None


def commands(block: str) -> list[tuple[str, str]]:
    """The commands of a console block, each with the text below it."""
    parts = re.split(r"^\$ ", block.replace("\\\n", ""), flags=re.MULTILINE)[1:]
    return [(command, expected.rstrip()) for command, _, expected in (part.partition("\n") for part in parts)]


def folder_of(example: Example) -> Path:
    """The folder of the document's examples, made by the first of them."""
    folder = example.namespace.get("__folder__")
    if folder is None:
        folder = example.namespace["__folder__"] = TemporaryDirectory(prefix="document-")
        (Path(folder.name) / "examples").symlink_to(ROOT / "examples")
    return Path(folder.name)


def run(command: str, folder: Path = ROOT) -> str:
    """What the command prints on both streams, with `exit code: N` as its last line when N is not 0."""
    proctor = Path(sys.executable).with_name("proctor")
    settings = {name: value for name, value in os.environ.items() if name != "PROCTOR_STORE"}
    ended = subprocess.run(
        [proctor, *shlex.split(command)[1:]],
        cwd=folder,
        env=settings | {"NO_COLOR": "1", "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=COMMAND_S,
        check=False,
    )
    lines = [line.rstrip() for line in ended.stdout.rstrip().splitlines()]
    return "\n".join([*lines, f"exit code: {ended.returncode}"] if ended.returncode else lines)


def matches(expected: str, printed: str) -> bool:
    """Whether what was printed is what was expected, `...` standing for anything."""
    printed = NAME.sub("a-run", printed)
    pattern = ""
    for line in NAME.sub("a-run", expected).splitlines():
        if line.strip() == "...":
            pattern += r"(?:[^\n]*\n)*?"
        else:
            pattern += re.escape(line.rstrip()).replace(r"\.\.\.", r"[^\n]*?") + r"\n"
    return re.fullmatch(pattern, printed + "\n" if printed else "") is not None
