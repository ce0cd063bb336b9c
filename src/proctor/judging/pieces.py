"""Where the JSON is in a reply: outside of what the model thought, in fences or not, between prose."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from proctor.data.value import MISSING, Value
from proctor.judging.strict_json import JsonRefused, decode_at

__all__ = ["IGNORED", "TOKEN", "Piece", "Pieces", "find_pieces", "has_thinking", "without_thinking"]

IGNORED = " \t\n\r\f\v\u00a0\u2028\u2029\ufeff\u200b\u200c\u200d\u2060"
"""What does not count around an answer: white space, and characters that take no space."""

_MOST = 200  # values in one reply; an answer among more is not found by reading on

_TAG = r"<(?P<close>/?)(?:think|thinking|reasoning)(?:\s[^<>]{0,80})?>"
_THINKING = re.compile(_TAG, re.IGNORECASE)
_GAP = f"[{IGNORED}]*"
_START = re.compile(
    rf"(?P<tag>{_TAG})"
    rf"|(?P<interval>\[[^\[\]{{}}\"]{{0,40}}\))"
    rf"|\{{(?={_GAP}(?:[\"'\u201c}}{{\[]|//|/\*|\#|[\w$]+\s*:|\Z))"
    rf"|\[(?={_GAP}(?:[\"'\u201c\]{{\[\d]|-\d|//|/\*|(?:true|false|null|none|nan)\b|\Z))",
    re.IGNORECASE,
)
TOKEN = re.compile(
    r"""(?P<text>"(?:\\.|[^"\\])*(?:"|\\?\Z)|(?<=[\s{\[,:])'(?:\\.|[^'\\])*'(?=\s*[,:}\]]))"""
    r"|(?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z)|\#[^\n]*)"
    r"|(?P<bracket>[{}\[\]])|(?P<mark>[:,])|(?P<space>\s+)"
    r"""|(?P<word>[^\s{}\[\]:,"'/\#]+)|(?P<other>.)""",
    re.DOTALL,
)
"""One token of what may be JSON, comments and single quotes included. Every character belongs to one."""
_PLACE = "\0"  # where a value was
_LEFT_OVER = re.compile(r"[{\[\0]|(?P<right_after>(?<=\0)[\s,]*)?[}\]]")
_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[\w+-]*[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Piece(Value):
    """A value, or what has the brackets of one. *problem*: why it cannot be read. *refused*: by what it says."""

    source: str
    value: Any = MISSING
    problem: str = ""
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Pieces(Value):
    """What a reply holds. *rest*: text around the pieces, fences left out. *open*: it ends within brackets.

    *tag_after*: a tag of thinking stands after a value, so that it takes back that value, or hides a later one.
    *nested*: which values stand within brackets of no value; they may be a part of what was meant.
    """

    found: tuple[Piece, ...] = ()
    rest: str = ""
    open: bool = False
    too_many: bool = False
    tag_after: bool = False
    nested: frozenset[int] = frozenset()


def find_pieces(text: str, /) -> Pieces:
    """Every outermost object and array, in order. Each character is looked at a few times at most."""
    found: list[Piece] = []
    rest: list[str] = []
    at = 0
    tag_after = False
    while start := _START.search(text, at):
        rest.append(text[at : start.start()].replace(_PLACE, " "))
        if start["interval"]:  # `[0, 1)` is no JSON, and never closed
            rest.append(start[0][1:])
            at = start.end()
        elif start["tag"]:
            tag_after = tag_after or bool(found)
            if start["close"]:  # the tag that opened it was in the prompt
                found, rest, at = [], [], start.end()
            else:
                at = _thought(text, start.end())
        else:
            if len(found) == _MOST:
                return Pieces(tuple(found), "", too_many=True)
            piece, end = _piece(text, start.start())
            if piece is None:
                return Pieces(tuple(found), "", open=True)
            found.append(piece)
            rest.append(_PLACE)
            at = end
    rest.append(text[at:].replace(_PLACE, " "))
    around = "".join(rest)
    said = _FENCE.sub("", around.replace(_PLACE, "")).strip(IGNORED + "`")
    return Pieces(tuple(found), said, tag_after=tag_after, nested=_nested(around))


def has_thinking(text: str, /) -> bool:
    """Whether a tag stands in *text* that opens or closes a block of thinking."""
    return _THINKING.search(text) is not None


def without_thinking(text: str, /) -> str:
    """*text* without the blocks in which the model thought. One that is never closed goes on to the end."""
    kept: list[str] = []
    at = 0
    while tag := _THINKING.search(text, at):
        if tag["close"]:
            kept, at = [], tag.end()
        else:
            kept.append(text[at : tag.start()])
            at = _thought(text, tag.end())
    return "".join([*kept, text[at:]]).strip(IGNORED)


def _nested(around: str) -> frozenset[int]:
    """Which values brackets enclose that are left over, or have such a one closing right after them."""
    within: set[tuple[int, int]] = set()
    opened: list[int] = []  # how many values came before each
    values = 0
    for mark in _LEFT_OVER.finditer(around):
        if mark[0] in "{[":
            opened.append(values)
        elif mark[0] == _PLACE:
            values += 1
        elif opened:
            within.add((opened.pop(), values))
        elif mark["right_after"] is not None:
            within.add((values - 1, values))
    return frozenset(place for first, end in within for place in range(first, end))


def _thought(text: str, at: int) -> int:
    """Where the thinking ends that was opened before *at*."""
    depth = 1
    while depth and (tag := _THINKING.search(text, at)):
        depth += -1 if tag["close"] else 1
        at = tag.end()
    return at if not depth else len(text)


def _piece(text: str, start: int) -> tuple[Piece | None, int]:
    """What begins at this bracket, and its end. None: the text ends before it does, or its brackets do not match."""
    try:
        value, end = decode_at(text, start)
        return Piece(text[start:end], value), end
    except ValueError as problem:
        closed = _closed(text, start)
        if closed is None:
            return None, len(text)
        said = str(problem) if isinstance(problem, JsonRefused) else "it is no JSON"
        return Piece(text[start:closed], MISSING, said, isinstance(problem, JsonRefused)), closed


def _closed(text: str, start: int) -> int | None:
    expected: list[str] = []
    for token in TOKEN.finditer(text, start):
        if token.lastgroup != "bracket":
            continue
        bracket = token[0]
        if bracket in "{[":
            expected.append("}" if bracket == "{" else "]")
        elif expected.pop() != bracket:
            return None
        if not expected:
            return token.end()
    return None
