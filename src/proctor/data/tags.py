"""The means of a run once more for each tag, so that one weak kind of item does not hide behind the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from proctor.data.item import Item
from proctor.data.mean import Mean
from proctor.data.scores import Scores
from proctor.data.shown import plural
from proctor.data.value import Value
from proctor.errors import UnknownName, visible

__all__ = ["ByTag", "TagMeans", "tags_of"]


@dataclass(frozen=True, slots=True, repr=False)
class TagMeans(Value):
    """The means of the rows that have one tag; None are the rows without any. *items*: how many rows.

    The `n` and `of` of each mean count these rows. A tag decides nothing, so `passed` is None.
    """

    tag: str | None
    items: int
    means: tuple[Mean, ...] = ()


class ByTag(Mapping[str | None, Scores]):
    """`by_tag["refunds"]` gives the means of that tag's rows, to be asked like `result.scores`; None, the untagged.

    Tags are in the order of the alphabet, None last. Empty when no item has a tag. An item counts in each of its tags.
    """

    __slots__ = ("tags",)

    def __init__(self, tags: Sequence[TagMeans]) -> None:
        self.tags = tuple(tags)

    def __getitem__(self, tag: str | None) -> Scores:
        for found in self.tags:
            if found.tag == tag:
                return Scores(found.means)
        raise UnknownName("tag", str(tag), [found.tag for found in self.tags if found.tag is not None])

    def __contains__(self, tag: object) -> bool:
        return any(found.tag == tag for found in self.tags)

    def __iter__(self) -> Iterator[str | None]:
        return iter([found.tag for found in self.tags])

    def __len__(self) -> int:
        return len(self.tags)

    def __str__(self) -> str:
        lines = []
        for found in self.tags:
            lines.append(f"{'(no tag)' if found.tag is None else visible(found.tag)}, {_rows(found)}:")
            lines += [f"  {visible(mean.column.label)}: {mean}" for mean in found.means]
        return "\n".join(lines) or "no item has a tag"

    def __repr__(self) -> str:
        counts = ", ".join(f"{found.tag!r}: {_rows(found)}" for found in self.tags)
        return f"ByTag({counts})"


def _rows(found: TagMeans) -> str:
    return plural(found.items, "row")


def tags_of(item: Item) -> tuple[str, ...]:
    """The tags of an item, each once; none where they are not texts, which an item of a stream may bring."""
    tags = item.tags
    if not tags or isinstance(tags, str) or not isinstance(tags, Sequence):
        return ()
    return tuple(dict.fromkeys([tag for tag in tags if isinstance(tag, str)]))
