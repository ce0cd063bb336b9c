"""Rows into columns for each tag: the same counts and exact sums as the run's own, kept while rows pass by.

They are kept as the run goes, since a run may keep no rows. Until the first tag comes, all rows are untagged: what the
run has counted so far is what there is to know of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from proctor.data.column import Column
from proctor.data.mean import Mean
from proctor.data.reply import ItemResult
from proctor.data.tags import TagMeans, tags_of
from proctor.running.columns import Columns
from proctor.running.fold import ColumnFold, Fold
from proctor.running.verdict import column_mean

__all__ = ["MOST_TAGS", "TagFolds"]

MOST_TAGS = 1000
"""Beyond so many different tags they are ids, not kinds of items, and a stream of them would fill the memory."""


class TagFolds:
    """The counts of each tag; None stands for the rows without one. *whole*: the run's own counts."""

    def __init__(self, columns: Columns, whole: Fold, *, repeats: int = 1) -> None:
        self._columns = columns
        self._whole = whole
        self._repeats = repeats
        self._items: dict[str | None, int] = {}
        self._folds: dict[str | None, dict[Column, ColumnFold]] = {}
        self._too_many = False

    def add(self, result: ItemResult) -> None:
        """Count one row in each of its tags. To be called before the run counts it."""
        found = tags_of(result.item)
        if self._too_many or not (found or self._items):
            return
        if not self._items:
            self._items[None] = self._whole.items
            self._folds[None] = {column: fold.copy() for column, fold in self._whole.columns.items() if fold.of}
        tags: Sequence[str | None] = found or (None,)
        for tag in tags:
            self._items[tag] = self._items.get(tag, 0) + 1
            folds = self._folds.setdefault(tag, {})
            for outcome in result.outcomes:
                fold = folds.get(outcome.column)
                if fold is None:
                    fold = ColumnFold(self._columns.cells[outcome.column], repeats=self._repeats)
                    folds[outcome.column] = fold
                fold.add(outcome, index=result.index, item=result.item_id)
        if len(self._items) - (None in self._items) > MOST_TAGS:
            self._too_many = True  # all or none: which tags came first depends on the concurrency
            self._folds.clear()

    def means(self) -> tuple[TagMeans, ...]:
        """The means of each tag, by the alphabet, then those of the untagged; nothing when no row has a tag."""
        if self._too_many:
            return ()
        order = [cell.column for cell in self._columns.in_order()]
        tags = sorted([tag for tag in self._folds if self._items[tag]], key=lambda tag: (tag is None, tag or ""))
        return tuple(TagMeans(tag, self._items[tag], _means(self._folds[tag], order)) for tag in tags)

    @property
    def notes(self) -> list[str]:
        """What a reader of the means should know."""
        return [f"no means by tag: there are more than {MOST_TAGS} different tags"] if self._too_many else []


def _means(folds: dict[Column, ColumnFold], order: Sequence[Column]) -> tuple[Mean, ...]:
    means = [column_mean(folds[column]) for column in order if column in folds]
    return tuple([replace(mean, passed=None, decided_by=None, sentence="") for mean in means])
