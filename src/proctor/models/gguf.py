"""The head of a GGUF file: what a model says of itself, read without loading it."""

from __future__ import annotations

from pathlib import Path
from struct import calcsize, unpack
from typing import Any, BinaryIO, Final

from proctor.errors import UsageError

__all__ = ["context_length"]

_NUMBERS: Final = ("B", "b", "H", "h", "I", "i", "f", "?", "", "", "Q", "q", "d")  # by the type's number in the file
_TEXT, _LIST = 8, 9


def context_length(path: Path) -> int | None:
    """The tokens that the model was made for; None when it does not say. Raises `UsageError` for another kind of file.

    It stands near the beginning, before the vocabulary, which is long.
    """
    with path.open("rb") as file:
        try:
            if file.read(4) != b"GGUF":
                raise UsageError(f"{path} is no GGUF file: local models are files of llama.cpp's format")
            _, _, entries = _read(file, "I"), _read(file, "Q"), _read(file, "Q")
            for _ in range(min(entries, 10_000)):
                key, value = _text(file), _value(file, _read(file, "I"))
                if key.endswith(".context_length") and isinstance(value, int):
                    return value
        except (EOFError, IndexError, UnicodeDecodeError) as error:
            raise UsageError(f"{path} is a GGUF file that is damaged or cut") from error
    return None


def _value(file: BinaryIO, kind: int) -> Any:
    if kind == _TEXT:
        return _text(file)
    if kind == _LIST:
        inner, count = _read(file, "I"), _read(file, "Q")
        for _ in range(count):
            _value(file, inner)
        return None
    return _read(file, _NUMBERS[kind])


def _text(file: BinaryIO) -> str:
    return _bytes(file, _read(file, "Q")).decode()


def _read(file: BinaryIO, form: str) -> Any:
    return unpack(f"<{form}", _bytes(file, calcsize(f"<{form}")))[0]


def _bytes(file: BinaryIO, count: int) -> bytes:
    if count > 1 << 24 or len(read := file.read(count)) < count:
        raise EOFError
    return read
