"""A prompt made to fit: the middle of what is fenced goes, the longest first, and the model is told where and how much.

Only fenced material is cut, never what the judge was asked. Beginnings and ends stay: there, answers and conversations
say what they are about and what they come to.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from proctor.data.value import Value
from proctor.judging.fence import Block, Fence

__all__ = ["CUT_NOTE", "Shortened", "shortened"]

CUT_NOTE: Final = (
    "Some of the material was too long and was shortened by the evaluation, at the lines that say CUT. What is left "
    "out there exists: do not count it as missing evidence, and do not hold the cut against anyone."
)
"""What a judge is told about a prompt that was shortened."""

_AT_BEGINNING: Final = 0.6
_READABLE: Final = 400
"""Turns are left out as wholes only when each long text would otherwise keep fewer characters than this."""
_LONGEST_SEQUENCE: Final = 32
_JOINERS: Final = frozenset("\u200c\u200d")
_TURN = re.compile(r"(?P<name>\S+) turn (?P<number>\d+) ")


@dataclass(frozen=True, slots=True, repr=False)
class Shortened(Value):
    """*cut*: how many characters of the material were left out; 0 when the prompt fitted as it was."""

    text: str
    cut: int = 0


@dataclass(frozen=True, slots=True, repr=False)
class _Piece(Value):
    """A stretch of the prompt that may be cut. *whole*: turns, which go with their lines; else text in one block.

    *inside*: how many characters of material it holds. *turns*: the numbers of the first and the last turn.
    """

    begin: int
    end: int
    inside: int
    whole: bool = False
    turns: tuple[str, str] = ("", "")


def shortened(prompt: str, fence: Fence, *, characters: int) -> Shortened | None:
    """*prompt* in at most so many *characters*, or None when leaving out all that is fenced does not get there.

    >>> fence = Fence(boundary="4d1b7c20")
    >>> print(shortened(fence("a" * 500 + "z" * 500), fence, characters=160).text)
    <<< BEGIN material 4d1b7c20 >>>
    aaaaaaaaaaaaaaaaaaa
    <<< CUT 968 characters left out by the evaluation 4d1b7c20 >>>
    zzzzzzzzzzzzz
    <<< END material 4d1b7c20 >>>
    """
    if len(prompt) <= characters:
        return Shortened(prompt)
    blocks = list(fence.blocks(prompt))
    groups = _conversations(prompt, blocks)
    steps = max((len(group) - 2 for group in groups), default=0)

    def pieces(step: int) -> list[_Piece]:
        return _pieces(prompt, fence, blocks, [_middle(group, step, steps) for group in groups])

    def level(step: int) -> int:
        return _level(prompt, fence, pieces(step), characters)

    # As few turns are left out as let enough of the others stay; when none do, what keeps most of each text.
    step = _first(steps, lambda at: level(at) >= _READABLE)
    if level(step) < _READABLE and level(0) >= level(step):
        step = 0
    if level(step) < 0:
        return None
    return _cut(prompt, fence, pieces(step), level(step))


def _first(steps: int, enough: Callable[[int], bool]) -> int:
    """The smallest step that is enough, or the last one; more is always as good."""
    low, high = 0, steps
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle + 1, high)
    return low


# ── what may be cut ────────────────────────────────────────────────────────────────────────────────────────────────


def _conversations(prompt: str, blocks: list[Block]) -> list[list[list[Block]]]:
    """The turns of each transcript, each with its blocks: turns that follow each other with nothing in between."""
    groups: list[list[list[Block]]] = []
    before: tuple[str, str, int] | None = None
    for block in blocks:
        found = _TURN.match(block.label)
        if found is None:
            before = None
            continue
        name, number = found["name"], found["number"]
        if before is None or before[0] != name or prompt[before[2] : block.begin].strip():
            groups.append([[block]])
        elif before[1] == number:
            groups[-1][-1].append(block)
        else:
            groups[-1].append([block])
        before = (name, number, block.end)
    return groups


def _middle(group: list[list[Block]], step: int, steps: int) -> list[list[Block]]:
    """The turns of a conversation that go at this step, from none to all but the first and the last."""
    count = (len(group) - 2) * step // steps if steps and len(group) > 2 else 0
    begin = 1 + (len(group) - 2 - count) // 2
    return group[begin : begin + count]


def _pieces(prompt: str, fence: Fence, blocks: list[Block], gone: list[list[list[Block]]]) -> list[_Piece]:
    """Turns that go, and the texts of all other blocks, in order."""
    pieces = []
    leaving: set[int] = set()
    for turns in filter(None, gone):
        every = [block for turn in turns for block in turn]
        leaving.update(block.begin for block in every)
        inside = sum(block.body_end - block.body_begin for block in every)
        first, last = (str(_TURN.match(turn[0].label)["number"]) for turn in (turns[0], turns[-1]))  # type: ignore[index]  # matched before
        pieces.append(_Piece(every[0].begin, every[-1].end, inside, True, (first, last)))
    earlier = re.compile(re.escape(fence.cut_line("\0")).replace("\0", r"[^\n]*"))
    for block in blocks:
        if block.begin in leaving:
            continue
        begin = block.body_begin
        for cut in earlier.finditer(prompt, block.body_begin, block.body_end):  # a prompt that was shortened before
            pieces.append(_Piece(begin, max(begin, cut.start() - 1), max(0, cut.start() - 1 - begin)))
            begin = min(cut.end() + 1, block.body_end)
        pieces.append(_Piece(begin, block.body_end, block.body_end - begin))
    return sorted(pieces, key=lambda piece: piece.begin)


# ── how much of it ─────────────────────────────────────────────────────────────────────────────────────────────────


def _level(prompt: str, fence: Fence, pieces: list[_Piece], characters: int) -> int:
    """How many characters each text may keep, so that all fits: what is shorter stays whole. -1 when nothing does."""
    texts = [(piece.inside, len(_note(fence, piece, piece.inside)) + 2) for piece in pieces if not piece.whole]
    fixed = len(prompt) - sum(piece.end - piece.begin for piece in pieces)
    fixed += sum(len(_note(fence, piece, piece.inside)) for piece in pieces if piece.whole)

    def size(level: int) -> int:
        return fixed + sum(min(inside, level + note) for inside, note in texts)

    if size(0) > characters:
        return -1
    low, high = 0, max([_READABLE, *(inside for inside, _ in texts)])
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if size(middle) <= characters else (low, middle - 1)
    return low


def _note(fence: Fence, piece: _Piece, count: int) -> str:
    characters = f"{count:,} characters"
    first, last = piece.turns
    if not piece.whole:
        return fence.cut_line(characters)
    turns = f"turn {first}" if first == last else f"turns {first} to {last}"
    return fence.cut_line(f"{turns}, {characters},")


# ── the cut ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _cut(prompt: str, fence: Fence, pieces: list[_Piece], level: int) -> Shortened:
    made, at, left_out = [], 0, 0
    for piece in pieces:
        if piece.whole:
            new, count = _note(fence, piece, piece.inside), piece.inside
        elif piece.inside > level + len(_note(fence, piece, piece.inside)) + 2:
            new, count = _without_middle(prompt[piece.begin : piece.end], fence, piece, level)
        else:
            continue
        made += [prompt[at : piece.begin], new]
        at, left_out = piece.end, left_out + count
    return Shortened("".join([*made, prompt[at:]]), left_out)


def _without_middle(text: str, fence: Fence, piece: _Piece, level: int) -> tuple[str, int]:
    begin = _not_inside(text, round(level * _AT_BEGINNING), -1)
    end = _not_inside(text, len(text) - (level - round(level * _AT_BEGINNING)), 1)
    return f"{text[:begin]}\n{_note(fence, piece, end - begin)}\n{text[end:]}", end - begin


def _not_inside(text: str, at: int, step: int) -> int:
    """*at*, or the nearest place in the direction of *step* where no character is cut from its marks."""
    for place in range(at, at + step * _LONGEST_SEQUENCE, step):
        if not 0 < place < len(text) or not _is_joined(text[place - 1], text[place]):
            return min(max(place, 0), len(text))
    return at


def _is_joined(before: str, after: str) -> bool:
    if after.isascii():
        return before == "\r" and after == "\n"
    return (
        before in _JOINERS
        or after in _JOINERS
        or unicodedata.category(after)[0] == "M"
        or "\U0001f3fb" <= after <= "\U0001f3ff"  # the tones of skin
    )
