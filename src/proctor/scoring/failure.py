"""Exceptions as data."""

from __future__ import annotations

from collections.abc import Sequence

from proctor.data.outcome import Failure
from proctor.errors import ProctorError, safe_message
from proctor.plugins import import_object

__all__ = ["failure_from"]

_FRAMES = 12
_CHARACTERS = 6000


def failure_from(
    error: BaseException,
    *,
    code: str | None = None,
    step: str | None = None,
    completed_steps: Sequence[str] = (),
    message: str | None = None,
) -> Failure:
    """What *error* was, as a value, without secrets that it quotes. *code*: for errors that have none of their own.

    *message*: what says it better than the error does.
    """
    redact_text = import_object("proctor.data.secrets:redact_text")  # when something fails: not at every import
    return Failure(
        type=type(error).__name__,
        message=redact_text(message or safe_message(error)),
        code=error.code if isinstance(error, ProctorError) else code,
        step=step,
        completed_steps=tuple(completed_steps),
        traceback=None if (shown := _traceback(error)) is None else redact_text(shown)[-_CHARACTERS:],
        place=_place(error),
    )


def _place(error: BaseException) -> str | None:
    """The last line of the user's own code, else of a package's; None when it never left ours."""
    from pathlib import PurePath

    own = others = None
    step = error.__traceback__
    while step is not None:
        module = str(step.tb_frame.f_globals.get("__name__"))
        if module.partition(".")[0] != "proctor":
            file = step.tb_frame.f_code.co_filename
            others = f"{PurePath(file).name}:{step.tb_lineno}"
            own = own if _is_installed(file) else others
        step = step.tb_next
    return own or others


def _is_installed(file: str) -> bool:
    """Whether a file is Python's own or an installed package's."""
    import os

    return file.startswith(("<frozen ", os.path.dirname(os.__file__))) or "site-packages" in file  # noqa: PTH120


def _traceback(error: BaseException) -> str | None:
    import traceback

    try:
        lines = traceback.format_exception(error, limit=-_FRAMES)
    except Exception:  # noqa: BLE001 - a user's exception may not even be printable
        return None
    return "".join(lines)
