"""The prompts of judged scorers: a file of Markdown beside each, a section for the instructions and for each step."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from proctor.data.value import shown
from proctor.errors import UnknownName, UsageError
from proctor.scoring.steps import STEP_NAMES

__all__ = ["INSTRUCTIONS", "wording_of"]

INSTRUCTIONS: Final = "instructions"
_HEADING: Final = re.compile(rf"^## ({'|'.join((INSTRUCTIONS, *STEP_NAMES))})[ \t]*\n", re.MULTILINE)


def wording_of(file: str, *, over: Any = None, scorer: str) -> Mapping[str, str]:
    """The texts by their section, of the Markdown beside *file*; those of *over*, by the same names, win.

    Raises `UsageError` for an *over* that is no mapping of texts, or names a section that is not there.
    """
    own = _sections(Path(file).with_suffix(".md"))
    if over is None:
        return own
    if not isinstance(over, Mapping):
        raise UsageError(f"{scorer}: prompts= is a mapping from {', '.join(own)} to texts, not {shown(over)}")
    for name, text in over.items():
        if name not in own:
            raise UnknownName(f"prompt of {scorer}", str(name), list(own))
        if not isinstance(text, str) or not text.strip():
            raise UsageError(f"{scorer}: prompts[{name!r}] is a text that is not empty, not {shown(text)}")
    return {**own, **over}


@cache
def _sections(path: Path) -> Mapping[str, str]:
    pieces = _HEADING.split(path.read_text(encoding="utf-8"))
    return {name: text.strip() for name, text in zip(pieces[1::2], pieces[2::2], strict=True)}
