r"""Settings for the environment: one `KEY=value` a line, UTF-8.

    # a comment, and empty lines
    export OPENAI_API_KEY=sk-...       # `export` may stand there; a # after a space begins a comment
    GREETING="two words\n"             # in double quotes \n \r \t \" \\ and \$ are escapes
    PATTERN='as it stands: \d+ $x'     # in single quotes nothing is

Nothing is expanded: `$x` stays. Values are often secrets, so no message shows one.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from proctor.errors import DataErrors, UsageError

__all__ = ["load_env", "read_env"]

_LINE = re.compile(r"(?:export\s+)?([^\s=]+)\s*=\s*(.*)", re.DOTALL)
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SINGLE = re.compile(r"'([^']*)'(.*)", re.DOTALL)
_DOUBLE = re.compile(r'"((?:[^"\\]|\\.)*)"(.*)', re.DOTALL)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "$": "$"}


def load_env(path: Path) -> None:
    """Put the settings of a file into the environment. What is set there already stays, empty or not."""
    for key, value in read_env(path).items():
        os.environ.setdefault(key, value)


def read_env(path: Path) -> dict[str, str]:
    """The settings of a file. Raises `DataErrors` that names every line that cannot be used."""
    try:
        lines = re.split(r"\r\n|\r|\n", path.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        raise UsageError(f"there is no file {str(path)!r} (looked in {Path.cwd()})") from None
    except OSError as problem:
        raise UsageError(f"{str(path)!r} cannot be read: {problem.strerror}") from problem
    except UnicodeDecodeError as problem:
        raise UsageError(f"{path} is not UTF-8 (byte {problem.start + 1}); save it as UTF-8") from None
    settings: dict[str, str] = {}
    seen: dict[str, int] = {}
    problems: list[str] = []
    for number, line in enumerate(lines, start=1):
        try:
            setting = _setting(line.strip())
            if setting is None:
                continue
            key, value = setting
            if key in seen:
                raise UsageError(f"{key} is set already, on line {seen[key]}")
            seen[key], settings[key] = number, value
        except UsageError as problem:
            problems.append(f"line {number}: {problem}")
    if problems:
        raise DataErrors(str(path), problems)
    return settings


def _setting(line: str) -> tuple[str, str] | None:
    if not line or line.startswith("#"):
        return None
    parts = _LINE.fullmatch(line)
    if parts is None:
        raise UsageError("a setting is written KEY=value")
    key, rest = parts.groups()
    if not _KEY.fullmatch(key):
        raise UsageError("a key has letters, digits and _, and begins with no digit: KEY=value")
    value = _value(key, rest)
    if "\0" in value:
        raise UsageError(f"the value of {key} has a NUL character")
    return key, value


def _value(key: str, rest: str) -> str:
    if not rest.startswith(("'", '"')):
        return re.split(r"(?:^|\s+)#", rest, maxsplit=1)[0]
    quoted = (_SINGLE if rest[0] == "'" else _DOUBLE).fullmatch(rest)
    if quoted is None:
        raise UsageError(f"the quote of {key} is not closed on its line (a line end is written \\n in double quotes)")
    value, after = quoted.groups()
    if after and not re.match(r"\s*(?:#|$)", after):
        raise UsageError(f"there is something behind the closing quote of {key}")
    return value if rest[0] == "'" else re.sub(r"\\(.)", lambda escape: _unescaped(key, escape[1]), value)


def _unescaped(key: str, char: str) -> str:
    if char not in _ESCAPES:
        raise UsageError(rf"the value of {key} has a \ that is no escape: write \\, or use single quotes")
    return _ESCAPES[char]
