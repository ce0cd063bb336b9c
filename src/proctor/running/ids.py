"""Which id each item has: one that was given must be its own; one that is made gets a number where content repeats."""

from __future__ import annotations

from proctor.data.item import Item, derived_id
from proctor.errors import EncodingError, UsageError

__all__ = ["ID_TAKEN", "Ids"]

ID_TAKEN = "ID_TAKEN"
_LONGEST = 500  # characters: what an index of PostgreSQL can hold, however they are written
_LARGEST = 10**_LONGEST
_SHORTER = f"give at most {_LONGEST}, or leave it out and one is made"


class Ids:
    """The ids of items one after the other. *unique*: they are remembered, and must not come twice."""

    def __init__(self, *, unique: bool = True) -> None:
        self._seen: dict[str, int] | None = {} if unique else None

    def of(self, item: Item) -> str:
        """The id of the next item. Raises `UsageError` when it can have none."""
        return self._made(item) if item.id is None else self._given(item.id)

    def take(self, made: str) -> str:
        """An id that was made of an item before, among all there are."""
        if self._seen is not None:
            self._seen[made] = 1
        return made

    def _given(self, given: str | int) -> str:
        if isinstance(given, int) and not isinstance(given, bool):
            if abs(given) >= _LARGEST:
                raise UsageError(f"id is a number of more than {_LONGEST} digits: {_SHORTER}")
            given = str(given)
        if not isinstance(given, str) or not given:
            raise UsageError(f"id must be text that is not empty, not {given!r}")
        if len(given) > _LONGEST:
            raise UsageError(f"id has {len(given):,} characters, {given[:20]!r} ...: {_SHORTER}")
        if self._seen is not None:
            if given in self._seen:
                raise UsageError(f"the id {given!r} is taken by an earlier item", code=ID_TAKEN)
            self._seen[given] = 1
        return given

    def _made(self, item: Item) -> str:
        try:
            made = derived_id(item)
        except EncodingError as problem:
            raise UsageError(f"{problem}; or give the item an id") from problem
        seen = self._seen
        if seen is None:
            return made
        name = made
        while name in seen:
            seen[made] += 1
            name = f"{made}-{seen[made]}"
        seen[name] = 1
        return name
