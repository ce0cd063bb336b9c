"""Secrets within texts, and which keys say that a secret stands under them.

Most texts hold none, and are looked at only for some short words (hints) and for what a key must have: many letters and
digits in a row. Only what has one of them is searched.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from proctor.data.secret_rules import DEFAULT_RULES, Rule

__all__ = ["MARK", "Finder", "SecretTexts"]

MARK = "[secret removed: "
_LONGEST_KEY = 80
_REMEMBERED = 4096  # keys, and texts
_SHORT = 64  # such texts are remembered

# Hints of our rules that ordinary JSON holds too: what must follow, and for an address what must stand around.
_FOLLOWED = {
    "key": r"(?:(?<=[a-z_-]key)(?:(?![a-z])|id)|[a-z ]{0,10}-----)",
    "token": r"(?!s)",
    "auth": r"(?:orization|[^a-z]|$)",
    "pass": r"(?:w|phrase|code)",
    "=": r"(?:(?<=key=)|(?<=sig=)|(?<=signature=)|(?<=pwd=))",
}
_AROUND = {"@": r"://[^\s/@:\"]{0,1200}:[^\s/\"]{1,3000}@"}

# To find many letters and digits in a row: all of them as one character, everything else as another.
_ROW = 20
_IN_A_ROW = bytes(120 if chr(code).isalnum() or chr(code) in "-_+/=" else 32 for code in range(128)) + b" " * 128
_BEFORE = 12  # characters before a row that may belong to it
_CODED = ('"base64"', '"utf32"')

_QUOTE = r"\\{0,4}[\"']"
_QUOTED = r"[bfru]{0,2}(?P<open>" + _QUOTE + r")(?P<secret>(?:(?!(?P=open))(?:\\{1,8}.|[^\\\n])){1,4000})"
_BARE = r"[^\s\"'\\&;,<>(){}\[\]]"
_MIXED = rf"(?:(?={_BARE}{{0,200}}[0-9])(?={_BARE}{{0,200}}[A-Za-z])|(?={_BARE}{{24}}))"
_CODE = r"(?!(?:None|null|true|false|undefined)\b)(?!self\.|os\.|\$[{(A-Z_])(?![A-Za-z_][\w.]{0,80}[(\[])"
_VALUE = (
    rf"(?:(?:{_QUOTE})?[ ]{{0,2}}(?:=>|:=|={{1,2}}|:)[ ]{{0,2}}{_QUOTED}"
    rf"|=(?!=){_CODE}(?P<secret_2>{_BARE}{{2,2000}})"
    rf"|[ ]{{0,2}}[:=][ ]{{1,2}}{_CODE}{_MIXED}(?P<secret_3>{_BARE}{{4,2000}})"
    rf"|:{_MIXED}(?P<secret_4>{_BARE}{{4,2000}})"
    r"|>(?P<secret_5>[^<>\n]{1,2000})</)"
)
_AS_HEADER = rf":[ ]{{0,2}}(?P<secret_6>{_BARE}{{3,2000}})"  # after a name that begins with X-
_AS_ARGUMENT = rf"[ ]{_MIXED}(?P<secret_7>{_BARE}{{4,2000}})"  # after --name


class Finder:
    """A rule, made ready."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.mark = f"{MARK}{rule.name}]"
        self.exact = frozenset(_normal(key) for key in rule.keys if not key.startswith("*"))
        self.endings = tuple(_normal(key) for key in rule.keys if key.startswith("*"))
        words = tuple(max(key.strip("*").split("_"), key=len) for key in rule.keys)
        self.hints = rule.hints or (() if rule.pattern and not rule.begins else words)
        self._seen = (*self.hints, *(begin.lower() for begin in rule.begins))

    def may_find(self, lowered: str) -> bool:
        """Whether a text may hold what it looks for."""
        return not self._seen or any(hint in lowered for hint in self._seen)

    def fits(self, value: str) -> bool:
        """Whether a value under one of its keys is a secret."""
        return self.rule.shape is None or self._shape.fullmatch(value) is not None

    def replaced(self, text: str) -> str:
        """A text with what it finds replaced."""
        if self.rule.pattern is not None:
            text = self._looks.sub(self._removed, text)
        if not self.rule.keys:
            return text
        return self._paired.sub(self._removed, self._named.sub(self._removed, text))

    def _removed(self, found: re.Match[str]) -> str:
        secrets = [name for name, part in found.groupdict().items() if name.startswith("secret") and part]
        if not secrets:
            return self.mark
        whole, part = found[0], found[secrets[0]]
        done = found.string.startswith(MARK, found.start(secrets[0]))
        if done or ("open" in found.re.groupindex and not self.fits(part)):
            return whole
        start, end = (at - found.start() for at in found.span(secrets[0]))
        return f"{whole[:start]}{self.mark}{whole[end:]}"

    @cached_property
    def _named(self) -> re.Pattern[str]:
        names = self._names
        pattern = f"{names}{_VALUE}|(?<=x-){names}{_AS_HEADER}|(?<=-){names}{_AS_ARGUMENT}"
        return re.compile(pattern, re.IGNORECASE)

    @cached_property
    def _paired(self) -> re.Pattern[str]:
        """In the repr or the JSON of a list of pairs: `[('name', 'value'), ...]`."""
        name = rf"(?:(?<=[\[(,])|(?<=, ))[\[(]b?{_QUOTE}[\w-]{{0,40}}?{self._names}{_QUOTE}"
        return re.compile(rf"{name},[ ]?{_QUOTED}", re.IGNORECASE)

    @cached_property
    def _names(self) -> str:
        names = "|".join(
            ("" if key.startswith("*") else "(?<![A-Za-z0-9_-])") + key.strip("*").replace("_", "[_-]?")
            for key in self.rule.keys
        )
        return f"(?:{names})"

    @cached_property
    def _looks(self) -> re.Pattern[str]:
        return re.compile(self.rule.pattern or "")

    @cached_property
    def _shape(self) -> re.Pattern[str]:
        return re.compile(self.rule.shape or "", re.DOTALL)


