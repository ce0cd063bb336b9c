"""Text in columns of a terminal: wide characters count two, and what a terminal could obey is escaped."""

from __future__ import annotations

from proctor.data.secrets import redact_text
from proctor.errors import visible

__all__ = ["fitted", "fitted_id", "printable", "width_of", "wrapped"]


def printable(text: str) -> str:
    r"""*text* on one line, without secrets, and with what a terminal could obey or not show written as an escape.

    >>> printable("a\tb\x1b[31m")
    'a b\\x1b[31m'
    """
    text = redact_text(text)
    return text if text.isprintable() else visible(" ".join(text.split()))


def width_of(text: str) -> int:
    """How many columns it takes."""
    from wcwidth import width

    return width(text)


def fitted(text: str, width: int) -> str:
    """*text* in exactly *width* columns: padded, or cut with `...`, never through a character."""
    from wcwidth import clip

    text = printable(text)
    if (own := width_of(text)) <= width:
        return text + " " * (width - own)
    cut = clip(text, 0, width - 3) + "..."
    return cut + " " * (width - width_of(cut))


def fitted_id(text: str, width: int) -> str:
    """An id in exactly *width* columns, cut in the middle: ids of one family differ at their ends."""
    from wcwidth import clip

    if (own := width_of(text)) <= width:
        return text + " " * (width - own)
    tail = clip(text, own - (width - 3) // 2, own)
    head = clip(text, 0, width - 3 - width_of(tail))
    return f"{head}...{tail}" + " " * (width - 3 - width_of(head) - width_of(tail))


def wrapped(text: str, width: int, *, indent: str = "") -> list[str]:
    """Lines of at most *width* columns, those after the first behind *indent*; one line at the least."""
    from wcwidth import wrap

    return wrap(printable(text) if not indent else text, width, subsequent_indent=indent) or [""]
