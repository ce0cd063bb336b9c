"""What a step's `create` gave, as the parts of one message: text and files."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from numbers import Number
from os import PathLike
from typing import Any

from proctor.data.message import File, Text
from proctor.data.value import MISSING, shown
from proctor.errors import ModelError, UsageError
from proctor.judging.material import refuse_misgiven
from proctor.judging.model import JudgeModel
from proctor.judging.readable import is_opaque, readable

__all__ = ["prompt_parts", "refuse_files"]


def prompt_parts(given: Any) -> list[File | Text]:
    """What `create` gave as parts of one message: text, files, or a list of both; anything else as readable text.

    Raises `UsageError` for what nobody means to send: a function that was not called, a run, a number, a path.
    """
    parts: list[File | Text]
    _refuse_misgiven(given)
    if isinstance(given, str):
        parts = [Text(given)]
    elif isinstance(given, File | Text):
        parts = [given]
    elif isinstance(given, list | tuple) and any(isinstance(part, File | Text) for part in given):
        parts = [part if isinstance(part, File | Text) else Text(readable(part)) for part in given]
    elif given is None or given is MISSING:
        raise UsageError("create= gave no prompt; it must return the text that the judge is to read")
    else:
        parts = [Text(readable(given))] if not isinstance(given, Sized) or len(given) else []
    if not any(isinstance(part, File) or part.text.strip() for part in parts):
        raise UsageError("create= gave an empty prompt; it must return the text that the judge is to read")
    return parts


def _refuse_misgiven(given: Any) -> None:
    if isinstance(given, Number):
        raise UsageError(f"create= gave {shown(given)}, not a prompt; it must return what the judge is to read")
    in_list = isinstance(given, list | tuple)
    for at, part in enumerate(given if in_list else [given]):
        if part is None or part is MISSING or isinstance(part, str | File | Text):
            continue
        said = f"create= gave a list with [{at}]" if in_list else "create= gave"
        refuse_misgiven(part, said=said)
        if isinstance(part, PathLike):
            raise UsageError(
                f"{said} {shown(part)}, a path and not what is in it: give its text, or "
                "File(path.read_bytes(), 'image/png')"
            )
        if is_opaque(part):
            raise UsageError(f"{said} {shown(part)}, not a prompt; it must return what the judge is to read")


def refuse_files(parts: Sequence[File | Text], model: JudgeModel) -> None:
    """Raise a `ModelError` for a file of a kind that the model does not take, before it is asked."""
    for part in parts:
        if isinstance(part, File):
            kind = (part.media_type or "").partition("/")[0]
            kind = kind if kind in {"image", "audio", "video"} else "document"
            if kind not in model.accepts:
                takes = f"it takes {', '.join(sorted(model.accepts))}" if model.accepts else "it takes text only"
                what = f"{part.name or kind} ({part.media_type or 'of unknown type'})"
                raise ModelError(f"{model.id} cannot be shown {what}: {takes}", kind="rejected")