class SecretTexts:
    """What some rules find in texts, and which of them a key belongs to."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.finders = tuple(map(Finder, rules))
        self._hints, self._with_k = self._looked_for()
        self._begins = [begin for finder in self.finders for begin in finder.rule.begins]
        self._always = any(not finder.hints and not finder.rule.begins for finder in self.finders)
        self._known: dict[str, Finder | None] = {}
        self._harmless: set[str] = set()  # short texts come again and again: ids, words of ours

    def suspicious(self, text: str) -> bool:
        """Whether a text, or the JSON of a value, may hold a secret."""
        if self._always:
            return True
        lowered = text.lower()
        if self._with_k.search(lowered):
            return True
        for hint, more in self._hints:
            if hint in lowered and (more is None or more.search(lowered)):
                return True
        rows = text.encode("utf-8", "replace").translate(_IN_A_ROW)
        return _ROW * b"x" in rows and self._in_a_row(text, rows)

    def _looked_for(self) -> tuple[list[tuple[str, re.Pattern[str] | None]], re.Pattern[str]]:
        """The hints, some with more that must be there; those with a k as one expression, since a k is rare."""
        hints = dict.fromkeys(hint for finder in self.finders for hint in finder.hints)
        others = {hint for finder in self.finders if finder.rule not in DEFAULT_RULES for hint in finder.hints}
        plain: list[tuple[str, re.Pattern[str] | None]] = []
        with_k = []
        for hint in hints:
            more = "" if hint in others else _FOLLOWED.get(hint, "")
            around = None if hint in others else _AROUND.get(hint)
            before, k, after = hint.partition("k")
            if k:
                with_k.append((f"(?<={re.escape(before)}k)" if before else "") + re.escape(after) + more)
            else:
                pattern = around or (re.escape(hint) + more if more else None)
                plain.append((hint, re.compile(pattern) if pattern else None))
        return plain, re.compile(f"k(?:{'|'.join(with_k)})" if with_k else r"(?!)")

    def replaced(self, text: str) -> str:
        """A text with all that is found replaced; the same object when nothing is."""
        if text in self._harmless:
            return text
        if not self.suspicious(text):
            if len(text) <= _SHORT and len(self._harmless) < _REMEMBERED:
                self._harmless.add(text)
            return text
        lowered, made = text.lower(), text
        for finder in self.finders:
            if finder.may_find(lowered):
                made = finder.replaced(made)
        return text if made == text else made

    def under(self, key: str) -> Finder | None:
        """The rule that says what stands under this key."""
        try:
            return self._known[key]
        except KeyError:
            found = self._of_key(key)
            if len(self._known) < _REMEMBERED:
                self._known[key] = found
            return found

    def _of_key(self, key: str) -> Finder | None:
        if len(key) > _LONGEST_KEY:
            return None
        name = _normal(key)
        return next((one for one in self.finders if name in one.exact or name.endswith(one.endings)), None)

    def _in_a_row(self, text: str, rows: bytes) -> bool:
        """Whether a row of letters and digits may be a key by its beginning, or is text or bytes in another form."""
        if not text.isascii():
            text = text.encode("utf-8", "replace").decode("latin-1")  # a character for each byte
        at = rows.find(_ROW * b"x")
        while at >= 0:
            end = rows.find(b" ", at)
            end = len(rows) if end < 0 else end
            around = text[max(at - _BEFORE, 0) : end]
            if _CODED[0] in around or _CODED[1] in around or self._beginning.search(around):
                return True
            at = rows.find(_ROW * b"x", end)
        return False

    @cached_property
    def _beginning(self) -> re.Pattern[str]:
        by_first: dict[str, list[str]] = {}  # so that one look at a character decides for most
        for begin in self._begins:
            by_first.setdefault(re.escape(begin[0]), []).append(re.escape(begin[1:]))
        return re.compile("|".join(f"{first}(?:{'|'.join(rest)})" for first, rest in by_first.items()) or r"(?!)")


def _normal(key: str) -> str:
    """The letters and digits of a key, in lower case: `apiKey`, `API-KEY` and `api_key` are one."""
    return "".join(filter(str.isalnum, key)).lower()
