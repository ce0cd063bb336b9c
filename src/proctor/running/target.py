"""What can be put under test, as the run sees it."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from proctor.data.item import Item
from proctor.data.reply import Reply
from proctor.errors import UsageError
from proctor.plugins import find, import_object

__all__ = ["Target", "as_target"]


@runtime_checkable
class Target(Protocol):
    """Something that answers an item. A failure of the thing under test is a `Reply` with an error, never raised."""

    async def reply(self, item: Item) -> Reply:
        """The answer to one item."""
        ...


def as_target(thing: Any) -> Target:
    """The target that *thing* stands for: itself, what an import path names, or a wrapper around a callable."""
    if isinstance(thing, str):
        thing = import_object(thing)
    if isinstance(thing, Target) and not isinstance(thing, type):
        return thing
    if callable(thing):
        target: Target = find("target", "callable")(thing)
        return target
    kinds = "a callable, an object with `async def reply(item)`, or 'package.module:name'"
    raise UsageError(f"target must be {kinds}, not {type(thing).__name__}")
