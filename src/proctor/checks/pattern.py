"""Regular expressions that cannot hang a run: the `regex` package in `re`'s syntax (V0), with a time limit."""

from __future__ import annotations

import re
from typing import Any

from proctor.errors import ProctorError, UsageError, cut

__all__ = ["PatternTimeout", "TimedPattern", "compile_pattern"]

_SECONDS = 1.0
_QUICK_SECONDS = 0.02  # as long as an event loop may be held
_LETTERS = "imsxa"


class PatternTimeout(ProctorError):
    """A pattern was still searching after its time; it backtracks too much on this text."""

    code = "TIMEOUT"


class TimedPattern:
    """A compiled pattern. *pattern*: its source; *flag_letters*: its flags as in `(?i)`; *shown*: both, for people."""

    __slots__ = ("_compiled", "flag_letters", "pattern", "shown")

    def __init__(self, pattern: str, flag_letters: str, *, check: str = "matches") -> None:
        import regex

        self.pattern = pattern
        self.flag_letters = flag_letters
        self.shown = (f"(?{flag_letters})" if flag_letters else "") + pattern
        flags = regex.V0
        for letter in flag_letters:
            flags |= getattr(regex, letter.upper())
        try:
            self._compiled = regex.compile(pattern, flags)
        except (regex.error, ValueError, RecursionError) as problem:
            raise UsageError(f"{check}: {cut(pattern)!r} is no regular expression: {problem}") from None

    def find(self, text: str, *, whole: bool, quickly: bool = False) -> tuple[int, int] | None:
        """Where the first match is, or None. Raises `PatternTimeout` after one second.

        *quickly*: after 20 milliseconds; without it other threads may run while it searches.
        """
        search = self._compiled.fullmatch if whole else self._compiled.search
        seconds = _QUICK_SECONDS if quickly else _SECONDS
        try:
            found = search(text, timeout=seconds, concurrent=not quickly)
        except TimeoutError:
            what = f"{self.shown} was still searching {len(text)} characters after {seconds:g} s"
            raise PatternTimeout(what) from None
        return found.span() if found else None


def compile_pattern(pattern: Any) -> TimedPattern:
    """A pattern from text or a compiled `re` (or `regex`) pattern. Raises `UsageError` for anything else."""
    source = getattr(pattern, "pattern", pattern)
    if not isinstance(source, str):
        raise UsageError(f"matches: pattern must be text or re.compile(text), not {pattern!r}")
    if not source:
        raise UsageError("matches: the pattern is empty, which every answer matches; say what to look for")
    return TimedPattern(source, _flag_letters(pattern))


def _flag_letters(pattern: Any) -> str:
    """The flags as in `(?im)`. The two packages do not give every flag the same bit."""
    import regex

    package = regex if isinstance(pattern, regex.Pattern) else re
    flags = getattr(pattern, "flags", 0)
    return "".join(letter for letter in _LETTERS if flags & getattr(package, letter.upper()))
