"""Characters that do not show: with some of them in between, a text looks like another and is not it."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["UNSEEN", "squeezed", "without_unseen"]

# Controls, marks and format characters that take no room.
UNSEEN: Final = (
    "[\0-\x08\x0e-\x1f\x7f-\x9f\xad\u0300-\u036f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u20d0-\u20ff\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
"""The class of a regular expression, of one such character."""

_RUN = re.compile(f"{UNSEEN}++")
_SPACES = re.compile(r"\s+")
_ESCAPES = re.compile(r"\\+(?:[nrtbf/]|u00[0-9a-fA-F]{2}|u202[89])?")  # of JSON in JSON, however deep
_QUOTES: Final = str.maketrans({"\u201c": '"', "\u201d": '"', "\u201e": '"', "\u2018": "'", "\u2019": "'"})


def without_unseen(text: str, /) -> str:
    """*text* without what does not show."""
    return _RUN.sub("", text)


def squeezed(text: str, /) -> str:
    r"""What is left of a text, however it is laid out: no white space, nothing unseen, straight quotes, no escapes.

    >>> squeezed("{ \u201cscore\u201d:\n 1 }")
    '{"score":1}'
    """
    return without_unseen(_SPACES.sub("", _ESCAPES.sub("", text))).translate(_QUOTES)
