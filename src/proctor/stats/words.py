"""What counts as a word, in any language, for measures that compare texts word by word.

A word is a run of letters, marks and digits; an apostrophe inside belongs to it. Compatibility forms are one (NFKC) and
capitals do not count. Where a language writes no spaces (Chinese, Japanese, Thai, Lao, Khmer, Burmese) nothing marks a
word, so its letters stand for words: each alone, or as overlapping pairs, which find shared words nearly as well as a
dictionary does (Nie, Gao, Zhang and Zhou 2000). A letter has its marks with it.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import islice
from typing import Any

__all__ = ["folded", "words"]

_ASCII_WORD = re.compile(r"[a-z0-9]+(?:'[a-z0-9]+)*")
_UNSPACED = r"[[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Bopo}\p{Thai}\p{Lao}\p{Khmr}\p{Mymr}]&&[\p{L}\p{M}\p{N}]]"


def words(text: str, *, pairs: bool = False) -> list[str]:
    """The words of *text*, in order. *pairs*: letters without spaces between them as overlapping pairs, not alone.

    >>> words("Don’t panic: it's 42.")
    ["don't", 'panic', "it's", '42']
    >>> words("iPhone手机"), words("天气晴朗", pairs=True)
    (['iphone', '手', '机'], ['天气', '气晴', '晴朗'])
    """
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    from unicodedata import normalize

    found: list[str] = []
    for match in _word_pattern().finditer(normalize("NFKC", text).casefold().replace("’", "'")):
        if match.lastindex:
            letters = _letters(match[0])
            found += map(str.__add__, letters, islice(letters, 1, None)) if pairs and len(letters) > 1 else letters
        else:
            found.append(match[0])
    return found


def folded(text: str) -> str:
    """*text* without capitals. Lowering writes a sigma at the end of a word otherwise than inside: here they are one.

    >>> folded("ΟΔΟΣ") in folded("ΟΔΟΣΑ")
    True
    """
    return text.lower().replace("ς", "σ")


@cache
def _word_pattern() -> Any:
    """A word; its group 1 is one in a script without spaces."""
    import regex

    spaced = rf"[[\p{{L}}\p{{M}}\p{{N}}]--{_UNSPACED}]+"
    return regex.compile(rf"({_UNSPACED}+)|{spaced}(?:'{spaced})*", regex.V1)


@cache
def _letter_pattern() -> Any:
    import regex

    return regex.compile(r".\p{M}*", regex.DOTALL)


def _letters(run: str) -> list[str]:
    letters: list[str] = _letter_pattern().findall(run)
    return letters
