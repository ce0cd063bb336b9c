"""Some of the items of an evaluation: those that a pattern, a tag or a count chooses.

    filter = "id=" GLOB | "tag=" NAME        of one key any may match, of two keys both must

What cannot be read as an item is never left out: it is told as in a run of everything. The count is of what is left.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

from proctor.data.item import Item
from proctor.data.value import Value
from proctor.errors import ProctorError, UnknownName, UsageError, cut, did_you_mean
from proctor.running.eval import Eval
from proctor.running.ids import Ids

__all__ = ["NOTHING_LEFT", "Choice", "Chosen", "Picker", "choose", "picked_from", "read_filters"]

NOTHING_LEFT = "FILTER_LEAVES_NOTHING"
_KEYS = ("id", "tag")
_FEW = 10  # as many names as one wants to read in a message
_KNOWN = 1_000  # as many ids as are remembered to guess from


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Choice(Value):
    """Which items: with an id that matches one of *ids*, with one of *tags*, the first *limit* of these.

    *only*: of all items, those with exactly these ids.
    """

    ids: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    limit: int | None = None
    only: frozenset[str] | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Chosen(Value):
    """Data of which only some is to be run. It takes the place of `Eval.data`, whatever that is."""

    data: Any
    choice: Choice


def read_filters(texts: Iterable[str], *, limit: int | None = None) -> Choice:
    """The choice that filters and a count describe. Raises `UsageError` for a filter that cannot be read.

    >>> read_filters(["id=refund-*", "tag=slow"], limit=5)
    Choice(ids=('refund-*',), tags=('slow',), limit=5)
    """
    found: dict[str, list[str]] = {key: [] for key in _KEYS}
    for text in texts:
        key, _, value = (part.strip() for part in text.partition("="))
        if not (key and value):
            raise UsageError(f"a filter is written id=GLOB or tag=NAME, as in id='refund-*'; not {cut(text)!r}")
        if key not in found:
            raise UnknownName("filter key", key, _KEYS, hint="(id=GLOB or tag=NAME)")
        found[key].append(value)
    return Choice(ids=tuple(found["id"]), tags=tuple(found["tag"]), limit=limit)


def choose(evaluation: Eval, choice: Choice) -> Eval:
    """The evaluation of the items that are chosen; the same one when all are."""
    return evaluation if choice == Choice() else replace(evaluation, data=Chosen(evaluation.data, choice))


def picked_from(data: Any, *, unique_ids: bool = True) -> tuple[Any, Picker]:
    """The data itself, and what takes or leaves its items."""
    given, choice = (data.data, data.choice) if isinstance(data, Chosen) else (data, Choice())
    return given, Picker(choice, Ids(unique=unique_ids))


class Picker:
    """Takes or leaves one item after the other, and knows what it has seen, to say why nothing is left.

    *made_id*: the id of the last item among all there are; None when it is the item's own, or all items are taken.
    """

    def __init__(self, choice: Choice, ids: Ids) -> None:
        self.made_id: str | None = None
        self._choice = choice
        self._every_id = ids
        self._taken = 0
        self._seen = 0
        self._tags: dict[str, None] = {}
        self._ids: list[str] = []

    @property
    def full(self) -> bool:
        """Whether no more items are wanted."""
        return self._choice.limit is not None and self._taken >= self._choice.limit

    def takes(self, row: Item | ProctorError) -> bool:
        """Whether the item is chosen."""
        self._seen += 1
        self.made_id = None
        taken = not isinstance(row, Item) or self._matches(row)
        self._taken += taken
        return taken

    def check(self, where: str) -> None:
        """Raise a `UsageError` when there were items and none was chosen; it names what could have been."""
        if not self._seen or self._taken:
            return
        asked = " and ".join(
            " or ".join(f"{key}={value}" for value in values)
            for key, values in (("id", self._choice.ids), ("tag", self._choice.tags))
            if values
        )
        if self._choice.only is not None:
            asked = f"{asked} and failed" if asked else "an id that failed"
        raise UsageError(f"{where}: no item has {asked} (of {self._seen}).{self._instead()}", code=NOTHING_LEFT)

    def _matches(self, item: Item) -> bool:
        choice = self._choice
        if not (choice.tags or choice.ids) and choice.only is None:
            return True
        item_id = self._id_of(item)
        right = True
        if choice.tags:
            tags = item.tags
            if isinstance(tags, str) or not isinstance(tags, Sequence):
                return True  # a mistake, which is told
            self._tags.update((tag, None) for tag in tags if isinstance(tag, str))
            right = any(tag in choice.tags for tag in tags)
        if choice.ids:
            if len(self._ids) < _KNOWN:
                self._ids.append(item_id)
            right = right and any(fnmatchcase(item_id, pattern) for pattern in choice.ids)
        if choice.only is not None:
            right = right and item_id in choice.only
        return right

    def _id_of(self, item: Item) -> str:
        """The id that the item has in results; empty for one that can have none, which is told later."""
        try:
            item_id = self._every_id.of(item)
        except UsageError:
            return "" if item.id is None else str(item.id)
        self.made_id = item_id if item.id is None else None
        return item_id

    def _instead(self) -> str:
        """What could have been meant, and what there is."""
        said = ""
        if self._choice.tags:
            said += _guess(self._choice.tags, self._tags) + _listed("Tags", sorted(self._tags))
        if self._choice.ids:
            said += _guess(self._choice.ids, self._ids) + _listed("Ids", self._ids)
        return said


def _guess(asked: Sequence[str], known: Collection[str]) -> str:
    missing = [name for name in asked if name not in known]
    return did_you_mean(missing[0], known) if missing else ""


def _listed(what: str, names: Sequence[str]) -> str:
    more = ", ..." if len(names) > _FEW else "."
    return f" {what}: {', '.join(cut(name, 40) for name in names[:_FEW]) or 'there are none'}{more}"
