"""Runs the examples of docstrings and documents as tests."""

from doctest import ELLIPSIS

from sybil import Sybil
from sybil.document import PythonDocStringDocument
from sybil.parsers.markdown import SkipParser
from sybil.parsers.rest import DocTestParser

from tests.documents import ConsoleBlocks, PythonBlocks

docstrings = Sybil(
    name="docstring",
    path="src",
    pattern="*.py",
    parsers=[DocTestParser(ELLIPSIS)],
    document_types={".py": PythonDocStringDocument},
)
documents = Sybil(
    name="document",
    pattern="*.md",
    excludes=["tests/*"],
    parsers=[PythonBlocks(), ConsoleBlocks(), SkipParser()],
)

pytest_collect_file = (docstrings + documents).pytest()
