"""A row that is being worked at, as its recorder sees it."""

from __future__ import annotations

from proctor.data.column import Column

__all__ = ["OpenRow"]


class OpenRow:
    """*no*: its number; *body*: its item as it is written, once that is known; *columns*: of the outcomes put so far,
    *replies*: how many of them.

    *was_there*: whether an earlier sitting left something of it, which its end takes the place of.
    """

    __slots__ = ("body", "columns", "no", "replies", "was_there")

    def __init__(self, no: int, *, was_there: bool) -> None:
        self.no = no
        self.was_there = was_there
        self.body = ""
        self.columns: set[Column] = set()
        self.replies = 0
