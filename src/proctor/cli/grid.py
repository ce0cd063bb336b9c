"""Lists as lines of at most a terminal's width."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

from proctor.data.width import fitted, printable, width_of, wrapped

__all__ = ["grid", "terminal_width"]

_WIDTH = 100  # where neither a terminal nor COLUMNS says
_LEAST = 12  # columns for the text that gives way, else each row takes several lines


def terminal_width() -> int:
    """How many columns lines may have."""
    return max(shutil.get_terminal_size((_WIDTH, 24)).columns, 40)


def grid(heads: Sequence[str], rows: Sequence[Sequence[str]], *, elastic: int, numbers: Sequence[int] = ()) -> str:
    """A line of heads and one for each row. *elastic*: the column that is cut where the line is too long.

    *numbers*: the columns that stand to the right. Where there is no room for a table each row is two lines or more.
    """
    width = terminal_width()
    cells = [list(heads), *([printable(cell) for cell in row] for row in rows)]
    used = [at for at in range(len(heads)) if any(row[at] for row in cells[1:])]
    widths = {at: max(width_of(row[at]) for row in cells) for at in used}
    if elastic in widths:
        room = width - sum(2 + own for at, own in widths.items() if at != elastic)
        if room < min(widths[elastic], _LEAST):
            return "\n".join(line for row in cells[1:] for line in _stacked(heads, row, width))
        widths[elastic] = min(widths[elastic], room)
    return "\n".join(
        "  ".join(_cell(row[at], widths[at], right=at in numbers) for at in used).rstrip() for row in cells
    )


def _cell(text: str, width: int, *, right: bool) -> str:
    return " " * (width - width_of(text)) + text if right else fitted(text, width)


def _stacked(heads: Sequence[str], row: Sequence[str], width: int) -> list[str]:
    told = [f"{head} {text}" for head, text in zip(heads[1:], row[1:], strict=True) if text]
    return [*wrapped(row[0], width), *wrapped(f"  {', '.join(told)}", width, indent="  ")]
