"""A result as HTML for notebooks: the table of `print(result)` with what failed, folded where it is long.

No script and no style sheet: it takes the looks of the page. All texts are data, so all of them are escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from proctor.data.failures import failures_of
from proctor.data.judge_text import judge_text
from proctor.data.shown import count_of
from proctor.data.table import column_cells, footer
from proctor.data.width import printable
from proctor.errors import UsageError, cut

if TYPE_CHECKING:
    from proctor.data.failures import FailedRow
    from proctor.data.result import EvalResult
    from proctor.data.tags import TagMeans

__all__ = ["result_html"]

_SHOWN_ROWS = 50
_SHOWN_TAGS = 30
_LONGEST = 300  # characters of one cell
_COLOURS = {"passed": "#1a7f37", "scored": "#9a6700", "failed": "#cf222e"}
_AS_TEXT = ' class="tex2jax_ignore mathjax_ignore"'  # two prices in a sentence are no formula between dollar signs
_LEFT = ' style="text-align:left;vertical-align:top"'


def result_html(result: EvalResult) -> str:
    """The result as one `<div>`. Of what failed, the first 50 rows; of tags, the first 30."""
    parts = [_head(result), _table(column_cells(result.means)), *_tags(result.tags), *_failed(result), *_judges(result)]
    return f"<div{_AS_TEXT}>{''.join(parts)}<p><small>{_text(footer(result))}</small></p></div>"


def _head(result: EvalResult) -> str:
    verdict = (result.verdict or "no verdict").upper()
    colour = _COLOURS.get(result.verdict or "", "inherit")
    name = f"{_text(result.name)}: " if result.name else ""
    status = ""
    if result.status != "complete":
        status = f", {_text(result.status)}" + (f" by {_text(result.stopped_by)}" if result.stopped_by else "")
    decided = f'<strong>{name}<span style="color:{colour}">{_text(verdict)}</span>{status}</strong>'
    return f"<p>{decided}<br>{_text(result.sentence, 2 * _LONGEST)}</p>"


def _tags(tags: Sequence[TagMeans]) -> list[str]:
    """The means by tag, folded: one line for each tag and column."""
    if not tags:
        return []
    shown = tags[:_SHOWN_TAGS]
    names = ["tag", *("(no tag)" if found.tag is None else found.tag for found in shown for _ in found.means)]
    cells = column_cells([mean for found in shown for mean in found.means])
    rows = [[name, *row] for name, row in zip(names, cells, strict=True)]
    return [_folded("By tag", len(tags), len(shown), _table(rows, left=2))]


def _failed(result: EvalResult) -> list[str]:
    try:
        failures = failures_of(result)
    except UsageError as not_kept:
        return [f"<p>What failed: {_text(not_kept.message)}</p>"]
    note = f"<p><small>{_text(failures.note)}</small></p>" if failures.note else ""
    if not failures:
        return [note] if note else []
    shown = failures[:_SHOWN_ROWS]
    rows = [["item", "column", "why", "reply"], *(cells for row in shown for cells in _cells(row))]
    return [_folded("What failed", len(failures), len(shown), _table(rows, left=4), opened=True), note]


def _judges(result: EvalResult) -> list[str]:
    """What judges did and took, folded: one line for each scorer that asked one."""
    rows = [[mean.column.label, judge_text(mean.judge)] for mean in result.means if mean.judge is not None]
    return [_folded("What judges took", len(rows), len(rows), _table([["scorer", ""], *rows], left=2))] if rows else []


def _cells(row: FailedRow) -> Iterable[list[str]]:
    for shortfall in row.shortfalls:
        yield [row.name, shortfall.column or "target", shortfall.why, shortfall.reply or ""]


# ── parts ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _table(rows: Sequence[Sequence[str]], *, left: int = 1) -> str:
    """A table whose first row are its heads. *left*: how many columns hold words, not numbers."""
    head = "".join(_cell("th", text, left=at < left) for at, text in enumerate(rows[0]))
    body = "".join(
        f"<tr>{''.join(_cell('td', text, left=at < left) for at, text in enumerate(row))}</tr>"
        for row in islice(rows, 1, None)
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(kind: str, text: str, *, left: bool) -> str:
    return f"<{kind}{_LEFT if left else ''}>{_text(text)}</{kind}>"


def _folded(head: str, whole: int, shown: int, body: str, *, opened: bool = False) -> str:
    count = f" ({whole})" if shown == whole else f" ({count_of(shown, whole)} shown)"
    return f"<details{' open' if opened else ''}><summary>{head}{count}</summary>{body}</details>"


def _text(text: str, limit: int = _LONGEST) -> str:
    from html import escape

    return escape(cut(printable(text), limit))
