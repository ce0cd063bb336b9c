"""What a recorder remembers of a row that is being worked at."""

from __future__ import annotations

from proctor.data.column import Column

__all__ = ["OpenRow"]


class OpenRow:
    """A row that is being worked at: its number, its item as it is written, and what of it has been put."""

    __slots__ = ("body", "columns", "no", "turns", "was_there")

    def __init__(self, no: int, body: str, *, was_there: bool = False) -> None:
        self.no = no
        self.body = body
        self.columns: set[Column] = set()
        self.turns: set[int] = set()
        self.was_there = was_there
